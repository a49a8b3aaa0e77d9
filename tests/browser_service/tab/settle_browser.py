"""Browsers, and pages in them that are watched."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from playwright.async_api import Browser, CDPSession, Page, async_playwright
from playwright.async_api import Error as PlaywrightError

from browser_service.tab.events import loop_time
from browser_service.tab.settle import SOURCE, Effect, Settled, Watch
from browser_service.tab.world import World

_READ = """() => {
  const read = (root) => (root.body ? root.body.innerText : root.textContent) +
    [...root.querySelectorAll('*')].map((each) => each.shadowRoot ? read(each.shadowRoot) : '').join('') +
    [...root.querySelectorAll('iframe')].map((each) => each.contentDocument ? read(each.contentDocument) : '').join('')
  return read(document)
}"""


@dataclass(frozen=True)
class Chromium:
    """A running browser."""

    light: bool
    browser: Browser


@contextlib.asynccontextmanager
async def launched(kind: str) -> AsyncIterator[Chromium]:
    """A light or full browser; without its sandbox, since the pages are our own."""
    light = kind == "light"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell" if light else "/usr/bin/chromium",
            headless=light,
            args=[] if light else ["--ozone-platform=headless", "--disable-gpu"],
            chromium_sandbox=False,
        )
        yield Chromium(light, browser)
        await browser.close()


@dataclass(frozen=True)
class Watched:
    """A page of its own context, with its watch."""

    page: Page
    cdp: CDPSession
    watch: Watch

    async def open(self, address: str, limit_s: float = 20.0) -> Settled:
        """Load this address and wait until it has settled."""
        deadline = loop_time() + limit_s
        await self.watch.begin()
        await self.page.goto(address, wait_until="commit")
        return await self.watch.settle(deadline)

    async def click(self, limit_s: float = 10.0) -> Effect:
        """Press the element `x`, by raw input that waits for nothing, and wait for what that began."""
        box = await self.page.locator("#x").bounding_box()
        assert box is not None
        self.watch.mark()
        for kind in ("mousePressed", "mouseReleased"):
            given = {"type": kind, "x": box["x"] + 2, "y": box["y"] + 2, "button": "left", "clickCount": 1}
            await self.cdp.send("Input.dispatchMouseEvent", given)
        return await self.watch.quiet_after_action(loop_time() + limit_s)

    async def text(self) -> str:
        """What the page shows."""
        return str(await self.page.evaluate(_READ))


@contextlib.asynccontextmanager
async def watched(chromium: Chromium, page: Page | None = None, *, plain: bool = False) -> AsyncIterator[Watched]:
    """A watch of this page, or of a new one in a context of its own. `plain`: the watch is not begun."""
    context = await chromium.browser.new_context(accept_downloads=False) if page is None else page.context
    try:
        page = page or await context.new_page()
        cdp = await context.new_cdp_session(page)
        world = World(cdp)
        watch = Watch(page, cdp, world, light=chromium.light)
        if not plain:
            await watch.attach()
            await world.arm(SOURCE)
        yield Watched(page, cdp, watch)
    finally:
        with contextlib.suppress(PlaywrightError):
            await context.close()
