"""Pictures of real pages in both browsers, judged by their pixels: what they show, and how large they are."""

from typing import Any

import pytest
from playwright.async_api import Browser

from browser_service.errors import ContentTooLarge, ElementNotActionable, ElementNotFound, InvalidRequest, TimedOut
from browser_service.tab.capture import Picture
from tests.browser_service.tab.chromium import BareTab, Kind, bare_tab
from tests.browser_service.tab.pixels import (
    BLUE,
    GREEN,
    RED,
    block,
    colour,
    differing,
    pixels,
    stripe,
    stripes,
    wrong_stripes,
)
from tests.site import Request, Site


async def test_the_viewport_is_exactly_as_wide_as_asked(tab: BareTab) -> None:
    """A long page is shown over the whole width, with no scrollbar in the picture."""
    await tab.page.set_content("<style>body{margin:0;background:red}</style>" + block("height:3000px"))
    seen = await tab.take()
    assert (seen.width, seen.height) == (600, 400)
    assert {colour(seen, -1, y) for y in range(0, 400, 20)} == {RED}


async def test_places_in_the_picture_are_places_on_the_page(tab: BareTab) -> None:
    """Once it is in a picture, an element stays where the picture shows it."""
    await tab.page.set_content(
        "<style>body{margin:0;height:3000px}</style>" + block("margin-left:auto;width:10px;height:10px;background:red")
    )
    assert colour(await tab.take(), 595, 5) == RED
    assert await tab.page.evaluate("document.elementFromPoint(595, 5).style.background") == "red"


@pytest.mark.parametrize("full_page", [False, True])
async def test_the_picture_is_playwrights(tab: BareTab, full_page: bool) -> None:
    """No pixel differs from Playwright's own screenshot, with text in several scripts, gradients and borders."""
    await tab.page.set_content(
        "<h1>Hello 你好 🎉</h1><p style='font:15px serif'>日本語 текст العربية</p>"
        + block("height:300px;background:linear-gradient(45deg,red,blue,lime)")
        + block("border:0.5px solid;width:333.3px;height:900.5px;border-radius:9px")
    )
    ours = await tab.take(full_page=full_page)
    assert differing(ours.data, await tab.page.screenshot(full_page=full_page)) == 0


async def test_an_element_is_cut_out_where_it_is(tab: BareTab) -> None:
    """The picture of an element has its size and nothing around it, also below what is in view."""
    await tab.page.set_content(block("height:2000px") + block("width:70px;height:30px;background:blue", "id=b"))
    seen = await tab.take(element=tab.page.locator("#b"))
    assert (seen.width, seen.height) == (70, 30)
    assert colour(seen, 0, 0) == colour(seen, -1, -1) == BLUE
    assert await tab.page.evaluate("scrollY") == 0


async def test_an_element_in_an_inner_scroller_is_shown(plain: BareTab) -> None:
    """What is scrolled out of sight inside another element is scrolled into it first."""
    await plain.page.set_content(
        "<div style='height:100px;overflow:auto'>"
        + block("height:150px")
        + block("width:50px;height:50px;background:blue", "id=b")
        + block("height:900px;background:red")
        + "</div>"
    )
    assert colour(await plain.take(element=plain.page.locator("#b")), 25, 25) == BLUE


async def test_an_element_larger_than_the_viewport_is_whole(tab: BareTab) -> None:
    """Its lower end, far out of view, is in the picture too."""
    tall = block("height:2950px;background:green") + block("height:50px;background:blue")
    await tab.page.set_content(f"<div id=b style='width:300px'>{tall}</div>")
    seen = await tab.take(element=tab.page.locator("#b"))
    assert (seen.width, seen.height) == (300, 3000)
    assert (colour(seen, 9, 5), colour(seen, 9, -60), colour(seen, 9, -5)) == (GREEN, GREEN, BLUE)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_an_element_in_an_iframe(tab: BareTab, site: Site, host: str) -> None:
    """Elements in frames are found and shown, also where the frame is of another site and another process."""
    inner = site.page(block("height:900px") + block("width:40px;height:40px;background:blue", "id=b"))
    src = inner.replace("127.0.0.1", host)
    await tab.page.goto(site.page(block("height:700px") + f"<iframe src='{src}' height=200></iframe>"))
    seen = await tab.take(element=tab.page.frame_locator("iframe").locator("#b"))
    assert (seen.width, seen.height) == (40, 40)
    assert colour(seen, 20, 20) == BLUE


@pytest.mark.parametrize(("css", "said"), [("display:none", "hidden"), ("width:0;height:9px", "no size")])
async def test_what_cannot_be_seen_has_no_picture(plain: BareTab, css: str, said: str) -> None:
    """An element that is hidden or empty is refused with the reason."""
    await plain.page.set_content(block(css, "id=b"))
    with pytest.raises(ElementNotActionable, match=said):
        await plain.take(element=plain.page.locator("#b"))


async def test_an_element_that_is_not_there(plain: BareTab) -> None:
    """An element that went away is told from one that is hidden."""
    await plain.page.set_content("nothing")
    with pytest.raises((ElementNotFound, TimedOut)):
        await plain.take(element=plain.page.locator("#b"), limit_s=0.5)


