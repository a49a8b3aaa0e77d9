"""In which order pages are given.

`rrf`: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009, k = 60), weighted, over independent indexes.
`weighted`: a sum of the best engine's weight, reachability and the length of the snippet.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from search.merge import Candidate
from search.reach import UNKNOWN, Reached

Ranking = Literal["rrf", "weighted"]

K: Final = 60
"""The constant of the paper: how little the first places count more than those after them."""

WEIGHTS: Final[Mapping[str, int]] = MappingProxyType({"bing": 90, "baidu": 80, "sogou": 75, "so360": 75})
"""How much an engine's word counts, of 100."""

OTHERS: Final = 50
"""The weight of an engine that has none of its own."""

# Engines that show another's index have one vote together with it. Ecosia and Startpage
# gave Google's list for one query in 2026, DuckDuckGo, Yahoo and Qwant license Bing's.
_INDEXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "duckduckgo": "bing",
        "ddg": "bing",
        "yahoo": "bing",
        "qwant": "bing",
        "swisscows": "bing",
        "ecosia": "google",
        "startpage": "google",
        "serper": "google",
    }
)
_OURS: Final[Mapping[str, str]] = MappingProxyType({"360search": "so360", "360": "so360"})  # by their other names
_SNIPPET = 100  # characters beyond which a longer snippet is no better


@dataclass(frozen=True, slots=True)
class Ranked:
    """A page in its place. `score` and its `parts` depend on the ranking; `weight` is that of its best engine."""

    page: Candidate
    weight: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    reachable: bool | None = None
    dead: bool = False


def index_of(engine: str) -> str:
    """The index that an engine answers from: its own, or the one of the engine whose results it shows."""
    name = _name(engine)
    return _INDEXES.get(name, name)


def weight_of(engine: str, weights: Mapping[str, int] = WEIGHTS) -> int:
    """An engine's weight, of 100."""
    return weights.get(_name(engine), OTHERS)


def _name(engine: str) -> str:
    name = engine.strip().lower()
    return _OURS.get(name, name)


def rank(
    pages: Iterable[Candidate],
    ranking: Ranking = "rrf",
    *,
    weights: Mapping[str, int] = WEIGHTS,
    reached: Mapping[str, Reached] = MappingProxyType({}),
) -> list[Ranked]:
    """The pages, best first; the same for the same pages in whatever order they come.

    `reached` says by address what is known of reachability; pages that are gone (404, 410, no such host) come after all
    others. `rrf` is the sum over indexes of weight / 100 / (60 + best place in it), by weight of the best engine there;
    the length of the snippet breaks ties. `weighted` is weight / 100 * 50, + 30 if reachable or - 20 if not (0 when
    that is not known), + the snippet's length up to 100 characters / 100 * 20; the best place breaks ties.
    """
    scored = [_score(page, ranking, weights, reached.get(page.url, UNKNOWN)) for page in pages]
    return sorted(scored, key=lambda one: _order(one, ranking))


def _order(one: Ranked, ranking: Ranking) -> tuple[bool, float, int, int, str]:
    snippet, place = -len(one.page.snippet), min(rank for _, rank in one.page.ranks)
    ties = (snippet, place) if ranking == "rrf" else (place, snippet)
    return one.dead, -one.score, *ties, one.page.key


def _score(page: Candidate, ranking: Ranking, weights: Mapping[str, int], known: Reached) -> Ranked:
    weight = max(weight_of(engine, weights) for engine in page.engines)
    parts = _votes(page, weights) if ranking == "rrf" else _sum(page, weight, known)
    score = round(sum(parts.values()), 8)
    return Ranked(page, weight, score, parts, known.reachable, known.dead)


def _votes(page: Candidate, weights: Mapping[str, int]) -> dict[str, float]:
    """One vote an index: the best place there, with the weight of the best of its engines that found the page."""
    places: dict[str, int] = {}
    loudest: dict[str, int] = {}
    for engine, place in page.ranks:
        index = index_of(engine)
        places[index] = min(place, places.get(index, place))
        loudest[index] = max(weight_of(engine, weights), loudest.get(index, 0))
    return {index: round(loudest[index] / 100 / (K + places[index]), 8) for index in sorted(places)}


def _sum(page: Candidate, weight: int, known: Reached) -> dict[str, float]:
    reach = {True: 30.0, False: -20.0, None: 0.0}[known.reachable]
    snippet = min(len(page.snippet), _SNIPPET) / _SNIPPET * 20
    return {"weight": weight / 100 * 50, "reachable": reach, "snippet": round(snippet, 8)}
