"""Server-sent events of POST /v1/search?stream=true: what comes, in which order, and how it ends."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from browser_service.interfaces import events
from browser_service.operations.operation import Call
from browser_service.operations.search import Search, SearchResult
from browser_service.service import Service
from tests.browser_service import running
from tests.browser_service.running import short_folder
from tests.browser_service.searxng import Searx, refused, search, searx
from tests.conftest import Api, serving, settings_for
from tests.site import Site

__all__ = ["searx"]

STREAM = "/v1/search?stream=true"


async def streamed(api: Api, **body: Any) -> list[tuple[str, Any]]:
    """All events of a search: name and data."""
    answer = await api.http.post(STREAM, json=body)
    assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
    return [_read(each) for each in answer.text.split("\n\n") if each]


def _read(event: str) -> tuple[str, Any]:
    name, data = event.split("\n")
    assert name.startswith("event: ")
    assert data.startswith("data: ")
    return name[7:], json.loads(data[6:])


async def test_the_steps_come_in_order_and_the_result_last(api: Api, searx: Searx) -> None:
    """Each event is a name and one line of JSON; the last holds what REST gives, and nobody keeps any."""
    (url,) = searx.add_pages(1)
    told = await streamed(api, query="harbours told")
    assert [name for name, _ in told] == [
        "query_update",
        "engine_done",
        "search_results_received",
        "page_fetched",
        "done",
    ]
    news = dict(told)
    assert news["query_update"] == {"query": "harbours told", "mode": "searxng", "engines": []}
    assert (news["engine_done"]["engine"], news["engine_done"]["hits"]) == ("bing", 1)
    assert news["search_results_received"]["results"][0]["url"] == url
    assert (news["page_fetched"]["url"], news["page_fetched"]["error"]) == (url, None)
    kept = await search(api, "harbours told")
    assert kept.pop("from_cache")
    assert not news["done"].pop("from_cache")
    assert news["done"] == kept
    assert [name for name, _ in await streamed(api, query="harbours told")] == ["done"]


async def test_headers_keep_proxies_from_holding_it_back(api: Api, searx: Searx) -> None:
    """No cache, no buffer; the request's id as everywhere."""
    searx.add("http://10.0.0.1/")
    answer = await api.http.post(STREAM, json={"query": "harbours"}, headers={"X-Request-ID": "mine-7"})
    headers = {name: answer.headers[name] for name in ("cache-control", "x-accel-buffering", "x-request-id")}
    assert headers == {"cache-control": "no-store", "x-accel-buffering": "no", "x-request-id": "mine-7"}


async def test_an_event_comes_when_it_happens(api: Api, searx: Searx) -> None:
    """Not with the result."""
    searx.hold.clear()
    async with api.http.stream("POST", STREAM, json={"query": "harbours held"}) as answer:
        parts = answer.aiter_text()
        assert (await anext(parts)).startswith("event: query_update\n")
        assert await asyncio.to_thread(searx.begun.wait, 10)
        searx.hold.set()
        assert "event: done" in "".join([part async for part in parts])


async def test_a_failure_is_the_last_event(api: Api, searx: Searx) -> None:
    """With the same problem document as without a stream."""
    searx.answer = lambda request: request.answer("{}", "application/json", 500)
    plain = await refused(api, "upstream_status")
    name, problem = (await streamed(api, query="harbours failing"))[-1]
    assert name == "error"
    for each in (plain, problem):
        del each["request_id"], each["engine_stats"]
    assert problem == plain


