"""Opaque redirects, asked on 127.0.0.1."""

import asyncio
from collections.abc import Sequence

import httpx
import pytest

from search.cookies import Cookies
from search.engine import Hit
from search.resolve import destination, resolve
from tests.fetch.http_server import Behaviours, Raw, RawSite, answer, raw_site, redirect

TARGET = "https://example.org/a?b=1&c=2"
SILENT = Raw(b"", "hold")


async def _resolved(behaviours: Behaviours, limit_s: float = 20.0, at_once: int = 5) -> tuple[tuple[Hit, ...], RawSite]:
    async with raw_site(behaviours) as site, httpx.AsyncClient() as client:
        hits = [Hit("t", site.url + path, opaque=True) for path in behaviours]
        return await resolve(hits, client.send, limit_s=limit_s, at_once=at_once), site


@pytest.mark.parametrize(
    "said",
    [
        redirect(TARGET),
        redirect(TARGET, status="301 Moved"),
        answer(f'<script>window.location.replace("{TARGET}")</script>'),
        answer(f"<script>location.href = '{TARGET}';</script>"),
        answer('<script>window.location.replace("https:\\/\\/example.org\\/a?b=1\\u0026c\\x3d2")</script>'),
        answer("<script>var u = 'https://example.org/a?b=1&amp;c=2'; go(u)</script>"),
        answer(
            '<noscript><META http-equiv="refresh" content="0;URL=\'https://example.org/a?b=1&amp;c=2\'"></noscript>'
        ),
        answer("<script>var url = '';url += 'https://exam';url += 'ple.org/a?b=';url += '1&c=2';go(url)</script>"),
    ],
)
async def test_the_target_is_taken_from_header_script_or_refresh(said: Raw) -> None:
    """And is no longer opaque."""
    (hit,), _ = await _resolved({"/link?url=x": said})
    assert (hit.url, hit.opaque) == (TARGET, False)


@pytest.mark.parametrize(
    "said",
    [
        redirect("javascript:alert(1)"),
        redirect("file:///etc/passwd"),
        redirect("http://www.sogou.com/antispider/?from=x"),
        redirect("https://wappass.baidu.com/static/captcha/x"),
        redirect("/link?url=x"),
        answer("<p>nothing here</p>"),
        answer(f'<script>window.location.replace("{TARGET}")</script>', status="403 Forbidden"),
        answer("<script>location.href = 'data:text/html,x'</script>"),
        answer(b"\x00\xff" * 100_000),
        Raw(b"", "reset"),
    ],
)
async def test_what_does_not_lead_to_a_page_stays(said: Raw) -> None:
    """The redirect is kept, marked as before."""
    (hit,), site = await _resolved({"/link?url=x": said})
    assert (hit.url, hit.opaque) == (f"{site.url}/link?url=x", True)


async def test_the_place_it_leads_to_is_not_visited() -> None:
    """Not even on the same server."""
    async with (
        raw_site({"/link?url=x": redirect("/page"), "/page": answer("x")}) as site,
        httpx.AsyncClient() as client,
    ):
        hits = await resolve([Hit("t", f"{site.url}/link?url=x", opaque=True)], client.send, limit_s=20)
    assert hits[0].url == f"{site.url}/page"
    assert [each.path for each in site.asked] == ["/link?url=x"]


async def test_from_one_redirect_of_an_engine_to_the_next() -> None:
    """From http to https; the target itself is still not asked."""
    asked = []

    async def send(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        place = str(request.url).replace("http:", "https:") if request.url.scheme == "http" else TARGET
        return httpx.Response(302, headers={"Location": place})

    hits = await resolve([Hit("t", "http://www.baidu.com/link?url=x", opaque=True)], send, limit_s=20)
    assert hits[0].url == TARGET
    assert asked == ["http://www.baidu.com/link?url=x", "https://www.baidu.com/link?url=x"]


async def test_plain_results_cost_no_request() -> None:
    """Only what is opaque is asked about, and each once."""
    async with raw_site({"/link?url=x": redirect(TARGET)}) as site, httpx.AsyncClient() as client:
        opaque = Hit("t", f"{site.url}/link?url=x", opaque=True)
        hits = await resolve([Hit("p", f"{site.url}/plain"), opaque, opaque], client.send, limit_s=20)
    assert [hit.url for hit in hits] == [f"{site.url}/plain", TARGET, TARGET]
    assert len(site.asked) == 1


async def test_time_that_runs_out_keeps_what_is_there() -> None:
    """A slow one does not spoil the others."""
    work = _resolved({"/link?url=slow": SILENT, "/link?url=x": redirect(TARGET)}, limit_s=1.0)
    hits, _ = await asyncio.wait_for(work, 15)
    assert [hit.opaque for hit in hits] == [True, False]


async def test_not_more_than_so_many_are_asked_at_once() -> None:
    """Engines notice crowds."""
    _, site = await _resolved({f"/link?url={at}": redirect(TARGET) for at in range(9)}, at_once=2)
    assert (len(site.asked), site.most <= 2) == (9, True)


async def test_cancelling_leaves_nothing_running() -> None:
    """All requests end with the call."""
    ended = asyncio.Event()

    async def send(request: httpx.Request) -> httpx.Response:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return httpx.Response(200)

    task = asyncio.create_task(resolve([Hit("t", "http://a.example/link?url=x", opaque=True)], send, limit_s=20))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_the_cookies_of_the_search_go_with_it() -> None:
    """Engines give the target only to who has searched."""
    cookies = Cookies()
    cookies.jar("local").store(["visitor=1; Path=/"], "http://127.0.0.1/")
    async with raw_site({"/link?url=x": redirect(TARGET)}) as site, httpx.AsyncClient() as client:
        await resolve([Hit("t", f"{site.url}/link?url=x", opaque=True)], client.send, limit_s=20, cookies=cookies)
    assert (site.asked[0]["cookie"], site.asked[0]["referer"]) == ("visitor=1", f"{site.url}/")


@pytest.mark.parametrize("wrapped", ["https://www.google.com/url?q=https://example.org/", "https://example.org/"])
def test_a_target_that_is_a_redirect_itself_is_decoded(wrapped: str) -> None:
    """Where it carries its own."""
    response = httpx.Response(302, headers={"Location": wrapped})
    assert destination(response, "https://www.baidu.com/link?url=x") == "https://example.org/"


@pytest.mark.parametrize("hits", [(), (Hit("t", "https://example.org/"),)])
async def test_nothing_to_do_is_done_at_once(hits: Sequence[Hit]) -> None:
    """No request is made."""

    async def send(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request)

    assert await resolve(hits, send, limit_s=20) == tuple(hits)
