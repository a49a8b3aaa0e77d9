"""The running browsers: how many of which kind, their health, their replacement when they die or grow old."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from browser_service import memory
from browser_service.browser import Browser
from browser_service.errors import BrowserCrashed, Overloaded, ShuttingDown, TabwrightError
from browser_service.finder import BrowserMissing
from browser_service.launcher import Launcher
from browser_service.settings import Kind, PoolSettings

_log = logging.getLogger(__name__)

PULSE_S = 3.0
FULL_CHECK_S = 60.0
WATCHDOG_S = 1.0
LONGEST_BACKOFF_S = 30.0


@dataclass(eq=False)
class _House:
    """The browsers of one kind."""

    kind: Kind
    wanted: int
    browsers: list[Browser] = field(default_factory=list)
    starting: int = 0
    failures: int = 0
    fault: TabwrightError | None = None
    stand_in: Kind | None = None


class Fleet:
    """Keeps browsers running. `take` gives one with a free place; `leave` gives the place back."""

    def __init__(self, settings: PoolSettings, launcher: Launcher) -> None:
        self._settings = settings
        self._launcher = launcher
        self._places = settings.contexts_each()
        self._houses: dict[Kind, _House] = {
            "full": _House("full", settings.full_browsers()),
            "light": _House("light", 0),
        }
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self.deaths = 0
        self.on_start: Callable[[Browser], Awaitable[None]] | None = None
        self.on_death: Callable[[Browser], None] | None = None

    def __repr__(self) -> str:
        return f"<Fleet {self.browsers()}>"

    async def start(self) -> None:
        """Start the full browsers (a light one where no full is to be had); returns when one runs."""
        self.spawn(self._take_pulse())
        self.spawn(self._end_fat_renderers())
        self._staff(self._houses["full"])
        while not self.browsers():
            if fault := next((house.fault for house in self._houses.values() if house.fault), None):
                raise fault
            await self._news.wait()

    async def close(self) -> None:
        """Close every browser."""
        self._closing = True
        self._tell()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(browser.close() for browser in self.browsers()))

    def browsers(self) -> list[Browser]:
        """All browsers that run or drain."""
        return [browser for house in self._houses.values() for browser in house.browsers]

    async def take(self, kind: Kind, deadline: float) -> Browser:
        """The browser with the most room, one place in it taken. Waits until `deadline` (loop time).

        Raises Overloaded when no place comes free, the reason when no browser can be started, ShuttingDown.
        """
        if memory.used_share() > self._settings.memory_share:
            raise Overloaded(
                "The machine's memory is nearly full: no new contexts are made.",
                hint="Close sessions that are not needed, or give the service more memory.",
                retry_after_s=10,
            )
        while True:
            if self._closing:
                raise ShuttingDown("The service is stopping.")
            house = self._house(kind)
            free = [each for each in house.browsers if each.usable and each.contexts < self._places]
            if free:
                browser = min(free, key=lambda each: each.contexts)
                browser.contexts += 1
                browser.served += 1
                return browser
            self._staff(house)
            try:
                async with asyncio.timeout_at(deadline):
                    await self._news.wait()
            except TimeoutError:
                raise self._no_place(house) from None

    def leave(self, browser: Browser) -> None:
        """Give one place back."""
        browser.contexts -= 1
        self._tell()

    def retire_if_old(self, browser: Browser) -> None:
        """Replace a browser that has served long enough: a new one first, this one when its last context is closed."""
        age_ms = (time.monotonic() - browser.started) * 1000
        young = browser.served < self._settings.recycle_contexts and age_ms < self._settings.recycle_age_ms
        if browser.draining or young:
            return
        browser.draining = True
        _log.info("%s is replaced after %d contexts", browser.name, browser.served)
        self._staff(self._houses[browser.kind])

    async def close_if_drained(self, browser: Browser) -> None:
        """End a browser that is being replaced once nobody works in it."""
        if browser.draining and not browser.contexts and not browser.dead.is_set():
            await browser.close()

    def suspect(self, browser: Browser) -> None:
        """Something in this browser did not answer: check it now, and replace it if it is not well."""
        if not browser.dead.is_set() and not self._closing and not browser.checking:
            browser.checking = True
            self.spawn(self._check(browser))

    async def ready(self, limit_s: float) -> bool:
        """Whether a browser answers within `limit_s`."""
        candidates = [browser for browser in self.browsers() if browser.usable]
        answers = await asyncio.gather(*(browser.answers(limit_s) for browser in candidates))
        for browser, answer in zip(candidates, answers, strict=True):
            if not answer:
                self.suspect(browser)
        return any(answers)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work in the background, ended when the fleet closes."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _house(self, kind: Kind) -> _House:
        house = self._houses[kind]
        if kind == "light" and not house.wanted and house.stand_in is None:
            house.wanted = max(1, self._settings.light_size)
        return self._houses[house.stand_in] if house.stand_in is not None else house

    def _no_place(self, house: _House) -> TabwrightError:
        if house.fault is not None and not house.browsers:
            return house.fault
        return Overloaded(
            "All browser contexts are in use.",
            hint="Close sessions that are not needed, or raise TABWRIGHT_POOL__SIZE or TABWRIGHT_POOL__CONTEXTS.",
            retry_after_s=5,
        )

    def _staff(self, house: _House) -> None:
        """Start as many browsers as are missing."""
        running = sum(not browser.draining for browser in house.browsers) + house.starting
        for _ in range(0 if self._closing else house.wanted - running):
            house.starting += 1
            self.spawn(self._start_one(house))

    async def _start_one(self, house: _House) -> None:
        try:
            if house.failures:
                await asyncio.sleep(min(LONGEST_BACKOFF_S, 0.25 * 2**house.failures))  # one that keeps dying
            browser = await self._launcher.launch(house.kind)
        except BrowserMissing as fault:
            self._missing(house, fault)
        except Exception as fault:  # noqa: BLE001  reported, kept for those who wait, and tried again
            foreseen = isinstance(fault, TabwrightError)
            _log.error("a %s browser does not start: %s", house.kind, fault, exc_info=None if foreseen else fault)
            self._failed(house, fault)
        else:
            self._started(house, browser)
        finally:
            house.starting -= 1
            self._staff(house)
            self._tell()

    def _started(self, house: _House, browser: Browser) -> None:
        house.fault = None
        house.browsers.append(browser)
        browser.on_death = lambda dead: self._died(house, dead)
        if browser.dead.is_set():
            self._died(house, browser)
        else:
            self._well(browser)

    def _well(self, browser: Browser) -> None:
        """It can be used: contexts are made ahead in it."""
        browser.checking = False
        if self.on_start is not None:
            self.spawn(_awaited(self.on_start(browser)))

    def _failed(self, house: _House, fault: Exception) -> None:
        """A browser did not start: those who wait learn why, and it is tried again after a pause."""
        house.failures = min(house.failures + 1, 8)
        house.fault = (
            fault if isinstance(fault, TabwrightError) else BrowserCrashed(f"The browser does not start: {fault}")
        )

    def _missing(self, house: _House, fault: BrowserMissing) -> None:
        """No browser of this kind on the machine: the other kind stands in, where there is one."""
        house.wanted = 0
        other = self._houses["light" if house.kind == "full" else "full"]
        if other.stand_in is not None:
            house.fault = other.fault = fault
            return
        _log.warning("no %s browser here: the %s one stands in", house.kind, other.kind)
        house.stand_in = other.kind
        other.wanted = other.wanted or max(1, self._settings.light_size)
        self._staff(other)

    def _died(self, house: _House, browser: Browser) -> None:
        """A browser is gone: another is started."""
        if browser not in house.browsers:
            return
        house.browsers.remove(browser)
        if not self._closing and not browser.draining:
            self.deaths += 1
            lived = time.monotonic() - browser.started
            house.failures = 0 if lived > LONGEST_BACKOFF_S else min(house.failures + 1, 8)
            _log.warning("%s died after %.0f s with %d contexts", browser.name, lived, browser.contexts)
        if self.on_death is not None:
            self.on_death(browser)
        if not self._closing:
            self.spawn(browser.kill())
            self._staff(house)
        self._tell()

    async def _end_fat_renderers(self) -> None:
        """End renderers that hold too much memory; their pages crash, the browser goes on."""
        while True:
            await asyncio.sleep(WATCHDOG_S)  # pacing
            for browser in self.browsers():
                if browser.pid is not None and browser.contexts:
                    await asyncio.to_thread(self._end_fat, browser.name, browser.pid)

    def _end_fat(self, name: str, pid: int) -> None:
        for process in memory.fat_renderers(pid, self._settings.renderer_memory):
            _log.warning("%s: a renderer holds more than %d bytes and is ended", name, self._settings.renderer_memory)
            process.kill()

    async def _take_pulse(self) -> None:
        """Ask every browser for a sign of life now and then, and for a real page load more rarely."""
        checked: dict[Browser, float] = {}
        while True:
            await asyncio.sleep(PULSE_S)  # pacing
            checked = {browser: checked.get(browser, time.monotonic()) for browser in self.browsers()}
            for browser, last in checked.items():
                if time.monotonic() - last > FULL_CHECK_S or not await browser.answers(PULSE_S):
                    checked[browser] = time.monotonic()
                    self.suspect(browser)

    async def _check(self, browser: Browser) -> None:
        try:
            limit_s = self._settings.health_timeout_ms / 1000
            if await browser.healthy(limit_s):
                self._well(browser)
                return
            if await browser.answers(limit_s):  # it runs: a page that starves the others is the lesser loss
                await asyncio.to_thread(self._end_busiest, browser)
                if await browser.healthy(limit_s):
                    self._well(browser)
                    return
            _log.warning("%s is ended: it does not load a page", browser.name)
            await browser.kill()
        finally:
            browser.checking = False
            self._tell()

    def _end_busiest(self, browser: Browser) -> None:
        culprit = memory.busiest_renderer(browser.pid) if browser.pid is not None else None
        if culprit is not None:
            _log.warning("%s: a renderer that starves the others is ended", browser.name)
            culprit.kill()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("work on the browsers failed", exc_info=task.exception())


async def _awaited(work: Awaitable[None]) -> None:
    await work
