"""web_fetch over REST: each phase against a real server and real Chromium."""

import asyncio
import gzip
import itertools
import json
import time
from typing import Any

import pytest

from browser_service.service import Service
from tests.conftest import Api
from tests.site import Request, Site

PROSE = "".join(
    f"<p>Paragraph {number} tells of the harbour, its boats and the people who mend nets there every morning.</p>"
    for number in range(12)
)
ARTICLE = f"""<header>Site header</header><nav><a href='/a'>Menu one</a></nav>
<main><article><h1>The harbour</h1>{PROSE}</article></main>"""
SHELL = """<div id=root></div><script>
  fetch('{data}').then((r) => r.json()).then((d) => { root.innerHTML = '<h1>Built</h1><p>' + d.text + '</p>' })
</script>"""


async def fetch(api: Api, url: str, **given: Any) -> dict[str, Any]:
    """A fetch that must succeed; nothing is taken from the cache."""
    return await api.post("/v1/fetch", {"url": url, "cache": "off", **given})


async def test_an_article_is_read_by_plain_http(api: Api, site: Site) -> None:
    """No browser is needed; the content is the article without what surrounds it."""
    page = await fetch(api, site.page(ARTICLE, title="Harbour"), format="markdown")
    assert (page["method"], page["status"], page["outcome"]) == ("http", 200, "ok")
    assert "Paragraph 11" in page["content"]
    assert "Menu one" not in page["content"]
    assert [each["phase"] for each in page["phases"]] == ["http"]
    full = await fetch(api, page["url"], extract_mode="full")
    assert "Menu one" in full["content"]


async def test_text_that_scripts_bring_is_rendered(api: Api, site: Site) -> None:
    """A shell is upgraded to a browser, and what arrives late is waited for."""

    def late(request: Request) -> None:
        time.sleep(1.5)
        request.answer(json.dumps({"text": "Text that came by script. " * 20}), "application/json")

    page = await fetch(api, site.page(SHELL.replace("{data}", site.route(late))))
    assert "Text that came by script." in page["content"]
    assert page["method"] == "browser"
    assert [each["phase"] for each in page["phases"]] == ["http", "upgrade", "browser"]
    never = await fetch(api, page["url"], render="never")
    assert (never["method"], "Built" in never["content"]) == ("http", False)


async def test_a_short_page_that_is_whole_is_not_rendered(api: Api, site: Site) -> None:
    """Without scripts nothing more can come."""
    page = await fetch(api, site.page("<h1>Closed</h1><p>We open again on Monday.</p>"))
    assert (page["method"], len(page["phases"])) == ("http", 1)
    assert "We open again on Monday." in page["content"]


async def test_a_wall_is_an_error_that_says_what_was_seen(api: Api, site: Site) -> None:
    """Refused over HTTP and in the full browser: code blocked, with outcome, evidence and phases."""
    wall = """<html><head><title>Access Denied</title></head><body><h1>Access Denied</h1>
      You don't have permission to access this server.<p>Reference #18.2d351ab8.1557333295.a4e16ab</body></html>"""
    problem = await api.fails("/v1/fetch", {"url": site.page(wall, status=403), "timeout_ms": 30_000}, "blocked")
    assert (problem["outcome"], problem["upstream_status"]) == ("blocked", 403)
    assert problem["evidence"]
    assert "Access Denied" in problem["content"]
    assert [each["phase"] for each in problem["phases"]] == ["http", "browser"]


async def test_a_challenge_that_lifts_is_waited_for_and_not_met_again(api: Api, site: Site) -> None:
    """The browser waits across its reload; the cookie that it earned goes with the next call's plain HTTP."""
    challenge = """<html><head><title>Just a moment...</title></head><body>
      <div class=cf-challenge-running>Checking your browser</div>
      <script>setTimeout(() => { document.cookie = 'cf_clearance=yes; path=/'; location.reload() }, 400)</script>"""

    def guard(request: Request) -> None:
        if "cf_clearance=yes" in request.headers.get("Cookie", ""):
            request.answer(f"<title>Harbour</title>{ARTICLE}")
        else:
            request.answer(challenge, status=403, cf_mitigated="challenge", Server="cloudflare")

    url = site.route(guard).replace("127.0.0.1", "localhost")  # whose cookies no other test has
    first = await fetch(api, url)
    assert (first["method"], first["outcome"]) == ("browser", "ok")
    assert "Paragraph 11" in first["content"]
    second = await fetch(api, url)
    assert (second["method"], "Paragraph 11" in second["content"]) == ("http", True)


async def test_paging_gives_exactly_the_whole(api: Api, site: Site) -> None:
    """Pieces, joined by next_offset, are the content; the page is fetched once for all of them."""
    url = site.page(ARTICLE)
    whole = (await api.post("/v1/fetch", {"url": url, "format": "markdown"}))["content"]
    pieces, offset = [], 0
    for _ in itertools.repeat(None, 50):
        part = await api.post("/v1/fetch", {"url": url, "format": "markdown", "max_chars": 200, "offset": offset})
        assert part["from_cache"]
        pieces.append(part["content"])
        if part["next_offset"] is None:
            break
        offset = part["next_offset"]
    assert "".join(pieces) == whole
    assert site.hits[url.removeprefix(site.base)] == 1


