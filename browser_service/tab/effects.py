"""What an action did to the page: found by events and one round trip through the renderer, without fixed sleeps."""

import asyncio
import contextlib
import time

from playwright.async_api import Error as PlaywrightError

from browser_service.egress import Exit
from browser_service.tab.changes import Changes, Failure, Navigated
from browser_service.tab.faults import is_closed
from browser_service.tab.navigate import clear, refusal_of_document
from browser_service.tab.settle import Effect
from browser_service.tab.tab import Tab
from browser_service.tab.tabs import Tabs

NEW_TAB_LIMIT_S = 3.0
CLOSE_LIMIT_S = 1.0


class Effects:
    """Remembers how things stood before an action; `report` says what is different."""

    def __init__(self, tabs: Tabs, tab: Tab, exit_: Exit) -> None:
        self._tabs = tabs
        self._tab = tab
        self._exit = exit_
        self._began = time.monotonic()
        self._url = tab.page.url
        self._title = tab.known_title
        self._arrivals = tabs.arrivals
        tab.watch.mark()

    async def report(self, deadline: float, *, asked: bool = False, title: str | None = None) -> Changes:
        """Wait until what the action began has arrived, at most until `deadline` (loop time), and tell it.

        `asked`: the page has answered a question since the action, so what its handlers began is known already; `title`
        is then what it said of that.
        """
        tab = self._tab
        effect = Effect() if asked and not tab.watch.begun else await self._effect(deadline)
        navigated, windows = effect.navigated, effect.windows
        tab.settled = effect.settled or tab.settled
        await self._tabs.settle_adoptions(self._arrivals + windows)
        changes = self._tabs.journal.report()
        for new in changes.new_tabs:
            new.error = await self._failure_of_new(new.id, deadline)
        if tab.closed.done():
            return changes
        url = tab.page.url
        if title is None or navigated:
            title = await tab.title()
        if navigated or url != self._url:
            changes.navigated = Navigated(from_=self._url, to=url)
        if title != self._title:
            changes.title = title
            tab.known_title = title
        if navigated:
            changes.navigation_error = await self._failure(tab)
        return changes

    async def _effect(self, deadline: float) -> Effect:
        """What the action began; nothing more where it closed its own tab."""
        tab = self._tab
        try:
            return await tab.watch.quiet_after_action(deadline)
        except PlaywrightError as fault:
            if not is_closed(fault):
                raise
            await asyncio.wait({tab.closed}, timeout=CLOSE_LIMIT_S)
            return Effect()

    async def _failure_of_new(self, name: str, deadline: float) -> Failure | None:
        """A new tab is waited for until its document can be read."""
        tab = self._tabs.find(name) if name in self._tabs else None
        if tab is None or tab.page.is_closed():
            return None
        with contextlib.suppress(PlaywrightError):  # it may close again at once
            await tab.watch.settle(min(deadline, asyncio.get_running_loop().time() + NEW_TAB_LIMIT_S))
        return await self._failure(tab)

    async def _failure(self, tab: Tab) -> Failure | None:
        """Why a document could not be loaded; no page of the proxy's, or of Chromium's, is left to be read then."""
        fault = refusal_of_document(tab, self._exit, self._began)
        if fault is None:
            return None
        await clear(tab)
        return Failure(code=fault.code, detail=fault.detail)
