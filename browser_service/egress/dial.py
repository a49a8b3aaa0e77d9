"""From a host to a connection: resolve once, judge every answer, dial just those addresses."""

import asyncio
import functools
import socket
import ssl
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Address, ip_address

from browser_service.egress.limits import Limits
from browser_service.egress.peer import Peer
from browser_service.egress.record import Outcome
from browser_service.egress.upstream import Upstream, UpstreamError, open_tunnel
from fetch.address import Rule, is_localhost
from fetch.errors import AddressForbidden, InvalidRequest

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From host and port to IP addresses, best first. Raises OSError when the name does not resolve."""


class DialError(Exception):
    """There is no connection; `outcome` and `detail` go into the record."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome: Outcome = outcome
        self.detail = detail


class SystemResolver:
    """The system's resolver in threads of its own: `getaddrinfo` can hang, and must then hold nothing else up.

    Answers are kept for some seconds, as browsers do; the rule judges them anew for every connection.
    """

    def __init__(self, *, threads: int = 16, keep_s: float = 30.0, size: int = 1024) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="egress-dns")
        self._asked: OrderedDict[str, tuple[float, asyncio.Future[list[str]]]] = OrderedDict()
        self._keep_s = keep_s
        self._size = size

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        since, answer = self._asked.get(host, (0.0, None))
        if answer is None or (answer.done() and (loop.time() - since > self._keep_s or _failed(answer))):
            answer = loop.run_in_executor(self._threads, _lookup, host)
            answer.add_done_callback(_failed)  # looked at, so that asyncio does not complain when nobody waits any more
            self._asked[host] = loop.time(), answer
            self._asked.move_to_end(host)
            if len(self._asked) > self._size:
                self._asked.popitem(last=False)
        return await asyncio.shield(answer)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _failed(answer: asyncio.Future[list[str]]) -> bool:
    return answer.cancelled() or answer.exception() is not None


