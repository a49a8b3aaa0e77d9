"""The output budget: how a long text is handed out in pieces that a reader, or a program that joins them, can use."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

NEAR = 0.2
"""The last part of a piece in which the end of a paragraph, line or word is looked for."""

_LINK_REACH = 4096  # characters before a cut in which a link may have begun
_MAX_CLUSTER = 64  # characters that are stepped back over; longer clusters are no writing
_WORD_ENDS = (" ", "\t", "。", "！", "？", "；", "，", "、")
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})(.*)\n?", re.MULTILINE)
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_TARGET_PART = re.compile(r"\\.|<[^<>\n]*>|[()\n]")


@dataclass(frozen=True)
class Cut:
    """One piece of a text; all numbers count characters. `next_offset` is None when nothing follows it."""

    content: str
    content_length: int
    truncated: bool
    next_offset: int | None


def cut(content: str, *, max_chars: int, offset: int) -> Cut:
    """The piece of `content` that begins at `offset` and has at most `max_chars` characters (0: all that is left).

    It ends after a paragraph, else a line, else a word, where one ends in its last fifth; never inside a grapheme
    cluster, a Markdown link or image, or a fenced block that a piece can hold whole. What is longer than a piece is cut
    all the same, and nothing is closed or opened again: the pieces, joined, are exactly the text. Each has at least one
    character until the text ends; an `offset` beyond the end gives an empty piece.
    """
    length = len(content)
    start = min(offset, length)
    end = length if max_chars == 0 or start + max_chars >= length else _end(content, start, start + max_chars)
    more = end < length
    return Cut(content[start:end], length, truncated=more, next_offset=end if more else None)


def _end(content: str, start: int, limit: int) -> int:
    """Where a piece ends that begins at `start` and must end at `limit` at the latest, which is inside the text."""
    blocks = [(a, b) for a, b in _fences(content, limit) if start <= a and b - a <= limit - start]

    def around(at: int) -> int | None:
        """The beginning of what must not be cut at this place."""
        block = next((a for a, b in blocks if a < at < b), None)
        return block if block is not None else _link_around(content, start, at)

    block = next((a for a, b in blocks if start < a < limit < b), None)
    if block is not None:
        return block
    near = limit - int((limit - start) * NEAR)
    for ends in (("\n\n",), ("\n",), _WORD_ENDS):
        found = _last(content, ends, near, limit, around)
        if found is not None:
            return found
    link = _link_around(content, start, limit)
    return link if link is not None else _cluster_start(content, start, limit)


def _last(
    content: str, ends: tuple[str, ...], near: int, limit: int, around: Callable[[int], int | None]
) -> int | None:
    """The last place in the range that follows one of these ends and may be cut at."""
    until: int | None = limit
    while until is not None:
        at = max(found + len(end) if (found := content.rfind(end, near, until)) >= 0 else -1 for end in ends)
        if at < 0:
            return None
        until = around(at)
        if until is None:
            return _cluster_start(content, near, at)
    return None


def _fences(content: str, limit: int) -> Iterator[tuple[int, int]]:
    """Fenced blocks that begin before `limit`: from their first line to the end of their last."""
    opened: tuple[int, str] | None = None
    for line in _FENCE.finditer(content):
        mark, rest = line[1], line[2]
        if opened is None:
            if line.start() >= limit:
                return
            if mark[0] == "~" or "`" not in rest:
                opened = (line.start(), mark)
        elif mark[0] == opened[1][0] and len(mark) >= len(opened[1]) and not rest.strip():
            yield opened[0], line.end()
            opened = None
    if opened is not None:
        yield opened[0], len(content)


def _link_around(content: str, start: int, at: int) -> int | None:
    """Where the outermost link or image begins that `at` is inside of, if it begins after `start`."""
    first = max(start, at - _LINK_REACH)
    first = max(first, content.rfind("\n\n", first, at))  # none goes beyond its paragraph
    opened: list[int] = []
    found = None
    for match in _BRACKET.finditer(content, first, at + _LINK_REACH):
        if match.start() >= at and not opened:
            break
        if match[0] == "[":
            opened.append(match.start())
        elif match[0] == "]" and opened:
            begin = opened.pop()
            begin -= begin > first and content[begin - 1] == "!"
            if start < begin < at < _target_end(content, match.end()):
                found = begin
    return found


def _target_end(content: str, at: int) -> int:
    """The end of the `(address)` that begins here; `at` itself where none does."""
    if content[at : at + 1] != "(":
        return at
    depth = 0
    for match in _TARGET_PART.finditer(content, at, at + _LINK_REACH):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "\n":
            return at
        if depth == 0:
            return match.end()
    return at


def _cluster_start(content: str, start: int, at: int) -> int:
    """`at`, or the beginning of the grapheme cluster that it is inside of, if that is not too far away."""
    for place in range(at, max(start, at - _MAX_CLUSTER), -1):
        if not _is_joined(content, place):
            return place
    return at


def _is_joined(content: str, at: int) -> bool:
    """Whether the characters before and at `at` belong together (a cheap part of Unicode's rules, UAX #29)."""
    if at >= len(content):
        return False
    before, after = content[at - 1], content[at]
    return (
        unicodedata.category(after) in {"Mn", "Me", "Mc"}
        or "\u200d" in {before, after}
        or (before == "\r" and after == "\n")
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # flags of regions
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or ("\u1160" <= after <= "\u11ff" and ("\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"))
        or (_is_flag(after) and _flags_before(content, at) % 2 == 1)
    )


def _is_flag(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _flags_before(content: str, at: int) -> int:
    count = 0
    while count < min(at, _MAX_CLUSTER) and _is_flag(content[at - 1 - count]):
        count += 1
    return count
