"""The proxy and its exits: one listening port on loopback for each browser context."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from browser_service.egress.dial import DialError, Dialler, Resolve, SystemResolver
from browser_service.egress.limits import Limits
from browser_service.egress.peer import Peer
from browser_service.egress.record import Outcome, Record, Visit
from browser_service.egress.relay import Relay
from browser_service.egress.request import Request
from browser_service.egress.upstream import Upstream, parse_upstream
from fetch.address import Rule

_log = logging.getLogger(__name__)

VISITS_KEPT = 1024
CLOSE_LIMIT_S = 1.0


class Exit:
    """The way out of one browser context: its own port, so that traffic is known by the port alone.

    `Egress.open_exit` makes them. `on_visit` is called with every visit; `bytes_sent`, `bytes_received` and
    `connections` count from the start.
    """

    def __init__(
        self, egress: "Egress", upstream: Upstream | None, *, closed: bool = False, rule: Rule | None = None
    ) -> None:
        self.limits = egress.limits
        self.port = 0
        self.on_visit: Callable[[Visit], None] | None = None
        self.bytes_sent = 0
        self.bytes_received = 0
        self.connections = 0
        self.egress = egress
        self._upstream = upstream
        self._refuses_all = closed
        self._rule = rule
        self._record = Record(VISITS_KEPT)
        self._relays: set[Relay] = set()
        self._server: asyncio.Server | None = None
        self._left = asyncio.Event()

    def __repr__(self) -> str:
        state = "refusing" if self._refuses_all else "open" if self._server else "closed"
        return f"<Exit {self.port} {state} connections={len(self._relays)}>"

    @property
    def server(self) -> str:
        """The address for the client's proxy setting."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def playwright_proxy(self) -> dict[str, str]:
        """The `proxy` option of a context or a launch.

        `<-loopback>` sends requests to this machine through the proxy, too. Playwright would add it by itself, but not
        where `PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK` is set.
        """
        return {"server": self.server, "bypass": "<-loopback>"}

    @property
    def upstream(self) -> Upstream | None:
        """The proxy that new connections go through.

        It can be set: a text is judged by the rule when it is dialled, and None means the service's own.
        """
        return self._upstream or self.egress.upstream

    @upstream.setter
    def upstream(self, given: Upstream | str | None) -> None:
        self._upstream = self.egress.judge_upstream(given)

    @property
    def visits(self) -> deque[Visit]:
        """The latest attempts to reach a host, oldest first."""
        return self._record.visits

    @property
    def open_connections(self) -> int:
        """Connections that the client holds now."""
        return len(self._relays)

    def last_failure(self, host: str, port: int, since: float) -> Visit | None:
        """The last failure at this host and port, if it was no earlier than `since` (of `time.monotonic`)."""
        return self._record.last_failure(host, port, since)

    def forbidden_since(self, since: float) -> Sequence[Visit]:
        """The hosts refused by the rule since then, each with its last refusal."""
        return self._record.forbidden_since(since)

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Relay(self), "127.0.0.1", 0, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and end all connections at once. Safe to repeat."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.close()
        tasks = [task for relay in self._relays for task in relay.tasks()]
        for relay in list(self._relays):
            relay.abort()
        self.egress.forget(self)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await asyncio.gather(*tasks, return_exceptions=True)
                while self._relays:
                    self._left.clear()
                    await self._left.wait()
                await server.wait_closed()

    def expire(self, now: float) -> None:
        """End what was silent for too long."""
        for relay in list(self._relays):
            relay.expire(now)

    # What relays need

    def admit(self, relay: Relay) -> bool:
        """Count a new connection in; False when even a refusal in words would be too much."""
        self._relays.add(relay)
        self.connections += 1
        if len(self._relays) <= 2 * self.limits.per_exit and self._server is not None:
            return True
        self.note("", 0, "too_many", "Too many connections were opened at once.")
        return False

    def leave(self, relay: Relay) -> None:
        self._relays.discard(relay)
        self._left.set()

    def note(self, host: str, port: int, outcome: Outcome, detail: str = "") -> None:
        """Add to the record, and tell the listener."""
        visit = Visit(host, port, outcome, detail, time.monotonic())
        self._record.add(visit)
        if self.on_visit is not None:
            try:
                self.on_visit(visit)
            except Exception:  # noqa: BLE001  reported; a listener must not end the connection
                _log.exception("The listener of exit %d failed", self.port)

    def reusable(self, peer: Peer) -> bool:
        return peer.usable and peer.route == self.upstream

    async def dial(self, request: Request) -> Peer:
        """A connection for this request. Raises DialError."""
        if self._refuses_all:
            raise DialError("address_forbidden", "Nothing leaves this browser outside a session.")
        if len(self._relays) > self.limits.per_exit or self.egress.open_connections > self.limits.total:
            raise DialError("too_many", "Too many connections are open; try again when some have ended.")
        upstream = self.upstream
        dial = self.egress.dialler.dial
        peer = await dial(request.host, request.port, upstream, plain=not request.tunnel, rule=self._rule)
        peer.route = upstream
        return peer


