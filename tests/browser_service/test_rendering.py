"""Rendering: what comes back of a page is what it shows in the end, whole, and no page is waited for without end."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from browser_service.errors import (
    AddressForbidden,
    ContentTooLarge,
    InvalidRequest,
    NavigationFailed,
    SessionExpired,
    TimedOut,
)
from browser_service.rendering import RenderWish, render_in_session
from browser_service.service import Service
from browser_service.session import Lifetime, Session
from browser_service.tab.options import ContextOptions
from fetch.page import Cookie, Page, Verdict
from tests.browser_service.renderings import LIMIT_S, elsewhere, late, no_wall, rendered, shown, wall
from tests.site import Request, Site


@pytest.fixture
async def own_session(service: Service) -> AsyncIterator[Session]:
    """A session of the shared service, itself."""
    session = await service.sessions.create("test", ContextOptions(), Lifetime(600_000, 600_000), LIMIT_S)
    yield session
    await service.sessions.close(session.id, "test")


# --- what is waited for ---------------------------------------------------------------------------------------------


async def test_slow_content_is_waited_for_and_a_hanging_request_is_not(site: Site, service: Service) -> None:
    """Text that comes by a request after four seconds is there, though another request never ends."""
    data = late(site, 4, "the article")
    hang = site.route(Request.hang)
    url = site.page(
        f"<main></main><script>fetch('{hang}'); fetch('{data}').then((answer) => answer.text())"
        ".then((text) => { document.querySelector('main').textContent = text })</script>"
    )
    page = await rendered(service, url)
    assert shown(page) == "the article"
    assert any(hang in each for each in page.warnings)


async def test_endless_polling_ends_the_waiting(site: Site, service: Service) -> None:
    """A page that asks its server again and again is read in time."""
    url = site.page("<p>ready</p><script>setInterval(() => fetch('/state'), 300)</script>", title="Polling")
    async with asyncio.timeout(10):
        page = await rendered(service, url)
    assert (page.title, shown(page)) == ("Polling", "ready")


async def test_dialogs_and_beforeunload_hold_nothing_up(site: Site, service: Service) -> None:
    """A page that asks, and would not let go, is read as any other."""
    url = site.page("<script>onbeforeunload = () => 'stay'; document.body.append(confirm('?') ? 'yes' : 'no')</script>")
    assert shown(await rendered(service, url)) == "no"


@pytest.mark.parametrize("light", [True, False])
async def test_a_script_that_never_ends_does_not_keep_the_text(site: Site, service: Service, light: bool) -> None:
    """What stood there before a script began to run for ever comes back."""
    url = site.page("<p>before</p><script>setTimeout(() => { while (true); }, 50)</script>")
    page = await rendered(service, url, light=light)
    assert "before" in shown(page)


# --- answers of other kinds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("light", [True, False])
@pytest.mark.parametrize(
    ("kind", "body"), [("application/json", '{"a": 1}'), ("text/plain", "a\n<b>"), ("application/xml", "<a>b</a>")]
)
async def test_what_is_not_html_comes_as_it_was_sent(
    site: Site, service: Service, kind: str, body: str, light: bool
) -> None:
    """For documents that Chromium has a viewer for, the body is the server's and not the viewer's."""
    page = await rendered(
        service, site.route(lambda request: request.answer(body, f"{kind}; charset=utf-8")), light=light
    )
    assert (page.html, page.body, page.content_type, page.charset) == (None, body.encode(), kind, "utf-8")


async def test_an_answer_without_a_page_is_told(site: Site, service: Service) -> None:
    """No content gives a page with the status, nothing in it, and a warning."""
    page = await rendered(service, site.route(lambda request: request.answer(status=204)))
    assert (page.status, page.html, len(page.warnings)) == (204, "", 1)


@pytest.mark.parametrize("light", [True, False])
@pytest.mark.parametrize(
    ("kind", "body"), [("text/csv", b"a,b"), ("application/pdf", b"%PDF-1.4 x"), ("text/html", b"")]
)
async def test_a_download_is_read_where_it_is_text(
    site: Site, service: Service, kind: str, body: bytes, light: bool
) -> None:
    """What the browser would save as a file comes as bytes when it can be read, and else as an empty page."""
    url = site.route(
        lambda request: request.answer(
            b"%PDF-1.4 x" if "pdf" in kind else b"a,b", kind, Content_Disposition="attachment"
        )
    )
    page = await rendered(service, url, light=light)
    assert (page.status, page.content_type, page.body) == (200, kind, body)
    assert (page.html is None) is bool(body)


async def test_a_pdf_in_chromiums_viewer_comes_as_it_is(site: Site, service: Service) -> None:
    """The bytes of a PDF are the server's, not those of the viewer's page."""
    page = await rendered(
        service, site.route(lambda request: request.answer(b"%PDF-1.4 x", "application/pdf")), light=False
    )
    assert (page.html, page.body) == (None, b"%PDF-1.4 x")


async def test_a_body_that_is_too_large_is_refused(site: Site, service: Service) -> None:
    """Over 10 MiB, nothing that is no HTML page is taken."""
    url = site.route(
        lambda request: request.answer(b"x" * (10 * 1024 * 1024 + 1), "text/csv", Content_Disposition="attachment")
    )
    with pytest.raises(ContentTooLarge):
        await rendered(service, url)


async def test_status_redirects_and_headers_are_those_of_the_last_document(site: Site, service: Service) -> None:
    """A redirect and a script that moves on lead to the page that counts."""
    last = site.page("<p>last</p>", status=404, X_Mark="here")
    middle = site.page(f"<script>location.replace('{last}')</script>")
    first = site.route(lambda request: request.answer(status=302, Location=middle))
    page = await rendered(service, first)
    assert (page.url, page.status, page.headers["x-mark"]) == (last, 404, "here")
    assert page.redirects == ((first, 302), (middle, 200))


async def test_a_page_that_leads_where_nothing_is_fails(site: Site, service: Service) -> None:
    """Chromium's own error page is never content."""
    url = site.page("<script>location.replace('http://127.0.0.1:9/')</script>")
    with pytest.raises((NavigationFailed, AddressForbidden)):
        await rendered(service, url)


