"""web_search over REST: a SearXNG instance, APIs and pages on this machine, read by web_fetch."""

import time
from typing import Any

import pytest

from tests.browser_service.searxng import Searx, change, refused, search, searx
from tests.conftest import Api
from tests.site import Site

__all__ = ["searx"]

RESULT = {
    "success",
    "query",
    "results",
    "total",
    "total_results",
    "search_time",
    "formatted",
    "from_cache",
    "engine_stats",
    "_mode",
    "_fetched",
    "_fetched_count",
    "warnings",
}
FOUND = {
    "title",
    "url",
    "snippet",
    "engine",
    "engines",
    "weight",
    "reachable",
    "_score",
    "_score_parts",
    "_enhanced",
    "published",
}


async def test_a_search_gives_results_and_pages(api: Api, searx: Searx) -> None:
    """All fields by their names; the same page found by two engines is one result with both."""
    (url,) = searx.add_pages(1)
    searx.results[0] |= {"engines": ["bing", "brave"], "positions": [1, 1], "publishedDate": "2026-05-04T00:00:00"}
    found = await search(api, "  harbours   of the north ")
    assert found.keys() == RESULT
    assert (found["success"], found["query"], found["_mode"]) == (True, "harbours of the north", "searxng")
    assert (found["total"], found["total_results"], found["from_cache"], found["warnings"]) == (1, 1, False, [])
    (result,) = found["results"]
    assert result.keys() == FOUND
    assert (result["url"], result["engine"], result["engines"]) == (url, "bing", ["bing", "brave"])
    assert (result["published"], result["reachable"], result["_enhanced"]) == ("2026-05-04", True, False)
    assert result["_score"] == pytest.approx(sum(result["_score_parts"].values()))
    assert found["engine_stats"].keys() == {"bing", "brave"}
    assert found["engine_stats"]["bing"].keys() == {"state", "hits", "elapsed_ms", "error", "resting_until"}
    assert f"]({url})" in found["formatted"]


async def test_the_best_pages_are_read_as_markdown(api: Api, searx: Searx) -> None:
    """By web_fetch: main content alone, also of a page that a script builds."""
    searx.add_pages(2, words="<ul><li>One thing</li></ul>")
    text = "Built by a script, of harbours. " * 20
    searx.add(searx.site.page(f"<div id=r></div><script>r.innerHTML = '<h1>Built</h1><p>{text}</p>'</script>"))
    found = await search(api)
    assert found["_fetched_count"] == len(found["_fetched"]) == 3
    assert found["_fetched"][0].keys() == {"url", "title", "content", "content_length", "truncated"}
    contents = "\n".join(each["content"] for each in found["_fetched"])
    assert "- One thing" in contents
    assert "Built by a script" in contents


@pytest.mark.parametrize(
    ("spellings", "means"),
    [
        (("day", "d", "1d", "一天", " 1D "), "day"),
        (("week", "w", "1w", "一周"), "week"),
        (("month", "m", "1m", "一月"), "month"),
        (("year", "y", "1y", "一年"), "year"),
    ],
)
async def test_time_ranges_have_many_spellings(api: Api, searx: Searx, spellings: tuple[str, ...], means: str) -> None:
    """All mean the same, and win over the setting."""
    await change(api, {"searxng_time_range": "week" if means != "week" else "day"})
    for spelling in spellings:
        await search(api, time_range=spelling)
    assert [each["time_range"] for each in searx.asked] == [means] * len(spellings)


@pytest.mark.parametrize(
    ("given", "pages", "warned"),
    [(0, 0, False), (1, 3, True), (2, 3, True), (3, 3, False), (8, 8, False), (9, 8, True), (1000, 8, True)],
)
async def test_fetch_top_is_clamped_with_a_warning(
    api: Api, searx: Searx, given: int, pages: int, warned: bool
) -> None:
    """0 reads none; else 3 to 8."""
    searx.add_pages(9)
    found = await search(api, fetch_top=given)
    assert found["_fetched_count"] == pages
    assert [each for each in found["warnings"] if "fetch_top" in each] == found["warnings"]
    assert bool(found["warnings"]) == warned


