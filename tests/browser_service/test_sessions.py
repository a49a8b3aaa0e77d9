"""Sessions: isolation, ownership, turns, expiry, limits."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from browser_service.service import Service
from tests.conftest import Api, Session, serving, settings_for
from tests.site import Site

KEYS = json.dumps(
    [
        {"name": "a", "key": "key-of-a-1", "scopes": ["eval"]},
        {"name": "b", "key": "key-of-b-1", "scopes": ["act"]},
        {"name": "boss", "key": "key-boss-1", "scopes": ["admin"]},
        {"name": "r", "key": "key-of-r-1", "scopes": ["read"]},
    ]
)


async def made(http: httpx.AsyncClient, **options: object) -> Session:
    """A new session."""
    answer = await http.post("/v1/sessions", json=options)
    assert answer.status_code == 201, answer.text
    return Session(http, answer.json()["id"])


async def test_sessions_do_not_see_each_other(api: Api, site: Site) -> None:
    """Cookies and storage of one do not show in another, and last within one."""
    url = site.page("<p>x</p>")
    one, two = await made(api.http), await made(api.http)
    for each in (one, two):
        await each.do("open", url=url)
    await one.do("evaluate", js="document.cookie = 'k=1'; localStorage.k = '1'")
    await one.do("open", url=url)
    assert await one.value("[document.cookie, localStorage.k]") == ["k=1", "1"]
    assert await two.value("[document.cookie, localStorage.k ?? null]") == ["", None]
    for each in (one, two):
        await each.do("close")


async def test_the_window_has_exactly_the_size_that_was_asked_for(api: Api, site: Site) -> None:
    """By real window bounds; with a scale or on a phone, by emulation."""
    for options, seen in (
        ({}, [1280, 800, 1]),
        ({"viewport": {"width": 1000, "height": 700}}, [1000, 700, 1]),
        ({"viewport": {"width": 400, "height": 300}, "device_scale_factor": 2}, [400, 300, 2]),
        ({"viewport": {"width": 390, "height": 844}, "mobile": True}, [390, 844, 1]),
        ({"viewport": {"width": 900, "height": 600}, "browser": "light"}, [900, 600, 1]),
    ):
        session = await made(api.http, **options)
        await session.do("open", url=site.page("<meta name=viewport content='width=device-width'><p>x"))
        assert await session.value("[innerWidth, innerHeight, devicePixelRatio]") == seen, options
        await session.do("close")


async def test_options_reach_the_page(api: Api, site: Site) -> None:
    """Locale, time zone, colour scheme, user agent, headers and stored state."""
    heard: list[str] = []

    def page(request: object) -> None:
        heard.append(str(getattr(request, "headers")["X-Trace"]))  # noqa: B009
        getattr(request, "answer")("<p>x</p>")  # noqa: B009

    session = await made(
        api.http,
        locale="de-DE",
        timezone="Asia/Tokyo",
        color_scheme="dark",
        user_agent="Probe/1.0",
        extra_headers={"X-Trace": "yes"},
        storage_state={
            "cookies": [{"name": "c", "value": "1", "domain": "127.0.0.1", "path": "/"}],
            "origins": [{"origin": site.base, "localStorage": [{"name": "k", "value": "v"}]}],
        },
    )
    await session.do("open", url=site.route(page))
    assert heard == ["yes"]
    assert await session.value(
        "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,"
        " matchMedia('(prefers-color-scheme: dark)').matches, navigator.userAgent, document.cookie, localStorage.k]"
    ) == ["de-DE", "Asia/Tokyo", True, "Probe/1.0", "c=1", "v"]
    await session.do("close")


async def test_blocked_kinds_are_not_requested(api: Api, site: Site) -> None:
    """`block: ["image"]` leaves images alone and lets the rest through."""
    image = site.route(lambda request: request.answer(b"", "image/png"))
    style = site.route(lambda request: request.answer("p{color:red}", "text/css"))
    session = await made(api.http, block=["image"])
    await session.do("open", url=site.page(f"<link rel=stylesheet href='{style}'><img src='{image}'>"))
    assert (site.hits[image.removeprefix(site.base)], site.hits[style.removeprefix(site.base)]) == (0, 1)
    await session.do("close")


async def test_actions_take_turns_and_the_queue_is_bounded(session: Session, site: Site) -> None:
    """Fifty at once: the first and eight that wait are served, the rest say session_busy."""
    await session.do("open", url=site.page("<p>x</p>"))
    script = {"js": "new Promise((done) => setTimeout(done, 100, 1))"}
    answers = await asyncio.gather(*(session.http.post(f"{session.path}/evaluate", json=script) for _ in range(50)))
    codes = [answer.json().get("code", "done") for answer in answers]
    assert codes.count("done") == 9
    assert codes.count("session_busy") == 41


async def test_closing_does_not_wait_behind_a_stuck_action(api: Api, site: Site) -> None:
    """The running action ends with session_expired, and closing again is no error."""
    session = await made(api.http)
    await session.do("open", url=site.page("<p>x</p>"))
    task = asyncio.create_task(session.refused("session_expired", "evaluate", js="while (true) {}", timeout_ms=20_000))
    await asyncio.sleep(0.3)  # until it runs: a page that is busy can tell nothing
    async with asyncio.timeout(5):
        assert (await session.http.delete(session.path)).status_code == 204
        assert (await task)["reason"] == "closed"
    assert (await session.http.delete(session.path)).status_code == 204
    await session.do("close")


async def test_an_endless_script_is_ended_and_the_page_stays(session: Session, site: Site) -> None:
    """`while (true)` times out within its limit; the page, its variables too, is usable afterwards."""
    await session.do("open", url=site.page("<script>kept = 5</script>"))
    await session.refused("timeout", "evaluate", js="while (true) {}", timeout_ms=500)
    assert await session.value("kept") == 5


async def test_an_endless_script_of_the_page_itself_is_ended(session: Session, site: Site) -> None:
    """An action that meets it times out; the next open works."""
    await session.do("open", url=site.page("<script>setTimeout(() => { while (true); }, 300)</script>"))
    await session.do("wait", time_ms=400)
    await session.http.post(f"{session.path}/evaluate", json={"js": "1", "timeout_ms": 500})
    await session.do("open", url=site.page("<h1>Next</h1>"))
    assert "Next" in (await session.do("extract"))["content"]


async def test_idle_and_old_sessions_end_with_their_reason(api: Api, site: Site) -> None:
    """An hour long they say why; an unknown id says not found."""
    idle = await made(api.http, idle_timeout_ms=1000)
    old = await made(api.http, max_lifetime_ms=1000)
    async with asyncio.timeout(10):
        for session, reason in ((idle, "idle"), (old, "max_lifetime")):
            while (answer := await session.http.post(f"{session.path}/wait", json={"time_ms": 1})).status_code == 200:
                await asyncio.sleep(1.3 if reason == "idle" else 0.1)  # any call renews the idle time
            assert (answer.json()["code"], answer.json()["reason"]) == ("session_expired", reason)
    await Session(api.http, "A" * 22).refused("session_not_found", "extract")


async def test_a_client_that_goes_away_frees_the_session(session: Session, site: Site) -> None:
    """The action of a client that hangs up is ended."""
    await session.do("open", url=site.page("<p>x</p>"))
    with pytest.raises(httpx.ReadTimeout):
        await session.http.post(f"{session.path}/wait", json={"time_ms": 60_000}, timeout=0.3)
    async with asyncio.timeout(3):
        assert await session.value("1") == 1


@pytest.fixture(scope="module")
async def keyed(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A service with keys and small limits."""
    settings = settings_for(
        site, tmp_path_factory.mktemp("data"), api_keys=KEYS, sessions={"limit": 3, "per_key": 2}, pool={"warm": 1}
    )
    async with Service(settings) as service, serving(service) as base:
        yield base


