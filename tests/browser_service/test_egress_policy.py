"""What leaves through an exit, and what its record says about the rest."""

import asyncio
import socket
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack

import pytest

from browser_service.egress import Egress, Limits, Visit
from browser_service.egress.record import Record
from fetch.address import Rule
from tests.browser_service.egress_servers import (
    Names,
    Wire,
    ask,
    client,
    closed_port,
    eventually,
    full_backlog,
    leaving,
    serving,
    silence,
    site,
)


def get(host: str) -> bytes:
    return f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def outcomes(visits: Iterable[Visit]) -> list[str]:
    return [visit.outcome for visit in visits]


async def test_an_allowed_address_is_reached() -> None:
    """A request for an allowed address passes, and the record says so."""
    async with site() as server, leaving(server.host) as exit_:
        assert (await ask(exit_, server.get())).endswith(b"\r\n\r\nhi")
        visit = exit_.visits[-1]
    assert (visit.host, visit.port, visit.outcome) == ("127.0.0.1", server.port, "ok")


@pytest.mark.parametrize(
    "form", ["http://127.0.0.1:{}/", "http://localhost:{}/", "http://127.1:{}/", "http://2130706433:{}/"]
)
async def test_a_forbidden_address_gets_no_packet(form: str) -> None:
    """A private address is refused in every spelling, before any connection is made."""
    async with serving(silence) as canary, leaving() as exit_:
        since = time.monotonic()
        answer = await ask(exit_, f"GET {form.format(canary.port)} HTTP/1.1\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403")
        assert b"\r\nX-Tabwright-Egress: address_forbidden\r\n" in answer
        assert [visit.port for visit in exit_.forbidden_since(since)] == [canary.port]
    assert not canary.wires


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "0"])
async def test_a_tunnel_to_a_forbidden_address_is_refused(host: str) -> None:
    """CONNECT is judged like any request."""
    async with leaving() as exit_:
        answer = await ask(exit_, f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403")
        assert outcomes(exit_.visits) == ["address_forbidden"]


async def test_a_name_is_resolved_once_for_a_connection() -> None:
    """A name that changes its address is dialled at the address that was judged; the next connection judges anew."""
    names = Names(rebinding_test=[["127.0.0.2"], ["127.0.0.1"]])
    async with (
        site(ip="127.0.0.2") as public,
        site(port=public.port) as private,
        leaving("127.0.0.2", resolve=names) as exit_,
        client(exit_) as wire,
    ):
        request = get(f"rebinding.test:{public.port}")
        for _ in range(2):
            assert (await wire.ask(request)).endswith(b"hi")
        assert names.asked == ["rebinding.test"]
        assert (await ask(exit_, request)).startswith(b"HTTP/1.1 403")
    assert (len(public.wires), len(private.wires)) == (1, 0)
    assert b"\r\nHost: rebinding.test:" in public.heads[0]


async def test_one_private_answer_refuses_a_name() -> None:
    """Public and private answers together mean refusal, whichever comes first."""
    names = Names(mixed_test=[["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"]])
    async with site(ip="127.0.0.2") as public, leaving("127.0.0.2", resolve=names) as exit_:
        for _ in range(2):
            assert (await ask(exit_, get(f"mixed.test:{public.port}"))).startswith(b"HTTP/1.1 403")
        assert outcomes(exit_.visits) == ["address_forbidden"] * 2
        assert "127.0.0" not in exit_.visits[0].detail
    assert not public.wires


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "metadata.google.internal", "denied.test", "127.1"])
async def test_what_is_refused_by_name_is_not_resolved(host: str) -> None:
    """No resolver hears of a name that is refused as such."""
    names = Names()
    async with Egress(Rule(deny=["denied.test"]), resolve=names) as egress:
        await ask(await egress.open_exit(), get(host))
    assert not names.asked


async def test_localhost_is_loopback_without_asking() -> None:
    """An allowed loopback address is reached as localhost, over the address that is allowed."""
    names = Names()
    async with site() as server, leaving(server.host, resolve=names) as exit_:
        assert (await ask(exit_, get(f"localhost:{server.port}"))).endswith(b"hi")
    assert not names.asked


@pytest.mark.parametrize("answer", [socket.gaierror(-2, "no"), UnicodeError("no"), []])
async def test_a_name_that_does_not_resolve(answer: Exception | list[str]) -> None:
    """It is recorded as dns_failed."""
    async with leaving(resolve=Names(nowhere_test=[answer])) as exit_:
        assert (await ask(exit_, get("nowhere.test"))).startswith(b"HTTP/1.1 502")
        failure = exit_.last_failure("nowhere.test", 80, 0)
        assert failure is not None
        assert failure.outcome == "dns_failed"