@pytest.mark.parametrize(
    ("saved", "called", "pages"),
    [(0, None, 5), (1, None, 3), (6, None, 6), (8, None, 8), (8, 0, 0), (8, 4, 4), (0, 0, 0)],
)
async def test_the_call_wins_over_fetch_count(
    api: Api, searx: Searx, saved: int, called: int | None, pages: int
) -> None:
    """The setting counts where the call says nothing, but is at least 3."""
    searx.add_pages(9)
    await change(api, {"fetch_count": saved})
    assert (await search(api, fetch_top=called))["_fetched_count"] == pages


@pytest.mark.parametrize(("saved", "called", "given"), [(0, None, 30), (0, 7, 7), (40, 7, 40), (5, 7, 7), (6, None, 6)])
async def test_the_larger_limit_of_results_counts(
    api: Api, searx: Searx, saved: int, called: int | None, given: int
) -> None:
    """Of searxng_max_results and max_results, those that are given; total_results counts all."""
    for number in range(45):
        searx.add(f"http://10.0.0.1/{number}")
    await change(api, {"searxng_max_results": saved})
    found = await search(api, max_results=called, fetch_top=0)
    assert (len(found["results"]), found["total"], found["total_results"]) == (given, given, 45)


async def test_domains_filter_with_their_subdomains(api: Api, searx: Searx) -> None:
    """Both lists in one call are refused; what was left out is counted."""
    for host in ("a.example", "docs.a.example", "b.example", "nota.example"):
        searx.add(f"http://{host}:9/")
    hosts = {each["url"] for each in (await search(api, allowed_domains=["A.example"], fetch_top=0))["results"]}
    assert hosts == {"http://a.example:9/", "http://docs.a.example:9/"}
    assert "site:a.example" in searx.asked[0]["q"]
    found = await search(api, blocked_domains="a.example, b.example", fetch_top=0)
    assert [each["url"] for each in found["results"]] == ["http://nota.example:9/"]
    assert any("3 results of other domains" in each for each in found["warnings"])
    both = await refused(api, "invalid_request", allowed_domains=["a.example"], blocked_domains=["b.example"])
    assert "cannot be used together" in both["detail"]


async def test_engines_are_asked_by_name(api: Api, searx: Searx) -> None:
    """Of the instance, those of the call before those of the settings; unknown built-in ones are named."""
    await change(api, {"searxng_engines": "google"})
    await search(api)
    await search(api, engines=["bing", "brave"])
    await search(api, engines="mojeek, qwant")
    assert [each["engines"] for each in searx.asked] == ["google", "bing,brave", "mojeek,qwant"]
    wrong = await refused(api, "invalid_request", adapter="builtin", engines=["bing", "altavista"])
    assert "altavista" in wrong["detail"]
    assert "baidu" in wrong["hint"]


