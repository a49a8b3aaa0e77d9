"""Snippets that say too little become the beginning of the page."""

from dataclasses import dataclass

import pytest

from search.snippets import excerpt, needs_snippet, to_enhance


@dataclass(frozen=True)
class Result:
    """A result as far as its snippet matters."""

    snippet: str
    reachable: bool | None = True


@pytest.mark.parametrize(
    ("snippet", "reachable", "needed"),
    [
        ("", True, True),
        ("x" * 29, True, True),
        ("x" * 30, True, False),
        (" " * 99, True, True),
        ("", False, False),
        ("", None, False),
    ],
)
def test_a_short_snippet_of_a_page_that_answers(snippet: str, reachable: bool | None, needed: bool) -> None:
    """Under 30 characters, and only where the page is known to answer."""
    assert needs_snippet(Result(snippet, reachable)) is needed


def test_only_the_first_three() -> None:
    """Later results keep what they have."""
    results = [Result("x" * 50), Result("a"), Result("b", reachable=False), Result("c")]
    assert to_enhance(results) == [results[1]]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("A word. " * 60, "A word."),
        ("这是一句话，说得很长。" * 40, "。"),
        ("word " * 100, "word…"),
        ("x" * 500, "x…"),
    ],
)
def test_an_excerpt_ends_where_a_reader_would_stop(text: str, end: str) -> None:
    """After a sentence, else after a word, at 200 characters at most."""
    found = excerpt(text)
    assert 120 <= len(found) <= 200
    assert found.endswith(end)


def test_an_excerpt_is_one_line_of_plain_text() -> None:
    """Headings, emphasis, links and line ends of Markdown are taken off."""
    assert excerpt("# Title\n\nSome **bold**\n[link](https://a.example/) text.") == "Title Some bold link text."
