"""How Chromium is started decides what it asks of the network by itself, and what pages see of it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright
from playwright.async_api import Error as PlaywrightError

from browser_service import finder
from stealth import launch
from stealth.launch import launch_options, prepare_profile
from tests.site import Site
from tests.stealth.recording_proxy import RecordingProxy

# Without its quiet arguments Chromium makes its first request within a second of its start and repeats it after 2, 4,
# 12 and 40 s; with them a watch of 65 s saw none.
WATCH_S = 20.0
AFTER_PAGE_S = 6.0


@contextlib.asynccontextmanager
async def started(kind: launch.Kind, folder: Path, proxy: RecordingProxy) -> AsyncIterator[Browser]:
    """A browser that is started as the service starts it."""
    executable = finder.find(kind).executable
    options = launch_options(
        kind,
        executable,
        sandbox=finder.sandbox_likely(executable)[0],
        proxy_server=proxy.server,
        profile=prepare_profile(folder),
    )
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**options)
        yield browser
        await browser.close()


async def stays_unset(event: asyncio.Event, limit_s: float) -> bool:
    """Whether nothing sets the event for this long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            return not await event.wait()
    return True


async def test_idle_browsers_are_silent(tmp_path: Path) -> None:
    """Browsers without pages open no connection by themselves."""
    async with (
        RecordingProxy() as proxy,
        started("full", tmp_path / "full", proxy),
        started("light", tmp_path / "light", proxy),
    ):
        assert await stays_unset(proxy.connected, WATCH_S), proxy.asked


async def test_a_page_brings_only_its_own_requests(tmp_path: Path, site: Site) -> None:
    """Opening a page, filling in its form and misspelling a word reach the page's host and no other."""
    url = site.page(
        "<form action=/ok><input name=user autocomplete=username><input type=password><textarea></textarea>"
    )
    async with RecordingProxy({site.host}) as proxy, started("full", tmp_path, proxy) as browser:
        page = await (await browser.new_context(no_viewport=True)).new_page()
        await page.goto(url)
        await page.fill("[name=user]", "somebody")
        await page.fill("[type=password]", "something")
        await page.locator("textarea").press_sequentially("xqzt wkjv ")
        assert await stays_unset(proxy.surprised, AFTER_PAGE_S), proxy.asked
        assert site.host in proxy.asked


async def test_loopback_goes_through_the_proxy(tmp_path: Path, site: Site) -> None:
    """No address is reached directly, not even those that browsers exempt from their proxy."""
    async with RecordingProxy() as proxy, started("light", tmp_path, proxy) as browser:
        page = await browser.new_page()
        answer = await page.goto(f"http://localhost:{site.port}/")
        assert answer is not None
        assert answer.status == 502
        assert proxy.asked == [f"localhost:{site.port}"]


async def test_pages_see_a_desktop(tmp_path: Path) -> None:
    """The full browser looks like one that a person started: no automation, a mouse, a screen, plugins."""
    async with RecordingProxy() as proxy, started("full", tmp_path, proxy) as browser:
        page = await (await browser.new_context(no_viewport=True)).new_page()
        seen = await page.evaluate(
            """[navigator.webdriver, navigator.userAgent.includes('Headless'), typeof chrome,
            matchMedia('(hover: hover) and (pointer: fine)').matches, navigator.plugins.length,
            screen.width, screen.availHeight]"""
        )
        assert seen == [False, False, "object", True, 5, 1920, 1032]


async def test_popups_have_the_size_they_ask_for(tmp_path: Path, site: Site) -> None:
    """A window that a page opens with a size has that size, not the size of all windows."""
    async with RecordingProxy({site.host}) as proxy, started("full", tmp_path, proxy) as browser:
        context = await browser.new_context(no_viewport=True)
        page = await context.new_page()
        await page.goto(site.page("opener"))
        async with context.expect_page() as opening:
            await page.evaluate("void open('about:blank', '', 'width=400,height=300')")
        assert await (await opening.value).evaluate("innerWidth") == 400


async def test_popups_without_a_gesture_are_blocked(tmp_path: Path, site: Site) -> None:
    """As in a person's browser, a page opens no window that no click asked for."""
    url = site.page("<script>onload = () => { document.title = open('about:blank') ? 'opened' : 'blocked' }</script>")
    async with RecordingProxy({site.host}) as proxy, started("full", tmp_path, proxy) as browser:
        page = await (await browser.new_context(no_viewport=True)).new_page()
        await page.goto(url)
        assert await page.title() == "blocked"


async def test_every_argument_of_playwright_is_considered(tmp_path: Path) -> None:
    """What Playwright would pass is passed, replaced or left out on purpose; an update that adds some is noticed."""
    ours = launch_options(
        "full", tmp_path, sandbox=True, proxy_server="http://127.0.0.1:1", profile=tmp_path, headed_ozone=False
    )["args"]
    known = {argument.partition("=")[0] for argument in ours} | set(launch.LEFT_OUT) | {"--no-sandbox"}
    features = {*launch.DISABLED_FEATURES, *launch.ENABLED_FEATURES, *launch.LEFT_OUT_FEATURES}
    for argument in await arguments_of_playwright(tmp_path):
        name, _, value = argument.partition("=")
        assert name in known
        if name in {"--disable-features", "--enable-features"}:
            assert set(value.split(",")) <= features


async def arguments_of_playwright(folder: Path) -> list[str]:
    """What Playwright passes by itself to a headless Chromium, told by a program that stands in for it."""
    told = folder / "told"
    program = folder / "program"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{told}"\n', encoding="utf-8")
    program.chmod(0o700)
    async with async_playwright() as playwright:
        with pytest.raises(PlaywrightError):
            await playwright.chromium.launch(executable_path=program)
    return told.read_text(encoding="utf-8").split("\n")[:-1]
