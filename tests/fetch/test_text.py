"""The text of a page, as a person would copy it."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from fetch.text import text_of


def text(html: str) -> str:
    """The text of a document's body."""
    body = LexborHTMLParser(html).body
    assert body is not None
    return text_of(body)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<b>b</b>c</p>", "abc"),
        ("<p><b>First</b><b> </b><b>Last</b></p>", "First Last"),
        ("<div>one</div><div>two</div>", "one\ntwo"),
        ("a<br>b", "a\nb"),
        ("<h1>Port<br>of<br>Call</h1>", "Port of Call"),
        ("<h2>A<br>B</h2>c<br>d", "A B\nc\nd"),
        ("<p>a&nbsp;b &lt; &#20013;</p>", "a b < 中"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a\tb\nc\td"),
        ("<pre>  x\n    y</pre>", "  x\n    y"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<p>  many\n\n  spaces  </p>", "many spaces"),
        ("a<script>b</script><style>c</style><noscript>d</noscript>", "a"),
        ("", ""),
    ],
)
def test_it_reads_as_it_looks(html: str, expected: str) -> None:
    """Blocks end lines, cells are parted by tabs, code keeps its spaces, inline elements add none."""
    assert text(html) == expected


def test_depth_costs_no_stack() -> None:
    """A thousand elements in each other are read as one."""
    assert text("<span>" * 1000 + "x" + "</span>" * 1000) == "x"