def _lookup(host: str) -> list[str]:
    answers = socket.getaddrinfo(host.encode(), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class Dialler:
    """Opens connections under one rule. `own_ports` are refused on this machine, `shut_ports` whatever is allowed."""

    def __init__(self, rule: Rule, resolve: Resolve, limits: Limits, *, remote_dns: bool) -> None:
        self.rule = rule
        self.own_ports: set[int] = set()
        self.shut_ports: set[int] = set()
        self.remote_dns = remote_dns
        self._resolve = resolve
        self._limits = limits

    async def dial(
        self, host: str, port: int, upstream: Upstream | None, *, plain: bool, rule: Rule | None = None
    ) -> Peer:
        """A connection to host and port, through `upstream` if there is one. Raises DialError.

        `plain` says that an HTTP request will follow, which a proxy upstream may be given in absolute form; `rule`
        judges in place of the common one.
        """
        rule = rule or self.rule
        try:
            rule.check(host, port)
            if upstream is None:
                return await self._connect(await self.addresses(host, port, rule), port)
            literal = _is_ip(host)
            if self.remote_dns and not literal and not is_localhost(host):
                targets: Sequence[str] = [host]
            else:
                targets = await self.addresses(host, port, rule)
            absolute = plain and upstream.scheme != "socks5" and list(targets) == [host]
            target = min(targets, key=_is_v6)  # not every proxy has IPv6
            return await self._through(upstream, target, port, absolute=absolute)
        except (AddressForbidden, InvalidRequest) as refused:
            raise DialError("address_forbidden", refused.detail) from None

    async def addresses(self, host: str, port: int, rule: Rule | None = None) -> Sequence[str]:
        """What `host` may be dialled at: every answer is allowed, or AddressForbidden is raised."""
        rule = rule or self.rule
        if _is_ip(host):
            answers: Sequence[str] = [host]
        elif is_localhost(host):
            answers = rule.loopback(host, port)
        else:
            answers = await self._ask(host, port)
        rule.check_answers(host, port, answers)
        if any(self._is_own(answer, port) for answer in answers) and (
            port in self.shut_ports or not rule.allows_exactly(host, port)
        ):
            raise AddressForbidden(f"The network policy refuses {host}: port {port} is this service's own.")
        return answers

    async def _ask(self, host: str, port: int) -> Sequence[str]:
        try:
            async with asyncio.timeout(self._limits.dns_s):
                answers = await self._resolve(host, port)
        except TimeoutError:
            raise DialError("dns_failed", f"The name {host} was not resolved in time.") from None
        except (OSError, UnicodeError):
            answers = ()
        if not answers:
            raise DialError("dns_failed", f"The name {host} does not resolve.")
        return answers

    def _is_own(self, answer: str, port: int) -> bool:
        return (port in self.own_ports or port in self.shut_ports) and _is_this_machine(answer)

    async def _connect(self, ips: Sequence[str], port: int) -> Peer:
        try:
            async with asyncio.timeout(self._limits.connect_s):
                return await _wrap(await _first_connection(ips, port, self._limits.stagger_s))
        except TimeoutError:
            raise DialError("connect_timeout", "The connection was not accepted in time.") from None
        except ConnectionResetError:
            raise DialError("connect_reset", "The connection was reset while it was made.") from None
        except ConnectionRefusedError:
            raise DialError("connect_refused", "The connection was refused.") from None
        except OSError:
            raise DialError("connect_refused", "The host cannot be reached.") from None

    async def _through(self, upstream: Upstream, target: str, port: int, *, absolute: bool) -> Peer:
        if upstream.judged:
            self.rule.check(upstream.host, upstream.port)
            ips = await self._proxy_addresses(self.addresses, upstream)
        else:
            ips = [upstream.host] if _is_ip(upstream.host) else await self._proxy_addresses(self._ask, upstream)
        try:
            async with asyncio.timeout(self._limits.connect_s):
                connection = await _first_connection(ips, upstream.port, self._limits.stagger_s)
                return await self._handshake(connection, upstream, target, port, absolute=absolute)
        except TimeoutError:
            raise DialError("upstream_failed", "The proxy did not answer in time.") from None
        except UpstreamError as fault:
            raise DialError("upstream_failed", str(fault)) from None
        except ssl.SSLError:
            raise DialError(
                "upstream_failed", "The proxy's TLS certificate is not valid, or it speaks no TLS."
            ) from None
        except OSError:
            raise DialError("upstream_failed", "The proxy cannot be reached.") from None

    async def _proxy_addresses(self, find: Resolve, upstream: Upstream) -> Sequence[str]:
        try:
            return await find(upstream.host, upstream.port)
        except DialError:
            raise DialError("upstream_failed", "The proxy's name does not resolve.") from None

    async def _handshake(
        self, connection: socket.socket, upstream: Upstream, target: str, port: int, *, absolute: bool
    ) -> Peer:
        secure = self._tls if upstream.scheme == "https" else None
        peer = await _wrap(connection, secure, upstream.host)
        try:
            if absolute:
                peer.absolute, peer.authorization = True, upstream.authorization
            else:
                await open_tunnel(peer, upstream, target, port)
        except BaseException:
            peer.reset()
            raise
        return peer

    @functools.cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()


async def _wrap(connection: socket.socket, tls: ssl.SSLContext | None = None, name: str | None = None) -> Peer:
    try:
        _, peer = await asyncio.get_running_loop().create_connection(
            Peer, sock=connection, ssl=tls, server_hostname=name if tls else None
        )
    except BaseException:
        connection.close()
        raise
    return peer


async def _first_connection(ips: Sequence[str], port: int, stagger_s: float) -> socket.socket:
    """Dial the addresses in turn, the next after `stagger_s` or a failure; the first to accept wins (RFC 8305)."""
    if len(ips) == 1:
        return await _connection(ips[0], port)
    waiting, tasks, faults = list(ips), set[asyncio.Task[socket.socket]](), list[OSError]()
    try:
        while waiting or tasks:
            if waiting:
                tasks.add(asyncio.create_task(_connection(waiting.pop(0), port)))
            done, _ = await asyncio.wait(
                tasks, timeout=stagger_s if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                tasks.discard(task)
                try:
                    return task.result()
                except OSError as fault:
                    faults.append(fault)
    finally:
        for task in tasks:
            task.cancel()
        for late in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(late, socket.socket):
                late.close()
    raise min(faults, key=_how_telling)


def _how_telling(fault: OSError) -> int:
    """Of several failures the one to report: an unreachable IPv6 says nothing about a host that refuses on IPv4."""
    return 0 if isinstance(fault, ConnectionRefusedError | ConnectionResetError | TimeoutError) else 1


async def _connection(ip: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does it for its own sockets alone
        await asyncio.get_running_loop().sock_connect(connection, (ip, port))
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_v6(target: str) -> bool:
    return ":" in target


def _is_this_machine(answer: str) -> bool:
    """Whether a connection to this address would end here: only an address of this machine can be bound."""
    ip = ip_address(answer)
    ip = ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip
    if ip.is_loopback or ip.is_unspecified:
        return True
    with socket.socket(socket.AF_INET6 if ip.version == 6 else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(ip), 0))
        except OSError:
            return False
    return True
