"""Whole searches on a small web of this machine: engines that fail in every way, pages that are dead, slow or empty."""

import asyncio
import json
import time
from typing import Any

import pytest

from fetch.errors import Blocked, InvalidRequest, TabwrightError, TimedOut, UpstreamStatus
from search.domains import Domains
from search.progress import Tell, tell_nobody
from search.query import Query
from search.told import Sourced
from search.web_search import Source, Wanted, web_search
from tests.fetch.http_server import Behaviour, Raw, answer, redirect
from tests.search.small_web import (
    BLOCKED,
    CHANGED,
    EMPTY,
    ENGINES,
    HOLD,
    QUERY,
    SmallWeb,
    after,
    five_pages,
    listing,
    page,
    row,
    small_web,
)

RESET = Raw(b"", "reset")
DECOYS = listing(*(row(f"shop.here/{n}", f"Cheap lamps number {n}") for n in range(10)))
DEAD = answer("gone", status="404 Not Found")


async def failure(web: SmallWeb, **given: Any) -> TabwrightError:
    """The error that a search ends with."""
    with pytest.raises(TabwrightError) as caught:
        await web.search(**given)
    return caught.value


# Engines


async def test_a_hanging_engine_costs_its_own_time_and_nothing_more() -> None:
    """The results of all others are there after its time limit."""
    routes = {"/bing": HOLD, "/baidu": listing("a.here/1"), "/sogou": listing("b.here/1"), "/so360": EMPTY}
    async with small_web(routes) as web:
        began = time.monotonic()
        found = await web.search(timeout_s=0.5)
    assert 0.5 <= time.monotonic() - began < 4
    assert web.paths(found) == ["a.here/1", "b.here/1"]
    assert web.told(found) == {"bing": "timeout", "baidu": "ok", "sogou": "ok", "so360": "empty"}
    assert found.told[0].answer.error == "bing did not answer within 0.5 s."


async def test_all_engines_are_asked_at_once() -> None:
    """Four that take their time take it together, and each tells how long it was."""
    async with small_web({f"/{name}": after(0.4, listing(f"{name}.here/1")) for name in ENGINES}) as web:
        found = await web.search()
        assert web.site.most == 4
    assert len(found.results) == 4
    assert all(each.elapsed_ms >= 400 for each in found.told)


@pytest.mark.parametrize("broken", [BLOCKED, CHANGED, RESET, HOLD, answer("", status="500 Broken")])
async def test_one_engine_is_enough(broken: Raw) -> None:
    """Whatever becomes of the three others."""
    routes = {"/bing": listing("a.here/1"), "/baidu": broken, "/sogou": broken, "/so360": broken}
    async with small_web(routes) as web:
        assert web.paths(await web.search(timeout_s=0.5)) == ["a.here/1"]


async def test_all_failing_is_an_error_that_says_why() -> None:
    """Never an empty list: each engine is named with its reason."""
    async with small_web({"/bing": BLOCKED, "/baidu": HOLD, "/sogou": CHANGED, "/so360": RESET}) as web:
        fault = await failure(web, timeout_s=0.5)
    assert isinstance(fault, UpstreamStatus)
    for words in ("bing wants a captcha solved.", "baidu did not answer within 0.5 s.", "sogou has changed its page."):
        assert words in fault.detail
    assert "127.0.0.1 cannot be loaded" in fault.detail
    stats: Any = fault.about["engine_stats"]
    assert {name: each["state"] for name, each in stats.items()} == {
        "bing": "blocked",
        "baidu": "timeout",
        "sogou": "unreadable",
        "so360": "error",
    }


@pytest.mark.parametrize(
    ("said", "kind"), [(BLOCKED, Blocked), (DECOYS, Blocked), (HOLD, TimedOut), (CHANGED, UpstreamStatus)]
)
async def test_what_kind_of_failure_it_is(said: Raw, kind: type[TabwrightError]) -> None:
    """By what all engines have in common."""
    async with small_web({f"/{name}": said for name in ENGINES}) as web:
        assert type(await failure(web, timeout_s=0.5)) is kind


