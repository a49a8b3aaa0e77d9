"""Snippets that say too little, replaced by the beginning of the page."""

import re
from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

SHORT: Final = 30
"""Characters below which a snippet says too little."""

FIRST: Final = 3
"""Only these first results get a better one: it costs a page each."""

LENGTH: Final = 200
"""Characters of the page that are shown."""

_NEAR = 0.6  # part of the length after which a cut may fall
_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？；]")
_BLANKS = re.compile(r"\s+")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)|^[#>\s]+|[`*]{1,3}", re.MULTILINE)


class Shown(Protocol):
    """A result, as far as its snippet matters."""

    @property
    def snippet(self) -> str:
        """What its engines say of it."""
        ...

    @property
    def reachable(self) -> bool | None:
        """Whether the page answers."""
        ...


_S = TypeVar("_S", bound=Shown)


def needs_snippet(result: Shown) -> bool:
    """Whether the page answers and its snippet is under 30 characters."""
    return result.reachable is True and len(result.snippet.strip()) < SHORT


def to_enhance(results: Iterable[_S]) -> list[_S]:
    """Those of the first 3 results that need a better snippet."""
    return [result for _, result in zip(range(FIRST), results, strict=False) if needs_snippet(result)]


def excerpt(text: str, length: int = LENGTH) -> str:
    """The beginning of a page's text or Markdown on one line, at most `length` characters.

    It ends after a sentence where one ends in its last two fifths, else after a word, with `…`.
    """
    plain = _BLANKS.sub(" ", _MARKUP.sub(r"\1", text[: 20 * length])).strip()
    if len(plain) <= length:
        return plain
    near = int(length * _NEAR)
    ends = [match.end() for match in _SENTENCE.finditer(plain, near, length + 1) if match.end() <= length]
    if ends:
        return plain[: ends[-1]]
    space = plain.rfind(" ", near, length)
    return plain[: space if space > 0 else length - 1].rstrip(" ,;:，、") + "…"
