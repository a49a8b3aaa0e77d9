"""One Chromium process with a Playwright driver of its own: launch, proof of health, death, removal.

A driver for every browser: one that dies, or moves a result of 40 MB, then hurts only its own sessions.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import BrowserContext, CDPSession, Playwright
from playwright.async_api import Error as PlaywrightError

from browser_service import processes
from browser_service.errors import BrowserCrashed
from browser_service.finder import Found

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Driver:
    """A Playwright driver: its interface and its process."""

    playwright: Playwright
    process: asyncio.subprocess.Process


StartDriver = Callable[[Path], Awaitable[Driver]]

CLOSE_LIMIT_S = 5.0
PROBE_PAGE = "data:text/html,<title>well</title>"


class Browser:
    """A running Chromium. `await launch(...)` makes one; `dead` is set when the process or its driver is gone."""

    def __init__(self, found: Found, folder: Path) -> None:
        self.kind = found.kind
        self.found = found
        self.folder = folder
        self.name = folder.name
        self.started = time.monotonic()
        self.contexts = 0
        self.served = 0
        self.draining = False
        self.dead = asyncio.Event()
        self.on_death: Callable[[Browser], None] | None = None
        self.pid: int | None = None
        self._driver: asyncio.subprocess.Process | None = None
        self._playwright: Playwright | None = None
        self._browser: PlaywrightBrowser | None = None
        self._session: CDPSession | None = None
        self._watch: asyncio.Task[None] | None = None
        self.checking = False

    def __repr__(self) -> str:
        state = "dead" if self.dead.is_set() else "draining" if self.draining else "running"
        return f"<Browser {self.name} {state} pid={self.pid} contexts={self.contexts} served={self.served}>"

    @property
    def usable(self) -> bool:
        """Whether new contexts may be made in it: not while it is doubted."""
        return not self.draining and not self.checking and not self.dead.is_set()

    async def new_context(self, **options: Any) -> BrowserContext:
        """A new isolated context; the caller bounds the wait."""
        if self._browser is None or self.dead.is_set():
            raise BrowserCrashed("The browser died before a context could be made in it.")
        return await self._browser.new_context(**options)

    async def answers(self, limit_s: float) -> bool:
        """A sign of life, in about a millisecond: driver and browser process run. It proves no more than that."""
        if self._session is None or self.dead.is_set():
            return False
        try:
            async with asyncio.timeout(limit_s):
                await self._session.send("Browser.getVersion")
        except (TimeoutError, PlaywrightError):
            return False
        return True

    async def healthy(self, limit_s: float) -> bool:
        """Load a real page in a new context: `is_connected()` stays true with the driver or the zygotes gone."""
        try:
            async with asyncio.timeout(limit_s):
                context = await self.new_context(accept_downloads=False)
                try:
                    page = await context.new_page()
                    await page.goto(PROBE_PAGE)
                    return await page.title() == "well"
                finally:
                    await context.close()
        except (TimeoutError, PlaywrightError, BrowserCrashed) as fault:
            _log.warning("%s fails its health check: %s", self.name, str(fault) or "no answer in time")
            return False

    async def close(self) -> None:
        """End the browser, politely first; nothing of it is left afterwards."""
        self.draining = True
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                if self._browser is not None and not self.dead.is_set():
                    await self._browser.close()
        except (TimeoutError, PlaywrightError) as fault:
            _log.warning("%s does not close: %s", self.name, str(fault) or "no answer in time")
        finally:
            await asyncio.shield(self.kill())

    async def kill(self) -> None:
        """End the whole process tree, driver included. Works on stopped processes; safe to repeat."""
        driver = self._driver.pid if self._driver and self._driver.returncode is None else None
        doomed = await asyncio.to_thread(processes.tree, driver, self.pid)
        self._die()
        await asyncio.to_thread(processes.kill, doomed)
        await asyncio.to_thread(processes.reap, self.folder)
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(CLOSE_LIMIT_S):
                if self._watch is not None:
                    await self._watch
                if self._playwright is not None:
                    await self._playwright.stop()
        await asyncio.to_thread(processes.remove, self.folder)

    async def start(self, options: dict[str, Any], start_driver: StartDriver, limit_s: float) -> None:
        """Start driver and Chromium; raises BrowserCrashed, with Chromium's own words, when it does not come up."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            async with asyncio.timeout(limit_s):
                driver = await start_driver(self.folder)
                self._playwright, self._driver = driver.playwright, driver.process
                self._watch = asyncio.create_task(self._watch_driver(self._driver))
                self._browser = await self._playwright.chromium.launch(**options)
                self._browser.on("disconnected", lambda _: self._die())
                self._session = await self._browser.new_browser_cdp_session()
                self.pid = await self._process_id(self._session)
        except (TimeoutError, PlaywrightError, OSError) as fault:
            await asyncio.shield(self.kill())
            said = _essence(str(fault)) or f"no answer within {limit_s:g} s"
            raise BrowserCrashed(f"Chromium ({self.found.executable}) does not start: {said}") from fault
        except BaseException:
            await asyncio.shield(self.kill())
            raise

    async def _process_id(self, session: CDPSession) -> int | None:
        answer = await session.send("SystemInfo.getProcessInfo")
        return next((int(each["id"]) for each in answer["processInfo"] if each["type"] == "browser"), None)

    async def _watch_driver(self, driver: asyncio.subprocess.Process) -> None:
        await driver.wait()
        self._die()

    def _die(self) -> None:
        if self.dead.is_set():
            return
        self.dead.set()
        if self.on_death is not None:
            self.on_death(self)


def _essence(text: str) -> str:
    """What matters of a failed launch: Chromium's last words where it has some, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = next((line for line in lines if "FATAL" in line or "error while loading" in line), "")
    return (fatal or (lines[0] if lines else ""))[:500]