async def test_nothing_found_is_no_failure() -> None:
    """All engines say that there is nothing: a success with no results, though pages were wanted."""
    async with small_web({f"/{name}": EMPTY for name in ENGINES}) as web:
        found = await web.search(fetch_top=5, enhance=True)
    assert (found.results, found.found, found.pages, found.formatted, found.warnings) == ((), 0, (), "", ())
    assert set(web.told(found).values()) == {"empty"}


async def test_decoys_are_left_out() -> None:
    """An engine that answers something else is named `low_quality`, and none of its results are given."""
    routes = {"/bing": DECOYS, "/baidu": listing("a.here/1", "b.here/1", "c.here/1")}
    async with small_web(routes) as web:
        found = await web.search(("bing", "baidu"))
    assert web.paths(found) == ["a.here/1", "b.here/1", "c.here/1"]
    assert web.told(found) == {"bing": "low_quality", "baidu": "ok"}
    assert "of 10 results" in (found.told[0].answer.error or "")


async def test_a_resting_engine_is_not_asked() -> None:
    """One that blocked is left alone by the next search, which says until when."""
    async with small_web({"/bing": BLOCKED, "/baidu": EMPTY}) as web:
        first = await web.search(("bing", "baidu"))
        second = await web.search(("bing", "baidu"))
        assert len(web.site.turns("/bing")) == 1
    assert [each.answer.state for each in (first.told[0], second.told[0])] == ["blocked", "resting"]
    until = second.told[0].resting_until
    assert until is not None
    assert until == first.told[0].resting_until
    assert second.told[0].answer.error == f"It rests until {until} (bing wants a captcha solved)."


# Domains


LINKS: dict[str, Behaviour] = {
    "/bing": listing(
        row("127.0.0.1/link?1", opaque=True), row("127.0.0.1/link?2", opaque=True), row("127.0.0.1/link?3", opaque=True)
    ),
    "/link?1": redirect("http://docs.a.here/1"),
    "/link?2": redirect("http://b.here/2"),
    "/link?3": DEAD,
}


@pytest.mark.parametrize(
    ("domains", "left"),
    [
        (Domains(allowed=("a.here",)), ["docs.a.here/1"]),
        (Domains(blocked=("a.here",)), ["b.here/2", "127.0.0.1/link?3"]),
        (Domains(), ["docs.a.here/1", "b.here/2", "127.0.0.1/link?3"]),
    ],
)
async def test_domains_are_those_that_results_lead_to(domains: Domains, left: list[str]) -> None:
    """An engine's redirect is judged by its target; one without a known target is no page of a domain asked for."""
    async with small_web(LINKS) as web:
        found = await web.search(("bing",), domains=domains)
    assert web.paths(found) == left
    assert found.found == len(left)
    dropped = 3 - len(left)
    assert list(found.warnings) == ([f"{dropped} results of other domains were left out."] if dropped else [])


# Order


async def test_dead_links_sink() -> None:
    """404, 410 and names that do not exist come last; what only refuses robots keeps its place."""
    routes: dict[str, Behaviour] = {
        "/bing": listing("a.here/404", "b.here/410", "a.nowhere/1", "c.here/403", "d.here/500", "e.here/200"),
        "/404": DEAD,
        "/410": answer("", status="410 Gone"),
        "/403": answer("", status="403 Forbidden"),
        "/500": answer("", status="500 Broken"),
        "/200": page(),
    }
    async with small_web(routes) as web:
        found = await web.search(("bing",))
    alive = ["c.here/403", "d.here/500", "e.here/200"]
    assert web.paths(found) == [*alive, "a.here/404", "b.here/410", "a.nowhere/1"]
    assert [each.reachable for each in found.results] == [None, False, True, False, False, False]


