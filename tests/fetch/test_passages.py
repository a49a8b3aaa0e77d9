"""Which passages of a text come first for a question."""

import time
from itertools import pairwise

import pytest

from fetch.passages import passages, rank

GUIDE = """# Guide

Welcome to the harbour guide, which tells all about the place and its people.

## Tides

High water comes twice a day. The tide tables hang at the pier.

## Ferries

The ferry to the island leaves at nine. Tickets cost four euros.

### Dogs

They travel free on all boats, but must be kept on a lead.

## Code

```
# not a heading

ferry = 1
```
"""


def test_the_answer_comes_first_under_its_headings() -> None:
    """The best passage stands first, with the headings that it stands below."""
    assert passages(GUIDE, "how much is a ferry ticket?").startswith("Guide\n\n## Ferries\n\nThe ferry to the island")


def test_headings_count_as_words_of_what_is_below() -> None:
    """A passage is found by the words of the headings above it."""
    assert passages(GUIDE, "dogs on ferries").startswith("Guide › Ferries\n\n### Dogs\n\nThey travel free")


def test_nothing_is_lost() -> None:
    """Without a limit every passage is given, those that do not match behind the others in their order."""
    found = passages(GUIDE, "tide")
    assert (
        found.index("twice a day") < found.index("Welcome") < found.index("leaves at nine") < found.index("ferry = 1")
    )


def test_passages_cover_the_text() -> None:
    """Passages do not overlap, and only white space lies between them."""
    spans = sorted((each.start, each.end) for each in rank(GUIDE, "tide"))
    between = [GUIDE[a:b] for (_, a), (b, _) in pairwise(spans)]
    assert (spans[0][0], spans[-1][1]) == (0, len(GUIDE))
    assert not "".join(between).strip()


def test_code_is_not_taken_apart() -> None:
    """A fenced block is one passage, and its comments are no headings."""
    assert "```\n# not a heading\n\nferry = 1\n```" in passages(GUIDE, "code")


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("渡口什么时候开放", "渡口将于周三清晨重新开放。"),
        ("猫の名前", "吾輩は猫である。名前はまだ無い。"),
        ("水位", "河道水位已恢复正常。"),
    ],
)
def test_languages_without_spaces_are_searched_by_pairs(query: str, best: str) -> None:
    """Chinese and Japanese questions find their sentences."""
    text = "\n\n".join(
        [
            "# 渡口",
            "天气很好" * 150,
            "渡口将于周三清晨重新开放。" + "今" * 600,
            "河道水位已恢复正常。" + "也" * 600,
            "吾輩は猫である。名前はまだ無い。",
        ]
    )
    best_passage = rank(text, query)[0]
    assert best in text[best_passage.start : best_passage.end]


@pytest.mark.parametrize(
    ("query", "form"), [("running", "runs"), ("city", "cities"), ("planned", "planning"), ("boxes", "box")]
)
def test_other_forms_of_a_word_match(query: str, form: str) -> None:
    """A question in the singular finds the plural, and so on."""
    filler = "Nothing of interest is said in this paragraph at all. " * 12
    assert passages(f"{filler}\n\nHere {form} is found.\n\n{filler}", query).startswith(f"Here {form}")


def test_a_limit_keeps_what_matters() -> None:
    """With a limit the best passages are kept whole, and one at least."""
    assert passages(GUIDE, "ferry tickets", 100).endswith("four euros.")
    assert "Tickets cost" in passages(GUIDE, "ferry tickets", 1)


@pytest.mark.parametrize("query", ["zeppelin", "", "???", "the of"])
def test_a_question_without_an_answer_changes_nothing(query: str) -> None:
    """Where no passage matches, the text is given as it is."""
    text = "One thing.\n\nAnother thing."
    assert passages(text, query) == text


def test_long_paragraphs_are_cut_at_sentences() -> None:
    """A text without paragraphs is still searched piece by piece."""
    text = "This sentence says nothing much. " * 200 + "The answer is forty-two. " + "This one says nothing too. " * 200
    first = rank(text, "answer forty-two")[0]
    assert first.end - first.start < 2500
    assert text[first.start - 1 : first.start].isspace()


@pytest.mark.parametrize(
    "text", ["a" * 500_000, "\n" * 500_000, "# " * 250_000, "```\n" * 100_000, "水" * 300_000, "\ud800 x"]
)
def test_hostile_texts_take_time_in_proportion(text: str) -> None:
    """No text takes more than a few seconds."""
    before = time.monotonic()
    rank(text, "water 水 a")
    assert time.monotonic() - before < 20
