"""Which pages are read first."""

from random import Random

import pytest

from search.relevance import NEUTRAL, reading_order, relevance


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("rye bread recipe", ("Rye bread recipes", ""), ("Bread", "rye")),
        ("rye bread recipe", ("Rye bread", "a recipe"), ("Bakery", "rye bread recipe")),
        ("红烧肉的做法", ("家常红烧肉的做法", ""), ("红烧排骨", "肉类做法")),
        ("英雄联盟世界赛", ("英雄联盟全球总决赛", ""), ("联盟新闻", "英雄")),
        ("python 爬虫", ("Python 爬虫教程", ""), ("Python tutorial", "")),
        ("std::vector push_back", ("vector::push_back", ""), ("Vector graphics", "")),
    ],
)
def test_more_of_the_query_is_more_relevant(query: str, better: tuple[str, str], worse: tuple[str, str]) -> None:
    """Words and runs of characters count by how much is there, in titles more than in snippets."""
    assert 100 >= relevance(query, *better) > relevance(query, *worse) > 0


def test_nothing_in_common_is_nought() -> None:
    """Common words alone make nothing relevant."""
    assert relevance("how to bake the bread", "How to fix the car", "to the end") == 0
    assert relevance("红烧肉的做法", "手机壳的价格", "的") == 0


def test_a_title_that_is_the_query_is_a_hundred() -> None:
    """Width, case and traditional characters do not matter."""
    assert relevance("Rye Bread", "ＲＹＥ bread", "") == 100
    assert relevance("狗無穀飼料", "狗无谷饲料", "") == 100


@pytest.mark.parametrize("query", ["", "???", "\ud800", "\x00"])
def test_a_query_without_words_prefers_nothing(query: str) -> None:
    """Where nothing can be compared, everything is as good."""
    assert relevance(query, "A title", "") == NEUTRAL


def test_sequential_is_best_first_and_stable() -> None:
    """The most relevant come first, equals in their order, those of 0 not at all."""
    assert reading_order(["c3", "x0", "a9", "b3"], lambda one: int(one[1])) == ["a9", "c3", "b3"]


def test_random_is_shuffled_by_the_chance_given() -> None:
    """The same chance gives the same order, of the relevant ones alone."""
    results = list(range(20))
    first, second = (reading_order(results, lambda one: one, "random", Random(7)) for _ in range(2))
    assert first == second != results[1:]
    assert sorted(first) == results[1:]
