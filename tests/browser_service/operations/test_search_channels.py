"""Where web_search gets its results: SearXNG and APIs on this machine that fail as real ones do, built-in engines."""

import asyncio
import functools
import json
import time
from typing import Any, cast

import httpx
import pytest

from browser_service import searcher
from browser_service.service import Service
from search.channels.brave import Brave
from search.engine import Engine
from search.engines import engines
from search.panel import Panel
from search.query import Query
from tests.browser_service.searxng import Searx, change, refused, search, searx
from tests.conftest import Api
from tests.site import Handler, Request, Site

__all__ = ["searx"]


@pytest.mark.parametrize("limit", [{"timeout_ms": 300}, {"deadline_ms": 400}])
async def test_an_instance_that_hangs_is_a_timeout(api: Api, searx: Searx, limit: dict[str, int]) -> None:
    """Within the limit for a channel, and within that for the whole call."""
    searx.hold.clear()
    began = time.monotonic()
    problem = await refused(api, "timeout", **limit)
    assert time.monotonic() - began < 5
    assert "searxng" in problem["detail"]
    assert problem["retryable"]


@pytest.mark.parametrize(
    ("status", "body", "headers", "code", "said"),
    [
        (429, "{}", {"Retry-After": "77"}, "blocked", "limiter"),
        (401, "{}", {}, "upstream_status", "searxng_auth_key"),
        (404, "<h1>No</h1>", {}, "upstream_status", "searxng_url"),
        (500, "{}", {}, "upstream_status", "look into its log"),
        (200, '{"results": [', {}, "upstream_status", "cut off"),
        (200, '{"hello": 1}', {}, "upstream_status", "not SearXNG"),
        (200, "", {}, "upstream_status", "JSON"),
        (302, "", {"Location": "http://169.254.169.254/latest"}, "upstream_status", "redirect"),
        (302, "", {"Location": "file:///etc/passwd"}, "upstream_status", "redirect"),
    ],
)
async def test_a_failed_instance_says_what_to_change(
    api: Api, searx: Searx, status: int, body: str, headers: dict[str, str], code: str, said: str
) -> None:
    """One problem document, with what became of the engine in it."""
    given = {name.replace("-", "_"): value for name, value in headers.items()}
    searx.answer = lambda request: request.answer(body, "application/json", status, **given)
    answer = await api.http.post("/v1/search", json={"query": "harbours"})
    problem = answer.json()
    assert problem["code"] == code
    assert said in problem["detail"]
    assert answer.headers.get("retry-after") == headers.get("Retry-After")
    assert problem["mode"] == "searxng"
    assert problem["engine_stats"]["searxng"]["state"] not in {"ok", "empty"}


async def test_where_json_is_disabled_the_page_is_read(api: Api, searx: Searx) -> None:
    """And a warning says which setting to change."""

    def answer(request: Request) -> None:
        if "format=json" in request.path:
            request.answer("<html><title>403</title><h1>Forbidden</h1>", status=403)
        else:
            row = "<article class=result><h3><a href='http://10.0.0.1/'>Harbour</a></h3><p class=content>It.</p>"
            request.answer(f"<div id=main_results>{row}</article></div>")

    searx.answer = answer
    found = await search(api)
    assert found["results"][0]["title"] == "Harbour"
    assert any("search.formats" in each for each in found["warnings"])


async def test_silent_engines_are_told(api: Api, searx: Searx) -> None:
    """Beside results they are in engine_stats; where all are silent, that is an error."""
    searx.unresponsive = [["google", "timeout"], ["brave", "Suspended: too many requests"]]
    problem = await refused(api, "upstream_status")
    assert (problem["engine_stats"]["google"]["state"], problem["engine_stats"]["brave"]["state"]) == (
        "timeout",
        "resting",
    )
    searx.add("http://10.0.0.1/")
    stats = (await search(api))["engine_stats"]
    assert {name: each["state"] for name, each in stats.items()} == {
        "bing": "ok",
        "google": "timeout",
        "brave": "resting",
    }


async def test_hostile_results_are_dropped_or_made_plain(api: Api, searx: Searx) -> None:
    """Addresses that are no pages; titles that would be markup, end the link, or cannot be written."""
    for url in (
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "",
        "http://a.example/" + "x" * 10_000,
    ):
        searx.add(url)
    searx.add("http://[::1/", "broken")
    searx.results.append({"url": 5, "title": ["x"], "engines": "bing", "positions": [None]})
    searx.add("http://u:p@10.0.0.1:99999/", "no such port")
    searx.add("http://10.0.0.1/)[x](javascript:1)", "](javascript:alert(1)) <img src=x onerror=1>\n# Head \ud800")
    found = await search(api)
    assert [each["url"] for each in found["results"]] == ["http://10.0.0.1/)[x](javascript:1)"]
    hostile = next(line for line in found["formatted"].splitlines() if "alert" in line)
    assert hostile.startswith(r"1. [\](javascript:alert(1)) \<img src=x onerror=1\> # Head")
    assert hostile.endswith("](http://10.0.0.1/%29%5Bx%5D%28javascript:1%29)")