@pytest.mark.parametrize(
    ("adapter", "variable"),
    [
        ("tavily", "TAVILY_API_KEY"),
        (" Brave ", "BRAVE_SEARCH_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("API", "ANTHROPIC_API_KEY"),
    ],
)
async def test_a_missing_key_is_named(api: Api, adapter: str, variable: str) -> None:
    """With the environment variable that it is read from, and where it can be saved."""
    problem = await refused(api, "invalid_request", adapter=adapter)
    assert variable in problem["detail"]
    assert "tabwright settings" in problem["hint"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n "}, "query"),
        ({"query": "a\x07b"}, "query"),
        ({"query": "\u202e\ufeff"}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": 5}, "query"),
        ({"adapter": "altavista"}, "adapter"),
        ({"time_range": "decade"}, "time_range"),
        ({"max_results": 0}, "max_results"),
        ({"max_results": 31}, "max_results"),
        ({"fetch_top": -1}, "fetch_top"),
        ({"fetch_mode": "best"}, "fetch_mode"),
        ({"safesearch": 3}, "safesearch"),
        ({"language": "zh CN"}, "language"),
        ({"ranking": "best"}, "ranking"),
        ({"search_depth": "deep"}, "search_depth"),
        ({"timeout_ms": 300_001}, "timeout_ms"),
        ({"deadline_ms": 99}, "deadline_ms"),
        ({"max_chars": -1}, "max_chars"),
        ({"allowed_domains": ["a.example/path"]}, "allowed_domains"),
        ({"allowed_domains": [5]}, "allowed_domains"),
        ({"engines": {"bing": 1}}, "engines"),
        ({"engines": ["x" * 301]}, "engines"),
        ({"fetched": 1}, "fetched"),
    ],
)
async def test_wrong_values_are_named(api: Api, given: dict[str, Any], named: str) -> None:
    """And nobody is asked."""
    assert named in (await refused(api, "invalid_request", **given))["detail"]


async def test_letters_that_join_are_part_of_a_query(api: Api, searx: Searx) -> None:
    """Persian, and emoji of several persons, are written with characters that cannot be seen."""
    for words in ("می\u200cخواهم", "👨\u200d👩\u200d👧"):
        assert (await search(api, words))["query"] == words
    assert searx.asked[0]["q"] == "می\u200cخواهم"


async def test_settings_and_call_reach_the_instance(api: Api, searx: Searx) -> None:
    """Language and safe search, of the call before the settings."""
    await change(api, {"searxng_language": "ja", "searxng_safesearch": 2, "searxng_auth_key": "canary-1"})
    await search(api)
    await search(api, language="de-AT", safesearch=0)
    await search(api, language="auto")
    asked = [(each["language"], each["safesearch"], each["format"]) for each in searx.asked]
    assert asked == [("ja", "2", "json"), ("de-AT", "0", "json"), ("auto", "2", "json")]


async def test_the_same_search_is_answered_from_the_cache(api: Api, searx: Searx) -> None:
    """Case and space do not matter; every option does, and so do the settings."""
    searx.add("http://10.0.0.1/")
    query = "Harbours Kept"
    assert not (await search(api, query))["from_cache"]
    kept = await search(api, f" {query.lower()}  ")
    assert (kept["from_cache"], kept["query"]) == (True, query.lower())
    for option in ({"safesearch": 0}, {"max_results": 29}, {"fetch_top": 0}, {"language": "fr"}, {"max_chars": 9}):
        assert not (await search(api, query, **option))["from_cache"], option
    await change(api, {"searxng_safesearch": 2})
    assert not (await search(api, query))["from_cache"]
    assert len(searx.asked) == 7


async def test_a_search_that_found_nothing_is_no_failure(api: Api, searx: Searx) -> None:
    """And is not kept: the next may find something."""
    found = await search(api, "harbours of nowhere")
    assert (found["success"], found["results"], found["total"], found["formatted"]) == (True, [], 0, "")
    searx.add("http://10.0.0.1/")
    assert (await search(api, "harbours of nowhere"))["total"] == 1


async def test_max_chars_is_for_all_pages_together(api: Api, searx: Searx) -> None:
    """Short ones stay whole; what was cut says how long it is."""
    searx.add_pages(3)
    searx.add(searx.site.page(f"<article><h1>Short</h1><p>{'Harbours. ' * 10}</p></article>"))
    found = await search(api, max_chars=1000, fetch_top=4)
    assert 800 < sum(len(each["content"]) for each in found["_fetched"]) <= 1000
    cut = [each for each in found["_fetched"] if each["truncated"]]
    assert (len(cut), min(each["content_length"] for each in cut) > 400) == (3, True)


async def test_pages_that_are_gone_sink_and_are_replaced(api: Api, searx: Searx) -> None:
    """A 404 and what may not be visited are no pages; others are read in their place."""
    searx.add(searx.site.page("<h1>Gone</h1>", status=404))
    searx.add("http://127.0.0.1:9/", "Harbour of another port")
    searx.add(searx.site.page("<h1>Closed</h1>", status=403), "Harbour closed")
    urls = searx.add_pages(3)
    found = await search(api, fetch_top=3)
    reachable = {each["url"]: each["reachable"] for each in found["results"]}
    assert list(reachable)[-1] == searx.results[0]["url"]
    assert [reachable[row["url"]] for row in searx.results] == [False, False, None, True, True, True]
    assert {each["url"] for each in found["_fetched"]} == set(urls)


async def test_addresses_inside_the_network_are_not_visited(api: Api, searx: Searx) -> None:
    """Neither for reading nor for the question whether they answer, nor by a redirect."""
    with Site() as inside:
        target = inside.page("<h1>Secret</h1>" * 20)
        searx.add(target)
        searx.add(searx.site.route(lambda request: request.answer(status=302, Location=target)))
        found = await search(api, fetch_top=3)
        assert (found["_fetched"], inside.hits) == ([], {})
    assert [each["reachable"] for each in found["results"]] == [False, False]


async def test_short_snippets_come_from_the_pages(api: Api, searx: Searx) -> None:
    """Of the first three that answer; not where that is not wanted."""
    url = searx.add_pages(1)[0]
    searx.results[0]["content"] = "Short."
    (result,) = (await search(api, fetch_top=0))["results"]
    assert (result["_enhanced"], result["url"]) == (True, url)
    assert "Paragraph 0 tells" in result["snippet"]
    (result,) = (await search(api, enhance_snippets=False))["results"]
    assert (result["_enhanced"], result["snippet"]) == (False, "Short.")


async def test_pages_are_read_by_relevance_or_by_chance(api: Api, searx: Searx) -> None:
    """`sequential`: best first, those that have nothing to do with it left out; `random`: any."""
    searx.add_pages(8)
    best = searx.site.page(f"<article>{'<p>Zander fishing in the lake at dawn, told at length.</p>' * 5}</article>")
    searx.add(best, "Zander fishing in the lake", "All of it on zander fishing, in the lake at dawn.")
    found = await search(api, "zander fishing lake", fetch_top=3, fetch_mode="sequential")
    assert [each["url"] for each in found["_fetched"]] == [best]
    await change(api, {"fetch_mode": "random"})
    orders = {tuple(each["url"] for each in (await search(api, fetch_top=3))["_fetched"]) for _ in range(6)}
    assert len(orders) > 1


async def test_the_ranking_can_be_chosen(api: Api, searx: Searx) -> None:
    """For a call or by the setting; the parts of the score say which it was."""
    searx.add("http://10.0.0.1/")
    (fused,) = (await search(api, fetch_top=0))["results"]
    assert fused["_score_parts"].keys() == {"bing"}
    await change(api, {"ranking": "weighted"})
    (summed,) = (await search(api, fetch_top=0))["results"]
    assert summed["_score_parts"]["weight"] == 45
    assert summed["_score_parts"]["reachable"] == -20
    assert (await search(api, fetch_top=0, ranking="rrf"))["results"][0]["_score_parts"].keys() == {"bing"}


async def test_pages_that_hang_do_not_hold_the_results(api: Api, searx: Searx) -> None:
    """At the deadline there is what there is, and a warning."""
    urls = searx.add_pages(1)
    for _ in range(3):
        searx.add(searx.site.route(lambda request: request.hang()))
    began = time.monotonic()
    found = await search(api, deadline_ms=3000, fetch_top=4)
    assert time.monotonic() - began < 8
    assert [each["url"] for each in found["_fetched"]] == urls
    assert any("1 pages could be read, of 4" in each for each in found["warnings"])
    assert found["total"] == 4


async def test_engines_behind_an_instance_are_recorded(api: Api, searx: Searx) -> None:
    """What each gave, or why not, is in /health."""
    searx.add("http://harbour.example/")
    searx.unresponsive = [["mojeek", "access denied"]]
    await search(api, "harbours that are recorded", fetch_top=0)
    engines = (await api.http.get("/health")).json()["engines"]
    assert engines["searxng/bing"]["counts"]["ok"] >= 1
    assert engines["searxng/mojeek"]["state"] == "blocked"
