"""All tabs of one browser context: which is active, which the page opened, and how its dialogs are answered."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Literal, cast

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Dialog as PlaywrightDialog
from playwright.async_api import Download as PlaywrightDownload
from playwright.async_api import Error as PlaywrightError

from browser_service.errors import InvalidRequest, NoPage
from browser_service.tab.block import Blocker
from browser_service.tab.changes import TEXT, Dialog, Download, Journal
from browser_service.tab.options import ContextOptions
from browser_service.tab.refs import Numbers
from browser_service.tab.tab import Tab
from browser_service.tab.window import fit

_log = logging.getLogger(__name__)

ATTACH_LIMIT_S = 10.0
ARRIVAL_LIMIT_S = 1.0
ANSWER_LIMIT_S = 5.0
Answer = Literal["accepted", "dismissed"]
DialogKind = Literal["alert", "confirm", "prompt", "beforeunload"]
_ACCEPTED: dict[str, frozenset[str]] = {
    "default": frozenset({"alert", "beforeunload"}),
    "accept": frozenset({"alert", "beforeunload", "confirm", "prompt"}),
    "dismiss": frozenset(),
}


class Tabs:
    """The tabs of a context. Popups are adopted; over `limit` tabs, further ones are closed as they open."""

    def __init__(self, context: BrowserContext, options: ContextOptions) -> None:
        self.context = context
        self.journal = Journal()
        self.dialogs: Literal["default", "accept", "dismiss"] = "default"
        self.limit = 10
        self.numbers = Numbers()
        self.ending = False
        self.viewport = options.viewport
        self._light = options.browser == "light"
        self._emulated = options.emulated()
        self._numbers = itertools.count(1)
        self._tabs: dict[str, Tab] = {}
        self._active = ""
        self._user_agent = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._making = asyncio.Lock()
        self._arrived: list[Page] = []
        self.arrivals = 0
        self._arrival = asyncio.Event()
        context.on("page", self._page_opened)
        context.on("dialog", self._dialog_opened)

    def __iter__(self) -> Iterator[Tab]:
        return iter(tuple(self._tabs.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._tabs

    def __len__(self) -> int:
        return len(self._tabs)

    @property
    def active(self) -> Tab:
        """The tab that actions work in unless they name another."""
        if self._active not in self._tabs:
            raise NoPage("All tabs of this session are closed.", hint="Call open: it makes a new one.")
        return self._tabs[self._active]

    async def dress(self, options: ContextOptions) -> None:
        """Apply what can be set on a context that is already there."""
        self.dialogs = options.dialogs
        if options.block:
            await self.context.route("**/*", Blocker(options.block))
        if options.viewport != self.viewport and not self._emulated:
            self.viewport = options.viewport
            await fit(self.active.cdp, options.viewport)
        elif options.viewport != self.viewport:
            self.viewport = options.viewport
            for tab in self:
                await tab.page.set_viewport_size({"width": options.viewport.width, "height": options.viewport.height})

    def is_active(self, tab: Tab) -> bool:
        """Whether actions work in this tab unless they name another."""
        return tab.name == self._active

    async def user_agent(self) -> str:
        """What the browser calls itself in this context."""
        if not self._user_agent and self._tabs:
            self._user_agent = str(await self.active.world("() => navigator.userAgent", timeout_s=ANSWER_LIMIT_S))
        return self._user_agent

    def find(self, tab: str | None) -> Tab:
        """The tab with this id, the newest, or the active one."""
        if tab is None:
            return self.active
        if tab == "newest" and self._tabs:
            return next(reversed(self._tabs.values()))
        if tab not in self._tabs:
            raise InvalidRequest(f"There is no tab {tab!r}; the tabs are {', '.join(self._tabs)}.")
        return self._tabs[tab]

    def activate(self, tab: Tab) -> None:
        """Make `tab` the active one."""
        self._active = tab.name

    async def new(self) -> Tab:
        """A new, empty tab, ready to be used; it does not become active unless it is the first."""
        if len(self._tabs) >= self.limit:
            raise InvalidRequest(f"This session has its {self.limit} tabs already.", hint="Close one first.")
        tab = await self._prepare(await self._make())
        if not self._tabs and not self._emulated:
            await fit(tab.cdp, self.viewport)
        self._take_in(tab)
        return tab

    @contextlib.asynccontextmanager
    async def aside(self) -> AsyncIterator[Tab]:
        """An empty tab beside the others that only the caller knows, closed afterwards."""
        page = await self._make()
        try:
            yield await Tab.attach(page, light=self._light)
        finally:
            await asyncio.shield(_close(page))

    async def replace(self, tab: Tab) -> Tab:
        """Put a new empty page in the place of `tab`, under the same id. Cookies and storage stay."""
        fresh = await self._prepare(await self._make())
        fresh.name = tab.name
        self._tabs[tab.name] = fresh
        await tab.close(ANSWER_LIMIT_S)
        return fresh

    async def settle_adoptions(self, arrivals: int = 0) -> None:
        """Wait until so many tabs in all have come from the page, and until all that came can be used."""
        with contextlib.suppress(TimeoutError):  # one that was refused as a popup never comes
            async with asyncio.timeout(ARRIVAL_LIMIT_S):
                while self.arrivals < arrivals:
                    self._arrival.clear()
                    await self._arrival.wait()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=ATTACH_LIMIT_S)

    async def _make(self) -> Page:
        """A new page of our own; pages that arrive meanwhile are the document's and are adopted afterwards."""
        async with self._making:
            try:
                page = await self.context.new_page()
            finally:
                arrived, self._arrived = self._arrived, []
            for other in arrived:
                if other is not page:
                    self._arrived_from_page(other)
            return page

    async def _prepare(self, page: Page) -> Tab:
        tab = await Tab.attach(page, light=self._light)
        tab.on_console_error = self.journal.console_error
        page.on("close", lambda _: self._page_closed(tab))
        page.on("download", lambda download: self._download_began(tab, download))
        return tab

    def _take_in(self, tab: Tab) -> None:
        tab.name = f"t{next(self._numbers)}"
        self._tabs[tab.name] = tab
        self._active = self._active or tab.name

    def _page_opened(self, page: Page) -> None:
        """A page came: ours, when we are making one, else the document's."""
        if self._making.locked():
            self._arrived.append(page)
        else:
            self._arrived_from_page(page)

    def _arrived_from_page(self, page: Page) -> None:
        self.arrivals += 1
        self._arrival.set()
        self._start(self._adopt(page))

    async def _adopt(self, page: Page) -> None:
        try:
            async with asyncio.timeout(ATTACH_LIMIT_S):
                if len(self._tabs) >= self.limit:
                    self.journal.drop()
                    await page.close()
                    return
                tab = await self._prepare(page)
                tab.opened = True
                self._take_in(tab)
                self.journal.tab(tab.name, page.url)
        except (TimeoutError, PlaywrightError) as fault:
            _log.debug("a new tab went away before it could be used: %s", fault)

    def _page_closed(self, tab: Tab) -> None:
        """A page closed, by itself or by us; the last tab that is left becomes active where the active one closed."""
        if self._tabs.get(tab.name) is not tab:
            return
        del self._tabs[tab.name]
        if self._active == tab.name:
            self._active = next(reversed(self._tabs), "")
        self.journal.closed(tab.name)
        if not self._tabs and not self.ending:
            self._start(self._begin_anew())

    async def _begin_anew(self) -> None:
        """A page closed the last tab: the session goes on with an empty one."""
        try:
            async with asyncio.timeout(ATTACH_LIMIT_S):
                await self.new()
        except (TimeoutError, PlaywrightError) as fault:
            _log.debug("no new tab after the last one closed: %s", fault)

    def _dialog_opened(self, dialog: PlaywrightDialog) -> None:
        self._start(self._answer(dialog))

    async def _answer(self, dialog: PlaywrightDialog) -> None:
        kind = cast("DialogKind", dialog.type)
        accept = kind in _ACCEPTED[self.dialogs]
        answer: Answer = "accepted" if accept else "dismissed"
        self.journal.dialog(Dialog(kind=kind, message=dialog.message[:TEXT], answer=answer))
        try:
            async with asyncio.timeout(ANSWER_LIMIT_S):
                await (dialog.accept() if accept else dialog.dismiss())
        except (TimeoutError, PlaywrightError) as fault:
            _log.debug("a dialog went away before it was answered: %s", fault)

    def _download_began(self, tab: Tab, download: PlaywrightDownload) -> None:
        size = tab.watch.declared_size(download.url)
        self.journal.download(
            Download(file_name=download.suggested_filename[:TEXT], url=download.url[:2000], size=size)
        )
        self._start(_cancel(download))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _close(page: Page) -> None:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(ANSWER_LIMIT_S):
            await page.close()


async def _cancel(download: PlaywrightDownload) -> None:
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            await download.cancel()
    except (TimeoutError, PlaywrightError) as fault:
        _log.debug("a download could not be cancelled: %s", fault)
