"""Which engines are well. One that refuses this visitor is left alone for a while, longer each time."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from search.engine import Answer, State

FIRST_REST_S: Final = 60.0
LONGEST_REST_S: Final = 3600.0
"""A rest begins with the first and doubles up to this, until the engine answers again."""

LONGEST_DECOY_REST_S: Final = 600.0
"""Decoys depend on the query: common ones are answered well, so engines that send them do not rest for an hour."""

LONGEST_ASKED_REST_S: Final = 6 * 3600.0
"""The most that a `Retry-After` is respected."""

FAILURES: Final = 3
"""Timeouts, errors and unreadable answers in a row from which an engine rests like one that refuses."""

_MOST_ENGINES = 500  # names come from metasearch instances as well

_REFUSALS: Final[frozenset[State]] = frozenset({"blocked", "low_quality"})
_FAULTS: Final[frozenset[State]] = frozenset({"timeout", "error", "unreadable"})


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """How an engine is. `state`: of its last answer, `resting` while it rests; `hits`: of its last answer.

    `resting_until` is wall-clock time in ISO 8601, UTC; `counts` are its answers by state since the service started.
    """

    state: State
    error: str | None
    hits: int
    resting_until: str | None
    counts: dict[State, int]


@dataclass(slots=True)
class _Record:
    last: Answer
    refusals: int = 0
    faults: int = 0
    until: float = 0.0  # on the monotonic clock
    counts: Counter[State] = field(default_factory=Counter)


class Health:
    """The health of all engines, in memory. `clock` measures rests, `wall` (seconds since 1970) is for people.

    Without `rests` it only takes note: of engines that somebody else asks.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        *,
        rests: bool = True,
    ) -> None:
        self._clock = clock
        self._wall = wall
        self._rests = rests
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def resting_until(self, name: str) -> datetime | None:
        """When the engine may be asked again, in UTC; None when it may be now."""
        left_s = self.left_s(name)
        return datetime.fromtimestamp(self._wall(), UTC) + timedelta(seconds=left_s) if left_s > 0 else None

    def left_s(self, name: str) -> float:
        """Seconds until then; 0 when it may be asked now."""
        record = self._records.get(name)
        return max(0.0, record.until - self._clock()) if record is not None else 0.0

    def note(self, answer: Answer) -> None:
        """Take an answer into account.

        `ok` and `empty` end everything. `blocked` and `low_quality` begin a rest, of 60 s and then twice as long each
        time (up to 1 h; 10 minutes for `low_quality`), at least as long as its `retry_after_s` (up to 6 h). Three
        faults in a row do the same. Answers to what was asked before a rest began do not make it longer, but for a
        later `retry_after_s`. `resting` is no answer.
        """
        if answer.state == "resting":
            return
        record = self._record(answer)
        record.last = answer
        record.counts[answer.state] += 1
        if answer.state in _FAULTS:
            record.faults += 1
            if record.faults % FAILURES == 0 or answer.retry_after_s:
                self._rest(record, answer)
        elif answer.state in _REFUSALS:
            self._rest(record, answer)
        else:
            record.refusals, record.faults, record.until = 0, 0, 0.0

    def snapshot(self) -> dict[str, EngineHealth]:
        """All engines that have answered, by name."""
        return {name: self._health(name, record) for name, record in sorted(self._records.items())}

    def of(self, name: str) -> EngineHealth | None:
        """How one engine is; None where it has not answered yet."""
        record = self._records.get(name)
        return None if record is None else self._health(name, record)

    def _health(self, name: str, record: _Record) -> EngineHealth:
        until = self.resting_until(name)
        shown = until.isoformat(timespec="seconds").replace("+00:00", "Z") if until is not None else None
        state: State = "resting" if until is not None else record.last.state
        return EngineHealth(state, record.last.error, len(record.last.hits), shown, dict(record.counts))

    def _record(self, answer: Answer) -> _Record:
        record = self._records.setdefault(answer.engine, _Record(answer))
        self._records.move_to_end(answer.engine)
        if len(self._records) > _MOST_ENGINES:
            self._records.popitem(last=False)
        return record

    def _rest(self, record: _Record, answer: Answer) -> None:
        if not self._rests:
            return
        now = self._clock()
        asked = min(max(answer.retry_after_s or 0.0, 0.0), LONGEST_ASKED_REST_S)
        if record.until > now:
            record.until = max(record.until, now + asked)
            return
        longest = LONGEST_DECOY_REST_S if answer.state == "low_quality" else LONGEST_REST_S
        rest = min(FIRST_REST_S * 2 ** min(record.refusals, 10), longest)
        record.refusals += 1
        record.until = now + max(rest, asked)