async def test_dead_links_make_room() -> None:
    """What comes after the limit takes the place of what is gone; all are counted."""
    routes: dict[str, Behaviour] = {"/bing": listing("a.here/404", "a.here/1", "a.here/2"), "/1": page(), "/404": DEAD}
    async with small_web(routes) as web:
        found = await web.search(("bing",), max_results=2)
    assert (web.paths(found), found.found) == (["a.here/1", "a.here/2"], 3)


def tutorials() -> dict[str, Behaviour]:
    """How engines answer the same question: one with a single site's pages, two with one index, one with decoys.

    The paths `/Js` and `/js` are written differently by different indexes; both are the same site's best page.
    """
    guide = "JavaScript tutorial"
    own = [row(f"w3.example/Js/{n}", f"JavaScript tutorial part {n}") for n in range(5)]
    return {
        "/bing": listing(row("w3.example/Js", guide), *own, row("support.example/js", guide)),
        "/yahoo": listing(row("w3.example/Js", guide), row("info.example/", guide), row("mdn.example/js", guide)),
        "/google": listing(
            row("w3.example/js", guide), row("info.example/?utm_source=g", guide), row("net.example/", guide)
        ),
        "/startpage": listing(row("w3.example/js/", guide), row("net.example/", guide), row("tube.example/1", guide)),
        "/mojeek": listing(row("info.example/", guide), row("www.w3.example/js", "", "-"), row("kit.example/", guide)),
        "/spam": listing(*(row(f"lamps.example/{n}", f"Lamps number {n}") for n in range(10))),
    }


async def test_independent_indexes_decide() -> None:
    """The page that four indexes have, in whatever spelling of its address, is before those of one.

    info: Bing's index, Google's, Mojeek's. w3/js: Google's and Mojeek's. w3/Js and one site's many pages: Bing's alone,
    for all that two engines show of it. Decoys are nowhere.
    """
    routes = tutorials()
    names = [path[1:] for path in routes]
    async with small_web(routes, names) as web:
        found = await web.search(names, text="javascript tutorial")
        paths = web.paths(found)
    assert paths[:3] == ["info.example/", "w3.example/js", "w3.example/Js"]
    assert paths.index("net.example/") < paths.index("tube.example/1")
    assert not any("lamps" in path for path in paths)
    assert web.told(found)["spam"] == "low_quality"
    assert set(found.results[0].engines) == {"mojeek", "yahoo", "google"}
    assert found.results[0].parts.keys() == {"bing", "google", "mojeek"}


async def test_duplicates_are_one_result_with_the_best_of_each() -> None:
    """All engines that found it, the best title, the longest snippet."""
    one = row("a.here/1?utm_source=x", "Harbour boats…", "Harbour boats and all that there is to say of them.")
    two = row("A.here/1", "Harbour boats of the north", "Harbour boats.")
    async with small_web({"/bing": listing(one), "/baidu": listing(two, "b.here/")}) as web:
        (first, second) = (await web.search(("bing", "baidu"))).results
    assert (first.title, first.snippet) == ("Harbour boats of the north", one["snippet"])
    assert (set(first.engines), second.engines) == ({"bing", "baidu"}, ("baidu",))


async def test_the_weighted_order() -> None:
    """Weight, reachability and snippet add up, as the parts say."""
    routes = {"/bing": listing("a.here/gone"), "/sogou": listing("b.here/1"), "/1": page(), "/gone": DEAD}
    async with small_web(routes) as web:
        found = await web.search(("bing", "sogou"), ranking="weighted")
    assert web.paths(found) == ["b.here/1", "a.here/gone"]
    assert [(each.weight, each.parts["weight"], each.parts["reachable"]) for each in found.results] == [
        (75, 37.5, 30.0),
        (90, 45.0, -20.0),
    ]


# What is told


