"""Real browsers and bare tabs for tests of what works below the service."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from browser_service import finder
from browser_service.tab import refs
from browser_service.tab.capture import Picture, Shot, capture
from browser_service.tab.options import Viewport
from browser_service.tab.window import fit
from browser_service.tab.world import World

Kind = Literal["full", "light"]
KINDS: tuple[Kind, ...] = ("full", "light")
VIEW = Viewport(width=600, height=400)


@contextlib.asynccontextmanager
async def launched(kind: Kind, *arguments: str) -> AsyncIterator[Browser]:
    """A browser of this kind; the full one has windows, on no display."""
    headed = ["--ozone-platform=headless", "--disable-gpu", "--screen-info={1920x1080 workAreaBottom=48}"]
    async with async_playwright() as playwright:
        await playwright.selectors.register(refs.ENGINE, script=refs.engine(), content_script=True)
        browser = await playwright.chromium.launch(
            executable_path=finder.find(kind, None).executable,
            headless=kind == "light",
            chromium_sandbox=False,
            args=[*(headed if kind == "full" else []), *arguments],
        )
        yield browser
        await browser.close()


@dataclass
class BareTab:
    """A page with a DevTools session and our world in it."""

    page: Page
    cdp: CDPSession
    world: World

    async def take(self, limit_s: float = 20, **given: Any) -> Picture:
        """A picture."""
        deadline = asyncio.get_running_loop().time() + limit_s
        return await capture(self.page, self.cdp, self.world, Shot(**given), deadline=deadline)


async def bare_tab(browser: Browser, kind: Kind = "light", **options: Any) -> BareTab:
    """A tab of 600 x 400, in the full browser by the size of its window, unless `options` of the context differ."""
    windowed = kind == "full" and not options.keys() & {"viewport", "device_scale_factor", "is_mobile"}
    size: Any = {"no_viewport": True} if windowed else {"viewport": VIEW.model_dump()}
    context = await browser.new_context(**size | options)
    return await another(await context.new_page(), windowed=windowed)


async def another(page: Page, *, windowed: bool) -> BareTab:
    """The same for a page that is there already."""
    cdp = await page.context.new_cdp_session(page)
    world = World(cdp)
    await world.arm("")
    if windowed:
        await fit(cdp, VIEW)
    return BareTab(page, cdp, world)