async def test_nothing_at_all_is_a_timeout(site: Site, service: Service) -> None:
    """A server that says nothing is given up in time."""
    with pytest.raises(TimedOut):
        await rendered(service, site.route(Request.hang), limit_s=2)


# --- challenges -----------------------------------------------------------------------------------------------------


def challenge(site: Site, script: str) -> str:
    """A page that is a challenge until the cookie `clear` comes with the request."""

    def answer(request: Request) -> None:
        if "clear=1" in request.headers.get("Cookie", ""):
            request.answer("<!doctype html><title>In</title><p>the content</p>")
        else:
            request.answer(f"<!doctype html><title>Wait</title><p>checking</p><script>{script}</script>", status=403)

    return site.route(answer)


_PASS = "document.cookie = 'clear=1'; location.reload()"


async def test_a_challenge_that_reloads_is_waited_for(site: Site, service: Service) -> None:
    """When the proof is made and the page loads again, the page behind it comes back, with its status and cookie."""
    page = await rendered(service, challenge(site, f"setTimeout(() => {{ {_PASS} }}, 3500)"), judge=wall)
    assert (page.status, shown(page), page.title) == (200, "the content", "In")
    assert [each.name for each in page.cookies] == ["clear"]


async def test_a_challenge_that_changes_in_place_is_waited_for(site: Site, service: Service) -> None:
    """One that counts down and then writes the content itself, without any request."""
    script = (
        "let n = 4; const p = document.querySelector('p'); const t = setInterval(() => { p.textContent = --n"
        " ? 'checking ' + n : 'the content'; if (!n) clearInterval(t) }, 900)"
    )
    assert shown(await rendered(service, challenge(site, script), judge=wall)) == "the content"


async def test_a_challenge_that_stays_comes_back_in_time(site: Site, service: Service) -> None:
    """A wall that does not lift is given back as it is, within the limit."""
    async with asyncio.timeout(6):
        page = await rendered(service, challenge(site, ""), limit_s=5, judge=wall)
    assert (page.status, shown(page)) == (403, "checking")


# --- what is sent ---------------------------------------------------------------------------------------------------


@pytest.fixture
def seen_headers(site: Site) -> dict[str, dict[str, str]]:
    """The headers of requests below /echo, by path."""
    seen: dict[str, dict[str, str]] = {}

    def answer(request: Request) -> None:
        seen[request.path] = {name.lower(): value for name, value in request.headers.items()}
        request.answer("ok", Access_Control_Allow_Origin="*")

    for name in ("own", "other"):
        site.route(answer, f"/echo/{name}")
    return seen


async def test_headers_go_to_the_host_alone(
    site: Site, service: Service, seen_headers: dict[str, dict[str, str]]
) -> None:
    """A caller's header goes with the page and its own requests, and to no other host."""
    other = f"{elsewhere(site)}/echo/other"
    url = site.page(f"<script>fetch('/echo/own'); fetch('{other}')</script>")
    await rendered(service, url, headers={"X-Key": "secret", "Referer": "http://example.com/"})
    assert seen_headers["/echo/own"]["x-key"] == "secret"
    assert "x-key" not in seen_headers["/echo/other"]


async def test_cookies_are_sent_and_given_back(site: Site, service: Service) -> None:
    """Cookies of an earlier way go with the first request; those of the host at the end come back."""
    url = site.route(
        lambda request: request.answer(f"<p>{request.headers.get('Cookie')}</p>", Set_Cookie="b=2; HttpOnly; Path=/")
    )
    page = await rendered(service, url, cookies=(Cookie("a", "1", "127.0.0.1"), Cookie("__Host-x", "bad", "127.0.0.1")))
    assert shown(page) == "a=1"
    assert {(each.name, each.value, each.http_only) for each in page.cookies} == {("a", "1", False), ("b", "2", True)}
    assert any("__Host-x" in each for each in page.warnings)