class Egress:
    """The only way out of the service: `async with Egress(rule) as egress: exit = await egress.open_exit()`.

    `upstream` is the service's own proxy and not judged by the rule. With `remote_dns` it resolves the names, which
    nobody can then check. `own_ports` (a set that may be added to) are the ports of this service: they cannot be
    reached through it unless `allow` lists exactly that host and port.
    """

    def __init__(
        self,
        rule: Rule,
        *,
        upstream: str | None = None,
        remote_dns: bool = False,
        limits: Limits | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.upstream = parse_upstream(upstream, judged=False) if upstream else None
        self._resolver = SystemResolver()
        self.dialler = Dialler(rule, resolve or self._resolver, self.limits, remote_dns=remote_dns)
        self._exits: set[Exit] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed_bytes = (0, 0)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def own_ports(self) -> set[int]:
        """Ports of this service, to be added to."""
        return self.dialler.own_ports

    @property
    def open_connections(self) -> int:
        """Connections that clients hold now, at all exits."""
        return sum(each.open_connections for each in self._exits)

    @property
    def bytes_sent(self) -> int:
        """Bytes that came from clients, closed exits included."""
        return self._closed_bytes[0] + sum(each.bytes_sent for each in self._exits)

    @property
    def bytes_received(self) -> int:
        """Bytes that came from the network, closed exits included."""
        return self._closed_bytes[1] + sum(each.bytes_received for each in self._exits)

    async def start(self) -> None:
        """Begin to end silent connections."""
        self._sweep()

    async def close(self) -> None:
        """Close all exits. Safe to repeat."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        await asyncio.gather(*(each.close() for each in list(self._exits)))
        self._resolver.close()

    async def open_exit(self, upstream: Upstream | str | None = None, rule: Rule | None = None) -> Exit:
        """A new exit, under a rule of its own where one is given.

        An upstream given as text is judged by the common rule; raises InvalidRequest or AddressForbidden.
        """
        return await self._open(Exit(self, self.judge_upstream(upstream), rule=rule))

    async def open_closed_exit(self) -> Exit:
        """An exit that refuses all and records it: the proxy of a browser as such, for what belongs to no context."""
        return await self._open(Exit(self, None, closed=True))

    def judge_upstream(self, given: Upstream | str | None) -> Upstream | None:
        """Read it and, where it comes from a caller, judge its address as far as that needs no resolver."""
        upstream = parse_upstream(given) if isinstance(given, str) else given
        if upstream is not None and upstream.judged:
            self.dialler.rule.check(upstream.host, upstream.port)
        return upstream

    @contextlib.contextmanager
    def shutting(self, port: int) -> Iterator[None]:
        """While this lasts, the port cannot be reached on this machine, whatever is allowed."""
        self.dialler.shut_ports.add(port)
        try:
            yield
        finally:
            self.dialler.shut_ports.discard(port)

    def forget(self, closed: Exit) -> None:
        self._exits.discard(closed)
        self.dialler.shut_ports.discard(closed.port)
        self._closed_bytes = (
            self._closed_bytes[0] + closed.bytes_sent,
            self._closed_bytes[1] + closed.bytes_received,
        )

    async def _open(self, opened: Exit) -> Exit:
        await opened.start()
        self.dialler.shut_ports.add(opened.port)
        self._exits.add(opened)
        return opened

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        for each in self._exits:
            each.expire(loop.time())
        pause = min(self.limits.idle_s, self.limits.half_closed_s) / 4
        self._sweeper = loop.call_later(pause, self._sweep)
