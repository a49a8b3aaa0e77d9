"""What went through one exit: the source of every verdict on why a page could not be reached."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Outcome = Literal[
    "ok",
    "address_forbidden",
    "dns_failed",
    "connect_refused",
    "connect_timeout",
    "connect_reset",
    "upstream_failed",
    "too_many",
]


@dataclass(frozen=True, slots=True)
class Visit:
    """One attempt to reach a host: `detail` is a sentence for people, `at` is on the clock of `time.monotonic`."""

    host: str
    port: int
    outcome: Outcome
    detail: str
    at: float


class Record:
    """The latest visits, and the last failure of each host and port until it is reached after all.

    Failures are kept apart so that a page cannot push one out of sight by making many requests that succeed. A refusal
    by the rule stays even when a later attempt is allowed: the name changed its address in between.
    """

    def __init__(self, size: int) -> None:
        self.visits: deque[Visit] = deque(maxlen=size)
        self._failures: OrderedDict[tuple[str, int], Visit] = OrderedDict()
        self._size = size

    def add(self, visit: Visit) -> None:
        self.visits.append(visit)
        key = (visit.host, visit.port)
        if visit.outcome == "ok":
            before = self._failures.get(key)
            if before is not None and before.outcome != "address_forbidden":
                del self._failures[key]
            return
        self._failures[key] = visit
        self._failures.move_to_end(key)
        if len(self._failures) > self._size:
            self._failures.popitem(last=False)

    def last_failure(self, host: str, port: int, since: float) -> Visit | None:
        visit = self._failures.get((host, port))
        return visit if visit is not None and visit.at >= since else None

    def forbidden_since(self, since: float) -> Sequence[Visit]:
        return [each for each in self._failures.values() if each.outcome == "address_forbidden" and each.at >= since]
