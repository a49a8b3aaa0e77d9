"""How a caller's script is read, without a browser: which sources are tried, in which order."""

import pytest

from browser_service.tab.script_forms import Form, forms


def inserted(js: str) -> list[str]:
    """What follows `return (` in the readings that give the last of several statements."""
    return [
        form.source.rsplit("return (", 1)[1].removesuffix("\n)}")
        for form in forms(js)
        if form.source.startswith("async () => {") and form.source.endswith("\n)}")
    ]


def test_an_expression_is_tried_first_and_called() -> None:
    """What may be an expression is read as one; a function that it gives is called."""
    first = next(forms("() => 5"))
    assert first == Form("async () => (\n() => 5\n)", calls=True)


def test_what_begins_with_a_statement_is_no_expression() -> None:
    """A try that cannot parse is left out."""
    assert not any(form.calls for form in forms("const a = 1; return a"))


def test_the_body_comes_last_and_unchanged() -> None:
    """The plain reading, as the body of a function, is always there."""
    assert list(forms("if (a) { b }"))[-1] == Form("async () => {\nif (a) { b }\n}")


@pytest.mark.parametrize(
    ("js", "last"),
    [
        ("const a = 1; a + 1", "a + 1"),
        ("const a = 1; a + 1;\n", "a + 1"),
        ("const a = 1\na", "a"),
        ("f()\n'done'", "'done'"),
        ("x(); // note; really\ny", "// note; really\ny"),
        ("const a = 1; a // the value", "a // the value"),
        ("const a = 1; a; // the value", "a"),
        ("const u = 'https://example.com'; u", "u"),
        ("const f = () => { a; return b }; f()", "f()"),
    ],
)
def test_the_last_expression_is_the_value(js: str, last: str) -> None:
    """Statements without `return` give their last expression."""
    assert inserted(js)[0] == last


@pytest.mark.parametrize(
    "js",
    [
        "for (let i = 0; i < 3; i++)\nf(i)",
        "while (more())\nstep()",
        "if (a) b\nelse\nc",
        "const a = b\n(c)",
        "const a = b\n[0]",
        "const a = b\n+ c",
        "const a = tag\n`x`",
        "const a = b +\nc",
        "let a = 1",
        "a(); function b() {}",
        "a(); class B {}",
        "a(); { b }",
        "x(); return 1",
    ],
)
def test_where_a_statement_may_go_on_nothing_is_put(js: str) -> None:
    """A line break or a loop's head between two parts leaves the script as it is."""
    assert inserted(js) == []


def test_lines_are_the_callers() -> None:
    """Lines of the source are told as lines of the script, whether or not a line break was put in."""
    split = next(form for form in forms("a();\nb(); c\n.d") if form.split)
    assert split.source == "async () => {\na();\nb(); \nreturn (c\n.d\n)}"
    assert [split.line(line) for line in (2, 3, 4, 5)] == [1, 2, 2, 3]
    assert Form("async () => {\na\n}").line(2) == 1


def test_a_long_script_is_read_quickly() -> None:
    """A megabyte of minified code does not make the search for its last expression long."""
    assert len(list(forms("(()=>{" + "f(a);" * 200_000 + "})()"))) == 2
