"""Evaluate and extract over REST."""

import pytest

from tests.conftest import Session
from tests.site import Site


@pytest.mark.parametrize(
    ("js", "value", "result"),
    [
        ("1 + 1", 2, "2"),
        ("document.title", "Test", "Test"),
        ("const a = 2; return a * 3", 6, "6"),
        (
            "({a: [1, {b: null}]})",
            {"a": [1, {"b": None}]},
            '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}',
        ),
        ("await new Promise((done) => setTimeout(done, 20, 'late'))", "late", "late"),
        ("'汛期 🎏'", "汛期 🎏", "汛期 🎏"),
        ("10n", "10n", "10n"),
        ("true", True, "true"),
        ("null", None, "null"),
    ],
)
async def test_evaluate_gives_the_value_and_a_text(
    session: Session, site: Site, js: str, value: object, result: str
) -> None:
    """A string as it is, anything else as indented JSON."""
    await session.do("open", url=site.page("<p>x</p>"))
    answer = await session.do("evaluate", js=js)
    assert (answer["value"], answer["result"]) == (value, result)


async def test_what_json_cannot_hold_is_described(session: Session, site: Site) -> None:
    """Cyclic values and elements are text, never an error."""
    await session.do("open", url=site.page("<p id=a>x</p>"))
    assert "p" in (await session.do("evaluate", js="document.querySelector('#a')"))["value"]
    assert "circular" in (await session.do("evaluate", js="const a = {}; a.self = a; return a"))["result"]


async def test_a_script_that_throws_says_what(session: Session, site: Site) -> None:
    """The caller's own error, and a text that does not parse, are script_failed."""
    await session.do("open", url=site.page("<p>x</p>"))
    assert "boom" in (await session.refused("script_failed", "evaluate", js="throw new Error('boom')"))["detail"]
    await session.refused("script_failed", "evaluate", js="((")


async def test_evaluate_in_the_isolated_world_sees_no_page_variables(session: Session, site: Site) -> None:
    """It shares the elements alone."""
    await session.do("open", url=site.page("<script>secret = 5</script><p>x</p>"))
    answer = await session.do("evaluate", js="typeof secret + document.querySelector('p').innerText", world="isolated")
    assert answer["value"] == "undefinedx"


async def test_evaluate_in_a_frame(session: Session, site: Site) -> None:
    """`frame` names it."""
    inner = site.page("<script>here = 'inside'</script>")
    await session.do("open", url=site.page(f"<iframe id=f src='{inner}'></iframe>"))
    assert (await session.do("evaluate", js="here", frame="#f"))["value"] == "inside"
    await session.refused("element_not_found", "evaluate", js="1", frame="#none")


async def test_an_alert_in_a_script_is_answered_and_told(session: Session, site: Site) -> None:
    """It does not hang the script."""
    await session.do("open", url=site.page("<p>x</p>"))
    answer = await session.do("evaluate", js="alert('hi'); return confirm('sure?')")
    assert answer["value"] is False
    assert [each["message"] for each in answer["changes"]["dialogs"]] == ["hi", "sure?"]


async def test_a_large_value_is_cut(session: Session, site: Site) -> None:
    """Over 2 MiB the answer says so."""
    await session.do("open", url=site.page("<p>x</p>"))
    answer = await session.do("evaluate", js="'x'.repeat(5_000_000)")
    assert answer["truncated"] is True
    assert len(answer["result"]) <= 2 * 2**20


ARTICLE = """<nav><a href=/home>Home</a></nav><main><h1>Head</h1><p>First <b>bold</b> words.</p>
  <table><tr><th>A<th>B<tr><td>1<td>2</table><p hidden>SECRET</p><pre>  keep
    this</pre><a href=/next>Next</a></main><footer>Foot</footer>"""


async def test_extract_reads_what_is_shown(session: Session, site: Site) -> None:
    """Text with tabs between cells; hidden text is left out and counted in the warnings."""
    await session.do("open", url=site.page(ARTICLE))
    answer = await session.do("extract")
    assert "First bold words." in answer["content"]
    assert "A\tB\n1\t2" in answer["content"]
    assert "  keep\n    this" in answer["content"]
    assert "SECRET" not in answer["content"]
    assert any("idden" in each for each in answer["warnings"])
    assert {"url": f"{site.base}/next", "text": "Next"} in answer["links"]


async def test_extract_as_markdown_of_the_main_content(session: Session, site: Site) -> None:
    """Headings, tables and absolute links; no navigation, no footer."""
    await session.do("open", url=site.page(ARTICLE))
    content = (await session.do("extract", format="markdown", main_content=True))["content"]
    assert "# Head" in content
    assert "**bold**" in content
    assert "| 1 | 2 |" in content
    assert f"[Next]({site.base}/next)" in content
    assert "Home" not in content
    assert "Foot" not in content


async def test_extract_of_a_selector_and_in_a_frame(session: Session, site: Site) -> None:
    """Any selector that actions take."""
    inner = site.page("<p>Inner words</p>")
    await session.do("open", url=site.page(f"<div id=a>One</div><div>Two</div><iframe id=f src='{inner}'></iframe>"))
    assert (await session.do("extract", selector="text=Two"))["content"].strip() == "Two"
    assert (await session.do("extract", frame="#f"))["content"].strip() == "Inner words"
    await session.refused("element_not_found", "extract", selector="#nothing")


async def test_extract_is_paged(session: Session, site: Site) -> None:
    """The pieces make up the whole; the last one has no next offset."""
    await session.do("open", url=site.page("".join(f"<p>Paragraph {n} of the text.</p>" for n in range(100))))
    whole = (await session.do("extract", max_chars=0))["content"]
    pieces, offset = [], 0
    while offset is not None:
        part = await session.do("extract", max_chars=500, offset=offset)
        assert part["content_length"] == len(whole)
        assert part["truncated"] == (part["next_offset"] is not None)
        pieces.append(part["content"])
        offset = part["next_offset"]
    assert "".join(pieces) == whole


async def test_reading_while_the_page_navigates(session: Session, site: Site) -> None:
    """A page that moves on by itself is read all the same."""
    goal = site.page("<h1>Final stop</h1>")
    page = f"<h1>First</h1><script>setTimeout(() => location = '{goal}', 150)</script>"
    await session.do("open", url=site.page(page), wait_until="load")
    assert (await session.do("extract"))["content"].strip() in {"First", "Final stop"}
    await session.do("wait", text="Final stop")
    assert "Final stop" in (await session.do("extract"))["content"]
