"""Rendering: what comes back of a page is what it shows in the end, whole, and no page is waited for without end."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from browser_service.errors import AddressForbidden, InvalidRequest, NavigationFailed, TimedOut
from browser_service.rendering import RenderWish, render, render_in_session
from browser_service.service import Service
from browser_service.session import Lifetime, Session
from browser_service.tab.options import ContextOptions
from fetch.page import Cookie, Page, Verdict
from tests.site import Request, Site

LIMIT_S = 30.0
Render = Callable[..., Awaitable[Page]]


async def no_wall(_page: Page) -> Verdict:
    """Takes every page for a page."""
    return Verdict()


async def wall(page: Page) -> Verdict:
    """Takes a page that says "checking" for a challenge."""
    return Verdict("challenge", may_lift=True) if "<p>checking" in (page.html or "") else Verdict()


@pytest.fixture
def rendered(service: Service) -> Render:
    """Renders an address in a fresh context."""

    async def one(url: str, limit_s: float = LIMIT_S, judge: Any = no_wall, **wish: Any) -> Page:
        return await render(service, RenderWish(url, **wish), owner="test", limit_s=limit_s, judge=judge)

    return one


@pytest.fixture
async def own_session(service: Service) -> Any:
    """A session of the shared service, itself."""
    session = await service.sessions.create("test", ContextOptions(), Lifetime(600_000, 600_000), LIMIT_S)
    yield session
    await service.sessions.close(session.id, "test")


def shown(page: Page) -> str:
    """The text of a page without what is marked hidden, white space folded."""
    tree = LexborHTMLParser(page.html or "")
    for node in tree.css("[hidden], script, iframe, title"):
        node.decompose()
    return " ".join(tree.root.text(deep=True, separator=" ").split()) if tree.root else ""


def elsewhere(site: Site) -> str:
    """The same site under another name, and so of another origin."""
    return f"http://localhost:{site.port}"


# --- what is waited for ---------------------------------------------------------------------------------------------


async def test_slow_content_is_waited_for_and_a_hanging_request_is_not(site: Site, rendered: Render) -> None:
    """Text that comes by a request after four seconds is there, though another request never ends."""
    data = site.route(lambda request: (site.closing.wait(4), request.answer("the article"))[1])
    hang = site.route(Request.hang)
    url = site.page(
        f"<main></main><script>fetch('{hang}'); fetch('{data}').then((answer) => answer.text())"
        ".then((text) => { document.querySelector('main').textContent = text })</script>"
    )
    page = await rendered(url)
    assert shown(page) == "the article"
    assert any(hang in each for each in page.warnings)


async def test_endless_polling_ends_the_waiting(site: Site, rendered: Render) -> None:
    """A page that asks its server again and again is read in time."""
    url = site.page("<p>ready</p><script>setInterval(() => fetch('/state'), 300)</script>", title="Polling")
    async with asyncio.timeout(10):
        page = await rendered(url)
    assert (page.title, shown(page)) == ("Polling", "ready")


async def test_dialogs_and_beforeunload_hold_nothing_up(site: Site, rendered: Render) -> None:
    """A page that asks, and would not let go, is read as any other."""
    url = site.page("<script>onbeforeunload = () => 'stay'; document.body.append(confirm('?') ? 'yes' : 'no')</script>")
    assert shown(await rendered(url)) == "no"


@pytest.mark.parametrize("light", [True, False])
async def test_a_script_that_never_ends_does_not_keep_the_text(site: Site, rendered: Render, light: bool) -> None:
    """What stood there before a script began to run for ever comes back."""
    url = site.page("<p>before</p><script>setTimeout(() => { while (true); }, 50)</script>")
    page = await rendered(url, light=light)
    assert "before" in shown(page)


# --- what is copied -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("light", [True, False])
async def test_frames_stand_in_their_place(site: Site, rendered: Render, light: bool) -> None:
    """Documents of frames, of this origin and of another, nested ones too, are in the copy with absolute links."""
    inner = site.page("<p>other origin</p><a href='/x'>link</a><iframe srcdoc='<i>deep</i>'></iframe>")
    foreign = elsewhere(site) + inner.removeprefix(site.base)
    url = site.page(f"<p>a</p><iframe srcdoc='<p>same origin</p>'></iframe><iframe src='{foreign}'></iframe><p>z</p>")
    page = await rendered(url, light=light)
    assert shown(page) == "a same origin other origin link deep z"
    assert f'href="{elsewhere(site)}/x"' in str(page.html)


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_shadow_roots_are_declared(site: Site, rendered: Render, mode: str) -> None:
    """Shadow roots, nested ones too, come as templates that a parser makes shadow roots of again, slots kept."""
    url = site.page(
        "<x-card>slotted</x-card><script>"
        f"const add = (el, html) => el.attachShadow({{ mode: '{mode}' }}).innerHTML = html;"
        "customElements.define('x-in', class extends HTMLElement { constructor() { super(); add(this, '<b>inner</b>') } });"
        "customElements.define('x-card', class extends HTMLElement { constructor() { super();"
        " add(this, '<p>card <slot>fallback</slot></p><x-in></x-in>') } })</script>"
    )
    html = str((await rendered(url)).html)
    start = '<template shadowrootmode="open">'
    assert (
        f"<x-card>{start}<p>card <slot></slot></p><x-in>{start}<b>inner</b></template></x-in></template>slotted" in html
    )


@pytest.mark.parametrize(
    ("style", "seen"),
    [
        ("display:none", False),
        ("visibility:hidden", False),
        ("opacity:0", False),
        ("position:absolute; left:-5000px", False),
        ("position:absolute; clip:rect(0,0,0,0)", False),
        ("width:1px; height:1px; overflow:hidden", False),
        ("font-size:0", False),
        ("opacity:0; transition:opacity 1s", True),
        ("margin-top:5000px", True),
        ("height:0", True),
    ],
)
async def test_what_nobody_sees_is_marked(site: Site, rendered: Render, style: str, seen: bool) -> None:
    """Text that the page's styles keep from being seen is in the copy, marked hidden."""
    page = await rendered(site.page(f"<style>.s {{ {style} }}</style><p>a</p><div class='s'>secret</div>"))
    assert "secret" in str(page.html)
    assert ("secret" in shown(page)) is seen


