"""Lending browser contexts: made ready before they are asked for, lent to one user each, closed afterwards.

State changes are synchronous and come first; what is slow (making and closing contexts) comes after, holds no lock, and
gives back what was taken whether it fails or is cancelled.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TypeVar

from playwright.async_api import Error as PlaywrightError

from browser_service.browser import Browser
from browser_service.egress import Egress, Exit, Rotation
from browser_service.errors import BrowserCrashed, InvalidRequest, TabwrightError, TimedOut
from browser_service.fleet import Fleet
from browser_service.launcher import Launcher
from browser_service.settings import PoolSettings
from browser_service.tab.options import ContextOptions
from browser_service.tab.tabs import Tabs
from browser_service.tab.world import WorldGone

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

FURNISH_LIMIT_S = 15.0
CLOSE_LIMIT_S = 5.0
REFILL_PAUSE_S = 0.5


@dataclass(eq=False)
class Seat:
    """A browser context with its first tab, lent to one user, and that context's own way out to the network."""

    browser: Browser
    tabs: Tabs
    exit: Exit
    suspect: Callable[[], None]
    on_loss: Callable[[], None] | None = None


def _refused_option(fault: Exception) -> InvalidRequest | None:
    """Chromium or Playwright would not take one of the caller's options: the browser is well."""
    said = str(fault).splitlines()[0].removeprefix("Browser.new_context: ") if str(fault) else ""
    if any(sign in said for sign in ("storage state", "ocale", "imezone", "ookie", "localStorage", "JSON")):
        return InvalidRequest(f"The browser does not take an option of the session: {said[:300]}")
    return None