async def test_concurrent_calls_share_one_fetch(api: Api, site: Site) -> None:
    """Ten at once: one request."""

    def slow(request: Request) -> None:
        time.sleep(0.3)
        request.answer(f"<title>Slow</title>{ARTICLE}")

    url = site.route(slow)
    pages = await asyncio.gather(*(api.post("/v1/fetch", {"url": url}) for _ in range(10)))
    assert site.hits[url.removeprefix(site.base)] == 1
    assert len({each["content"] for each in pages}) == 1


async def test_bodies_are_not_kept(api: Api, service: Service, site: Site) -> None:
    """A result holds what was read; the page itself may be ten megabytes."""
    ask = {"url": site.page(ARTICLE), "render": "always"}
    await api.post("/v1/fetch", ask)
    assert (await api.post("/v1/fetch", ask))["from_cache"]
    kept = list(service.web.cache._kept.values())
    assert kept
    assert not any(each.page.body or each.page.html for each in kept)


async def test_what_credentials_got_is_not_shared(api: Api, site: Site) -> None:
    """Headers and cookies are part of the key."""

    def greet(request: Request) -> None:
        request.answer(f"<title>Hi</title><p>Cookie {request.headers['Cookie']}, {request.headers['X-Who']}</p>{PROSE}")

    url = site.route(greet)
    one = await api.post("/v1/fetch", {"url": url, "cookies": {"who": "one"}, "headers": {"X-Who": "me"}})
    two = await api.post("/v1/fetch", {"url": url})
    assert "Cookie who=one, me" in one["content"]
    assert "Cookie None, None" in two["content"]
    assert not two["from_cache"]


async def test_a_session_lends_its_login(api: Api, site: Site) -> None:
    """The page is read in a tab of its own, with the session's cookies, and its own tab stays where it was."""
    login = site.page("<p>Logged in</p>", Set_Cookie="login=yes; Path=/")
    page = site.route(lambda r: r.answer(f"<title>Mine</title><p>I see {r.headers['Cookie']}</p>"))
    made = await api.post("/v1/sessions", {}, 201)
    path = f"/v1/sessions/{made['id']}"
    await api.post(f"{path}/open", {"url": login})
    seen = await api.post("/v1/fetch", {"url": page, "session": made["id"]})
    assert "I see login=yes" in seen["content"]
    state = (await api.http.get(path)).json()
    assert (len(state["tabs"]), state["url"]) == (1, login)
    await api.http.delete(path)


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        (b'{"b": [1, 2], "a": "\xc3\xa4"}', "application/json", '"a": "ä"'),
        (b"one,two\n1,2\n", "text/csv", "one,two\n1,2"),
        (b"plain   words", "text/plain", "plain   words"),
        (
            b"<rss version='2.0'><channel><title>News</title><item><title>First</title></item></channel></rss>",
            "application/rss+xml",
            "First",
        ),
    ],
)
async def test_other_types_are_read(api: Api, site: Site, body: bytes, kind: str, says: str) -> None:
    """JSON, CSV, text and feeds need no browser."""
    page = await fetch(api, site.route(lambda request: request.answer(body, kind)))
    assert says in page["content"]
    assert (page["method"], page["content_type"]) == ("http", kind)


async def test_pictures_and_archives_are_refused(api: Api, site: Site) -> None:
    """The type is named."""
    png = b"\x89PNG\r\n\x1a\n" + b"\x00" * 100
    problem = await api.fails(
        "/v1/fetch", {"url": site.route(lambda r: r.answer(png, "image/png"))}, "unsupported_content"
    )
    assert "image/png" in problem["detail"] or "PNG" in problem["detail"]


async def test_a_bomb_is_cut_off(api: Api, site: Site) -> None:
    """100 MB behind 100 kB: too large, at once."""
    bomb = gzip.compress(b"x" * 100_000_000)
    url = site.route(lambda request: request.answer(bomb, "text/html", Content_Encoding="gzip"))
    await api.fails("/v1/fetch", {"url": url}, "content_too_large")


async def test_redirects_into_the_private_network_are_refused(api: Api, site: Site) -> None:
    """At the second hop as at the first."""
    url = site.route(lambda request: request.answer(status=302, Location="http://127.0.0.2:1/secret"))
    await api.fails("/v1/fetch", {"url": url}, "address_forbidden")
    await api.fails("/v1/fetch", {"url": "http://169.254.169.254/latest/"}, "address_forbidden")


async def test_a_missing_page_is_a_result(api: Api, site: Site) -> None:
    """What the site says is the content, with outcome not_found."""
    page = await fetch(
        api, site.page("<h1>Page not found</h1><p>There is no such page here. Look at the index.</p>", status=404)
    )
    assert (page["outcome"], page["status"]) == ("not_found", 404)
    assert "no such page" in page["content"]