async def test_what_is_seen_in_spite_of_its_attributes_is_not_marked(site: Site, rendered: Render) -> None:
    """The computed style decides, not the attribute; and a visible part of an invisible element is visible."""
    url = site.page(
        "<style>[hidden], [style] { display: block !important }</style><p hidden>one</p><p style='display:none'>two</p>"
        "<div style='visibility:hidden'>never <b style='visibility:visible'>three</b></div>"
    )
    assert shown(await rendered(url)) == "one two three"


async def test_fields_named_like_properties_change_nothing(site: Site, rendered: Render) -> None:
    """A form and pictures whose names shadow those of the DOM are copied as any others."""
    names = ["firstChild", "attributes", "getBoundingClientRect", "nextSibling", "style", "offsetWidth"]
    fields = "".join(f"<input name={name}>" for name in names)
    pictures = "".join(f"<img name={name}>" for name in ("body", "head", "title", "contentType", "URL"))
    page = await rendered(site.page(f"<form style='position:relative'>{fields}<p>text</p></form>{pictures}<p>end</p>"))
    assert (shown(page), page.title) == ("text end", "Test")


async def test_a_formula_keeps_its_source(site: Site, rendered: Render) -> None:
    """The TeX that is clipped away for screen readers is not marked hidden."""
    tex = "<annotation encoding='application/x-tex'>x^2</annotation>"
    clipped = "position:absolute; clip:rect(1px,1px,1px,1px); overflow:hidden; width:1px; height:1px"
    url = site.page(f"<span style='{clipped}'><math><semantics><mi>x</mi>{tex}</semantics></math></span>")
    assert "x^2" in shown(await rendered(url))


@pytest.mark.parametrize(("depth", "style"), [(3_000, ""), (100_000, "display:none")])
async def test_a_very_deep_document_is_copied(site: Site, rendered: Render, depth: int, style: str) -> None:
    """Elements in one another by the thousand come back no deeper than readers can bear, with the text at the bottom."""
    url = site.page(
        f"<p style='{style}'></p><script>let at = document.querySelector('p'); for (let i = 0; i < {depth}; i++)"
        " at = at.appendChild(document.createElement('i')); at.textContent = 'bottom'</script>"
    )
    html = str((await rendered(url)).html)
    assert 400 < html.count("<i>") < 600
    assert "bottom" in html


async def test_a_large_table_is_whole(site: Site, rendered: Render) -> None:
    """15 000 rows come back in one piece."""
    rows = "".join(f"<tr><td>{number}<td>row</tr>" for number in range(15_000))
    page = await rendered(site.page(f"<table>{rows}</table>"))
    assert str(page.html).count("<tr>") == 15_000


async def test_the_document_is_the_live_one(site: Site, rendered: Render) -> None:
    """What scripts made is in the copy, a base address is explicit, scripts' data stay and the rest of them goes."""
    data = '<script type="application/ld+json">{"name": "x"}</script>'
    url = site.page(
        f"{data}<style>p {{}}</style><script>document.body.insertAdjacentHTML('beforeend', '<p>made</p>')</script>"
    )
    page = await rendered(url)
    assert shown(page) == "made"
    assert f'<base href="{url}">' in str(page.html)
    assert data in str(page.html)
    assert "<style" not in str(page.html)


