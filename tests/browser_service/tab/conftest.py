"""Browsers and tabs for tests of what works below the service."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.browser_service.tab.chromium import KINDS, BareTab, Kind, bare_tab, launched


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Which browser."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
async def browser(kind: Kind) -> AsyncIterator[Browser]:
    """A browser of this kind for all tests here, with a process for each site."""
    async with launched(kind, "--site-per-process") as browser:
        yield browser


@pytest.fixture
async def tab(browser: Browser, kind: Kind) -> AsyncIterator[BareTab]:
    """A tab of its own for each test."""
    tab = await bare_tab(browser, kind)
    yield tab
    await tab.page.context.close()


@pytest.fixture(scope="module")
async def light() -> AsyncIterator[Browser]:
    """One browser, for what does not depend on its kind."""
    async with launched("light") as browser:
        yield browser


@pytest.fixture
async def plain(light: Browser) -> AsyncIterator[BareTab]:
    """A tab in it."""
    tab = await bare_tab(light)
    yield tab
    await tab.page.context.close()