async def test_an_answer_that_never_ends_is_cut(api: Api, searx: Searx) -> None:
    """Over the limit it is no answer; nothing of it stays in memory."""
    searx.answer = lambda request: request.answer(b" " * 50_000_000, "application/json")
    assert "10 MiB" in (await refused(api, "upstream_status"))["detail"]


async def test_the_operators_instance_may_be_private(api: Api, searx: Searx) -> None:
    """Its address was chosen by whoever runs the service; pages at the same address stay closed."""
    with Site() as inside:
        private = Searx(inside)
        private.add(inside.page("<h1>Secret</h1>"))
        await change(api, {"searxng_url": private.url})
        found = await search(api)
        assert (found["results"][0]["reachable"], found["_fetched"]) == (False, [])
        assert list(inside.hits) == [f"{private._prefix}/search"]


def answering(site: Site, path: str, body: dict[str, Any]) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """An API at this path; what it gets: headers in lower case, and the body, or the parameters of a GET."""
    got: list[tuple[dict[str, str], dict[str, Any]]] = []

    def answer(request: Request) -> None:
        length = int(request.headers["Content-Length"] or 0)
        sent = json.loads(request.rfile.read(length)) if length else {"path": request.path}
        got.append(({name.lower(): value for name, value in request.headers.items()}, sent))
        request.answer(json.dumps(body), "application/json")

    site.route(answer, path)
    return got


TAVILY = {"results": [{"url": "http://10.0.0.1/t", "title": "By Tavily", "content": "Harbours and boats.", "score": 1}]}


async def test_tavily_is_asked_at_its_base_address(api: Api, searx: Searx) -> None:
    """With the call's options; what it gives at most is said only where more was asked for."""
    got = answering(searx.site, "/gate/search", TAVILY)
    await change(api, {"tavily_api_key": "canary-tvly", "tavily_base_url": searx.site.base + "/gate"})
    found = await search(
        api, adapter="tavily", search_depth="advanced", time_range="1w", allowed_domains=["10.0.0.1"], max_results=30
    )
    assert (found["_mode"], found["results"][0]["title"]) == ("tavily", "By Tavily")
    headers, body = got[0]
    assert headers["authorization"] == "Bearer canary-tvly"
    assert (body["search_depth"], body["time_range"], body["max_results"]) == ("advanced", "week", 20)
    assert body["include_domains"] == ["10.0.0.1"]
    assert any("at most 20 results" in each for each in found["warnings"])
    assert not any("at most 20" in each for each in (await search(api, adapter="tavily"))["warnings"])
    assert searx.asked == []


async def test_the_channel_is_the_first_that_is_set_up(api: Api, searx: Searx) -> None:
    """SearXNG where enabled, then Tavily; the setting `adapter` before both, and that of the call before all."""
    answering(searx.site, "/gate/search", TAVILY)
    searx.add("http://10.0.0.1/s")
    await change(api, {"tavily_api_key": "canary-tvly", "tavily_base_url": searx.site.base + "/gate"})
    assert (await search(api))["_mode"] == "searxng"
    await change(api, {"searxng_enabled": False})
    assert (await search(api))["_mode"] == "tavily"
    await change(api, {"adapter": "searxng"})
    assert (await search(api))["_mode"] == "searxng"
    assert (await search(api, adapter="tavily"))["_mode"] == "tavily"


async def test_failover_goes_on_to_the_next_channel(api: Api, searx: Searx) -> None:
    """Where it is set; a channel that the call names stands alone."""
    answering(searx.site, "/gate/search", TAVILY)
    searx.answer = lambda request: request.answer("{}", "application/json", 500)
    values = {"tavily_api_key": "canary-tvly", "tavily_base_url": searx.site.base + "/gate"}
    await change(api, values)
    await refused(api, "upstream_status")
    await change(api, {"failover": True})
    found = await search(api)
    assert (found["_mode"], found["total"]) == ("tavily", 1)
    assert any("searxng failed" in each for each in found["warnings"])
    await refused(api, "upstream_status", adapter="searxng")