# --- answers of other kinds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("light", [True, False])
@pytest.mark.parametrize(
    ("kind", "body"), [("application/json", '{"a": 1}'), ("text/plain", "a\n<b>"), ("application/xml", "<a>b</a>")]
)
async def test_what_is_not_html_comes_as_it_was_sent(
    site: Site, rendered: Render, kind: str, body: str, light: bool
) -> None:
    """For documents that Chromium has a viewer for, the body is the server's and not the viewer's."""
    page = await rendered(site.route(lambda request: request.answer(body, f"{kind}; charset=utf-8")), light=light)
    assert (page.html, page.body, page.content_type, page.charset) == (None, body.encode(), kind, "utf-8")


@pytest.mark.parametrize(("status", "headers"), [(204, {}), (200, {"Content_Disposition": "attachment"})])
async def test_an_answer_without_a_page_is_told(
    site: Site, rendered: Render, status: int, headers: dict[str, str]
) -> None:
    """No content and downloads give a page with the status, nothing in it, and a warning."""
    page = await rendered(site.route(lambda request: request.answer(b"", status=status, **headers)))
    assert (page.status, page.html) == (status, "")
    assert page.warnings


async def test_status_redirects_and_headers_are_those_of_the_last_document(site: Site, rendered: Render) -> None:
    """A redirect and a script that moves on lead to the page that counts."""
    last = site.page("<p>last</p>", status=404, X_Mark="here")
    middle = site.page(f"<script>location.replace('{last}')</script>")
    first = site.route(lambda request: request.answer(status=302, Location=middle))
    page = await rendered(first)
    assert (page.url, page.status, page.headers["x-mark"]) == (last, 404, "here")
    assert page.redirects == ((first, 302), (middle, 200))


async def test_a_page_that_leads_where_nothing_is_fails(site: Site, rendered: Render) -> None:
    """Chromium's own error page is never content."""
    url = site.page("<script>location.replace('http://127.0.0.1:9/')</script>")
    with pytest.raises((NavigationFailed, AddressForbidden)):
        await rendered(url)


async def test_nothing_at_all_is_a_timeout(site: Site, rendered: Render) -> None:
    """A server that says nothing is given up in time."""
    with pytest.raises(TimedOut):
        await rendered(site.route(Request.hang), limit_s=2)


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


async def test_a_challenge_that_reloads_is_waited_for(site: Site, rendered: Render) -> None:
    """When the proof is made and the page loads again, the page behind it comes back, with its status and cookie."""
    page = await rendered(challenge(site, f"setTimeout(() => {{ {_PASS} }}, 3500)"), judge=wall)
    assert (page.status, shown(page), page.title) == (200, "the content", "In")
    assert [each.name for each in page.cookies] == ["clear"]


async def test_a_challenge_that_changes_in_place_is_waited_for(site: Site, rendered: Render) -> None:
    """One that counts down and then writes the content itself, without any request."""
    script = (
        "let n = 4; const p = document.querySelector('p'); const t = setInterval(() => { p.textContent = --n"
        " ? 'checking ' + n : 'the content'; if (!n) clearInterval(t) }, 900)"
    )
    assert shown(await rendered(challenge(site, script), judge=wall)) == "the content"


async def test_a_challenge_that_stays_comes_back_in_time(site: Site, rendered: Render) -> None:
    """A wall that does not lift is given back as it is, within the limit."""
    async with asyncio.timeout(6):
        page = await rendered(challenge(site, ""), limit_s=5, judge=wall)
    assert (page.status, shown(page)) == (403, "checking")


# --- what is sent ---------------------------------------------------------------------------------------------------


@pytest.fixture
def seen_headers(site: Site) -> Iterator[dict[str, dict[str, str]]]:
    """The headers of requests below /echo, by path."""
    seen: dict[str, dict[str, str]] = {}

    def answer(request: Request) -> None:
        seen[request.path] = {name.lower(): value for name, value in request.headers.items()}
        request.answer("ok", Access_Control_Allow_Origin="*")

    for name in ("own", "other"):
        site.route(answer, f"/echo/{name}")
    return seen


