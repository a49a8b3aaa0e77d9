"""Pages that behave badly: the session stays usable, other sessions are left alone, and the answer says what is so."""

import asyncio

import pytest

from tests.conftest import Api, Session
from tests.site import Site


async def usable(session: Session, site: Site) -> bool:
    """Whether the next page can be opened and read."""
    await session.do("open", url=site.page("<h1>Next page</h1>"))
    return "Next page" in (await session.do("extract"))["content"]


FLOODS = {
    "console": "setTimeout(() => { for (let n = 0; n < 1e6; n++) console.log('line ' + n) }, 100)",
    "history": "setInterval(() => { for (let n = 0; n < 1000; n++) history.pushState(n, '', '?' + n) }, 1)",
    "hash": "let n = 0; setInterval(() => { for (let i = 0; i < 500; i++) location.hash = n++ }, 1)",
    "loop": "setTimeout(() => { while (true); }, 100)",
    "worker": "new Worker(URL.createObjectURL(new Blob(['while (true);'])))",
    "alerts": "setInterval(() => alert('again'), 1)",
    "print": "setTimeout(() => print(), 50)",
}


@pytest.mark.parametrize("script", FLOODS.values(), ids=FLOODS.keys())
async def test_a_flood_hurts_only_its_own_session(api: Api, session: Session, site: Site, script: str) -> None:
    """Another session in the same browser goes on; the flooding one opens the next page."""
    made = await api.post("/v1/sessions", {}, 201)
    other = Session(api.http, made["id"])
    await other.do("open", url=site.page("<h1>Innocent</h1>"))
    await api.http.post(
        f"{session.path}/open", json={"url": site.page(f"<script>{script}</script>"), "timeout_ms": 4000}
    )
    await asyncio.sleep(0.5)  # while it floods
    assert "Innocent" in (await other.do("extract"))["content"]
    assert await usable(session, site)
    await other.do("close")


@pytest.mark.parametrize(
    "page",
    [
        "<h1>Here</h1><script>setTimeout(() => location.reload(), 150)</script><button>Go</button>",
        "<meta http-equiv=refresh content=0><button>Go</button>",
    ],
    ids=["reload", "refresh"],
)
async def test_a_page_that_moves_all_the_time(session: Session, site: Site, page: str) -> None:
    """A click on it is done, or says in time why not; never an internal error."""
    await session.do("open", url=site.page(page), wait_until="load")
    answer = await session.http.post(f"{session.path}/click", json={"selector": "button", "timeout_ms": 3000})
    assert answer.json().get("code", "done") in {"done", "timeout", "element_not_found", "element_not_actionable"}
    # what the page began before it was left may arrive after the next one; then it has the tab once more
    assert await usable(session, site) or await usable(session, site)


async def test_a_page_that_does_not_let_go_is_left(session: Session, site: Site) -> None:
    """A handler that never ends on leaving does not keep the tab; the answer says what became of it."""
    await session.do("open", url=site.page("<script>onpagehide = onbeforeunload = () => { while (true); }</script>"))
    opened = await session.do("open", url=site.page("<h1>Next page</h1>"), timeout_ms=15_000)
    assert opened["status"] == 200
    assert "Next page" in (await session.do("extract"))["content"]


async def test_a_popup_bomb_is_bounded(session: Session, site: Site) -> None:
    """No more than ten tabs stay, and the rest are counted."""
    goal = site.page("<p>popup</p>")
    await session.do(
        "open", url=site.page(f"<button onclick=\"for (let n = 0; n < 30; n++) window.open('{goal}')\">x</button>")
    )
    await session.do("click", selector="button")
    about = (await session.http.get(session.path)).json()
    assert 1 <= len(about["tabs"]) <= 10
    assert await usable(session, site)


async def test_a_page_that_closes_itself(session: Session, site: Site) -> None:
    """The tab that a script closed is reported; the session goes on with the other one."""
    goal = site.page("<h1>Second</h1><button onclick='window.close()'>Close</button>")
    await session.do("open", url=site.page(f"<h1>First</h1><button onclick=\"window.open('{goal}')\">x</button>"))
    await session.do("click", selector="button")
    changes = (await session.do("click", selector="button", tab="newest"))["changes"]
    assert changes["closed_tabs"] == ["t2"]
    assert "First" in (await session.do("extract"))["content"]


async def test_a_giant_title_is_cut(session: Session, site: Site) -> None:
    """It does not fill every answer."""
    opened = await session.do("open", url=site.page("<script>document.title = 'x'.repeat(1e7)</script><p>Text</p>"))
    assert len(opened["title"]) <= 1000
    assert len((await session.do("extract"))["title"]) <= 1000