def client(base: str, key: str) -> httpx.AsyncClient:
    """A client with a key."""
    return httpx.AsyncClient(base_url=base, headers={"Authorization": f"Bearer {key}"}, timeout=30)


async def test_keys_have_their_own_sessions_and_limits(keyed: str, site: Site) -> None:
    """Another key's session is not found; admin sees all; both limits answer overloaded with a time to come back."""
    async with client(keyed, "key-of-a-1") as a, client(keyed, "key-of-b-1") as b, client(keyed, "key-boss-1") as boss:
        one, two, three = await made(a), await made(a), await made(b)
        too_many = await a.post("/v1/sessions")
        assert (too_many.status_code, too_many.json()["code"]) == (429, "overloaded")
        assert int(too_many.headers["Retry-After"]) > 0
        assert (await b.post("/v1/sessions")).json()["code"] == "overloaded"
        await Session(b, one.id).refused("session_not_found", "extract")
        assert (await b.delete(one.path)).status_code == 204
        assert len((await boss.get("/v1/sessions")).json()["sessions"]) == 3
        assert [each["id"] for each in (await b.get("/v1/sessions")).json()["sessions"]] == [three.id]
        for session in (one, two, three):
            assert (await boss.delete(session.path)).status_code == 204


async def test_scopes_are_enforced(keyed: str, site: Site) -> None:
    """read may capture but not act; act may not run scripts."""
    async with client(keyed, "key-of-r-1") as r, client(keyed, "key-of-b-1") as b:
        assert (await r.post("/v1/sessions")).json()["code"] == "forbidden"
        assert (await r.post("/v1/screenshot", json={"html": "<p>x"})).status_code == 200
        session = await made(b)
        await session.do("open", url=site.page("<p>x</p>"))
        await session.refused("forbidden", "evaluate", js="1")
        await session.refused("forbidden", "wait", js="1")
        await session.do("close")


