"""Documents made to exhaust parsers."""

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from fetch.tame import DEPTH, tame


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "the text" + "</div>" * 100_000,
        "<b>x" * 100_000 + "the text",
        "<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">the text</p>",
        "<svg><g>" * 50_000 + "the text",
        "<script>" + "<div>" * 50_000 + "</script>the text",
        "<title>" * 100_000 + "the text",
        "<title>x</title>" * 50_000 + "the text",
        "<p>" + "a" * 2_000_000 + "the text",
        "<" + "a" * 2_000_000 + ">the text",
        "<style>" * 100_000 + "</style>the text",
        "<" * 100_000 + " the text",
        "<a " * 100_000 + ">the text",
        " ".join(f"<a{n}" for n in range(100_000)) + ">the text",
    ],
    ids=[
        "nested",
        "unclosed",
        "attributes",
        "foreign",
        "script",
        "titles",
        "many titles",
        "long text",
        "long name",
        "styles",
        "brackets",
        "cut tags",
        "cut names",
    ],
)
def test_it_is_parsed_in_time(html: str) -> None:
    """What takes a parser minutes takes a moment, and no text is lost."""
    began = time.process_time()
    tree = LexborHTMLParser(tame(html))
    assert time.process_time() - began < 5
    assert "the text" in (tree.html or "")


def test_an_ordinary_large_page_is_left_alone() -> None:
    """Elements without end tags are no depth, and end tags in scripts are none."""
    html = "<table>" + "<tr><td>cell<p>text" * 5000 + "</table>" + "<ul>" + "<li>item" * 5000 + "</ul>"
    html += "<script>'</div>' + '<div>'.repeat(9)</script>" * 300 + "<div><em>a</em></div>" * 3000
    assert tame(html) == html


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    """They come from browsers, and some parsers refuse a text that has one."""
    assert tame("<p>a\ud800b</p>") == "<p>a?b</p>"


def test_what_is_too_deep_lies_beside_each_other() -> None:
    """The outer levels stay as they are, and what follows the deep part keeps its place."""
    html = "<main>" + "<div>" * 5000 + "deep" + "</div>" * 5000 + "</main><p id=after>after</p>"
    tree = LexborHTMLParser(tame(html))
    after = tree.css_first("#after")
    assert after is not None
    assert after.parent is not None
    assert after.parent.tag == "body"
    assert len(tree.css("main div")) == DEPTH - 1