async def test_events_come_in_their_order() -> None:
    """The query, each engine as it is done, the results, each page as it is read."""
    routes = five_pages(page())
    routes["/so360"] = after(0.2, BLOCKED)
    async with small_web(routes) as web:
        found = await web.search(fetch_top=3)
        names = [each.name for each in web.events]
        assert names[:6] == ["query_update", *["engine_done"] * 4, "search_results_received"]
        assert set(names[6:]) == {"page_fetched"}
        assert json.loads(json.dumps([each.data for each in web.events]))
        query, last_engine, results, first_page = (web.events[at].data for at in (0, 4, 5, 6))
    assert query == {"query": QUERY, "mode": "builtin", "engines": list(ENGINES)}
    assert (last_engine["engine"], last_engine["state"], last_engine["hits"]) == ("so360", "blocked", 0)
    assert last_engine["error"] == "so360 wants a captcha solved."
    assert (results["total"], results["total_results"], len(results["results"])) == (4, 4, 4)
    assert first_page["url"] in {each.url for each in found.results}
    assert (first_page["title"], first_page["error"]) == ("Title", None)


async def test_results_are_told_without_what_is_over_the_limit() -> None:
    """All are counted."""
    async with small_web({"/bing": listing(*(f"a.here/{n}" for n in range(5)))}) as web:
        await web.search(("bing",), max_results=2)
        (told,) = [each.data for each in web.events if each.name == "search_results_received"]
    assert (told["total"], told["total_results"], len(told["results"])) == (2, 5, 2)
    assert told["results"][0] == {"title": "Harbour boats", "url": web.url("a.here/0")}


# One source after another


def says(mode: str, sourced: Sourced) -> Source:
    """A source that gives this."""

    async def ask(query: Query, tell: Tell, limit_s: float) -> Sourced:
        return sourced

    return Source(mode, ask)


async def hang(query: Query, tell: Tell, limit_s: float) -> Sourced:
    """A source that keeps no time limit."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_the_next_source_is_asked_when_one_fails() -> None:
    """The result is the other's, and says what was wrong with the first; later ones are not asked."""
    async with small_web({"/bing": BLOCKED, "/baidu": listing("a.here/1")}) as web:
        sources = [web.source(("bing",)), web.source(("baidu",)), says("tavily", Sourced(unusable="Never seen."))]
        wanted = Wanted(Query(QUERY), fetch_top=0, enhance=False)
        found = await web_search(wanted, sources, web, tell_nobody)
    assert web.paths(found) == ["a.here/1"]
    (warning,) = found.warnings
    assert "builtin failed" in warning
    assert "bing wants a captcha solved." in warning


async def test_a_source_that_hangs_leaves_time_for_the_next() -> None:
    """Half of what there is for asking, though it keeps no limit itself."""
    async with small_web({"/baidu": listing("a.here/1")}) as web:
        wanted = Wanted(Query(QUERY), fetch_top=0, enhance=False, deadline_s=2)
        found = await web_search(wanted, [Source("searxng", hang), web.source(("baidu",))], web, tell_nobody)
    assert web.paths(found) == ["a.here/1"]
    assert "searxng did not answer within the time for the whole search." in found.warnings[0]


async def test_a_source_that_is_not_set_up_is_the_callers_to_mend() -> None:
    """The error is what has to be changed, and where."""
    async with small_web({}) as web:
        source = says("tavily", Sourced(unusable="Tavily needs a key: set TAVILY_API_KEY."))
        with pytest.raises(InvalidRequest) as caught:
            await web_search(Wanted(Query(QUERY)), [source], web, tell_nobody)
    assert caught.value.detail == "Tavily needs a key: set TAVILY_API_KEY."
    assert "/ui/settings" in (caught.value.hint or "")


async def test_text_that_is_no_results_is_given_as_it_is() -> None:
    """A source's page that could not be read as results is a success with its text."""
    async with small_web({}) as web:
        source = says("searxng", Sourced(formatted="What it says."))
        found = await web_search(Wanted(Query(QUERY)), [source], web, tell_nobody)
    assert (found.mode, found.results, found.formatted) == ("searxng", (), "What it says.")