@pytest.mark.parametrize(("wish", "hits"), [({}, 0), ({"block": frozenset()}, 1)])
async def test_pictures_are_not_loaded_for_text(site: Site, service: Service, wish: dict[str, Any], hits: int) -> None:
    """A light rendering asks for no pictures unless told to; stylesheets are loaded."""
    picture = site.route(lambda request: request.answer(b"", "image/png"))
    sheet = site.route(lambda request: request.answer("p { display: none }", "text/css"))
    page = await rendered(service, site.page(f"<link rel=stylesheet href={sheet}><img src={picture}><p>a</p>"), **wish)
    assert site.hits[picture.removeprefix(site.base)] == hits
    assert shown(page) == ""


async def test_a_selector_that_does_not_come_is_a_warning(site: Site, service: Service) -> None:
    """What is there is given back, with a warning that names the selector; one that does not parse is refused."""
    url = site.page("<p>a</p>")
    page = await rendered(service, url, limit_s=4, wait_selector="#never")
    assert shown(page) == "a"
    assert any("#never" in each for each in page.warnings)
    with pytest.raises(InvalidRequest):
        await rendered(service, url, wait_selector="p[")


async def test_a_selector_that_comes_late_is_waited_for(site: Site, service: Service) -> None:
    """The page is read when the element is there."""
    late = "setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>'), 4000)"
    assert "late" in shown(
        await rendered(service, site.page(f"<p>{'word ' * 200}</p><script>{late}</script>"), wait_selector="#late")
    )


# --- contexts and sessions ------------------------------------------------------------------------------------------


async def test_nothing_is_left_in_the_pool(site: Site, service: Service) -> None:
    """The context is closed afterwards, also when the rendering fails."""
    await rendered(service, site.page("<p>a</p>"))
    with pytest.raises(TimedOut):
        await rendered(service, site.route(Request.hang), limit_s=1.5)
    assert not any(service.pool._lent.values())


async def test_renderings_share_nothing(site: Site, service: Service) -> None:
    """A cookie of one rendering is not sent by the next."""
    url = site.route(lambda request: request.answer(f"<p>{request.headers.get('Cookie')}</p>", Set_Cookie="a=1"))
    await rendered(service, url)
    assert shown(await rendered(service, url)) == "None"


async def test_another_browser_takes_over(site: Site, service: Service) -> None:
    """When the browser dies while it renders, the page is rendered on another one."""
    deaths: list[int] = []

    async def killing(_page: Page) -> Verdict:
        if not deaths:
            for browser in [each for each in service.pool.fleet.browsers() if each.kind == "light"]:
                deaths.append(1)
                await browser.kill()
        return Verdict()

    assert shown(await rendered(service, site.page("<p>a</p>"), judge=killing)) == "a"
    assert deaths


async def in_session(session: Session, url: str, **wish: Any) -> Page:
    """Renders an address within a session."""
    return await render_in_session(session, RenderWish(url, **wish), limit_s=LIMIT_S, judge=no_wall)


async def test_a_session_lends_its_login_and_is_not_disturbed(site: Site, own_session: Session) -> None:
    """Its cookies are sent while its own action goes on; its tabs and its report do not know of it."""
    await own_session.tabs.context.add_cookies([{"name": "login", "value": "me", "url": site.base}])
    url = site.route(lambda request: request.answer(f"<p>{request.headers.get('Cookie')}</p>"))
    release = asyncio.Event()
    busy = asyncio.create_task(own_session.run(lambda _: release.wait(), None, LIMIT_S))
    page = await in_session(own_session, url)
    assert not busy.done()
    release.set()
    await busy
    assert shown(page) == "login=me"
    assert len(own_session.tabs) == 1
    assert own_session.tabs.find("newest") is own_session.tabs.active
    assert own_session.tabs.journal.report().model_dump(exclude_defaults=True) == {}
    assert len(own_session.tabs.context.pages) == 1


async def test_a_session_that_ends_ends_its_renderings(site: Site, service: Service, own_session: Session) -> None:
    """Closing the session gives the rendering its error at once."""
    rendering = asyncio.create_task(in_session(own_session, site.route(Request.hang)))
    await asyncio.wait({rendering}, timeout=0.5)
    await service.sessions.close(own_session.id, "test")
    async with asyncio.timeout(5):
        with pytest.raises(SessionExpired):
            await rendering


async def test_many_at_once_are_all_whole(site: Site, service: Service) -> None:
    """Pages built by a script from data that come late, eight at a time, each whole and its own."""
    texts = json.dumps([f"paragraph {number}" for number in range(50)])
    data = late(site, 0.3, texts)
    script = f"fetch('{data}').then((a) => a.json()).then((all) => all.forEach((t) => document.body.append(t, ' ')))"
    pages = [site.page(f"<script>{script}</script>", title=f"Page {number}") for number in range(8)]
    found = await asyncio.gather(*(rendered(service, url) for url in pages))
    assert [each.title for each in found] == [f"Page {number}" for number in range(8)]
    assert all("paragraph 49" in shown(each) for each in found)
