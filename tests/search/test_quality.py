"""Decoys are seen, and honest answers are left alone."""

from dataclasses import replace
from itertools import permutations

import pytest

from search.engine import Answer, Hit
from search.quality import judge
from tests.search.serp import answer, hit, lists

HONEST = lists("honest")
DECOYS = lists("decoy")


def state(query: str, hits: tuple[Hit, ...], engine: str = "bing") -> str:
    """What an answer with these hits is judged to be."""
    return judge(query, Answer(engine, "ok", hits)).state


@pytest.mark.parametrize(("query", "hits"), HONEST, ids=[query for query, _ in HONEST])
def test_an_honest_answer_passes(query: str, hits: tuple[Hit, ...]) -> None:
    """Navigation, `site:`, misspelt, short, code-like, Chinese and mixed queries keep their results."""
    assert judge(query, Answer("bing", "ok", hits)).error is None


@pytest.mark.parametrize(("query", "hits"), DECOYS, ids=[query for query, _ in DECOYS])
def test_a_decoy_is_low_quality(query: str, hits: tuple[Hit, ...]) -> None:
    """Unrelated pages, pages with one word of the query, and one site's pages alone are decoys."""
    assert state(query, hits) == "low_quality"


def test_the_results_of_another_query_are_decoys() -> None:
    """Of all honest lists under all other queries, fewer than one in a hundred passes."""
    crossed = [(query, hits) for (query, _), (_, hits) in permutations(HONEST, 2)]
    passed = [query for query, hits in crossed if state(query, hits) == "ok"]
    assert len(crossed) > 4000
    assert len(passed) < len(crossed) / 100


def test_titles_alone_are_enough_for_an_honest_answer() -> None:
    """Engines without snippets are not condemned."""
    assert {state(query, tuple(replace(one, snippet="") for one in hits)) for query, hits in HONEST} == {"ok"}


def test_the_verdict_gives_the_figures() -> None:
    """The sentence says how many results have to do with the query, or are on which host; the hits stay."""
    unrelated = judge("saffron cake", answer("bing", *(hit(f"https://{n}.example/", "News") for n in "abcde")))
    alone = judge("rye bread", answer("bing", *(hit(f"https://a.example/{n}", "Rye bread") for n in range(7))))
    assert (unrelated.error or "").startswith("0 of 5 results")
    assert (alone.error or "").startswith("7 of 7 results are on a.example")
    assert len(unrelated.hits) == 5


def test_one_address_seven_times_is_not_one_host_with_all() -> None:
    """The share on one host counts different addresses that are not the engine's own redirects."""
    same = answer("bing", *(hit("https://a.example/", "Rye bread") for _ in range(7)))
    opaque = [hit(f"https://www.baidu.com/link?url={n}", "Rye bread", opaque=True) for n in range(7)]
    assert judge("rye bread", same).state == "ok"
    assert judge("rye bread", answer("baidu", *opaque)).state == "ok"


def test_chinese_engines_may_answer_in_chinese() -> None:
    """An English query at Baidu brings Chinese pages; at Bing it brings them only to robots."""
    pages = tuple(hit(f"https://{n}.cn/", "北京天气预报") for n in "abcd")
    assert state("weather forecast", pages, "baidu") == "ok"
    assert state("weather forecast", pages, "bing") == "low_quality"


@pytest.mark.parametrize("query", ["", "???", "-", '"', "site:", "\ud800", "a" * 100_000, "的", "OR AND"])
def test_any_query_is_judged(query: str) -> None:
    """Queries without words condemn nothing, and none raises."""
    pages = tuple(hit(f"https://{n}.example/{query[:9]}", f"The {query[:50]}") for n in "abcd")
    assert state(query, pages) == "ok"


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_results_say_nothing(count: int) -> None:
    """Fewer than three results are never condemned."""
    assert state("saffron cake", tuple(hit(f"https://{n}.example/", "News") for n in range(count))) == "ok"


def test_failures_are_left_as_they_are() -> None:
    """Only answers of state `ok` are judged."""
    blocked = Answer("bing", "blocked", error="A captcha.")
    assert judge("saffron cake", blocked) is blocked
