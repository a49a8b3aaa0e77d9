"""Do the pages answer? Asked of a few at a time, within a few seconds, beside the reading of pages."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

import httpx

from fetch.errors import AddressForbidden, InvalidRequest, NavigationFailed, TabwrightError

AT_ONCE: Final = 5
EACH_S: Final = 3.0
ALL_S: Final = 3.0

Probe = Callable[[str], Awaitable[int]]
"""Asks for an address and gives the status of the answer, redirects followed, its body not read.

It must go through the service's way out. Without an answer it raises a TabwrightError whose `about["reason"]` says why
(`dns`, `refused`, `tls` …) or an error of httpx. It needs no time limit of its own, and is cancelled at ours.
"""

GONE: Final = frozenset({404, 410})
"""Statuses of a page that there is not."""

_UNAVAILABLE = frozenset({451})
_BUSY = frozenset({503})  # "come back later", and how some walls answer robots
_FAILED = frozenset({"refused", "reset", "tls", "protocol", "redirect_loop", "bad_redirect", "address_forbidden"})


@dataclass(frozen=True, slots=True)
class Reached:
    """What is known of one address: `reachable` None where nothing is; `dead` when there is no such page."""

    reachable: bool | None = None
    dead: bool = False


UNKNOWN: Final = Reached()


def by_status(status: int) -> Reached:
    """What a status says. 2xx: reachable. 404 and 410: dead. 5xx and 451: not reachable.

    Nothing is said by 403, 405 and the rest of 4xx, which are about who asks and how, by 503, and by a redirect that
    was not followed.
    """
    if 200 <= status < 300:
        return Reached(reachable=True)
    if status in GONE:
        return Reached(reachable=False, dead=True)
    if status in _UNAVAILABLE or (500 <= status < 600 and status not in _BUSY):
        return Reached(reachable=False)
    return UNKNOWN


def by_fault(fault: Exception) -> Reached:
    """What a failure says: no such host is dead; refused, TLS and what cannot be visited are not reachable.

    Nothing is said by a time limit, nor by a failure of this service's own way out.
    """
    if isinstance(fault, AddressForbidden | InvalidRequest | httpx.InvalidURL):
        return Reached(reachable=False)
    if isinstance(fault, NavigationFailed):
        reason = fault.about.get("reason")
        if reason == "dns":
            return Reached(reachable=False, dead=True)
        return Reached(reachable=False) if reason in _FAILED else UNKNOWN
    return UNKNOWN


class Reach:
    """Checks addresses: `at_once` at a time, `each_s` seconds for one, `all_s` for all together."""

    def __init__(self, probe: Probe, *, at_once: int = AT_ONCE, each_s: float = EACH_S, all_s: float = ALL_S) -> None:
        self._probe = probe
        self._at_once = at_once
        self._each_s = each_s
        self._all_s = all_s

    async def check(
        self, urls: Iterable[str], tell: Callable[[str, Reached], None] | None = None
    ) -> dict[str, Reached]:
        """What became known of each address in the time, in the order given; the others are unknown.

        `tell` is called with each as it comes, so that pages can be read meanwhile: run this as a task and go on.
        Never raises but CancelledError; no task of it is left then, or at the end.
        """
        known = dict.fromkeys(urls, UNKNOWN)
        waiting = iter(tuple(known))

        async def work() -> None:
            for url in waiting:  # shared: each address is taken by one worker
                known[url] = await self._ask(url)
                if tell is not None:
                    tell(url, known[url])

        try:
            async with asyncio.timeout(self._all_s), asyncio.TaskGroup() as group:
                for _ in range(min(self._at_once, len(known))):
                    group.create_task(work())
        except TimeoutError:
            pass  # what is known by now stands
        return known

    async def _ask(self, url: str) -> Reached:
        try:
            async with asyncio.timeout(self._each_s):
                return by_status(await self._probe(url))
        except TimeoutError:
            return UNKNOWN
        except (TabwrightError, httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as fault:
            return by_fault(fault)
