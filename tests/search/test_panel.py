"""The scraping engines asked all at once: what each answers, and what is kept of it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from fetch.errors import InvalidRequest
from search.engine import Answer
from search.engines import DEFAULT, engines
from search.health import FAILURES, Health
from search.panel import ENGINE_S, Panel
from search.progress import tell_nobody
from search.query import Query
from search.selectors import Selectors
from search.told import Told, failure
from tests.browser_service.egress_servers import eventually
from tests.fetch.http_server import redirect
from tests.search.small_web import BLOCKED, CHANGED, EMPTY, HOLD, QUERY, SmallEngine, SmallWeb, listing, row, small_web

TWO = ("bing", "baidu")
WORDS = Query(QUERY)


async def ask(web: SmallWeb, names: Sequence[str] = TWO, timeout_s: float = 20.0) -> list[Told]:
    """What these answer."""
    return list((await web.panel.ask(WORDS, names, web.send, timeout_s, web.events.append)).told)


def states(given: Sequence[Told]) -> list[str]:
    """How they answered."""
    return [each.answer.state for each in given]


async def test_answers_come_in_the_order_of_the_names() -> None:
    """Whoever is first; and are told as they come."""
    async with small_web({"/bing": HOLD, "/baidu": EMPTY}) as web:
        found = await ask(web, timeout_s=0.4)
        assert [each.data["engine"] for each in web.events] == ["baidu", "bing"]
    assert [(each.answer.engine, each.answer.state) for each in found] == [("bing", "timeout"), ("baidu", "empty")]


@pytest.mark.parametrize("broken", ["request", "parse"])
async def test_an_engine_that_breaks_does_not_end_the_search(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of ours is its answer, and counts against it."""

    def breaks(*_: Any) -> Any:
        raise LookupError("ours")

    async with small_web({"/bing": EMPTY, "/baidu": EMPTY}) as web:
        monkeypatch.setattr(web.panel.engines["bing"], broken, breaks)
        bing, baidu = await ask(web)
        assert web.panel.health.snapshot()["bing"].counts == {bing.answer.state: 1}
    assert bing.answer.state in {"error", "unreadable"}
    assert "LookupError" in (bing.answer.error or "")
    assert baidu.answer.state == "empty"


async def test_a_way_out_that_breaks_does_not_end_the_search() -> None:
    """Even by something that nobody thought of."""

    async def send(request: httpx.Request) -> httpx.Response:
        raise UnicodeEncodeError("ascii", "é", 0, 1, "no")

    async with small_web({}) as web:
        found = await web.panel.ask(WORDS, TWO, send, 5, tell_nobody)
    assert [each.answer.error for each in found.told] == [
        f"{name} cannot be asked: UnicodeEncodeError." for name in TWO
    ]


async def test_redirects_are_resolved_before_the_answer_is_judged() -> None:
    """All on one host, once it is known where they lead: decoys."""
    hits = [row(f"127.0.0.1/link?{n}", opaque=True) for n in range(8)]
    routes = {f"/link?{n}": redirect(f"http://spam.here/{n}") for n in range(8)}
    async with small_web({"/bing": listing(*hits), **routes}) as web:
        (bing,) = await ask(web, ("bing",))
    assert bing.answer.state == "low_quality"
    assert "8 of 8 results are on spam.here" in (bing.answer.error or "")


async def test_redirects_that_hang_cost_no_more_than_the_engines_time() -> None:
    """The hits stay, those that were not resolved as they came."""
    hits = [row("127.0.0.1/link?1", opaque=True), row("127.0.0.1/link?2", opaque=True)]
    routes = {"/bing": listing(*hits), "/link?1": redirect("http://a.here/1"), "/link?2": HOLD}
    async with small_web(routes) as web:
        (bing,) = await ask(web, ("bing",), timeout_s=0.5)
    assert [hit.opaque for hit in bing.answer.hits] == [False, True]
    assert bing.elapsed_ms < 4000