async def test_a_resolver_that_hangs() -> None:
    """Resolving has its own time limit."""

    async def hang(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with leaving(resolve=hang, limits=Limits(dns_s=0.02)) as exit_:
        await ask(exit_, get("slow.test"))
        assert outcomes(exit_.visits) == ["dns_failed"]


async def test_the_system_resolver_is_used_by_default() -> None:
    """Without a resolver of the caller's, names are looked up by the system; .invalid names never resolve."""
    async with leaving() as exit_:
        await ask(exit_, get("nothing.invalid"))
        await ask(exit_, get(f"{'a' * 64}.invalid"))
        assert outcomes(exit_.visits) == ["dns_failed"] * 2


async def test_a_refused_connection() -> None:
    """Nothing listens: connect_refused."""
    port = closed_port()
    async with leaving("127.0.0.1") as exit_:
        assert (await ask(exit_, get(f"127.0.0.1:{port}"))).startswith(b"HTTP/1.1 502")
        assert outcomes(exit_.visits) == ["connect_refused"]


async def test_a_connection_that_nobody_accepts() -> None:
    """No answer to the first packet: connect_timeout, after the limit."""
    with full_backlog() as port:
        async with leaving("127.0.0.1", limits=Limits(connect_s=0.05)) as exit_:
            assert (await ask(exit_, get(f"127.0.0.1:{port}"))).startswith(b"HTTP/1.1 504")
            assert outcomes(exit_.visits) == ["connect_timeout"]


@pytest.mark.parametrize("rude", [True, False])
@pytest.mark.parametrize("tunnel", [True, False])
async def test_a_host_that_hangs_up(rude: bool, tunnel: bool) -> None:
    """Accepted, asked, and ended without an answer: connect_reset, in a tunnel, too."""

    async def hang_up(wire: Wire) -> None:
        await wire.exactly(4)
        if rude:
            wire.reset()

    async with serving(hang_up) as server, leaving(server.host) as exit_, client(exit_) as wire:
        if tunnel:
            assert b" 200 " in await wire.ask(server.connect)
        await wire.send(b"x" * 100 if tunnel else server.get())
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await wire.head()
        assert outcomes(exit_.visits) == ["ok", "connect_reset"]


async def test_each_connection_is_judged_by_its_own_answer() -> None:
    """A host that hangs up is recorded even when another one answered on the same client connection before."""
    async with site() as server, serving(hang_up) as rude, leaving("127.0.0.1") as exit_, client(exit_) as wire:
        await wire.ask(server.get())
        await wire.send(rude.get())
        assert await wire.rest() == b""
        assert exit_.last_failure("127.0.0.1", server.port, 0) is None
        assert exit_.last_failure("127.0.0.1", rude.port, 0) is not None


async def hang_up(wire: Wire) -> None:
    """Read a request and end the connection."""
    await wire.head()


async def test_the_next_address_is_tried() -> None:
    """An address that refuses or does not answer costs no more than a moment when there is another."""
    names = Names(many_test=[["127.0.0.3", "127.0.0.2"]])
    with full_backlog() as silent:
        async with (
            site(ip="127.0.0.2", port=silent) as server,
            leaving("127.0.0.0/8", resolve=names, limits=Limits(stagger_s=0.02)) as exit_,
        ):
            assert (await ask(exit_, get(f"many.test:{silent}"))).endswith(b"hi")
            names.answers["many.test"] = [["127.0.0.1", "127.0.0.2"]]
            assert (await ask(exit_, get(f"many.test:{silent}"))).endswith(b"hi")
    assert len(server.wires) == 2


async def test_own_ports_are_shut() -> None:
    """The service's ports cannot be reached by an allowed prefix, only by an entry that names host and port."""
    async with site() as service:
        for allow, status in (("127.0.0.0/8", b"403"), (service.host, b"200")):
            async with Egress(Rule(allow=[allow])) as egress:
                egress.own_ports.add(service.port)
                answer = await ask(await egress.open_exit(), service.get())
                assert answer.startswith(b"HTTP/1.1 " + status)


async def test_exits_cannot_be_reached_through_exits() -> None:
    """An exit's port is shut even to an entry that names it; a closed exit's port is an ordinary port again."""
    async with leaving("127.0.0.1") as exit_, Egress(Rule()) as egress:
        other = await egress.open_exit()
        egress.dialler.rule = Rule(allow=[f"127.0.0.1:{other.port}", f"127.0.0.1:{exit_.port}"])
        assert (await ask(other, get(f"127.0.0.1:{other.port}"))).startswith(b"HTTP/1.1 403")
        assert (await ask(other, get(f"127.0.0.1:{exit_.port}"))).startswith(b"HTTP/1.1 400")
        await other.close()
        assert other.port not in egress.dialler.shut_ports


async def test_a_closed_exit_refuses_all() -> None:
    """The exit for traffic outside sessions refuses what the rule allows, resolves nothing, and records it."""
    names = Names()
    async with site() as server, Egress(Rule(allow=[server.host]), resolve=names) as egress:
        exit_ = await egress.open_closed_exit()
        for request in (server.get(), server.connect, get("example.com")):
            assert (await ask(exit_, request)).startswith(b"HTTP/1.1 403")
        assert outcomes(exit_.visits) == ["address_forbidden"] * 3
    assert not server.wires
    assert not names.asked


async def test_a_listener_hears_every_visit() -> None:
    """`on_visit` is called with each visit; one that fails changes nothing for the client."""
    heard: list[Visit] = []

    def listen(visit: Visit) -> None:
        heard.append(visit)
        raise RuntimeError("a listener's own fault")

    async with site() as server, leaving(server.host) as exit_:
        exit_.on_visit = listen
        assert (await ask(exit_, server.get())).endswith(b"hi")
        await ask(exit_, get("10.0.0.1"))
        assert heard == list(exit_.visits)


@pytest.mark.parametrize("limits", [Limits(per_exit=2), Limits(total=2)])
async def test_too_many_connections(limits: Limits) -> None:
    """One more than the limit is refused in words and recorded; a place is free again when one ends."""
    async with serving(silence) as server, leaving(server.host, limits=limits) as exit_:
        async with client(exit_) as first, client(exit_) as second:
            await first.ask(server.connect)
            await second.ask(server.connect)
            assert (await ask(exit_, server.connect)).startswith(b"HTTP/1.1 503")
            assert outcomes(exit_.visits) == ["ok", "ok", "too_many"]
        await eventually(lambda: exit_.open_connections == 0)
        assert (await ask(exit_, server.connect)).startswith(b"HTTP/1.1 200")


async def test_a_flood_of_connections_is_cut() -> None:
    """Connections that ask for nothing are reset beyond twice the limit."""
    async with leaving(limits=Limits(per_exit=2)) as exit_, AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(client(exit_)) for _ in range(6)]
        with pytest.raises(ConnectionResetError):
            await wires[-1].rest()
        await eventually(lambda: exit_.open_connections <= 4)
        assert exit_.visits[-1].outcome == "too_many"


