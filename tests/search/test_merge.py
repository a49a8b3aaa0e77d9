"""Duplicates become one page that knows all its engines."""

from itertools import permutations

from search.engine import Answer, Hit
from search.merge import merge
from tests.search.serp import answer, hit


def test_duplicates_keep_the_best_of_each() -> None:
    """Best title, longest snippet, the page's own https address, a date, and every engine with its place."""
    found = merge(
        [
            Answer(
                "bing", "ok", (hit("https://x.example/"), Hit("Rye bread, the long …", "http://a.example/p", "short"))
            ),
            Answer(
                "baidu",
                "ok",
                (Hit("Rye bread", "https://www.a.example/p/?utm_source=x", "a longer one", "2026-01-02"),),
            ),
            Answer("sogou", "ok", (Hit("a.example", "https://a.example/p"), hit("https://a.example/p#top", "Rye"))),
        ]
    )
    page = next(one for one in found if one.title == "Rye bread")
    assert len(found) == 2
    assert (page.url, page.snippet, page.published) == ("https://a.example/p", "a longer one", "2026-01-02")
    assert page.ranks == (("baidu", 1), ("sogou", 1), ("bing", 2))


def test_the_order_of_answers_does_not_matter() -> None:
    """Engines answer in any order; the merged list is the same."""
    answers = [
        answer("bing", hit("https://a.example/", "One", "x"), "https://b.example/"),
        answer("baidu", hit("http://a.example", "Two", "y"), hit("https://c.example/", "")),
        answer("sogou", "https://b.example", hit("https://a.example/?utm_id=1", "Six", "z")),
    ]
    expected = merge(answers)
    assert all(merge(order) == expected for order in permutations(answers))


def test_only_good_answers_and_real_addresses_count() -> None:
    """Decoys, `javascript:` addresses and hits without words are left out."""
    decoy = Answer("bing", "low_quality", (hit("https://decoy.example/"),))
    odd = answer(
        "baidu", hit("javascript:alert(1)"), hit("https://a.example/", "  "), hit("", "x"), "https://b.example/"
    )
    assert [page.url for page in merge([decoy, odd])] == ["https://b.example/"]


def test_a_redirect_is_opaque_until_another_engine_knows_the_page() -> None:
    """Only pages that all engines gave as their own redirect stay opaque."""
    pages = merge([answer("baidu", hit("https://www.baidu.com/link?url=1", opaque=True), "https://a.example/")])
    assert [page.opaque for page in pages] == [True, False]