async def test_anthropic_is_asked_by_name_alone(api: Api, searx: Searx) -> None:
    """Through its base address, as `api` too."""
    row = {"type": "web_search_result", "url": "http://10.0.0.1/a", "title": "By a model"}
    content = [{"type": "web_search_tool_result", "content": [row]}]
    got = answering(searx.site, "/model/v1/messages", {"content": content, "stop_reason": "end_turn"})
    values = {"anthropic_api_key": "canary-ant", "anthropic_base_url": searx.site.base + "/model"}
    await change(api, values | {"anthropic_model": "some-model"})
    assert (await search(api))["_mode"] == "searxng"
    found = await search(api, adapter="api")
    assert (found["_mode"], found["results"][0]["title"]) == ("anthropic", "By a model")
    assert (got[0][0]["x-api-key"], got[0][1]["model"]) == ("canary-ant", "some-model")


class _Here:
    """A built-in engine that is asked on this machine."""

    def __init__(self, engine: Engine, url: str) -> None:
        self._engine, self._url = engine, url

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def request(self, query: Query) -> httpx.Request:
        """The same request, sent there."""
        request = self._engine.request(query)
        return httpx.Request("GET", self._url, headers=request.headers, params=request.url.params)


@pytest.fixture
def panel(site: Site, service: Service, monkeypatch: pytest.MonkeyPatch) -> dict[str, Handler]:
    """What Bing, Baidu and Sogou answer, by name; all hang up at first."""
    answers: dict[str, Handler] = dict.fromkeys(("bing", "baidu", "sogou"), Request.hang_up)

    def here(engine: Engine) -> Engine:
        url = site.route(lambda request: answers[engine.name](request))  # noqa: PLW0108 - a test may set another
        return cast("Engine", _Here(engine, url))

    monkeypatch.setattr(service.searcher, "panel", Panel([here(each) for each in engines() if each.name in answers]))
    return answers


def bing_page(request: Request) -> None:
    """One result, as Bing shows it."""
    row = (
        "<li class=b_algo><h2><a href='http://10.0.0.1/b'>Harbours</a></h2><div class=b_caption><p>Of boats.</p></div>"
    )
    request.answer(f"<ol id=b_results>{row}</li></ol>")


async def test_built_in_engines_are_asked_all_at_once(api: Api, panel: dict[str, Handler]) -> None:
    """Without a channel set up; what fails or hangs is told, and does not hold up the others."""
    panel["bing"] = bing_page
    panel["baidu"] = Request.hang
    found = await search(api, timeout_ms=700, time_range="week")
    assert (found["_mode"], [each["url"] for each in found["results"]]) == ("builtin", ["http://10.0.0.1/b"])
    states = {name: each["state"] for name, each in found["engine_stats"].items()}
    assert states == {"bing": "ok", "baidu": "timeout", "sogou": "error"}
    assert (await api.http.get("/health")).json()["engines"]["bing"]["state"] == "ok"


async def test_no_engine_that_answers_is_an_error(api: Api, panel: dict[str, Handler]) -> None:
    """Each is named with its reason; one that refuses rests, and says until when."""
    panel["sogou"] = lambda request: request.answer("<h1>Slow down</h1>", status=429, Retry_After="90")
    problem = await refused(api, "upstream_status")
    assert all(name in problem["detail"] for name in panel)
    problem = await refused(api, "blocked", engines=["sogou"])
    assert problem["engine_stats"]["sogou"]["state"] == "resting"
    assert problem["engine_stats"]["sogou"]["resting_until"].endswith("Z")


async def test_brave_is_asked_with_its_key(api: Api, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the call's options, in its own words."""
    row = {"url": "http://10.0.0.1/b", "title": "By Brave", "description": "Harbours."}
    got = answering(searx.site, "/brave/res/v1/web/search", {"web": {"results": [row]}})
    monkeypatch.setattr(searcher, "Brave", functools.partial(Brave, base_url=searx.site.base + "/brave"))
    await change(api, {"searxng_enabled": False, "brave_api_key": "canary-brave"})
    found = await search(api, time_range="year", safesearch=2, max_results=5)
    assert (found["_mode"], found["results"][0]["title"]) == ("brave", "By Brave")
    headers, asked = got[0]
    assert headers["x-subscription-token"] == "canary-brave"
    assert all(each in asked["path"] for each in ("freshness=py", "safesearch=strict", "count=5"))


async def test_many_searches_at_once_get_their_own_answers(api: Api, searx: Searx) -> None:
    """Thirty, of which half are given up; none gets another's."""

    def echo(request: Request) -> None:
        row = {"url": "http://10.0.0.1/", "title": request.path, "engine": "bing"}
        request.answer(json.dumps({"results": [row]}), "application/json")

    searx.answer = echo
    queries = [f"at once {number:04}" for number in range(30)]
    searching = [asyncio.create_task(search(api, query, fetch_top=0)) for query in queries]
    assert await asyncio.to_thread(searx.begun.wait, 10)
    for each in searching[::2]:
        each.cancel()
    for query, one in zip(queries[1::2], searching[1::2], strict=True):
        found = await one
        assert found["query"] == query
        assert query.replace(" ", "+") in found["results"][0]["title"]