class BrowserPool:
    """Lends isolated browser contexts. `lend` gives a Seat, `give_back` takes it."""

    def __init__(self, settings: PoolSettings, launcher: Launcher, egress: Egress, rotation: Rotation) -> None:
        self._settings = settings
        self._egress = egress
        self._rotation = rotation
        self._warm: dict[Browser, deque[Seat]] = {}
        self._topping: set[Browser] = set()
        self._lent: dict[Browser, set[Seat]] = {}
        self._tasks: set[asyncio.Task[object]] = set()
        self.fleet = Fleet(settings, launcher)
        self.fleet.on_start = self._top_up
        self.fleet.on_death = self._lost

    def __repr__(self) -> str:
        lent = sum(len(seats) for seats in self._lent.values())
        return f"<BrowserPool lent={lent} warm={self.warm()} {self.fleet!r}>"

    def warm(self) -> int:
        """Contexts that are ready and not lent."""
        return sum(len(seats) for seats in self._warm.values())

    async def lend(self, options: ContextOptions, limit_s: float) -> Seat:
        """A context as `options` ask. Waits for a place; Overloaded when none comes free within `limit_s`.

        A browser that dies meanwhile is replaced by another one once.
        """
        deadline = asyncio.get_running_loop().time() + limit_s
        try:
            return await self._lend_once(options, deadline)
        except BrowserCrashed as fault:
            _log.info("trying another browser: %s", fault)
            return await self._lend_once(options, deadline)

    async def give_back(self, seat: Seat) -> None:
        """Close the context and free its place. Safe to repeat."""
        lent = self._lent.get(seat.browser, set())
        if seat in lent:
            lent.discard(seat)
            await asyncio.shield(self._spawn(self._clear(seat)))

    async def close(self) -> None:
        """Close every browser; seats that are still lent are lost."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.fleet.close()

    async def _lend_once(self, options: ContextOptions, deadline: float) -> Seat:
        browser = await self.fleet.take(options.browser, deadline)
        seat = self._from_warm(browser, options) or await self._from_new(browser, options)
        self._lent.setdefault(browser, set()).add(seat)
        self._spawn(self._refill(browser))
        self.fleet.retire_if_old(browser)
        try:
            await seat.tabs.dress(options)
            self._rotation.lead(seat.exit, options.proxy.url() if options.proxy is not None else None)
        except PlaywrightError as fault:
            self._spawn(self.give_back(seat))
            raise BrowserCrashed(f"The browser could not prepare a context: {fault.message}") from fault
        except BaseException:
            self._spawn(self.give_back(seat))
            raise
        return seat

    def _from_warm(self, browser: Browser, options: ContextOptions) -> Seat | None:
        warm = self._warm.get(browser)
        return warm.popleft() if warm and options.plain() else None

    async def _from_new(self, browser: Browser, options: ContextOptions) -> Seat:
        """A new seat in a place that was taken; the place is freed when none comes of it."""
        making = self._spawn(self._furnish(browser, options))
        try:
            return await asyncio.shield(making)
        except BaseException:
            making.add_done_callback(self._discard)
            self.fleet.leave(browser)
            raise

    async def _furnish(self, browser: Browser, options: ContextOptions) -> Seat:
        """A new context with an empty tab. Raises BrowserCrashed when the browser does not make one in time."""
        way_out = await self._egress.open_exit()
        options = options.model_copy(update={"browser": browser.kind})
        try:
            async with asyncio.timeout(FURNISH_LIMIT_S):
                context = await browser.new_context(proxy=way_out.playwright_proxy, **options.for_playwright())
                tabs = Tabs(context, options)
                await tabs.new()
                await tabs.user_agent()  # whoever is lent the context asks for it
        except (TimeoutError, PlaywrightError, WorldGone, TimedOut) as fault:
            await way_out.close()
            refused = _refused_option(fault)
            if refused is not None:
                raise refused from fault
            self.fleet.suspect(browser)
            said = str(fault) or f"no answer within {FURNISH_LIMIT_S:g} s"
            raise BrowserCrashed(f"The browser could not make a context: {said}") from fault
        except BaseException:
            await way_out.close()
            raise
        return Seat(browser, tabs, way_out, lambda: self.fleet.suspect(browser))

    def _discard(self, making: "asyncio.Task[Seat]") -> None:
        """A seat nobody waits for any more: close it."""
        if not making.cancelled() and making.exception() is None:
            self._spawn(self._clear(making.result(), place=False))

    async def _clear(self, seat: Seat, *, place: bool = True) -> None:
        """Close a context; `place`: it was counted as taken."""
        seat.tabs.ending = True
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await seat.tabs.context.close()
        except (TimeoutError, PlaywrightError) as fault:
            if not seat.browser.dead.is_set():
                _log.warning("a context of %s does not close: %s", seat.browser.name, str(fault) or "no answer in time")
                self.fleet.suspect(seat.browser)
        finally:
            await seat.exit.close()
            if place:
                self.fleet.leave(seat.browser)
        if seat.browser.draining and not seat.browser.contexts:
            self._drop_warm(seat.browser)
            await self.fleet.close_if_drained(seat.browser)

    async def _refill(self, browser: Browser) -> None:
        """Top up, but later: making a context takes the time of the page that is being opened in the one just lent."""
        await asyncio.sleep(REFILL_PAUSE_S)  # pacing
        await self._top_up(browser)

    async def _top_up(self, browser: Browser) -> None:
        """Keep some contexts ready in this browser."""
        if browser in self._topping:
            return
        self._topping.add(browser)
        try:
            while browser.usable and len(self._warm.setdefault(browser, deque())) < self._settings.warm:
                seat = await self._furnish(browser, ContextOptions(browser=browser.kind))
                if browser.dead.is_set():
                    await seat.exit.close()
                else:
                    self._warm.setdefault(browser, deque()).append(seat)
        except TabwrightError as fault:
            _log.debug("no context made ahead: %s", fault)
        finally:
            self._topping.discard(browser)

    def _lost(self, browser: Browser) -> None:
        """A browser is gone, and with it all its contexts."""
        self._drop_warm(browser)
        for seat in self._lent.pop(browser, set()):
            self._spawn(seat.exit.close())
            if seat.on_loss is not None:
                seat.on_loss()

    def _drop_warm(self, browser: Browser) -> None:
        for seat in self._warm.pop(browser, ()):
            self._spawn(seat.exit.close())

    def _spawn(self, work: Coroutine[object, object, _T]) -> "asyncio.Task[_T]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        fault = None if task.cancelled() else task.exception()
        if fault is not None and not isinstance(fault, TabwrightError):
            _log.error("work in the pool failed", exc_info=fault)
