"""One tab: a Playwright page, a DevTools session opened beforehand, our own world in it, the watch on its loading."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.errors import NoPage, TimedOut
from browser_service.tab.difference import Baseline
from browser_service.tab.faults import page_crashed
from browser_service.tab.refs import Frames
from browser_service.tab.settle import SOURCE, Settled, Watch
from browser_service.tab.world import TITLE, World, WorldGone, terminate

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

PROBE_LIMIT_S = 0.5
RETRIES = 40
RETRY_PAUSE_S = 0.025
FLOOD_MS, FLOOD_LINES = 1000, 2000


class Tab:
    """A tab with all that is needed to act in it. `await Tab.attach(page, …)` makes one."""

    def __init__(self, page: Page, cdp: CDPSession, *, light: bool) -> None:
        self.page = page
        self.cdp = cdp
        self.name = ""
        self.opened = False
        self.known_title = ""
        self.settled: Settled | None = None
        self.crash: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.world = World(cdp)
        self.watch = Watch(page, cdp, self.world, light=light)
        self.on_console_error: Callable[[str], None] | None = None
        self.frames = Frames()
        self.baseline: Baseline | None = None
        self.replaces: Literal["", "crashed", "stuck"] = ""
        self._console_since = 0.0
        self._console_lines = 0
        self._ending: asyncio.Future[None] | None = None

    @classmethod
    async def attach(cls, page: Page, *, light: bool) -> "Tab":
        """Prepare `page`: done once, when it is made, so that no action pays for it."""
        cdp = await page.context.new_cdp_session(page)
        tab = cls(page, cdp, light=light)
        page.on("crash", lambda _: _happened(tab.crash))
        page.on("close", lambda _: _happened(tab.closed))
        cdp.on("Runtime.consoleAPICalled", tab._console)
        cdp.on("Runtime.exceptionThrown", tab._uncaught)
        await tab.watch.attach()
        await tab.world.arm(SOURCE)
        return tab

    def __repr__(self) -> str:
        state = "crashed" if self.crash.done() else "open" if self.opened else "empty"
        return f"<Tab {self.name} {state} {self.page.url}>"

    def check(self) -> None:
        """Raise NoPage before anything was opened, PageCrashed where the page that was open has crashed."""
        if not self.opened:
            if self.replaces == "crashed":
                raise page_crashed()
            why = "Nothing has been opened in this tab yet."
            if self.replaces:
                why = "The page that was open did not answer any more; an empty tab was put in its place."
            raise NoPage(why, hint="Call open first.")

    async def steady(self, ask: Callable[[], Awaitable[_T]], deadline: float) -> _T:
        """The answer of a read-only question; asked again when a navigation takes the document away meanwhile."""
        loop = asyncio.get_running_loop()
        for _ in range(RETRIES):
            try:
                return await ask()
            except WorldGone:
                if loop.time() >= deadline:
                    break
                await asyncio.sleep(RETRY_PAUSE_S)  # until the next document's world exists; asking waits for it
        raise TimedOut("The page keeps navigating and could not be read.", hint="Call wait first, then read again.")

    async def title(self) -> str:
        """The document's title; where the page does not answer soon, the one that was known."""
        loop = asyncio.get_running_loop()
        try:
            return str(
                await self.steady(
                    lambda: self.world(f"() => document.title.slice(0, {TITLE})", timeout_s=PROBE_LIMIT_S),
                    loop.time() + PROBE_LIMIT_S,
                )
            )
        except (TimedOut, PlaywrightError):
            return self.known_title

    async def responsive(self) -> bool:
        """Whether scripts can run in the page; one that runs for ever is terminated for it."""
        if self.crash.done():
            return False
        await terminate(self.cdp)
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(PROBE_LIMIT_S):
                await self.cdp.send("Page.stopLoading")
        return await self.answers()

    async def answers(self) -> bool:
        """Whether a script can run in the page now: it is not busy, and no dialog is open."""
        try:
            async with asyncio.timeout(PROBE_LIMIT_S):
                await self.cdp.send("Runtime.evaluate", {"expression": "1"})
        except (TimeoutError, PlaywrightError):
            return False
        return True

    async def close(self, limit_s: float) -> bool:
        """Close the page; tells whether it closed in time."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(limit_s):
                await self.page.close()
            return True
        return self.page.is_closed()

    def _console(self, event: dict[str, Any]) -> None:
        self._count_console(event["timestamp"])
        if event["type"] not in {"error", "assert"} or self.on_console_error is None:
            return
        parts = (str(each.get("value") or each.get("description") or each["type"]) for each in event["args"])
        self.on_console_error(" ".join(parts))

    def _count_console(self, timestamp: float) -> None:
        """End a script that floods the console: every line passes through the driver, which other tabs need, too."""
        if timestamp - self._console_since > FLOOD_MS:
            self._console_since, self._console_lines = timestamp, 0
        self._console_lines += 1
        if self._console_lines % FLOOD_LINES == 0:
            self._ending = asyncio.ensure_future(terminate(self.cdp))
            if self._console_lines == FLOOD_LINES and self.on_console_error is not None:
                self.on_console_error(
                    f"The page wrote {FLOOD_LINES} lines to the console in a second: its script was ended."
                )

    def _uncaught(self, event: dict[str, Any]) -> None:
        if self.on_console_error is not None:
            details = event["exceptionDetails"]
            self.on_console_error(str(details.get("exception", {}).get("description") or details["text"]))


def _happened(event: "asyncio.Future[None]") -> None:
    if not event.done():
        event.set_result(None)
