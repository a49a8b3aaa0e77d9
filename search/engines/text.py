"""The text of a piece of a page, as one line."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

_NODES: Final = 5000  # visited for one text; results have some dozens
_DEPTH: Final = 100
# Invisible: controls, zero-width and directional marks, byte-order marks, private use (highlighting), broken characters
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000-\uf8ff\ufffd]")
_INLINE: Final = frozenset(
    re.findall(
        r"[-\w]+",
        """a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike
        strong sub sup time tt u var wbr -text -comment""",
    )
)
_SILENT: Final = frozenset({"script", "style", "noscript", "template", "svg"})


def one_line(text: str, longest: int) -> str:
    """Text without what cannot be seen, with single blanks, cut to a length in characters."""
    return " ".join(_UNSEEN.sub("", text[: longest * 4]).split())[:longest].rstrip()


def text_of(node: LexborNode, longest: int) -> str:
    """What is to be read in the node. Blocks are kept apart by a blank, inline elements stay together."""
    pieces: list[str] = []
    _gather(node, pieces, [_NODES, longest * 4], _DEPTH)
    return one_line("".join(pieces), longest)


def _gather(node: LexborNode, pieces: list[str], left: list[int], depth: int) -> None:
    for child in node.iter(include_text=True):
        left[0] -= 1
        if min(left) <= 0:
            return
        if child.tag == "-text":
            text = child.text_content or ""
            left[1] -= len(text)
            pieces.append(text)
        elif child.tag not in _SILENT:
            apart = "" if child.tag in _INLINE else " "
            pieces.append(apart)
            if depth:
                _gather(child, pieces, left, depth - 1)
            pieces.append(apart)
