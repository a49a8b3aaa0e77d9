"""What comes first, and why."""

from random import Random

import pytest

from search.engine import Answer, Hit
from search.merge import Candidate, merge
from search.quality import judge
from search.rank import Ranking, index_of, rank
from search.reach import Reached
from tests.search.serp import answer, hit

DEAD = Reached(reachable=False, dead=True)


def page(url: str, snippet: str = "", **ranks: int) -> Candidate:
    """A page at its place in each engine."""
    return Candidate(url, url, "A title", snippet, tuple(sorted(ranks.items(), key=lambda pair: pair[1])))


def urls(pages: list[Candidate], ranking: Ranking = "rrf", **reached: Reached) -> str:
    """The addresses in their order, as one word."""
    return "".join(one.page.url for one in rank(pages, ranking, reached=reached))


def test_agreement_of_independent_engines_comes_first() -> None:
    """A page that two indexes put second is before what each alone puts first."""
    assert urls([page("a", bing=1), page("b", baidu=1), page("c", bing=2, baidu=2)]) == "cab"


def test_engines_over_one_index_have_one_vote() -> None:
    """Bing, DuckDuckGo and Yahoo agreeing weigh no more than Bing alone; Bing and Sogou do."""
    three = page("a", bing=3, duckduckgo=3, yahoo=3)
    alone, two = page("b", bing=3), page("c", bing=3, sogou=3)
    assert rank([three])[0].score == rank([alone])[0].score
    assert urls([three, two]) == "ca"


def test_the_best_place_in_an_index_is_its_vote() -> None:
    """Where Yahoo puts a page higher than Bing, that is the place that counts."""
    assert urls([page("a", bing=5), page("b", bing=9, yahoo=2)]) == "ba"


def test_a_heavier_engine_counts_more() -> None:
    """First in Bing is before first in Baidu, that before first in an engine without a weight."""
    assert urls([page("m", mojeek=1), page("b", baidu=1), page("a", bing=1)]) == "abm"


def test_snippets_only_break_ties() -> None:
    """Under `rrf` a longer snippet wins among equals and never over a better place."""
    assert urls([page("a", "x", bing=1), page("b", "xyz", bing=1), page("c", "x" * 500, bing=2)]) == "bac"


def test_decoys_do_not_reach_the_list() -> None:
    """Judged, merged and ranked, ten decoys of the heaviest engine leave the lighter one's results first."""
    decoys = answer("bing", *(hit(f"https://tv.example/{n}", "Sign in to TV") for n in range(10)))
    honest = answer("sogou", *(hit(f"https://{n}.example/", "Rye bread recipe") for n in "abc"))
    ranked = rank(merge([judge("rye bread", decoys), judge("rye bread", honest)]))
    assert [one.page.title for one in ranked] == ["Rye bread recipe"] * 3


@pytest.mark.parametrize("ranking", ["rrf", "weighted"])
def test_dead_pages_come_last(ranking: Ranking) -> None:
    """What is gone is after everything else, however many engines found it."""
    pages = [page("z", "x" * 100, bing=1, baidu=1), page("a", mojeek=30), page("b", mojeek=31)]
    assert urls(pages, ranking, z=DEAD, b=Reached(reachable=False)) == "abz"


@pytest.mark.parametrize(("reachable", "score"), [(True, 85.0), (False, 35.0), (None, 55.0)])
def test_weighted_is_a_sum(reachable: bool | None, score: float) -> None:
    """0.9 x 50, + 30, - 20 or nothing, + 50 characters of 100 x 20."""
    one = rank([page("a", "x" * 50, bing=7)], "weighted", reached={"a": Reached(reachable)})[0]
    assert one.score == score
    assert sum(one.parts.values()) == score
    assert set(one.parts) == {"weight", "reachable", "snippet"}


def test_weighted_keeps_the_order_of_an_engine_among_equals() -> None:
    """Results of one engine that score the same stay in its order."""
    assert urls([page("z", bing=1), page("y", bing=2), page("x", bing=3)], "weighted") == "zyx"


@pytest.mark.parametrize("ranking", ["rrf", "weighted"])
def test_ranking_does_not_depend_on_the_order_of_pages(ranking: Ranking) -> None:
    """Shuffled input gives the same list."""
    pages = [page(f"{n:02}", "x" * (n % 3), bing=n % 5 + 1, baidu=n % 7 + 1) for n in range(40)]
    expected = urls(pages, ranking)
    for seed in range(10):
        Random(seed).shuffle(pages)
        assert urls(pages, ranking) == expected


def test_parts_are_votes_by_index() -> None:
    """The parts of a fused score name the indexes and add up to it."""
    one = rank([page("a", ecosia=1, startpage=2, bing=60)])[0]
    assert one.parts == {"google": round(0.5 / 61, 8), "bing": round(0.9 / 120, 8)}
    assert one.score == pytest.approx(sum(one.parts.values()))


def test_names_of_engines_are_read_as_people_write_them() -> None:
    """Case does not matter, and 360 has the weight and the index of so360."""
    assert index_of(" DuckDuckGo ") == "bing"
    assert rank([Candidate("a", "a", "A title", "", (("360search", 1),))])[0].weight == 75
    assert rank(merge([Answer("Bing", "ok", (Hit("t", "https://a.example/"),))]))[0].weight == 90
