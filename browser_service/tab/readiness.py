"""Waiting until a page is ready to be read: until no reason to wait is left (`reasons`).

Every reason lapses by itself or has a limit, and nothing is polled: each wait ends with an event, or at the moment when
the last reason lapses. Then the document is asked for what no event tells, its timers above all; that may be a new
reason.
"""

import contextlib
from dataclasses import dataclass
from typing import Literal

from browser_service.errors import TimedOut
from browser_service.tab.document import Observer
from browser_service.tab.events import Signal, loop_time
from browser_service.tab.navigation import Navigator
from browser_service.tab.network import Network
from browser_service.tab.reasons import Reason, reasons

ANSWER_LIMIT_S = 4.0  # a main thread that is busy for longer counts as a script that does not end
RELEASE_S = 2.8  # stylesheets that hold up the parser for so long are taken out
HOPS = 20  # documents that lead on by themselves, as many as Chromium follows redirects
PENDING = 10


@dataclass(frozen=True)
class Settled:
    """How the waiting ended.

    `quiet`: nothing was left to wait for. `ceiling`: something goes on (`waited_for` says what, `pending` the addresses
    of requests), but its limit is over. `timeout`: the call's time ran out, or not all of the document arrived
    (`partial`).
    """

    how: Literal["quiet", "ceiling", "timeout"]
    partial: bool = False
    waited_for: str = ""
    pending: tuple[str, ...] = ()


class Readiness:
    """Whether a page is ready, out of all that is known of it."""

    def __init__(self, signal: Signal, navigator: Navigator, network: Network, observer: Observer) -> None:
        self._signal = signal
        self._navigator = navigator
        self._network = network
        self._observer = observer

    async def settle(self, deadline: float, *, sweep: bool) -> Settled:
        """Until the page is ready, at most until `deadline` (loop time); see `Watch.settle`."""
        commits = self._navigator.commits
        self._observer.document.stale = True
        with contextlib.suppress(TimedOut):
            if commits == 0:
                await self._observer.catch_up(min(ANSWER_LIMIT_S, deadline - loop_time()))
        while True:
            now = loop_time()
            left = list(reasons(self._observer.document, self._network))
            if now >= deadline or self._navigator.commits > commits + HOPS:
                return self._settled(left, late=now >= deadline)
            if await self._wait(left, now, deadline):
                continue
            try:
                if not await self._step(deadline - now, sweep=sweep):
                    return self._settled(left)
            except TimedOut:
                busy = Reason("a script that does not end", now, open=True)
                return self._settled([busy, *left], late=loop_time() >= deadline)

    async def _wait(self, left: list[Reason], now: float, deadline: float) -> bool:
        """Wait for the next event while there is a reason to. False when there is none."""
        navigator, document = self._navigator, self._observer.document
        until = max((reason.until for reason in left), default=0.0)
        if navigator.navigating:
            until = max(until, navigator.expires)
        elif document.seen is None:
            until = min(until, document.base)  # what the document says changes how long to wait
        if until <= now:
            return False
        await self._signal.wait(min(until, self._release_at(), deadline))
        document.stale = True
        if loop_time() >= self._release_at():
            with contextlib.suppress(TimedOut):
                await self._observer.release(min(ANSWER_LIMIT_S, deadline - loop_time()))
        return True

    async def _step(self, left_s: float, *, sweep: bool) -> bool:
        """Ask the document for reasons that are not known. False when there are none. Raises TimedOut."""
        observer, document = self._observer, self._observer.document
        if document.error_page:
            return False
        if document.stale:
            await observer.check(min(ANSWER_LIMIT_S, left_s))
            return True
        if sweep and not document.swept and document.seen is not None and document.seen.lazy:
            await observer.sweep(left_s)
            return True
        return False

    def _settled(self, left: list[Reason], *, late: bool = False) -> Settled:
        document = self._observer.document
        what = next((reason.what for reason in left if reason.open), "")
        if document.cut:
            what = "the rest of the document, which broke off"
        elif not what and self._navigator.navigating:
            what = "documents that lead on by themselves"
        partial = not document.whole and not document.error_page
        pending = tuple(each.url for each in self._network.pending.values())[:PENDING]
        if late or partial:
            return Settled("timeout", partial, what or "a quiet moment", pending)
        return Settled("ceiling" if what else "quiet", partial, what, pending)

    def _release_at(self) -> float:
        """When stylesheets are taken out that hold up the parser."""
        document = self._observer.document
        sheets = [each.started for each in self._network.pending.values() if each.kind == "sheet"]
        if document.parsed is not None or document.released or not sheets:
            return float("inf")
        return min(sheets) + RELEASE_S
