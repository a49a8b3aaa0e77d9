"""Pictures of pages that load, move or fail: what is waited for, what stays behind, and what the errors say."""

import asyncio
import base64
import io
import zlib
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Browser, CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.errors import InvalidRequest, PageCrashed, TimedOut
from browser_service.tab.capture import Shot, capture
from browser_service.tab.world import WorldGone
from tests.browser_service.tab.chromium import BareTab, Kind, another, bare_tab
from tests.browser_service.tab.pixels import (
    BLACK,
    BLUE,
    GREEN,
    RED,
    WHITE,
    block,
    colour,
    differing,
    pixels,
    stripes,
)
from tests.site import Request, Site

# A font of one glyph: "x" is a square that fills the line.
SQUARE = zlib.decompress(
    base64.b64decode(
        "eNqFUE1LAlEUPW/eqClaCAXZaoqIdtEHYhC0EtoFChFE6MNGXcz4lcK0a1mbbNO/6Ge0EOpHtAiaP9BOmM7MM8sIunDPu+e+8+6970IASOEa"
        "EtZxeWuneFocA2KT2WrNVR2k8Ux+T77XcK7qshV7JX8hX2na6mK7Xj1h/EjPN5lIpOQa4zf6etPte9JnBHFDiDvtmkIm4k8hd5XXgYk4+Ry5"
        "1VKuHXvIsZcIX5132pd9VEK9cUTYQDgrfbif7FUWDj4gdfX33bvh9xkUpC8tUgkD2vhGWkGBGOmJArMmoozBafSNgd/GXtxCjIr/bab6IY2H"
        "B28yg4XRL731Ndm0t6QvEkV0mqGCqKfzgkBjcPujU0b3nfye75eyq1npj6Q/XtYKE/mJXoQ7n/40QcZOZpKZNOvo2MA8cuXuQPXskt0YOKqH"
        "MroYQKEHGyV6g8yJ+J8bm7Xw/gz4BC9iTY8="
    )
)


async def trace(tab: BareTab) -> Any:
    """Everything about the page that a capture could have left behind."""
    return await tab.page.evaluate(
        "[innerWidth, innerHeight, devicePixelRatio, screen.width, screen.height, scrollX, scrollY,"
        " screen.orientation.type, matchMedia('(pointer: coarse)').matches, document.adoptedStyleSheets.length,"
        " document.documentElement.outerHTML, Object.getOwnPropertyNames(window).length]"
    )


async def test_a_font_that_comes_late_is_waited_for(tab: BareTab, site: Site) -> None:
    """A web font that takes 1.5 s is in the picture of the viewport."""

    def slowly(request: Request) -> None:
        request.server.site.closing.wait(1.5)
        request.answer(SQUARE, "font/ttf")

    await tab.page.goto(
        site.page(
            f"<style>@font-face{{font-family:S;src:url({site.route(slowly)})}}"
            "p{font:100px/100px S;margin:0;color:blue}body{margin:0}</style><p>xx"
        ),
        wait_until="domcontentloaded",
    )
    seen = await tab.take()
    assert [colour(seen, x, y) for x, y in ((3, 3), (197, 97), (100, 50))] == [BLUE] * 3
    assert seen.warnings == []


async def test_a_font_that_never_comes_is_not(plain: BareTab, site: Site) -> None:
    """A web font that hangs costs 3 s, once, and is named; the text is drawn in another one."""
    loop = asyncio.get_running_loop()
    await plain.page.goto(
        site.page(
            f"<style>@font-face{{font-family:S;src:url({site.route(Request.hang)});font-display:swap}}"
            "p{font:100px S;margin:0}</style><p>WWW"
        ),
        wait_until="commit",
    )
    began = loop.time()
    first = await plain.take()
    between = loop.time()
    second = await plain.take()
    assert between - began < 6
    assert loop.time() - between < 2.5
    assert "font" in first.warnings[0]
    assert second.warnings == []
    assert BLACK in {colour(first, x, 60) for x in range(300)}


async def test_an_image_that_never_comes_is_given_up(plain: BareTab, site: Site) -> None:
    """A hanging image in view is waited for within a limit, and told; one out of view is not waited for."""
    address = site.route(Request.hang)
    await plain.page.goto(
        site.page(f"<img src='{address}' width=10 height=10><div style='height:2000px'></div><img src='{address}?2'>"),
        wait_until="commit",
    )
    await plain.page.wait_for_selector("img >> nth=1", state="attached")
    seen = await plain.take()
    assert seen.warnings == ["1 image(s) did not arrive in time and is missing from the picture."]
    assert (await plain.take()).warnings == []


MOVING = """<style>@keyframes m { from { left: 100px } to { left: 500px } }
div { position: absolute; width: 50px; height: 50px; left: 0 }
.ends { top: 0; background: red; animation: m 60s linear forwards }
.endless { top: 100px; background: blue; animation: m 60s linear infinite }
.changes { top: 200px; background: green; transition: left 60s linear }
</style><div class=ends></div><div class=endless></div><div class=changes></div><p id=host></p><script>
host.attachShadow({mode: 'open'}).innerHTML = document.querySelector('style').outerHTML +
  '<div class=ends style="top:300px"></div>'
document.querySelector('.changes').offsetTop
document.querySelector('.changes').style.left = '500px'
</script>"""


