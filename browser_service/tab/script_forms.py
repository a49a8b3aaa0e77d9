"""The ways to read a caller's script: as an expression, as statements that end in one, as the body of a function."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

_KEYWORD = re.compile(
    r"(?:const|let|var|if|for|while|do|switch|try|throw|return|break|continue|else|case|import|export|with)\b"
)
_NO_VALUE = re.compile(_KEYWORD.pattern + r"|(?:async\s+)?function\b|class\b|[{}]")
_COMMENT = re.compile(r"(?<!:)//")
_TRAILING_COMMENT = re.compile(r"(?:^|;|\n)[ \t]*//[^\n]*$")
_LOOP_OR_TEST = re.compile(r"\b(?:for|while|with|if)\b")
LONGEST_TAIL = 20_000
LOOKED_AT = 50
TRIES = 2


@dataclass(frozen=True)
class Form:
    """Source of an async arrow function, with the caller's script from its second line on.

    `split`: after so many lines of the script a line break of ours was put in. `calls`: a value that is a function is
    called.
    """

    source: str
    split: int | None = None
    calls: bool = False

    def line(self, line: int) -> int:
        """The caller's line for a line of `source`, both counted from 1."""
        own = line - 1
        return own - 1 if self.split is not None and own > self.split else own


def forms(js: str) -> Iterator[Form]:
    """Every reading of `js` to be tried, until one parses.

    A wrong reading must not parse, since the first one that does is run. The caller's text is changed by nothing
    but a line break and `return (` between two statements: inside a string, a comment, a template, a pattern or
    brackets, that does not parse.
    """
    if not _KEYWORD.match(js.lstrip()):
        whole = js.rstrip().rstrip(";")
        for text in dict.fromkeys((whole, _without_trailer(js))):
            yield Form(f"async () => (\n{text}\n)", calls=True)
    for head, tail in itertools.islice(_last_expressions(js), TRIES):
        split = None if "\n" in head[len(head.rstrip()) :] else head.count("\n") + 1
        between = "" if split is None else "\n"
        yield Form(f"async () => {{\n{head}{between}return ({tail}\n)}}", split=split)
    yield Form(f"async () => {{\n{js}\n}}")


def _last_expressions(js: str) -> Iterator[tuple[str, str]]:
    """Places, from the end on, where the script may fall into statements and a last expression."""
    text = _without_trailer(js)
    end = len(text)
    for _ in range(LOOKED_AT):
        end = max(text.rfind(";", 0, end), text.rfind("\n", 0, end))
        if end < 0 or len(text) - end > LONGEST_TAIL:
            return
        tail = text[end + 1 :]
        if not tail.strip() or not _balanced(tail):
            continue
        if _NO_VALUE.match(tail.lstrip()):
            return
        if _COMMENT.search(text, text.rfind("\n", 0, end) + 1, end):
            continue
        if text[end] == ";" or _ends_a_statement(text[:end].rstrip(), tail.lstrip()):
            start = len(text) - len(tail.lstrip())  # the error of a `return` names the line where it begins
            yield text[:start], text[start:]


def _without_trailer(js: str) -> str:
    """The script without comments and semicolons after its last statement."""
    text = js.rstrip().rstrip(";")
    while (comment := _TRAILING_COMMENT.search(text)) is not None:
        text = text[: comment.start()].rstrip().rstrip(";")
    return text


def _balanced(text: str) -> bool:
    """Whether as many brackets open as close; those in strings are counted, too, which loses a try at most."""
    return all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}"))


def _ends_a_statement(head: str, tail: str) -> bool:
    """Whether a statement surely ends at a line break between these; where it does not, nothing may be put there."""
    if not re.match(r"[\w$'\"]", tail) or re.search(r"\b(?:else|do)$", head):
        return False
    if head.endswith(")"):
        return _LOOP_OR_TEST.search(head) is None
    return re.search(r"[\w$'\"`\]}]$", head) is not None