async def test_what_is_not_foreseen_is_told_as_internal(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has it, the client no part of it."""

    async def run(_self: Search, _call: Call) -> SearchResult:
        raise KeyError("canary")

    monkeypatch.setattr(Search, "run", run)
    ((name, problem),) = await streamed(api, query="x")
    assert (name, problem["code"], problem["status"]) == ("error", "internal", 500)
    assert "canary" not in str(problem)
    assert "canary" in caplog.text


@pytest.mark.parametrize(("body", "path"), [({"query": ""}, STREAM), ({"query": "x"}, STREAM.replace("true", "maybe"))])
async def test_wrong_requests_get_no_stream(api: Api, body: dict[str, Any], path: str) -> None:
    """They are refused with a status, as everywhere."""
    await api.fails(path, body, "invalid_request")


async def test_who_may_not_search_gets_no_stream(site: Site, tmp_path: Path) -> None:
    """Nor any news."""
    keys = '[{"key": "canary-key-1", "scopes": ["read"]}]'
    service = Service(settings_for(site, tmp_path, api_keys=keys))
    async with serving(service) as base, httpx.AsyncClient(base_url=base) as http:
        await Api(http).fails(STREAM, {"query": "x"}, "unauthorized")


async def test_a_service_that_stops_begins_no_stream(
    api: Api, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so with its status, and when to come again."""
    monkeypatch.setattr(service, "draining", True)
    answer = await api.http.post(STREAM, json={"query": "x"})
    assert (answer.status_code, answer.json()["code"]) == (503, "shutting_down")
    assert answer.headers["retry-after"]


async def test_silence_is_broken_by_comments(api: Api, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nothing on the way takes the connection for dead."""
    monkeypatch.setattr(events, "SILENCE_S", 0.02)
    searx.hold.clear()
    async with api.http.stream("POST", STREAM, json={"query": "harbours silent"}) as answer:
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                searx.hold.set()
            if line == "event: done":
                break
    assert searx.hold.is_set()


class Slow:
    """Work that takes its time, and some to end, too."""

    def __init__(self) -> None:
        self.begun, self.cleaned = asyncio.Event(), asyncio.Event()

    async def run(self, _call: Call) -> SearchResult:
        """Until it is cancelled."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(10):
                await asyncio.sleep(0.001)
            self.cleaned.set()
        raise AssertionError


async def test_work_ends_in_order_when_its_client_goes(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cancelled once: what it does to clean up is not cut short."""
    slow = Slow()
    monkeypatch.setattr(Search, "run", lambda _self, call: slow.run(call))
    reading = asyncio.create_task(api.http.post(STREAM, json={"query": "x"}))
    await slow.begun.wait()
    reading.cancel()
    async with asyncio.timeout(10):
        await slow.cleaned.wait()


@pytest.fixture
async def quiet(service: Service) -> AsyncIterator[None]:
    """What a test began is over, and as many sockets listen as before: each way out of a search is one."""

    def listening() -> int:
        sockets = psutil.Process().net_connections("tcp")
        return sum(each.status == "LISTEN" for each in sockets) - service.pool.warm()

    before = listening()
    yield
    async with asyncio.timeout(20):
        while service._working or listening() > before or any(b.contexts for b in service.pool.fleet.browsers()):
            await asyncio.sleep(0.02)


@pytest.mark.usefixtures("quiet")
async def test_nothing_is_left_of_searches_that_nobody_waits_for(api: Api, searx: Searx) -> None:
    """Whether they wait for the instance or for a browser that reads a page."""
    searx.site.route(lambda request: request.hang(), "/late")
    for _ in range(3):
        searx.add(searx.site.page("<div id=r></div><script src=/late></script>"))
    searching = [asyncio.create_task(api.http.post(STREAM, json={"query": f"harbours left {n}"})) for n in range(6)]
    async with asyncio.timeout(20):
        while searx.site.hits["/late"] < 2:
            await asyncio.sleep(0.02)
    searx.begun.clear()
    searx.hold.clear()
    searching += [asyncio.create_task(api.http.post(STREAM, json={"query": f"harbours held {n}"})) for n in range(6)]
    await asyncio.to_thread(searx.begun.wait, 10)
    for each in searching:
        each.cancel()


async def test_a_search_that_runs_is_finished_before_the_service_stops(site: Site) -> None:
    """SIGTERM takes no new ones, and ends with status 0 once this one has its answer."""
    searx = Searx(site)
    searx.add_pages(1)
    searx.hold.clear()
    settings = {"TABWRIGHT_SEARCH__SEARXNG_ENABLED": "true", "TABWRIGHT_SEARCH__SEARXNG_URL": searx.url}
    with short_folder() as folder:
        async with running.serving(site, folder, **settings) as (process, http):
            reading = asyncio.create_task(http.post(STREAM, json={"query": "harbours"}))
            assert await asyncio.to_thread(searx.begun.wait, 20)
            process.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(20):
                while (await http.get("/ready")).status_code == 200:
                    pass
            assert (await http.post(STREAM, json={"query": "another"})).status_code == 503
            searx.hold.set()
            assert "event: done\n" in (await reading).text
            assert await process.ended() == 0
        assert "Traceback" not in process.log
