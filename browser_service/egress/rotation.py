"""Several upstream proxies in turn; one that fails rests for a while."""

import time
from collections.abc import Sequence

from browser_service.egress.proxy import Exit
from browser_service.egress.record import Visit
from browser_service.egress.upstream import Upstream, parse_upstream

REST_S = 60.0


class Rotation:
    """Gives the upstream proxies of the settings in turn. Raises InvalidRequest for an address that does not parse."""

    def __init__(self, addresses: Sequence[str], rest_s: float = REST_S) -> None:
        self._proxies = [parse_upstream(each, judged=False) for each in addresses]
        self._rested: dict[int, float] = {}
        self._rest_s = rest_s
        self._next = 0

    def __len__(self) -> int:
        return len(self._proxies)

    def lead(self, way_out: Exit, chosen: str | None) -> None:
        """Let a way out go through the caller's proxy, else the next in turn, else as the service goes."""
        if chosen is not None:
            way_out.upstream = chosen
            return
        upstream = self.take()
        if upstream is not None:
            way_out.upstream = upstream
            way_out.on_visit = lambda visit: self.note(upstream, visit)

    def take(self) -> Upstream | None:
        """The next one that does not rest; when all do, the one whose rest ends first. None where there are none."""
        now = time.monotonic()
        order = [(self._next + step) % len(self._proxies) for step in range(len(self._proxies))]
        awake = [each for each in order if self._rested.get(each, 0.0) <= now]
        chosen = awake[0] if awake else min(order, key=lambda each: self._rested[each], default=None)
        if chosen is None:
            return None
        self._next = chosen + 1
        return self._proxies[chosen]

    def note(self, upstream: Upstream, visit: Visit) -> None:
        """Let a proxy rest that could not make a connection; one that could is awake."""
        number = self._proxies.index(upstream)
        if visit.outcome == "upstream_failed":
            self._rested[number] = time.monotonic() + self._rest_s
        elif visit.outcome == "ok":
            self._rested.pop(number, None)