async def test_a_page_without_a_document_element(session: Session, site: Site) -> None:
    """No internals of ours in the answer, and no internal error."""
    await session.do("open", url=site.page("<script>setTimeout(() => document.documentElement.remove(), 50)</script>"))
    for action in ("extract", "scroll", "screenshot"):
        answer = await session.http.post(f"{session.path}/{action}", json={"timeout_ms": 4000})
        assert answer.status_code < 500, answer.text
        assert "anonymous" not in answer.text
    assert await usable(session, site)


OVERRIDES = """<script>
  Object.prototype.toJSON = () => 'x'; Array.prototype.map = () => { throw 1 }; window.Set = window.Map = undefined;
  document.querySelector = () => null; JSON.stringify = () => 'lie'; Promise.prototype.then = undefined;
</script><h1>Overridden</h1><button>Go</button>"""


async def test_a_page_that_replaces_what_every_page_has(session: Session, site: Site) -> None:
    """It is read all the same, and a click that it prevents is not an internal error."""
    await session.do("open", url=site.page(OVERRIDES))
    assert "Overridden" in (await session.do("extract"))["content"]
    answer = await session.http.post(f"{session.path}/click", json={"selector": "button", "timeout_ms": 2000})
    assert answer.json().get("code") != "internal", answer.text
    assert await usable(session, site)


@pytest.mark.parametrize("selector", ["text=/(/", "nth=0", "internal:control=enter-frame", "text=", "_react=x", "  "])
async def test_odd_selectors_are_invalid_requests(session: Session, site: Site, selector: str) -> None:
    """No stack of the driver's in the answer."""
    await session.do("open", url=site.page("<p>x</p>"))
    problem = await session.refused("invalid_request", "click", selector=selector)
    assert "\n" not in problem["detail"]


async def test_a_frame_that_is_none(session: Session, site: Site) -> None:
    """`frame` must name an iframe."""
    await session.do("open", url=site.page("<div id=a>x</div>"))
    assert "iframe" in (await session.refused("invalid_request", "extract", frame="#a"))["detail"]


async def test_submitting_by_a_key_that_follows_a_link(session: Session, site: Site) -> None:
    """What navigated is a success."""
    goal = site.page("<h1>Arrived</h1>")
    await session.do("open", url=site.page(f"<div id=a tabindex=0 onkeydown=\"location='{goal}'\">x</div>"))
    answer = await session.do("type", selector="#a", text="x")
    assert answer["changes"]["navigated"]["to"] == goal


@pytest.mark.parametrize("body", [None, b"null", b"{}"])
async def test_an_action_without_parameters_says_what_it_needs(
    session: Session, site: Site, body: bytes | None
) -> None:
    """Also where all fields are optional by themselves."""
    await session.do("open", url=site.page("<p>x</p>"))
    answer = await session.http.post(
        f"{session.path}/click", content=body, headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert "target" in answer.json()["detail"]


@pytest.mark.parametrize("origin", ["http://[", "http://", "://", "[", "http://[::1]:x@evil.example"])
async def test_a_malformed_origin_is_forbidden(api: Api, origin: str) -> None:
    """Before anything else."""
    answer = await api.http.post("/v1/sessions", headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "options",
    [
        {"timezone": "localtime"},
        {"locale": "zz_ZZ_zz"},
        {"storage_state": {"cookies": [{"name": "", "value": "x", "domain": "a.example"}]}},
        {"storage_state": {"cookies": [{"name": "a", "value": "x", "domain": "a.example", "expires": 1e300}]}},
        {"storage_state": {"cookies": [{"name": "__Secure-a", "value": "x", "domain": "a.example"}]}},
        {"storage_state": {"origins": [{"origin": "nope", "localStorage": []}]}},
    ],
    ids=str,
)
async def test_options_that_the_browser_refuses_are_the_callers_fault(api: Api, options: dict[str, object]) -> None:
    """Not a crash of the browser, which is well."""
    assert (await api.fails("/v1/sessions", options, "invalid_request"))["detail"]


async def test_a_click_to_a_forbidden_address_leaves_nothing_to_read(session: Session, site: Site) -> None:
    """Neither in the tab nor in a new one is the proxy's refusal shown as content."""
    secret = f"http://127.0.0.2:{site.port}/x"
    await session.do(
        "open", url=site.page(f"<a id=n target=_blank href='{secret}'>new</a> <a id=h href='{secret}'>go</a>")
    )
    changes = (await session.do("click", selector="#n"))["changes"]
    assert changes["new_tabs"][0]["error"]["code"] == "address_forbidden"
    await session.refused("no_page", "extract", tab="newest")
    changes = (await session.do("click", selector="#h"))["changes"]
    assert changes["navigation_error"]["code"] == "address_forbidden"
    await session.refused("no_page", "extract")


async def test_a_documents_kind_without_text_is_told(session: Session, site: Site) -> None:
    """A picture has no text; the answer says so."""
    picture = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'><rect width='9' height='9'/></svg>"
    await session.do("open", url=site.route(lambda request: request.answer(picture, "image/svg+xml")))
    assert any("image/svg+xml" in each for each in (await session.do("extract"))["warnings"])
