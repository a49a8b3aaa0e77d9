"""The list of links shows what engines say and does nothing that they say."""

import re
from dataclasses import dataclass

import pytest
from markdown_it import MarkdownIt

from search.formatted import formatted


@dataclass(frozen=True)
class Result:
    """A result as the list shows it."""

    title: str = "A title"
    url: str = "https://a.example/"
    snippet: str = "A snippet"
    engines: tuple[str, ...] = ("bing",)
    published: str | None = None


def test_a_result_is_a_numbered_link() -> None:
    """Title and address, then host, date and engines, then the snippet."""
    shown = formatted([Result(published="2026-01-02", engines=("bing", "sogou"), url="https://www.a.example/x")])
    assert shown == "1. [A title](https://www.a.example/x)\n   a.example · 2026-01-02 · bing, sogou\n   A snippet"


HOSTILE = [
    "](https://evil.example/) [click",
    "![x](https://evil.example/i.png)",
    "<script>alert(1)</script><img src=x onerror=y>",
    "\n\n# Heading\n\n- item\n\n```\ncode",
    "# Heading",
    "1. item",
    "- item",
    "> quote",
    "```js",
    "---",
    "===",
    "| a | b |\n|---|---|",
    "<https://evil.example/>",
    "https://evil.example/ www.evil.example",
    "`code` *em* **strong** ~~gone~~ &lt;b&gt; &#60;",
    "trailing \\",
    "[ref]: https://evil.example/",
    "[^1]: note",
    "a\u202eb\u200b\x00\x1b[31m\ud800",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_cannot_be_markup(text: str) -> None:
    """Whatever title and snippet hold, the list has its two items with their one link each, and nothing else."""
    shown = formatted([Result(title=text, snippet=text), Result()])
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(shown)
    kinds = {token.type for token in tokens}
    inline = [child for token in tokens for child in token.children or ()]
    links = [child.attrGet("href") for child in inline if child.type == "link_open"]
    assert kinds == {
        "ordered_list_open",
        "list_item_open",
        "paragraph_open",
        "inline",
        "paragraph_close",
        "list_item_close",
        "ordered_list_close",
    }
    assert links == ["https://a.example/", "https://a.example/"]
    assert re.findall(r"(?<!\]\()https?://|www\.", shown) == []  # which GFM makes links of
    assert {child.type for child in inline} <= {"text", "softbreak", "link_open", "link_close", "text_special"}


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/x)y(",
        "https://a.example/ x",
        "https://a.example/<b>",
        "https://a.example/\\)",
        'https://a.example/" t"',
        "https://a.example/路",
    ],
)
def test_an_address_cannot_end_its_link(url: str) -> None:
    """Brackets, quotes and blanks in an address are escaped."""
    shown = formatted([Result(url=url, snippet="")])
    links = [
        child for token in MarkdownIt().parse(shown) for child in token.children or () if child.type == "link_open"
    ]
    assert [str(link.attrGet("href")).startswith("https://a.example/") for link in links] == [True]
    assert list(links[0].attrs) == ["href"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "", "nonsense", "https://a.example/" + "x" * 5000]
)
def test_other_addresses_are_no_links(url: str) -> None:
    """A title whose address is none, or too long, stands alone."""
    assert formatted([Result(url=url, snippet="")]).startswith("1. A title")


def test_the_list_is_bounded() -> None:
    """Long texts are cut, and results that do not fit are counted."""
    results = [Result(title="t" * 9000, snippet="s" * 9000)] * 30
    shown = formatted(results, 3000)
    assert len(shown) <= 3000
    assert shown.splitlines()[-1] == "… and 26 more"
    assert formatted([]) == ""
