"""What pages say about themselves, and their links."""

import json
import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from fetch.metadata import MAX_LINKS, read_links, read_metadata, read_title
from fetch.page import Link, Metadata

LD = '<script type="application/ld+json">'
URL = "http://a.example/dir/page?q=1"


def metadata(html: str) -> Metadata:
    return read_metadata(LexborHTMLParser(html), URL)


def links(html: str) -> list[tuple[str, str]]:
    return [(link.url, link.text) for link in read_links(LexborHTMLParser(html), URL)]


def ld(value: object) -> str:
    return f"{LD}{json.dumps(value)}</script>"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n  <b>title</b> &amp; </title><h1>Head</h1>", "A <b>title</b> &"),
        ("<svg><title>Icon</title></svg><h1>A <em>heading</em></h1>", "A heading"),
        ("<title> </title><meta property='og:title' content='Shared'><h1>Head</h1>", "Shared"),
        ("<p>Nothing", ""),
        ("", ""),
    ],
)
def test_the_title_is_the_one_of_the_window(html: str, title: str) -> None:
    """The title of the document comes first, then the one for sharing, then the heading; never an icon's."""
    assert read_title(LexborHTMLParser(html)) == title


def test_meta_elements_are_read() -> None:
    """Names in any case, relative addresses made absolute, OpenGraph kept as it is."""
    found = metadata(
        """<base href="/base/"><META NAME=Description content=" What  it is "><meta name=author content="Ann">
        <meta property="article:author" content="http://facebook.example/ann">
        <meta property="og:site_name" content="Site">
        <meta property="og:image" content="pic.png"><meta property="article:published_time" content="2024-05-01">
        <link rel="Canonical" href="page">"""
    )
    assert (found.description, found.author, found.site, found.published) == ("What it is", "Ann", "Site", "2024-05-01")
    assert (found.canonical, found.image) == ("http://a.example/base/page", "http://a.example/base/pic.png")
    assert found.open_graph["og:image"] == "pic.png"


def test_json_ld_fills_the_gaps() -> None:
    """What the elements do not say is taken from JSON-LD, from the article rather than the site around it."""
    article: dict[str, object] = {"@type": ["NewsArticle"], "description": "The news", "datePublished": "2024-05-02"}
    article |= {
        "author": [{"name": "Ann"}, {"name": "Bob"}],
        "publisher": {"name": "Paper"},
        "image": {"url": "/i.png"},
    }
    graph = {"@graph": [{"@type": "WebSite", "description": "The site"}, article]}
    found = metadata("<script type='application/ld+json'>{oops</script>" + ld(graph))
    assert (found.description, found.author, found.published) == ("The news", "Ann, Bob", "2024-05-02")
    assert (found.site, found.image) == ("Paper", "http://a.example/i.png")
    assert found.json_ld == (graph,)


def test_the_page_itself_is_asked_last() -> None:
    """Elements that are marked as author and date count where nothing else is said."""
    found = metadata(
        '<a rel=author href=/ann>Ann <b>B.</b></a><article><time datetime="2024-05-03">3 May</time></article>'
    )
    assert (found.author, found.published) == ("Ann B.", "2024-05-03")


def test_a_page_that_says_nothing() -> None:
    """Without any of it all fields are empty."""
    assert metadata("<p>Hello") == Metadata()


@pytest.mark.parametrize(
    "html",
    [
        ld("a" * 10**6),
        LD + "[" * 100_000 + "</script>",
        LD + '{"a":' * 500 + "1" + "}" * 500 + "</script>",
        f'{LD}[1e999, NaN, "\\ud800", {{"@graph": 7, "author": {{"name": {{"name": 1}}}}}}]</script>',
        LD + "9" * 10_000 + "</script>",
        LD + "-->" + " " * 200_000 + "x</script>",
        ld([{"author": [None, 1, []], "image": [], "publisher": 3, "datePublished": {}, "@type": None}]),
        "<meta content='x' name='" + "a b " * 5000 + "'>" * 100,
        "<link rel=canonical href='http://['><link rel=canonical href=javascript:1>",
        "<meta property=og:image content='\x00'>",
        "<base href='data:,x'><base><time><meta><meta name><meta content=x><a rel=author>",
    ],
)  # fmt: skip
def test_hostile_values_are_passed_over(html: str) -> None:
    """Nothing that a page says makes this fail, or gives what JSON cannot hold."""
    json.dumps(vars(metadata(html)), allow_nan=False, ensure_ascii=False).encode()


def test_links_are_absolute_and_once() -> None:
    """Addresses are resolved as browsers do, in the order of the page; only http(s) leads anywhere."""
    html = """<base href="../b/"><a href=" x y?z=1 ">One  <b>two</b></a><a href=mailto:a@b>m</a><a href="#top">t</a>
    <a href="//c.example">C</a><a href="x y?z=1">again</a><a href="http:///d.example/">D</a><a>none</a><a href>e</a>
    <a href=javascript:1>j</a><map><area href="/area" alt="Area"></map>"""
    assert links(html) == [
        ("http://a.example/b/x%20y?z=1", "One two"),
        ("http://c.example/", "C"),
        ("http://d.example/", "D"),
        ("http://a.example/area", "Area"),
    ]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href=x><img alt='A picture'></a>", "A picture"),
        ("<a href=x aria-label='A label'><svg></svg></a>", "A label"),
        ("<a href=x title='Hint'><i></i></a>", "Hint"),
        ("<a href=x><p>One</p><p>two</p><script>no</script></a>", "One two"),
        ("<a href=x></a><a href=x>Words</a>", "Words"),
        ("<a href=x></a>", ""),
    ],
)
def test_a_link_has_words(html: str, text: str) -> None:
    """A picture's description and a label stand for words; of several links the first with words counts."""
    assert links(html) == [("http://a.example/dir/x", text)]


def test_links_are_bounded() -> None:
    """A page of links without end gives the first of them, and nested ones take no time."""
    before = time.monotonic()
    many = links("".join(f"<a href=/{number}>{number}</a>" for number in range(20_000)))
    assert len(many) == MAX_LINKS
    assert len(links("".join(f"<a href={number}><table>" for number in range(3_000)) + "x" * 10**6)) == 3_000
    assert time.monotonic() - before < 20


def test_a_link_is_a_link() -> None:
    """The links are values of the page's own class."""
    assert read_links(LexborHTMLParser("<a href=/x>X</a>"), URL) == (Link("http://a.example/x", "X"),)
