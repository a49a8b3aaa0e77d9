"""Deciding when a page is ready to be read, and when what an input began has arrived: one `Watch` for each page.

What it knows: navigations and requests by events (`navigation`, `network`), the growth of the text by an observer in
our own world (`document`, settle.js), what the page has put off (`timers`, timers.js).
"""

from playwright.async_api import CDPSession, Page

from browser_service.tab.aftermath import Aftermath, Effect
from browser_service.tab.document import SOURCE, Observer
from browser_service.tab.events import Signal
from browser_service.tab.navigation import Navigation, Navigator
from browser_service.tab.network import Network
from browser_service.tab.readiness import Readiness, Settled
from browser_service.tab.timers import Timers
from browser_service.tab.world import World

__all__ = ["SOURCE", "Effect", "Settled", "Watch"]


class Watch:
    """Watches one page from its creation to its end.

    `light`: the page's timer functions may be wrapped, which it could notice; see `timers`.
    """

    def __init__(self, page: Page, cdp: CDPSession, world: World, *, light: bool) -> None:
        self._page = page
        self._cdp = cdp
        self._signal = signal = Signal()
        self._timers = Timers(cdp, hooked=not light)
        self._observer = Observer(page, cdp, world, signal, self._timers)
        self._navigator = Navigator(signal, lambda: world.frame, self._committed)
        self._network = Network(page, signal, self._navigator, self._grown, self._observer.broke_off)
        self._readiness = Readiness(signal, self._navigator, self._network, self._observer)
        self._aftermath = Aftermath(cdp, signal, self._navigator, self._network, self._observer)

    def __repr__(self) -> str:
        return f"<Watch {self.navigation.url} status={self.navigation.status} pending={len(self._network.pending)}>"

    async def attach(self) -> None:
        """Begin to watch; done once, before the world is armed and anything is opened."""
        self._page.on("close", lambda _: self._signal.end("Target closed"))
        self._page.on("crash", lambda _: self._signal.end("Target crashed"))
        self._network.attach()
        self._navigator.attach(self._cdp)
        self._observer.attach()
        await self._timers.attach()

    @property
    def navigation(self) -> Navigation:
        """Where the tab went since the last action began."""
        return self._navigator.navigation

    @property
    def navigating(self) -> bool:
        """Whether a navigation to another document has begun and neither arrived nor ended."""
        return self._navigator.navigating

    @property
    def failed(self) -> list[tuple[str, str]]:
        """The last sub-resources that failed since then, with Chromium's names for why; `failures` counts all."""
        return list(self._network.failed)

    @property
    def failures(self) -> int:
        """How many sub-resources failed."""
        return self._network.failures

    def declared_size(self, url: str) -> int | None:
        """The length in bytes that the last answer for a document or download at this address declared."""
        return self._network.declared_size(url)

    async def begin(self) -> None:
        """To be called right before a navigation is started by us."""
        await self._timers.resume()
        self.mark()
        self._navigator.expect()
        self._network.forget_failures()

    def mark(self) -> None:
        """To be called right before an input, so that only what it begins is waited for."""
        self._aftermath.mark()
        self._navigator.begin()

    @property
    def begun(self) -> bool:
        """Whether a navigation, a window or a request was begun since the mark, as far as is known without asking."""
        return self._aftermath.begun

    async def wait_navigation(self, deadline: float) -> bool:
        """Until no navigation is on its way, at most until then (loop time); tells whether a document came."""
        return await self._navigator.wait(deadline)

    async def settle(self, deadline: float, *, sweep: bool = True) -> Settled:
        """Until the page is ready to be read, at most until `deadline` (loop time).

        `sweep`: a page that waits to be scrolled is scrolled through once. Raises Playwright's error when the page is
        closed or crashes meanwhile.
        """
        return await self._readiness.settle(deadline, sweep=sweep)

    async def quiet_after_action(self, deadline: float) -> Effect:
        """After an input: until what it began has arrived, at most until `deadline` (loop time).

        A navigation is followed until the new page has settled; requests and what they change get a second. What a
        handler puts off by a timer counts up to 60 ms. Raises Playwright's error when the page is closed meanwhile.
        """
        return await self._aftermath.follow(deadline, self.settle)

    def _committed(self, url: str) -> None:
        self._network.reset()
        self._timers.committed()
        self._observer.replaced(url)

    def _grown(self) -> float:
        return self._observer.document.grown