async def test_headers_are_shown_once(tab: BareTab) -> None:
    """Fixed and sticky headers stand at the top of a full page alone, wherever the page was scrolled to."""
    await tab.page.set_content(
        "<style>body{margin:0} .f{position:fixed;top:0;left:0;width:50px;height:20px;background:red}"
        ".s{position:sticky;top:0;width:50px;height:20px;margin:30px 0 0 300px;background:blue}</style>"
        "<div class=f></div><div class=s></div>" + block("height:2950px")
    )
    await tab.page.evaluate("scrollTo(0, 1000)")
    image = pixels(await tab.take(full_page=True))
    assert image.size == (600, 3000)
    assert [y for y in range(0, 3000, 5) if colour(image, 25, y) == RED] == [0, 5, 10, 15]
    assert [y for y in range(0, 3000, 5) if colour(image, 325, y) == BLUE] == [30, 35, 40, 45]
    assert await tab.page.evaluate("scrollY") == 1000


async def test_what_loads_when_it_is_seen_is_on_a_full_page(tab: BareTab, site: Site) -> None:
    """Lazy images, and what scripts load when it comes into view, have arrived."""
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'><rect width='100' height='100' fill='blue'/>"
    )

    def slowly(request: Request) -> None:
        request.server.site.closing.wait(0.1)
        request.answer(svg + "</svg>", "image/svg+xml")

    picture = site.route(slowly)
    lazy = "".join(
        f"<img src='{picture}?{n}' loading=lazy width=100 height=100 style='display:block'>" for n in range(40)
    )
    await tab.page.goto(
        site.page(
            f"<style>body{{margin:0}}</style>{lazy}<div id=late style='height:100px'></div><script>"
            f"new IntersectionObserver(([e], o) => {{ if (e.isIntersecting) {{ o.disconnect();"
            f"late.innerHTML = '<img style=display:block width=100 src={picture}?late>' }} }}).observe(late)</script>"
        )
    )
    image = pixels(await tab.take(full_page=True))
    assert image.height == 4100
    assert [n for n in range(41) if colour(image, 50, n * 100 + 50) != BLUE] == []


@pytest.mark.parametrize("ratio", [1, 2])
async def test_20_000_pixels_are_whole(browser: Browser, kind: Kind, ratio: int) -> None:
    """A tall page is right row for row past 16 384 pixels, also with two device pixels each."""
    options: Any = {"viewport": {"width": 200, "height": 400}, "device_scale_factor": ratio}
    tab = await bare_tab(browser, kind, **options)
    await tab.page.set_content(stripes(20_000))
    seen = await tab.take(full_page=True)
    assert (seen.width, seen.height, seen.warnings) == (200 * ratio, 20_000 * ratio, [])
    assert wrong_stripes(seen, ratio) == []
    await tab.page.context.close()


async def test_beyond_65_000_pixels_the_picture_is_cut(browser: Browser, kind: Kind) -> None:
    """It holds 65 000 right rows of pixels, and says what is missing."""
    tab = await bare_tab(browser, kind, viewport={"width": 100, "height": 400})
    await tab.page.set_content(stripes(70_000))
    seen = await tab.take(full_page=True, format="webp")
    assert (seen.height, seen.mime_type) == (65_000, "image/png")
    assert any("cut" in each for each in seen.warnings)
    assert any("16383" in each for each in seen.warnings)
    assert wrong_stripes(seen) == []
    await tab.page.context.close()


async def test_a_tall_page_comes_in_tiles(browser: Browser, kind: Kind) -> None:
    """Tiles show the page from top to end, each rightly, in the format that was asked for."""
    tab = await bare_tab(browser, kind, viewport={"width": 100, "height": 400})
    await tab.page.set_content(stripes(40_000))
    seen = await tab.take(full_page=True, tiles=True)
    assert [each.height for each in seen.tiles] == [16_000, 16_000, 8_000]
    last = Picture(seen.tiles[2].data, seen.mime_type, 100, 8_000, [])
    assert ",".join(map(str, colour(last, 5, 50))) == stripe(320)
    assert seen.height == 40_000
    await tab.page.context.close()


async def test_too_large_a_picture_is_refused(browser: Browser, kind: Kind) -> None:
    """More than 120 megapixels are not even tried, and the page is put back."""
    tab = await bare_tab(browser, kind, viewport={"width": 2000, "height": 400})
    await tab.page.set_content(stripes(65_000))
    with pytest.raises(ContentTooLarge):
        await tab.take(full_page=True)
    seen = await tab.take(full_page=True, max_width=50)
    assert (seen.width, seen.height) == (50, 1625)
    await tab.page.context.close()


@pytest.mark.parametrize("width", [1, 333, 500, 599])
async def test_max_width_is_kept_to_the_pixel(plain: BareTab, width: int) -> None:
    """The picture is exactly so wide, and its height in proportion."""
    await plain.page.set_content("<style>body{margin:0;background:red}</style>")
    seen = await plain.take(max_width=width)
    assert seen.width == width
    assert abs(seen.height - 400 * width / 600) <= 1
    assert colour(seen, -1, -1) == RED


async def test_a_clip_is_a_part_of_the_page(plain: BareTab) -> None:
    """A clip counts from the page's corner, may lie out of view, and is trimmed to the page."""
    await plain.page.set_content(stripes(3000))
    await plain.page.evaluate("scrollTo(0, 700)")
    seen = await plain.take(clip=(10, 2450, 50, 9000))
    assert (seen.width, seen.height) == (50, 550)
    assert ",".join(map(str, colour(seen, 5, 0))) == stripe(24)
    assert ",".join(map(str, colour(seen, 5, -1))) == stripe(29)
    with pytest.raises(InvalidRequest):
        await plain.take(clip=(0, 3001, 10, 10))