async def test_a_missing_or_wrong_key_is_refused(keyed: str) -> None:
    """The answer says which header and which variable."""
    async with httpx.AsyncClient(base_url=keyed) as http:
        for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic a2V5"}):
            answer = await http.post("/v1/sessions", headers=headers)
            assert answer.status_code == 401
            assert "TABWRIGHT_API_KEYS" in answer.json()["hint"]
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert (await http.get("/health")).status_code == 200


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"viewport": {"width": 1}}, "viewport.width"),
        ({"timezone": "Mars/Base"}, "timezone"),
        ({"locale": "not a locale"}, "locale"),
        ({"extra_headers": {"Bad Header": "x"}}, "extra_headers"),
        ({"extra_headers": {"Host": "x"}}, "Host"),
        ({"proxy": {"server": "ftp://x"}}, "proxy.server"),
        ({"block": ["everything"]}, "block"),
        ({"nonsense": True}, "nonsense"),
        ({"idle_timeout_ms": 0}, "idle_timeout_ms"),
    ],
)
async def test_wrong_session_options_name_the_field(api: Api, options: dict[str, object], word: str) -> None:
    """Before any browser is bothered."""
    assert word in (await api.fails("/v1/sessions", options, "invalid_request"))["detail"]


async def test_an_idempotency_key_makes_one_session(api: Api) -> None:
    """Sent twice, at once or later, it is the same session; with other parameters it is an error."""
    headers = {"Idempotency-Key": "make-it-once"}
    answers = await asyncio.gather(*(api.http.post("/v1/sessions", headers=headers) for _ in range(3)))
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = await api.http.post("/v1/sessions", headers=headers, json={"locale": "de-DE"})
    assert other.json()["code"] == "invalid_request"
    await Session(api.http, answers[0].json()["id"]).do("close")