async def test_robots_are_respected_when_asked(api: Api, site: Site) -> None:
    """A page that robots.txt refuses is refused, naming the parameter."""
    url = site.page(ARTICLE)
    path = url.removeprefix(site.base)
    site.route(lambda r: r.answer(f"User-agent: *\nDisallow: {path}", "text/plain"), "/robots.txt")
    problem = await api.fails("/v1/fetch", {"url": url, "respect_robots": True}, "invalid_request")
    assert "robots.txt" in problem["detail"]
    assert not (await api.post("/v1/fetch", {"url": url}))["from_cache"]
    await api.fails("/v1/fetch", {"url": url, "respect_robots": True}, "invalid_request")  # though it is kept
    assert "The harbour" in (await fetch(api, url))["content"]
    del site.handlers["/robots.txt"]


async def test_a_server_that_never_answers_costs_the_limit(api: Api, site: Site) -> None:
    """The call ends in its time with a timeout that tells of both phases."""
    began = time.monotonic()
    problem = await api.fails("/v1/fetch", {"url": site.route(Request.hang), "timeout_ms": 3000}, "timeout")
    assert time.monotonic() - began < 5
    assert [each["phase"] for each in problem["phases"]] == ["http", "browser"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "example.com"}, "http"),
        ({"url": "https://a.example/", "format": "pdf"}, "format"),
        ({"url": "https://a.example/", "max_chars": -1}, "max_chars"),
        ({"url": "https://a.example/", "timeout_ms": 600_001}, "timeout_ms"),
        ({"url": "https://a.example/", "render": "never", "wait_selector": "#a"}, "render"),
        ({"url": "https://a.example/", "headers": {"Host": "b"}}, "headers"),
        ({"url": "https://a.example/", "headers": {"A": "b\r\nC: d"}}, "headers"),
        ({"url": "https://a.example/", "depth": 2}, "depth"),
    ],
)
async def test_wrong_parameters_are_named(api: Api, body: dict[str, Any], field: str) -> None:
    """The sentence names what to change."""
    problem = await api.fails("/v1/fetch", body, "invalid_request")
    assert field in problem["detail"]


async def test_a_selector_chooses_what_is_read(api: Api, site: Site) -> None:
    """Only what matches; one that does not parse is refused."""
    url = site.page(f"<div id=a>Alpha</div><div id=b>Beta</div>{PROSE}")
    assert (await fetch(api, url, selector="#b"))["content"].strip() == "Beta"
    await api.fails("/v1/fetch", {"url": url, "selector": "div[", "cache": "off"}, "invalid_request")


async def test_a_selector_may_name_what_scripts_bring(api: Api, site: Site) -> None:
    """Where the page is still to be built, the browser's is searched; one that never matches is refused."""
    data = site.route(lambda request: request.answer(json.dumps({"text": "Late words. " * 30}), "application/json"))
    url = site.page(SHELL.replace("{data}", data))
    page = await fetch(api, url, selector="#root p")
    assert page["content"].startswith("Late words.")
    assert page["method"] == "browser"
    await api.fails("/v1/fetch", {"url": url, "selector": "#nowhere", "cache": "off"}, "invalid_request")


async def test_links_are_a_list(api: Api, site: Site) -> None:
    """Absolute, in order, each once."""
    page = await fetch(
        api, site.page(f"<a href=/x>To x</a> <a href=/x>again</a> <a href='#y'>y</a>{PROSE}"), format="links"
    )
    assert f"- [To x](<{site.base}/x>)" in page["content"].splitlines()
    assert page["content"].count("/x>") == 1


async def test_query_puts_what_matters_first(api: Api, site: Site) -> None:
    """The passage about the query comes before the rest."""
    filler = "".join(f"<p>Line {n} speaks of weather and of nothing else at all, as lines do.</p>" for n in range(30))
    page = await fetch(api, site.page(f"<h1>Notes</h1>{filler}<p>The zeppelin landed at noon.</p>"), query="zeppelin")
    assert page["content"].index("zeppelin") < page["content"].find("Line 7") or "Line 7" not in page["content"]


async def test_open_web_page_gives_article_markdown(api: Api, site: Site) -> None:
    """The older, shorter form."""
    page = await api.post("/v1/open_web_page", {"url": site.page(ARTICLE, title="Harbour")})
    assert set(page) == {"url", "title", "content", "content_length", "truncated"}
    assert "Paragraph 3" in page["content"]
    assert page["content_length"] == len(page["content"])


async def test_nothing_is_left_behind(api: Api, service: Service, site: Site) -> None:
    """After fetches of all kinds, and one that was cut off, no context, place or flight is held."""
    await fetch(api, site.page(ARTICLE), render="always")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await fetch(api, site.route(Request.hang))
    async with asyncio.timeout(10):
        while service.web.cache.flights or service.web.lane.held or service.captures.held:
            await asyncio.sleep(0.05)
