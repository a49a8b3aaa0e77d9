"""Loading an address in a tab: what really happened, also where Chromium calls it a failed navigation."""

import asyncio
import contextlib
import itertools
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.egress import VERDICT_HEADER, Exit
from browser_service.errors import TabwrightError, TimedOut
from browser_service.tab.faults import page_crashed, translate
from browser_service.tab.tab import Tab
from browser_service.tab.verdict import net_failure, refusal
from browser_service.tab.world import terminate
from fetch.address import Address

WaitUntil = Literal["settled", "load", "domcontentloaded", "commit"]

BLANK_LIMIT_S = 2.0
TRIES = 3
PATIENCE = 4
INTERRUPTED = "is interrupted by another navigation"
LEAVE_LIMIT_S = 2.0  # in which a page's last handlers and dialogs must be done; the request follows at once
# Chromium's names for navigations that end without a document though the server answered
_STAYED = (
    "Download is starting",
    "net::ERR_ABORTED",
    "net::ERR_INVALID_AUTH_CREDENTIALS",
    "net::ERR_HTTP_RESPONSE_CODE_FAILURE",
)


class HeldBack(Exception):
    """The page that is open does not let the tab leave: no request for the next one went out."""


@dataclass
class Arrival:
    """Where a navigation led. `stayed`: the server answered, but with nothing to show; the tab is where it was."""

    url: str = ""
    status: int | None = None
    content_type: str | None = None
    redirects: list[tuple[str, int]] = field(default_factory=list)
    settled: Literal["quiet", "ceiling", "timeout"] | None = None
    partial: bool = False
    stayed: bool = False
    warnings: list[str] = field(default_factory=list)


async def navigate(
    tab: Tab, address: Address, *, exit_: Exit, wait_until: WaitUntil, deadline: float, referer: str | None = None
) -> Arrival:
    """Load `address` and wait as `wait_until` says, at most until `deadline` (loop time).

    Raises AddressForbidden, NavigationFailed, TimedOut (nothing came at all), PageCrashed, and HeldBack when the page
    before does not let go: the caller then puts another tab in its place.
    """
    loop = asyncio.get_running_loop()
    since = time.monotonic()
    await tab.watch.begin()
    left_ms = max(1.0, (deadline - loop.time()) * 1000)
    try:
        await _leave(tab, address.url, left_ms, referer)
    except PlaywrightTimeout:
        raise TimedOut(
            f"{address.host} sent nothing within {left_ms / 1000:.1f} s.", hint="Raise timeout_ms, or try again later."
        ) from None
    except PlaywrightError as fault:
        return await _without_document(tab, fault, exit_, since)
    await _refuse_proxy_page(tab, exit_, since)
    tab.opened = True
    arrival = _arrival(tab)
    await _wait(tab, arrival, wait_until, deadline)
    return arrival


async def _leave(tab: Tab, url: str, limit_ms: float, referer: str | None) -> None:
    """Go to `url`, until its document comes. Raises HeldBack where the page before prevents it; no empty tab does."""
    for _ in range(TRIES):
        going = asyncio.ensure_future(tab.page.goto(url, wait_until="commit", timeout=limit_ms, referer=referer))
        try:
            for patience in itertools.count(1):
                await asyncio.wait({going}, timeout=LEAVE_LIMIT_S)
                if going.done():
                    break
                if tab.opened and await _holds_back(tab, patience):
                    raise HeldBack
            await going
        except PlaywrightError as fault:
            # otherwise the page before went somewhere itself at the same moment
            if INTERRUPTED not in fault.message or not tab.opened:
                raise
        else:
            return
        finally:
            going.cancel()
            going.add_done_callback(_retrieve)
    raise HeldBack


async def _holds_back(tab: Tab, patience: int) -> bool:
    """Whether it is the page before that keeps a navigation from arriving, and not the server.

    It is when no request went out. The page cannot be asked: DevTools answers nothing while a navigation is on its way.
    When the answer is there and not shown, what the page before still runs is ended, and it gets a while longer.
    """
    seen = tab.watch.navigation
    if seen.status is None:
        return not seen.url
    await terminate(tab.cdp)
    return patience >= PATIENCE


def _arrival(tab: Tab) -> Arrival:
    seen = tab.watch.navigation
    return Arrival(
        url=tab.page.url,
        status=seen.status,
        content_type=seen.content_type,
        redirects=list(seen.redirects),
    )


async def _wait(tab: Tab, arrival: Arrival, wait_until: WaitUntil, deadline: float) -> None:
    tab.settled = None
    if wait_until == "settled":
        settled = await tab.watch.settle(deadline)
        arrival.settled, arrival.partial = settled.how, settled.partial
        tab.settled = settled
        if settled.how != "quiet":
            arrival.warnings.append(f"Not waited for any longer: {settled.waited_for}.")
        again = _arrival(tab)  # scripts may have moved on meanwhile
        arrival.url = again.url
        if again.status is not None:
            arrival.status, arrival.content_type = again.status, again.content_type
        return
    if wait_until == "commit":
        return
    left_ms = max(1.0, (deadline - asyncio.get_running_loop().time()) * 1000)
    try:
        await tab.page.wait_for_load_state(wait_until, timeout=left_ms)
    except PlaywrightTimeout:
        arrival.partial = True
        arrival.warnings.append(f"The page's {wait_until} event did not come in time; what has arrived can be read.")


async def _without_document(tab: Tab, fault: PlaywrightError, exit_: Exit, since: float) -> Arrival:
    """A navigation that Chromium calls failed: a verdict, or an answer that has no document."""
    if tab.crash.done():
        raise page_crashed() from fault
    seen = tab.watch.navigation
    refused = refusal(exit_, seen.url, since)
    if refused is None and seen.status is not None and any(sign in fault.message for sign in _STAYED):
        arrival = _arrival(tab)
        arrival.stayed, arrival.url = True, seen.url
        if not tab.opened:
            await clear(tab)
        arrival.warnings.append("There is no page to show; the tab stays where it was.")
        return arrival
    ours: TabwrightError | None = refused or net_failure(fault.message, seen.url)
    if ours is None:
        ours = translate(fault, crashed=False, browser_dead=False)
    await clear(tab)
    raise ours from fault


def _retrieve(going: "asyncio.Future[Any]") -> None:
    """Look at the error of a navigation that nobody waits for any more."""
    if not going.cancelled():
        going.exception()


async def _refuse_proxy_page(tab: Tab, exit_: Exit, since: float) -> None:
    """Over plain http the proxy's own refusal looks like a page of the site."""
    refused = refusal_of_document(tab, exit_, since)
    if refused is not None:
        await clear(tab)
        raise refused


def refusal_of_document(tab: Tab, exit_: Exit, since: float) -> TabwrightError | None:
    """Why the document that the tab went to was refused, if it was.

    The proxy marks its own answers over plain http, and takes the mark out of all others; over https it gives none, and
    Chromium has an error. The record then says why. It is not asked otherwise: what it holds may be about a picture.
    """
    seen = tab.watch.navigation
    if not seen.url:  # a new tab, whose document came before anyone watched
        return refusal(exit_, tab.page.url, since)
    answered_by_proxy = seen.url.startswith("http://") and VERDICT_HEADER.lower() in seen.headers
    return refusal(exit_, seen.url, since) if answered_by_proxy or seen.error is not None else None


async def clear(tab: Tab) -> None:
    """Leave no error page of Chromium's, or of the proxy's, behind."""
    tab.opened = False
    with contextlib.suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(BLANK_LIMIT_S):
            await tab.page.goto("about:blank", wait_until="commit")