async def test_refusals_begin_a_rest() -> None:
    """The engine is asked again when it is over."""
    now = [0.0]
    async with small_web({"/bing": [BLOCKED, listing("a.here/1")]}) as web:
        web.panel = Panel(web.panel.engines.values(), health=Health(clock=lambda: now[0], wall=lambda: now[0]))
        first, second = (*await ask(web, ("bing",)), *await ask(web, ("bing",)))
        now[0] = 61.0
        third, *_ = await ask(web, ("bing",))
        assert len(web.site.turns("/bing")) == 2
    assert states([first, second, third]) == ["blocked", "resting", "ok"]
    assert first.resting_until == second.resting_until == "1970-01-01T00:01:00Z"
    assert second.elapsed_ms == 0
    assert web.events[1].data["state"] == "resting"


async def test_faults_in_a_row_begin_a_rest() -> None:
    """A page that cannot be read, three times."""
    async with small_web({"/bing": CHANGED}) as web:
        found = [each for _ in range(FAILURES + 1) for each in await ask(web, ("bing",))]
    assert states(found) == ["unreadable"] * FAILURES + ["resting"]


async def test_callers_in_a_hurry_do_not_put_engines_to_rest() -> None:
    """A time limit shorter than a healthy engine needs says nothing about the engine."""
    async with small_web({"/bing": HOLD}) as web:
        found = [each for _ in range(FAILURES + 1) for each in await ask(web, ("bing",), timeout_s=0.05)]
    assert ENGINE_S > 0.05
    assert states(found) == ["timeout"] * (FAILURES + 1)


async def test_giving_up_leaves_nothing() -> None:
    """All engines at once."""
    async with small_web({"/bing": HOLD, "/baidu": HOLD}) as web:
        before = asyncio.all_tasks()
        task = asyncio.create_task(ask(web))
        await eventually(lambda: web.site.open == 2)
        task.cancel()
        await asyncio.wait([task])
        await web.is_quiet(before)
        assert web.panel.health.snapshot() == {}


async def test_an_engine_without_selectors_is_asked_all_the_same() -> None:
    """It gets none, and may need none."""
    given: list[Selectors] = []

    class Bare(SmallEngine):
        def parse(self, response: httpx.Response, selectors: Selectors) -> Answer:
            given.append(selectors)
            return super().parse(response, selectors)

    async with small_web({"/bare": EMPTY}) as web:
        web.panel = Panel([Bare("bare", web.site)])
        assert states(await ask(web, ("bare",))) == ["empty"]
    assert given == [Selectors()]


async def test_cookies_are_kept_for_the_next_search() -> None:
    """Those of each engine."""
    routes = {"/bing": listing("a.here/1")}
    routes["/bing"].data = routes["/bing"].data.replace(b"\r\n\r\n", b"\r\nSet-Cookie: seen=1\r\n\r\n", 1)
    async with small_web(routes) as web:
        for _ in range(2):
            await ask(web, ("bing",))
        assert [each["cookie"] for each in web.site.asked] == [None, "seen=1"]


def test_engines_by_name() -> None:
    """Each once, in the order given; without any the usual ones; unknown ones are the caller's mistake."""
    panel = Panel(engines())
    assert panel.named(["sogou", "bing", "sogou"]) == ("sogou", "bing")
    assert panel.named([]) == DEFAULT == ("bing", "baidu", "sogou", "so360")
    with pytest.raises(InvalidRequest, match=r"There is no engine 'gogle', 'altavista'\.") as caught:
        panel.named(["gogle", "bing", "altavista"])
    assert "bing, baidu, sogou, so360, duckduckgo" in (caught.value.hint or "")


async def test_when_all_rest_the_error_says_how_long() -> None:
    """The first that may be asked again decides."""
    async with small_web({}) as web:
        web.panel.health.note(Answer("bing", "blocked", retry_after_s=500))
        web.panel.health.note(Answer("baidu", "blocked", retry_after_s=90))
        found = await web.panel.ask(WORDS, TWO, web.send, 1, tell_nobody)
    assert failure([("builtin", found)]).retry_after_s == pytest.approx(90, abs=2)