async def test_traffic_is_counted() -> None:
    """Each exit counts its own bytes and connections; the whole counts closed exits, too."""
    async with site() as server, Egress(Rule(allow=[server.host])) as egress:
        exit_, other = await egress.open_exit(), await egress.open_exit()
        await ask(exit_, server.get())
        assert (exit_.bytes_sent, exit_.bytes_received) == (len(server.get()), 40)
        assert (exit_.connections, other.connections, other.bytes_sent) == (1, 0, 0)
        await exit_.close()
        assert (egress.bytes_sent, egress.bytes_received) == (len(server.get()), 40)


def visit(host: str, outcome: str, at: float) -> Visit:
    return Visit(host, 80, outcome, "", at)  # type: ignore[arg-type]


def test_failures_are_not_pushed_out_by_successes() -> None:
    """A page that makes many good requests cannot hide a refusal from the record."""
    record = Record(4)
    record.add(visit("bad.test", "address_forbidden", 1))
    for at in range(2, 20):
        record.add(visit("good.test", "ok", at))
    assert len(record.visits) == 4
    assert [each.host for each in record.forbidden_since(1)] == ["bad.test"]
    assert not record.forbidden_since(2)


def test_the_last_failure_ends_with_success() -> None:
    """A host that was reached after all has no failure left; a refusal by the rule stays."""
    record = Record(4)
    record.add(visit("a.test", "connect_refused", 1))
    assert record.last_failure("a.test", 80, 1) == visit("a.test", "connect_refused", 1)
    assert record.last_failure("a.test", 80, 1.5) is None
    assert record.last_failure("a.test", 81, 0) is None
    record.add(visit("a.test", "ok", 2))
    assert record.last_failure("a.test", 80, 0) is None
    record.add(visit("b.test", "address_forbidden", 3))
    record.add(visit("b.test", "ok", 4))
    assert record.last_failure("b.test", 80, 0) is not None


def test_the_record_is_bounded() -> None:
    """Neither visits nor failures grow without end."""
    record = Record(3)
    for number in range(10):
        record.add(visit(f"h{number}.test", "address_forbidden", number))
    assert [each.host for each in record.forbidden_since(0)] == ["h7.test", "h8.test", "h9.test"]