async def test_animations_are_shown_at_their_end(tab: BareTab) -> None:
    """What ends is at its end, also in shadow trees; what does not end is as without it, and goes on afterwards."""
    await tab.page.set_content(MOVING)
    image = pixels(await tab.take())
    assert [colour(image, 525, y) for y in (25, 225, 325)] == [RED, GREEN, RED]
    assert colour(image, 25, 125) == BLUE
    running = "document.getAnimations().map(each => [each.effect.target.className, each.playState])"
    assert await tab.page.evaluate(running) == [["ends", "finished"], ["endless", "running"]]
    await tab.page.wait_for_function("document.querySelector('.endless').getAnimations()[0].currentTime > 50")


async def test_animations_can_stay_on(plain: BareTab) -> None:
    """With animations on, the picture shows the moment."""
    await plain.page.set_content(MOVING)
    image = pixels(await plain.take(animations="on"))
    assert colour(image, 130, 25) == RED
    assert colour(image, 25, 125) != BLUE


async def test_the_caret_is_hidden(plain: BareTab) -> None:
    """A focused field shows no blinking caret."""
    await plain.page.set_content(
        "<textarea autofocus style='caret-color:red;outline:0;border:0;width:300px;height:300px;font:80px serif'>"
    )
    await plain.page.focus("textarea")
    image = pixels(await plain.take())
    assert RED not in {colour(image, x, y) for x in range(60) for y in range(0, 100, 4)}


STRICT: dict[str, Any] = {"Content_Security_Policy": "default-src 'none'; require-trusted-types-for 'script'"}


async def test_hide_and_style_hold_for_the_picture_only(plain: BareTab, site: Site) -> None:
    """Hidden elements keep their place, styles apply, under a strict policy, and nothing of it stays."""
    await plain.page.goto(
        site.page("<h1 class=ad><b style='visibility:visible'>AD</b></h1><p>text", **STRICT), wait_until="load"
    )
    before = await trace(plain)
    image = pixels(await plain.take(hide=(".ad",), style="body{background:blue;margin:0} p{display:none}"))
    assert image.getcolors() == [(240_000, BLUE)]
    assert await trace(plain) == before
    assert len(pixels(await plain.take()).getcolors() or []) > 1


async def test_a_selector_to_hide_must_parse(plain: BareTab) -> None:
    """A selector that is no CSS is named, not passed over."""
    await plain.page.set_content("x")
    with pytest.raises(InvalidRequest, match="text=x"):
        await plain.take(hide=("p", "text=x"))


@pytest.mark.parametrize("form", ["png", "webp"])
async def test_the_background_can_be_left_out(tab: BareTab, form: str) -> None:
    """Where the page paints nothing the picture is transparent, and the next one is white again."""
    await tab.page.set_content(block("width:50px;height:50px;background:red"))
    image = Image.open(io.BytesIO((await tab.take(omit_background=True, format=form, quality=100)).data))
    assert image.convert("RGBA").getpixel((300, 300)) == (0, 0, 0, 0)
    assert colour(await tab.take(), 300, 300) == WHITE


async def test_an_optimized_png_is_smaller_and_the_same(plain: BareTab) -> None:
    """`optimize` costs time, not pixels."""
    await plain.page.set_content("<h1>Text</h1>" * 20)
    fast, small = await plain.take(), await plain.take(optimize=True)
    assert len(small.data) < len(fast.data)
    assert differing(fast.data, small.data) == 0


SCREENS: list[dict[str, Any]] = [
    {},
    {"viewport": {"width": 500, "height": 300}, "device_scale_factor": 2, "color_scheme": "dark"},
    {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 3, "is_mobile": True, "has_touch": True},
]


@pytest.mark.parametrize("options", SCREENS)
async def test_pictures_leave_the_page_as_it_was(browser: Browser, kind: Kind, options: dict[str, Any]) -> None:
    """Size, pixel ratio, screen, touch, scroll position and document are the same after every kind of picture."""
    tab = await bare_tab(browser, kind, **options)
    await tab.page.set_content("<meta name=viewport content='width=device-width'><h1 id=h>Hi</h1>" + stripes(3000))
    await tab.page.evaluate("scrollTo(0, 50)")
    before = await trace(tab)
    kinds: list[dict[str, Any]] = [
        {},
        {"max_width": 100},
        {"full_page": True},
        {"element": tab.page.locator("#h")},
        {"clip": (0, 2000, 10, 10)},
        {"format": "jpeg", "omit_background": True},
    ]
    for given in kinds:
        await tab.take(**given)
        assert await trace(tab) == before
    await tab.page.context.close()


