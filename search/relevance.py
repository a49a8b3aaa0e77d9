"""How much a result has to do with a query, to choose the pages that are read."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, Literal, TypeVar

from fetch.stemming import stem
from search.query_terms import Asked, asked
from search.terms import folded, grams, is_unparted, pieces

Order = Literal["sequential", "random"]

NEUTRAL: Final = 50
"""Relevance of anything to a query that has no words."""

_TITLE = 0.6  # share of the title in the whole; the rest is for title and snippet together
_PAIRS = 0.6  # share of pairs where there are threes of characters too
_INSIDE = 0.7  # what a word counts that stands inside another (`script` in `typescript`)
_WHOLE = 10  # points for the query as it is written

_T = TypeVar("_T")


class _Text:
    """A text as queries are compared with it."""

    def __init__(self, text: str) -> None:
        found = list(pieces(folded(text)))
        runs = [piece for piece in found if is_unparted(piece)]
        self.squeezed = "".join(found)
        self.words = {stem(piece) for piece in found if not is_unparted(piece)}
        self.grams = {gram for run in runs for size in (1, 2, 3) for gram in grams(run, size)}

    def share(self, unit: str) -> float:
        """How much of a word or of a run of characters is in it, 0 to 1."""
        if not is_unparted(unit):
            return 1.0 if unit in self.words else _INSIDE if len(unit) >= 4 and unit in self.squeezed else 0.0
        pairs = _share(grams(unit), self.grams)
        return pairs if len(unit) < 3 else _PAIRS * pairs + (1 - _PAIRS) * _share(grams(unit, 3), self.grams)


def relevance(query: str, title: str, snippet: str) -> int:
    """0 (nothing in common) to 100, by words of English and the like, and Chinese pairs and threes of characters.

    Common words do not count unless the query has no other; a word counts once, a run of characters by its length.
    """
    wanted = asked(query)
    units = _units(wanted)
    if not units:
        return NEUTRAL
    head, whole = _Text(title), _Text(f"{title} {snippet}")
    total = sum(units.values())
    in_title = sum(head.share(unit) * weight for unit, weight in units.items()) / total
    anywhere = sum(whole.share(unit) * weight for unit, weight in units.items()) / total
    if anywhere == 0:
        return 0
    bonus = _WHOLE if wanted.squeezed in whole.squeezed else 0
    points = (_TITLE * in_title + (1 - _TITLE) * anywhere) * (100 - _WHOLE) + bonus
    return max(1, min(100, round(points)))


def reading_order(
    results: Sequence[_T], relevance_of: Callable[[_T], int], order: Order = "sequential", chance: Random | None = None
) -> list[_T]:
    """The results worth reading, those of relevance 0 left out: the most relevant first, or shuffled by `chance`."""
    scored = [(relevance_of(result), result) for result in results]
    worth = [(score, result) for score, result in scored if score > 0]
    if order == "random":
        (chance or Random()).shuffle(worth)  # noqa: S311 - no secret
    else:
        worth.sort(key=lambda pair: -pair[0])
    return [result for _, result in worth]


def _units(query: Asked) -> dict[str, float]:
    """The words and runs of a query, and how much each counts: two characters of a run like a word."""
    return dict.fromkeys(query.words, 1.0) | {run: max(1.0, len(run) / 2) for run in query.runs}


def _share(wanted: Sequence[str], found: set[str]) -> float:
    return sum(gram in found for gram in wanted) / len(wanted)