async def test_headers_go_to_the_host_alone(
    site: Site, rendered: Render, seen_headers: dict[str, dict[str, str]]
) -> None:
    """A caller's header goes with the page and its own requests, and to no other host."""
    other = f"{elsewhere(site)}/echo/other"
    url = site.page(f"<script>fetch('/echo/own'); fetch('{other}')</script>")
    await rendered(url, headers={"X-Key": "secret", "Referer": "http://example.com/"})
    assert seen_headers["/echo/own"]["x-key"] == "secret"
    assert "x-key" not in seen_headers["/echo/other"]


async def test_cookies_are_sent_and_given_back(site: Site, rendered: Render) -> None:
    """Cookies of an earlier way go with the first request; those of the host at the end come back."""
    url = site.route(
        lambda request: request.answer(f"<p>{request.headers.get('Cookie')}</p>", Set_Cookie="b=2; HttpOnly; Path=/")
    )
    page = await rendered(url, cookies=(Cookie("a", "1", "127.0.0.1"), Cookie("__Host-x", "bad", "127.0.0.1")))
    assert shown(page) == "a=1"
    assert {(each.name, each.value, each.http_only) for each in page.cookies} == {("a", "1", False), ("b", "2", True)}
    assert any("__Host-x" in each for each in page.warnings)


@pytest.mark.parametrize(("wish", "hits"), [({}, 0), ({"block": frozenset()}, 1)])
async def test_pictures_are_not_loaded_for_text(site: Site, rendered: Render, wish: dict[str, Any], hits: int) -> None:
    """A light rendering asks for no pictures unless told to; stylesheets are loaded."""
    picture = site.route(lambda request: request.answer(b"", "image/png"))
    sheet = site.route(lambda request: request.answer("p { display: none }", "text/css"))
    page = await rendered(site.page(f"<link rel=stylesheet href={sheet}><img src={picture}><p>a</p>"), **wish)
    assert site.hits[picture.removeprefix(site.base)] == hits
    assert shown(page) == ""


async def test_a_selector_that_does_not_come_is_a_warning(site: Site, rendered: Render) -> None:
    """What is there is given back, with a warning that names the selector; one that does not parse is refused."""
    url = site.page("<p>a</p>")
    page = await rendered(url, limit_s=4, wait_selector="#never")
    assert shown(page) == "a"
    assert any("#never" in each for each in page.warnings)
    with pytest.raises(InvalidRequest):
        await rendered(url, wait_selector="p[")


async def test_a_selector_that_comes_late_is_waited_for(site: Site, rendered: Render) -> None:
    """The page is read when the element is there."""
    late = "setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>'), 4000)"
    assert "late" in shown(
        await rendered(site.page(f"<p>{'word ' * 200}</p><script>{late}</script>"), wait_selector="#late")
    )


# --- contexts and sessions ------------------------------------------------------------------------------------------


async def test_nothing_is_left_in_the_pool(site: Site, service: Service, rendered: Render) -> None:
    """The context is closed afterwards, also when the rendering fails."""
    await rendered(site.page("<p>a</p>"))
    with pytest.raises(TimedOut):
        await rendered(site.route(Request.hang), limit_s=1.5)
    assert not any(service.pool._lent.values())


async def test_renderings_share_nothing(site: Site, rendered: Render) -> None:
    """A cookie of one rendering is not sent by the next."""
    url = site.route(lambda request: request.answer(f"<p>{request.headers.get('Cookie')}</p>", Set_Cookie="a=1"))
    await rendered(url)
    assert shown(await rendered(url)) == "None"


async def test_another_browser_takes_over(site: Site, service: Service, rendered: Render) -> None:
    """When the browser dies while it renders, the page is rendered on another one."""
    deaths: list[int] = []

    async def killing(_page: Page) -> Verdict:
        if not deaths:
            for browser in [each for each in service.pool.fleet.browsers() if each.kind == "light"]:
                deaths.append(1)
                await browser.kill()
        return Verdict()

    assert shown(await rendered(site.page("<p>a</p>"), judge=killing)) == "a"
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
        with pytest.raises(Exception, match="closed"):
            await rendering


async def test_many_at_once_are_all_whole(site: Site, rendered: Render) -> None:
    """Pages built by a script from data that come late, eight at a time, each whole and its own."""
    texts = json.dumps([f"paragraph {number}" for number in range(50)])
    data = site.route(lambda request: (site.closing.wait(0.3), request.answer(texts, "application/json"))[1])
    script = f"fetch('{data}').then((a) => a.json()).then((all) => all.forEach((t) => document.body.append(t, ' ')))"
    pages = [site.page(f"<script>{script}</script>", title=f"Page {number}") for number in range(8)]
    found = await asyncio.gather(*(rendered(url) for url in pages))
    assert [each.title for each in found] == [f"Page {number}" for number in range(8)]
    assert all("paragraph 49" in shown(each) for each in found)
