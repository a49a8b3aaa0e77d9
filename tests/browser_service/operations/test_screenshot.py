"""Screenshots over REST: of sessions, and one-shot."""

import base64
import hashlib
import io
from typing import Any

import pytest
from PIL import Image

from tests.browser_service.operations.test_open import WALL
from tests.conftest import Api, Session
from tests.site import Request, Site

SQUARE = "<body style='margin:0'><div id=a style='width:200px;height:100px;background:#ff0000'></div>"


def picture(answer: dict[str, Any]) -> Image.Image:
    """The picture of an answer, its size and hash checked."""
    data = base64.b64decode(answer["image_base64"])
    image = Image.open(io.BytesIO(data))
    assert image.size == (answer["width"], answer["height"])
    assert hashlib.sha256(data).hexdigest() == answer["sha256"]
    return image.convert("RGB")


async def test_the_viewport_the_page_and_an_element(session: Session, site: Site) -> None:
    """Each has its own size; the receipt names the page."""
    url = site.page(SQUARE + "<div style='height:2900px'></div>")
    await session.do("open", url=url)
    assert picture(await session.do("screenshot")).size == (1280, 800)
    assert picture(await session.do("screenshot", full_page=True)).size == (1280, 3000)
    element = await session.do("screenshot", selector="#a")
    assert picture(element).size == (200, 100)
    assert picture(element).getpixel((100, 50)) == (255, 0, 0)
    assert element["receipt"]["url"] == url
    assert element["receipt"]["status"] == 200


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
async def test_formats_and_scaling(session: Session, site: Site, kind: str) -> None:
    """`max_width` scales down."""
    await session.do("open", url=site.page(SQUARE))
    answer = await session.do("screenshot", format=kind, max_width=640)
    assert answer["mime_type"] == f"image/{kind}"
    assert picture(answer).size == (640, 400)


async def test_clip_hide_and_style(session: Session, site: Site) -> None:
    """A part of the page, without some elements, with a style of the caller's; the page is unchanged afterwards."""
    await session.do("open", url=site.page(SQUARE))
    answer = await session.do(
        "screenshot", clip={"x": 0, "y": 0, "width": 50, "height": 40}, hide=["#a"], style="body{background:#00ff00}"
    )
    assert picture(answer).size == (50, 40)
    assert picture(answer).getpixel((20, 20)) == (0, 255, 0)
    assert picture(await session.do("screenshot")).getpixel((20, 20)) == (255, 0, 0)


async def test_the_bytes_themselves(session: Session, site: Site) -> None:
    """With `Accept: image/*`."""
    await session.do("open", url=site.page(SQUARE))
    answer = await session.http.post(f"{session.path}/screenshot", headers={"Accept": "image/png"})
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(answer.content)).size == (1280, 800)


async def test_a_missing_element_and_a_failed_resource(session: Session, site: Site) -> None:
    """The first is an error; the second is in the receipt."""
    gone = site.base + "/gone.png"
    site.route(Request.hang_up, "/gone.png")
    await session.do("open", url=site.page(f"{SQUARE}<img src='{gone}'>"))
    await session.refused("element_not_found", "screenshot", selector="#nothing")
    failed = (await session.do("screenshot"))["receipt"]["failed_resources"]
    assert [each["url"] for each in failed] == [gone]


async def test_one_shot_of_an_address(api: Api, site: Site) -> None:
    """With session options and actions before the picture."""
    url = site.page(SQUARE + "<button onclick=\"a.style.background='#0000ff'\">Go</button>")
    body = {"url": url, "viewport": {"width": 600, "height": 300}, "steps": [{"click": {"selector": "button"}}]}
    image = picture(await api.post("/v1/screenshot", body))
    assert (image.size, image.getpixel((100, 50))) == ((600, 300), (0, 0, 255))


async def test_one_shot_of_html(api: Api) -> None:
    """The document's origin is opaque, and it has no way to private addresses."""
    script = (
        "<script>document.title = origin; fetch('http://127.0.0.1:9/').catch(() => document.body.append('no'))</script>"
    )
    answer = await api.post("/v1/screenshot", {"html": f"<body><h1>Hi</h1>{script}", "browser": "light"})
    assert answer["receipt"]["title"] == "null"
    assert picture(answer).size == (1280, 800)


async def test_fail_on_status(api: Api, site: Site) -> None:
    """An error page is photographed unless the caller says otherwise."""
    url = site.page("<h1>Gone</h1>", status=410)
    assert (await api.post("/v1/screenshot", {"url": url}))["receipt"]["status"] == 410
    problem = await api.fails("/v1/screenshot", {"url": url, "fail_on": ["status"]}, "upstream_status")
    assert problem["upstream_status"] == 410


async def test_fail_on_blocked(api: Api, site: Site) -> None:
    """A wall is photographed, and the receipt says so, unless the caller says otherwise."""
    url = site.page(WALL, status=403)
    receipt = (await api.post("/v1/screenshot", {"url": url}))["receipt"]
    assert receipt["outcome"] in {"challenge", "blocked"}
    problem = await api.fails("/v1/screenshot", {"url": url, "fail_on": ["blocked"]}, "blocked")
    assert problem["outcome"] == receipt["outcome"]
    assert problem["evidence"]
    assert (await api.post("/v1/screenshot", {"url": site.page("<h1>Hi</h1>"), "fail_on": ["blocked"]}))["width"]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"url": "http://x.example/", "html": "x"}, "exactly one"),
        ({"html": "x", "steps": [{"click": {"selector": "a"}, "wait": {}}]}, "exactly one"),
        ({"html": "x", "steps": [{"fly": {}}]}, "fly"),
        ({"html": "x", "format": "gif"}, "format"),
        ({"html": "x", "timeout_ms": 61_000}, "timeout_ms"),
    ],
)
async def test_wrong_captures_name_the_field(api: Api, body: dict[str, object], word: str) -> None:
    """Before any browser is bothered."""
    assert word in (await api.fails("/v1/screenshot", body, "invalid_request"))["detail"]
