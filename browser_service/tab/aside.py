"""A tab beside those of a session: its cookies and login, and nothing of it in the session's list or its report."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.tab.tab import Tab
from browser_service.tab.tabs import Tabs

CLOSE_LIMIT_S = 5.0


@contextlib.asynccontextmanager
async def aside(tabs: Tabs) -> AsyncIterator[Tab]:
    """An empty tab that only the caller knows, closed afterwards. The caller bounds the time that making it takes."""
    page = await tabs._make()
    try:
        yield await Tab.attach(page, light=tabs._light)  # noqa: SLF001
    finally:
        await asyncio.shield(_close(page))


async def _close(page: Page) -> None:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await page.close()
