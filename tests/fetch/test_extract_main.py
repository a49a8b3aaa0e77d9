"""The main content of a page, told block by block."""

import json

import numpy as np
import pytest

from fetch.extract_blocks import HINT, INSIDE, blocks_of
from fetch.extract_features import NAMES, features, units
from fetch.extract_main import Main, choose
from fetch.extract_model import Trees, trees
from fetch.extract_signs import SIGNS, signs_of
from fetch.prepare import prepare
from fetch.text import text_of

URL = "http://site.example/blog/how-the-old-harbour-was-dredged"
PROSE = [
    f"Paragraph {n} of the report tells how the harbour was dredged, by whom, and what it cost the town that year, in "
    "the words of those who were there and have not forgotten any of it."
    for n in range(8)
]
MENU = "<ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(20)) + "</ul>"


def main_of(body: str, head: str = "") -> str:
    """The main content of a page, as HTML."""
    html = f"<html><head>{head}</head><body>{body}</body></html>"
    page = prepare(html, URL)
    Main(page, html, URL).take()
    return page.root.html or ""


def test_blocks_are_lines_with_their_places() -> None:
    """Text, links, and what the names of the elements around say."""
    tree = prepare("<div class=sidebar><nav><a href=x>One</a> two</nav></div><pre>a\n b</pre>", URL)
    first, second = (found := blocks_of(tree.root)).blocks
    place = found.places[first.place]
    assert (first.text, first.links, second.text) == ("One two", 3, "a b")
    assert place.hints & HINT["side"]
    assert place.tags & INSIDE["nav"]
    assert (found.places[0].chars, found.places[0].links, found.places[0].blocks) == (10, 3, 2)


def test_every_block_has_every_number() -> None:
    """And all of them are finite."""
    html = f"<h1>Harbour</h1><p>{PROSE[0]}</p><div class=comments><h2>Comments</h2><p>3 May 2024</div>"
    tree = prepare(html, URL)
    rows, sizes = features(blocks_of(tree.root), signs_of(tree.tree, html, URL))
    assert rows.shape == (4, len(NAMES))
    assert np.isfinite(rows).all()
    assert sizes.tolist() == [1, units(PROSE[0]), 1, 3]
    assert rows[:, NAMES.index("from h1")].tolist() == [0, 1, 2, 3]
    assert rows[:, NAMES.index("from comments")].tolist()[2:] == [0, 1]


def test_words_of_languages_without_spaces_are_counted() -> None:
    """Five signs are three words."""
    assert units("one two three") == 3
    assert units("渡口重新开") == pytest.approx(4)


def test_pages_say_what_they_are() -> None:
    """In JSON-LD, in OpenGraph, in their address."""
    html = '<meta property=og:type content=article><script type=application/ld+json>{"@type": "NewsArticle"}</script>'
    said = dict(zip(SIGNS, signs_of(prepare(html, URL).tree, html, URL), strict=True))
    assert {name for name, value in said.items() if value} == {"says article", "graph article", "address of an article"}


def test_trees_add_up_their_leaves() -> None:
    """Two questions a tree: the first is the lowest bit of the leaf's number."""
    written = {
        "features": list(NAMES),
        "bias": 0.5,
        "tests": [[0, 1.0], [1, 10.0]],
        "trees": [[0, 1], [1, 0]],
        "leaves": [[0, 1000, 2000, 3000], [0, 0, -500, 0]],
    }
    row = np.zeros((2, len(NAMES)), np.float32)
    row[1, 1] = 11
    given = Trees(json.dumps(written)).probabilities(row)
    assert given == pytest.approx([1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(-2.5))])


def test_a_model_for_other_numbers_is_refused() -> None:
    """Columns that changed places would be nonsense without a sign of it."""
    with pytest.raises(ValueError, match="other features"):
        Trees('{"features": ["size"]}')
    assert trees() is trees()


def test_the_choice_has_the_greatest_expected_likeness() -> None:
    """Doubtful blocks are left out beside sure ones, and taken where there are no others."""
    sizes = np.ones(4, np.float32)
    kept, likeness = choose(np.array([0.9, 0.3, 0.9, 0.1]), sizes)
    assert kept.tolist() == [True, False, True, False]
    assert likeness == pytest.approx(3.6 / 4.2)
    assert choose(np.array([0.3, 0.3, 0.1, 0.3]), sizes)[0].tolist() == [True, True, False, True]


def test_what_is_content_stays_as_it_is() -> None:
    """Code, tables and pictures in between; the rest is gone from the tree."""
    code = "<pre><code class=language-py>x  = 1</code></pre>"
    inner = f"<p>{PROSE[0]}</p><figure><img src=a.png></figure><p>{PROSE[1]}</p>{code}"
    rest = "".join(f"<p>{each}</p>" for each in PROSE[2:])
    html = main_of(f"<nav>{MENU}</nav><article>{inner}{rest}</article><footer><img src=logo.png>{MENU}</footer>")
    assert "<figure><img" in html
    assert '<pre><code class="language-py">x  = 1</code></pre>' in html
    assert "logo.png" not in html
    assert "Section" not in html


def test_comments_are_left_out_of_an_article() -> None:
    """They are not what its author wrote."""
    prose = "".join(f"<p>{each}</p>" for each in PROSE)
    remarks = "".join(
        f"<li class=comment><b>Ann</b> <time>3 May 2024</time><p>Thanks, I liked part {n}.</p></li>" for n in range(5)
    )
    head = "<meta property=og:type content=article>"
    html = main_of(
        f"<article>{prose}</article><section id=comments class=comments><h3>Comments</h3><ol>{remarks}</ol></section>",
        head,
    )
    assert "Paragraph 7" in html
    assert "Thanks" not in html


@pytest.mark.parametrize("html", ["", "<img src=a>", "<p> </p>", "<table><tr><td>", "x"])
def test_pages_with_little_or_nothing_are_left(html: str) -> None:
    """Nothing fails, and words stay."""
    page = prepare(html, URL)
    before = text_of(page.root)
    main = Main(page, html, URL)
    main.take()
    assert text_of(page.root) == before
    assert 0 <= main.share <= 1


@pytest.mark.timeout(20)
def test_many_blocks_take_time_in_proportion() -> None:
    """Each of another class."""
    html = "".join(f"<p class='c{n}'>words {n} of it" for n in range(50_000))
    page = prepare(html, URL)
    assert len(blocks_of(page.root).blocks) == 50_000
    Main(page, html, URL).take()
