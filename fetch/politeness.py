"""Not to be a burden: how many requests a host gets at once, and how far apart.

A host that answers quickly is never waited for. One that is slow gets its next request later, in the manner of Scrapy's
AutoThrottle: so far apart that as many are under way as may be. Errors add to that until answers are good again, and a
host that asks to be left alone (`Retry-After` with 429 or 503) is.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from cachetools import LRUCache

from fetch.errors import TimedOut

PER_HOST = 4
HOSTS_KEPT = 10_000
QUICK_S = 0.5  # up to here a host is healthy
MAX_GAP_S = 5.0
FIRST_PENALTY_S = 0.25
MAX_PENALTY_S = 2.0
MAX_PAUSE_S = 60.0  # then it is asked again: many mean one address by it, or one visitor, and say an hour
SMOOTHING = 0.3
_TROUBLED = frozenset({429, 500, 502, 503, 504})
_BUSY = frozenset({429, 503})


def host_key(url: str) -> str:
    """What counts as one host: the name, with the port where it is not the scheme's own."""
    parts = urlsplit(url)
    port = None if parts.port == {"http": 80, "https": 443}.get(parts.scheme) else parts.port
    return f"{parts.hostname}:{port}" if port else parts.hostname or ""


@dataclass(slots=True, eq=False)
class _Host:
    """What is known of a host. `latency_s` is smoothed, 0 as long as nothing is known; times are of the loop."""

    latency_s: float = 0.0
    penalty_s: float = 0.0
    free_at: float = 0.0
    paused_until: float = 0.0
    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None

    def gap(self, per_host: int) -> float:
        """Seconds from one request to the next."""
        slow = self.latency_s / per_host if self.latency_s > QUICK_S else 0.0
        return min(MAX_GAP_S, slow + self.penalty_s)

    @property
    def next_at(self) -> float:
        return max(self.free_at, self.paused_until)


class Turn:
    """A request's turn. What came of it is told with `note`."""

    def __init__(self, host: _Host) -> None:
        self._host = host

    def note(self, status: int | None, seconds: float, retry_after: float | None = None) -> None:
        """Learn from an answer: its status (None: there was none), how long its head took, and its Retry-After."""
        host = self._host
        host.latency_s = seconds if host.latency_s == 0 else host.latency_s + SMOOTHING * (seconds - host.latency_s)
        if status is None or status in _TROUBLED:
            host.penalty_s = min(MAX_PENALTY_S, host.penalty_s * 2 or FIRST_PENALTY_S)
        else:
            host.penalty_s = host.penalty_s / 4 if host.penalty_s > FIRST_PENALTY_S else 0.0
        if retry_after and status in _BUSY:
            until = asyncio.get_running_loop().time() + min(retry_after, MAX_PAUSE_S)
            host.paused_until = max(host.paused_until, until)


class Politeness:
    """Gives out turns: `async with politeness.turn(host, deadline) as turn: …; turn.note(status, seconds)`.

    Turns come in the order in which they were asked for. Only what was learnt of the latest hosts is kept.
    """

    def __init__(self, per_host: int = PER_HOST, *, hosts_kept: int = HOSTS_KEPT) -> None:
        self._per_host = per_host
        self._active: dict[str, _Host] = {}
        self._idle: LRUCache[str, _Host] = LRUCache(hosts_kept)

    def __repr__(self) -> str:
        running = sum(each.running for each in self._active.values())
        waiting = sum(len(each.waiting) for each in self._active.values())
        return f"<Politeness running={running} waiting={waiting} hosts={len(self._active)}+{len(self._idle)}>"

    def pause(self, host: str) -> float:
        """For how many seconds from now the host wants to be left alone."""
        known = self._active.get(host) or self._idle.get(host)
        return max(0.0, known.paused_until - asyncio.get_running_loop().time()) if known else 0.0

    @contextlib.asynccontextmanager
    async def turn(self, host: str, deadline: float) -> AsyncIterator[Turn]:
        """Wait for a turn with this host.

        Raises TimedOut when it does not come by the deadline (loop time); at once, and with `retry_after_s`, when the
        host's own pause lasts longer.
        """
        known = self._host(host)
        try:
            await self._wait(known, host, deadline)
            try:
                yield Turn(known)
            finally:
                known.running -= 1
                self._advance(known)
        finally:
            self._rest(host, known)

    def _host(self, host: str) -> _Host:
        known = self._active.get(host)
        if known is None:
            known = self._idle.pop(host) if host in self._idle else _Host()
            self._active[host] = known
        return known

    async def _wait(self, host: _Host, name: str, deadline: float) -> None:
        """Count in as running, now or later. Raises TimedOut."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if host.paused_until > max(now, deadline):
            raise _paused(name, host.paused_until - now)
        place: asyncio.Future[None] = loop.create_future()
        host.waiting.append(place)
        self._advance(host)
        granted = place.done()
        try:
            if not granted:
                async with asyncio.timeout_at(deadline):
                    await place
                granted = True
        except TimeoutError:
            raise _late(name, host.paused_until - loop.time()) from None
        finally:
            if not granted:
                self._give_up(host, place)

    def _give_up(self, host: _Host, place: asyncio.Future[None]) -> None:
        if place.done() and not place.cancelled():
            host.running -= 1  # the turn came at the same moment
        elif place in host.waiting:
            host.waiting.remove(place)
        self._advance(host)

    def _advance(self, host: _Host) -> None:
        """Give turns to those who wait, as far as may be now, and come back when the next one may."""
        if host.timer is not None:
            host.timer.cancel()
            host.timer = None
        loop = asyncio.get_running_loop()
        while host.waiting and host.running < self._per_host:
            if host.waiting[0].cancelled():  # its task has not run since
                host.waiting.popleft()
                continue
            now = loop.time()
            if host.next_at > now:
                host.timer = loop.call_at(host.next_at, self._advance, host)
                return
            host.running += 1
            host.free_at = now + host.gap(self._per_host)
            host.waiting.popleft().set_result(None)

    def _rest(self, name: str, host: _Host) -> None:
        """Put a host aside with which nothing is under way."""
        if not host.running and not host.waiting and self._active.pop(name, None) is not None:
            self._idle[name] = host


def _paused(host: str, seconds: float) -> TimedOut:
    return TimedOut(
        f"{host} asks to be left alone for {seconds:.0f} s, which is longer than this call may take.",
        hint="Try again after that.",
        retry_after_s=seconds,
        about={"reason": "host_pause"},
    )


def _late(host: str, pause_s: float) -> TimedOut:
    if pause_s > 0:
        return _paused(host, pause_s)
    return TimedOut(
        f"Other requests to {host} were ahead of this one until its time ran out.",
        hint="Raise timeout_ms, or ask the same host for less at once.",
        about={"reason": "host_queue"},
    )