async def test_device_pixels_and_dark_mode(browser: Browser, kind: Kind) -> None:
    """Media queries hold in the picture, which has the device's pixels."""
    tab = await bare_tab(browser, kind, device_scale_factor=2, color_scheme="dark")
    await tab.page.set_content(
        "<style>body{margin:0}@media (min-resolution:1.5dppx) and (prefers-color-scheme:dark){body{background:#000}}"
        "</style>" + block("width:10px;height:10px;background:red")
    )
    seen = await tab.take()
    assert (seen.width, seen.height) == (1200, 800)
    assert [colour(seen, x, 5) for x in (0, 19, 20)] == [RED, RED, BLACK]
    assert (await tab.take(max_width=600)).width == 600
    await tab.page.context.close()


async def test_a_resized_viewport(browser: Browser, kind: Kind) -> None:
    """After a change of the emulated size, pictures have the new one."""
    tab = await bare_tab(browser, kind, device_scale_factor=2)
    await tab.take(max_width=100)
    await tab.page.set_viewport_size({"width": 300, "height": 200})
    assert (await tab.take(clip=(0, 0, 300, 100))).width == 600
    assert await tab.page.evaluate("[innerWidth, innerHeight]") == [300, 200]
    await tab.page.context.close()


async def test_tabs_in_the_background_and_at_once(tab: BareTab, kind: Kind) -> None:
    """Tabs behind others of the same window are captured, too, and several at the same time."""
    pages = [await tab.page.context.new_page() for _ in range(2)]
    tabs = [tab, *[await another(page, windowed=kind == "full") for page in pages]]
    for each, name in zip(tabs, ("red", "green", "blue"), strict=True):
        await each.page.set_content(f"<style>body{{margin:0;background:{name}}}</style>" + block("height:2000px"))
    await tabs[2].page.bring_to_front()
    seen = await asyncio.gather(*(each.take(full_page=full) for full in (False, True) for each in tabs))
    assert [colour(each, 300, 200) for each in seen] == [RED, GREEN, BLUE] * 2


async def test_a_page_that_has_drawn_nothing(plain: BareTab, site: Site) -> None:
    """While the head of a page keeps it from being drawn, the error says so, also before any element is there."""
    hanging = site.route(Request.hang)
    await plain.page.goto(site.page(f"<!doctype html><script src={hanging}></script><h1>x"), wait_until="commit")
    for change in ("1", "document.documentElement.remove()"):
        await plain.cdp.send("Runtime.evaluate", {"expression": change})
        with pytest.raises(TimedOut, match="drawn nothing"):
            await plain.take(limit_s=1)


async def test_a_page_that_never_comes_to_rest_times_out(tab: BareTab) -> None:
    """A page busy for ever makes the call fail at its limit."""
    loop = asyncio.get_running_loop()
    await tab.page.set_content("<script>setTimeout(() => { for (;;); })</script>")
    began = loop.time()
    with pytest.raises(TimedOut):
        await tab.take(limit_s=1)
    assert loop.time() - began < 2.5
    await tab.cdp.send("Runtime.terminateExecution")


async def test_a_crashed_page(tab: BareTab) -> None:
    """A page whose renderer died gives page_crashed."""
    await tab.page.set_content("x")
    async with tab.page.expect_event("crash"):
        crash = asyncio.ensure_future(tab.cdp.send("Page.crash"))
    with pytest.raises((PageCrashed, TimedOut)):
        await tab.take(limit_s=2)
    crash.cancel()


async def test_a_navigation_meanwhile(plain: BareTab, site: Site) -> None:
    """When the document goes away, the caller learns that asking again will do."""
    hanging = site.page(f"<img src='{site.route(Request.hang)}' width=9 height=9>")
    await plain.page.goto(hanging, wait_until="commit")
    await plain.page.wait_for_selector("img")
    taking = asyncio.ensure_future(plain.take())
    await plain.page.wait_for_function("document.images[0].complete === false")
    await plain.page.goto(site.page("next"))
    with pytest.raises(WorldGone):
        await taking


class Refusing:
    """A DevTools session in which Chromium takes no pictures."""

    def __init__(self, cdp: CDPSession) -> None:
        self._cdp = cdp

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cdp, name)

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Refuse one method, pass the others on."""
        if method == "Page.captureScreenshot":
            raise PlaywrightError("Protocol error (Page.captureScreenshot): Unable to capture screenshot")
        return await self._cdp.send(method, params)


async def test_playwright_steps_in(plain: BareTab) -> None:
    """Where DevTools takes no picture, Playwright takes the same one."""
    await plain.page.set_content(stripes(2000))
    deadline = asyncio.get_running_loop().time() + 20
    for given in ({}, {"full_page": True}, {"clip": (10, 900, 50, 50), "max_width": 25, "format": "jpeg"}):
        shot: Any = Shot(**given)
        refusing: Any = Refusing(plain.cdp)
        seen = await capture(plain.page, refusing, plain.world, shot, deadline=deadline)
        expected = await plain.take(**given)
        assert (seen.width, seen.height, seen.mime_type) == (expected.width, expected.height, expected.mime_type)
        assert differing(seen.data, expected.data) < 12
