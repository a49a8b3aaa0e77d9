"""Results of a SearXNG answer, and whose they are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from search.engine import Answer, Found, Hit, State

NAME: Final = "searxng"

_BLOCKED: Final = ("captcha", "too many requests", "access denied", "验证码", "请求过多", "拒绝访问", "访问被拒绝")
_TIMEOUT: Final = ("timeout", "timed out", "超时")
_SUSPENDED: Final = ("suspended", "暂停", "挂起")


class Row(NamedTuple):
    """One merged result. `engines`: who has it, the one that came first at the front; `positions`: where they have it.

    `positions` are in the order in which the engines came, but SearXNG holds `engines` as a set: only the first of
    both are known to belong together. `score`: larger is better.
    """

    hit: Hit
    engines: tuple[str, ...] = (NAME,)
    positions: tuple[int, ...] = ()
    score: float | None = None


@dataclass
class Listing:
    """What an instance answered. `text` is its page, where it could not be read as results."""

    shown: str
    rows: list[Row] = field(default_factory=list)
    failures: list[Answer] = field(default_factory=list)
    text: str | None = None

    def found(self, asked: Sequence[str], warnings: Iterable[str] = ()) -> Found:
        """An answer for every engine that is known to have been asked. `asked`: those that the settings name."""
        warnings = list(warnings)
        hits = by_engine(self.rows)
        answers = [Answer(engine, "ok", each) for engine, each in hits.items()]
        answers += {each.engine: each for each in self.failures if each.engine not in hits}.values()
        if asked and (known := {answer.engine.casefold() for answer in answers} - {NAME}):
            silent = [name for name in asked if name.casefold() not in known]
            if len(silent) == len(asked):
                warnings.append(f"SearXNG at {self.shown} knows no engine of searxng_engines and used its own.")
            else:
                answers += [Answer(name, "empty") for name in silent]
        return Found(tuple(answers) or (Answer(NAME, "empty"),), tuple(warnings), self.text)

    def failed(self, engine: str, reason: str) -> None:
        """Note that an engine did not answer, in the instance's words."""
        state = state_of(reason)
        what = f"{engine}, asked by SearXNG at {self.shown}, gave nothing: {reason or 'no reason given'}."
        self.failures.append(Answer(engine, state, error=what))


def state_of(reason: str) -> State:
    """What a reason means. An engine that SearXNG has suspended was not asked: it is `resting`."""
    words = reason.lower()
    if any(word in words for word in _SUSPENDED):
        return "resting"
    if any(word in words for word in _BLOCKED):
        return "blocked"
    return "timeout" if any(word in words for word in _TIMEOUT) else "error"


def by_engine(rows: Sequence[Row]) -> dict[str, tuple[Hit, ...]]:
    """Every engine's own results in its own order. Engines in the order of their first results.

    The order of the rows is not by score: SearXNG puts rows of one kind together. So where there are no positions,
    the score decides, and the order of the rows where there is no score.
    """
    if all(row.score is not None for row in rows):
        rows = sorted(rows, key=lambda row: -(row.score or 0.0))
    taken = {(row.engines[0], place) for row in rows if len(row.engines) == 1 for place in row.positions}
    placed: defaultdict[str, list[tuple[float, int, Hit]]] = defaultdict(list)
    for rank, row in enumerate(rows):
        for engine, place in _places(row, rank + 1, taken):
            placed[engine].append((place, rank, row.hit))
    return {engine: tuple(_in_order(each)) for engine, each in placed.items()}


def _places(row: Row, rank: int, taken: set[tuple[str, int]]) -> Iterable[tuple[str, float]]:
    """Where each engine of a row has it: known of the first, likely of others, its rank where nothing is."""
    if len(row.engines) == 1:
        yield row.engines[0], min(row.positions, default=rank)
        return
    left = list(row.positions)
    for at, engine in enumerate(row.engines):
        free = [place for place in left if (engine, place) not in taken] if at else left
        place = next(iter(free or left), None)
        if place is not None:
            left.remove(place)
        yield engine, rank if place is None else place


def _in_order(placed: list[tuple[float, int, Hit]]) -> list[Hit]:
    hits: dict[str, Hit] = {}
    for _, _, hit in sorted(placed, key=lambda each: each[:2]):
        hits.setdefault(hit.url, hit)
    return list(hits.values())
