"""Which pages are walls, and which only look like them."""

import time

import pytest

from fetch.page import Page, Verdict
from fetch.refusal import judge
from fetch.refusal_signs import SIGHTED_FIELDS, SIGNS, WIDGETS
from tests.fetch.walls import (
    ARTICLE,
    CHALLENGES,
    GATES,
    PAGES,
    REFUSALS,
    SELF_LIFTING,
    Case,
    page_of,
    tree_of,
)

HOSTILE = {
    "deep": "<span>" * 100_000 + "x",
    "deep formatting": "<p hidden>a<b hidden>" * 400_000,
    "rows": "<table>" + "<tr><td>a<td>b" * 300_000,
    "one text": "hello world " * 850_000,
    "scripts": ("<script>x=1;" + "a" * 3000 + "</script>") * 3000,
    "shadow roots": "<x-a><template shadowrootmode=open>" * 14_000,
    "title": "<title>" + "access denied " * 300_000 + "</title>verify ",
    "buttons": "<div>" * 15_000 + "<button>accept</button>we value your privacy " * 20,
    "surrogates": "<title>\ud800</title><p>\udfff\0</p>",
}


def verdict_of(case: Case) -> Verdict:
    return judge(case.page, tree_of(case.html), case.html)


@pytest.mark.parametrize("case", [*SELF_LIFTING, *CHALLENGES, *REFUSALS], ids=lambda case: case.name)
async def test_walls(case: Case) -> None:
    """A refusal or challenge is never taken for content, and says which rule fired."""
    verdict = verdict_of(case)
    assert verdict.outcome == case.outcome
    assert verdict.may_lift == case.lifts
    assert verdict.evidence
    assert all(0 < len(each) < 200 for each in verdict.evidence)


@pytest.mark.parametrize("case", GATES, ids=lambda case: case.name)
async def test_gates(case: Case) -> None:
    """Logins, consent dialogs, age gates, paywalls, missing and empty pages are named for what they are."""
    assert verdict_of(case).outcome == case.outcome


@pytest.mark.parametrize("case", PAGES, ids=lambda case: case.name)
async def test_pages(case: Case) -> None:
    """Content is content, whatever its status, its words and the widgets beside it."""
    assert verdict_of(case) == Verdict()


@pytest.mark.parametrize("case", [*CHALLENGES, *REFUSALS], ids=lambda case: case.name)
async def test_words_of_a_wall_in_an_article(case: Case) -> None:
    """The text of any wall, quoted in an article, does not make it a wall."""
    quoted = f"<title>On walls</title>{ARTICLE}<blockquote>{tree_of(case.html).text(separator=' ')}</blockquote>"
    assert judge(page_of(quoted), tree_of(quoted), quoted).outcome == "ok"


async def test_a_header_is_a_vendors_own_word() -> None:
    """Over HTTP a header that says challenge is believed however long the page is."""
    page = page_of(ARTICLE, status=403, headers={"cf-mitigated": "challenge"})
    assert judge(page, tree_of(ARTICLE), ARTICLE).outcome == "challenge"


async def test_selectors_are_valid() -> None:
    """Every selector is one that the parser understands."""
    tree = tree_of("<p>x")
    for sign in (sign for signs in SIGNS.values() for sign in signs if sign.where == "selector"):
        assert tree.css(sign.what) == []
    assert tree.css(WIDGETS) == tree.css(SIGHTED_FIELDS) == []


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_documents(name: str) -> None:
    """Depth, length and numbers are bounded: a verdict takes no longer for them."""
    html = HOSTILE[name]
    tree = tree_of(html)
    began = time.process_time()
    judge(Page("https://site.example/", "http", 200), tree, html)
    assert time.process_time() - began < 2
