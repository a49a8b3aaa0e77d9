"""Tunnels through an exit: bytes, ends and limits, and that nothing stays behind."""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack

import psutil
import pytest

from browser_service.egress import Egress, Limits
from fetch.address import Rule
from tests.browser_service.egress_servers import Wire, ask, client, echo, eventually, leaving, serving, silence, site

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


async def test_bytes_pass_both_ways() -> None:
    """What goes into a tunnel comes out at the other end, the first bytes in the same packet as CONNECT included."""
    data = os.urandom(300_000)
    async with serving(echo) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.connect + b"early")
        assert await wire.exactly(len(ESTABLISHED) + 5) == ESTABLISHED + b"early"
        sending = asyncio.create_task(wire.send(data))
        assert await wire.exactly(len(data)) == data
        await sending


async def test_the_server_may_speak_first() -> None:
    """The answer to CONNECT comes before anything of the server's."""

    async def greet(wire: Wire) -> None:
        await wire.send(b"hello")

    async with serving(greet) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.connect)
        assert await wire.rest() == ESTABLISHED + b"hello"


async def test_a_client_that_has_said_all_still_hears() -> None:
    """The client's end is passed on as an end, and the server's answer to it comes back."""

    async def count(wire: Wire) -> None:
        await wire.send(b"%d" % len(await wire.rest()))

    async with serving(count) as server, leaving(server.host) as exit_, client(exit_) as wire:
        assert await wire.ask(server.connect) == ESTABLISHED
        await wire.send(b"x" * 1000)
        wire.end()
        assert await wire.rest() == b"1000"


async def test_a_server_that_has_said_all_still_hears() -> None:
    """The server's end is passed on as an end, and what the client still says arrives."""
    heard: list[bytes] = []

    async def listen(wire: Wire) -> None:
        wire.end()
        heard.append(await wire.rest())

    async with serving(listen) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.connect)
        assert await wire.rest() == ESTABLISHED
        await wire.send(b"last words")
        wire.end()
        await eventually(lambda: bool(heard) and exit_.open_connections == 0)
    assert heard == [b"last words"]


async def test_what_waits_is_sent_after_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """When both sides have ended, what the proxy still holds for a slow server is delivered first."""
    monkeypatch.setattr("browser_service.egress.peer.HIGH_WATER", 2**30)
    go, heard = asyncio.Event(), list[int]()

    async def wait(wire: Wire) -> None:
        wire.end()
        await go.wait()
        heard.append(len(await wire.rest()))

    async with serving(wait) as server, leaving(server.host) as exit_:
        async with client(exit_) as wire:
            await wire.send(server.connect + b"x" * 30_000_000)
            assert await wire.rest() == ESTABLISHED
        await settled(lambda: exit_.bytes_sent + exit_.open_connections)
        go.set()
        await eventually(lambda: bool(heard) and exit_.open_connections == 0)
    assert heard == [30_000_000]


@pytest.mark.parametrize("rude", [True, False])
async def test_the_server_goes_when_the_client_goes(rude: bool) -> None:
    """A client that closes or resets its connection leaves nothing open."""
    async with serving(silence) as server, leaving(server.host) as exit_:
        async with client(exit_) as wire:
            await wire.ask(server.connect)
            if rude:
                wire.reset()
        await eventually(lambda: exit_.open_connections == 0 and server.wires[0].writer.is_closing())


async def test_the_client_goes_when_the_server_goes() -> None:
    """A reset by the server is a reset for the client."""
    async with serving(silence) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.ask(server.connect)
        server.wires[0].reset()
        with pytest.raises(ConnectionResetError):
            await wire.rest()
        await eventually(lambda: exit_.open_connections == 0)


async def test_a_client_that_gives_up_ends_the_dialling() -> None:
    """Nothing is dialled, or goes on being resolved, for a client that is gone."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def hang(host: str, port: int) -> list[str]:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    async with leaving(resolve=hang, limits=Limits(dns_s=1000)) as exit_:
        async with client(exit_) as wire:
            await wire.send(b"CONNECT slow.test:443 HTTP/1.1\r\n\r\n")
            await asyncio.wait_for(asked.wait(), 10)
        await asyncio.wait_for(ended.wait(), 10)
        await eventually(lambda: exit_.open_connections == 0)


TOTAL = 200 * 2**20


async def test_a_slow_reader_holds_the_sender_back() -> None:
    """200 MiB to a client that waits stop at the first buffers; they arrive whole, and memory stays flat."""
    block, sent = b"s" * 2**20, 0

    async def pour(wire: Wire) -> None:
        nonlocal sent
        while sent < TOTAL:
            wire.writer.write(block)
            await wire.writer.drain()
            sent += len(block)

    async with serving(pour) as server, leaving(server.host) as exit_, client(exit_) as wire:
        before = psutil.Process().memory_info().rss
        await wire.ask(server.connect)
        await settled(lambda: sent)
        assert sent < TOTAL / 4
        got, peak = 0, before
        while data := await wire.reader.read(2**20):
            got += len(data)
            peak = max(peak, psutil.Process().memory_info().rss)
    assert got == TOTAL
    assert peak - before < 64 * 2**20


async def settled(value: Callable[[], int]) -> None:
    """Wait until it no longer changes."""
    last, same = value(), 0
    while same < 20:
        await asyncio.sleep(0.005)
        last, same = value(), same + 1 if value() == last else 0


async def test_a_slow_server_holds_the_client_back() -> None:
    """The same in the other direction."""
    go = asyncio.Event()
    got = 0

    async def sip(wire: Wire) -> None:
        nonlocal got
        await go.wait()
        got = len(await wire.rest())

    async with serving(sip) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.ask(server.connect)
        sending = asyncio.create_task(wire.send(b"c" * 50_000_000))
        await settled(lambda: exit_.bytes_sent)
        assert exit_.bytes_sent < 20_000_000
        go.set()
        await sending
        wire.end()
        await eventually(lambda: got == 50_000_000)


async def test_closing_an_exit_ends_its_connections() -> None:
    """Tunnels, kept connections and those still dialling end at once, on both sides; other exits go on."""
    async with serving(silence) as server, site() as page, Egress(Rule(allow=["127.0.0.1"])) as egress:
        exit_, other = await egress.open_exit(), await egress.open_exit()
        async with client(exit_) as tunnel, client(exit_) as kept, client(other) as living:
            await tunnel.ask(server.connect)
            await kept.ask(page.get())
            await exit_.close()
            for wire in (tunnel, kept):
                with pytest.raises(ConnectionResetError):
                    await wire.rest()
            assert exit_.open_connections == 0
            assert (await living.ask(page.get())).endswith(b"hi")
        await eventually(server.wires[0].writer.is_closing)
        with pytest.raises(ConnectionRefusedError):
            await ask(exit_, page.get())


async def test_closing_leaves_no_task_behind() -> None:
    """An exit that is closed while it resolves and dials leaves neither tasks nor open files."""

    async def hang(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with serving(silence) as server, leaving(server.host) as exit_:
        await ask(exit_, server.connect)  # what a loop opens for itself at first use is no leak
    before = asyncio.all_tasks()
    files = psutil.Process().num_fds()
    async with leaving(resolve=hang) as exit_, AsyncExitStack() as stack:
        for number in range(20):
            wire = await stack.enter_async_context(client(exit_))
            await wire.send(b"CONNECT host%d.test:443 HTTP/1.1\r\n\r\n" % number)
        await eventually(lambda: len(asyncio.all_tasks() - before) >= 20)
        await exit_.close()
        assert asyncio.all_tasks() == before
    await eventually(lambda: psutil.Process().num_fds() <= files)


async def test_many_connections_leave_nothing_open() -> None:
    """After 300 tunnels and 300 requests files and tasks are as many as before."""
    async with serving(echo) as server, site() as page, leaving("127.0.0.1", limits=Limits(per_exit=400)) as exit_:
        await ask(exit_, page.get())
        files, tasks = psutil.Process().num_fds(), len(asyncio.all_tasks())
        async with AsyncExitStack() as stack:
            for _ in range(150):
                await (await stack.enter_async_context(client(exit_))).ask(server.connect)
                await ask(exit_, page.get())
            assert exit_.open_connections >= 150
        for _ in range(150):
            await ask(exit_, server.connect)
            await ask(exit_, b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n")
        await eventually(lambda: exit_.open_connections == 0)
        await eventually(lambda: psutil.Process().num_fds() <= files)
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks)


@pytest.mark.parametrize("half_closed", [True, False])
async def test_silent_connections_end(half_closed: bool) -> None:
    """A connection that is silent both ways for too long is reset; a half-closed one sooner."""
    limits = Limits(half_closed_s=0.05) if half_closed else Limits(idle_s=0.05)
    async with serving(hold) as server, leaving(server.host, limits=limits) as exit_, client(exit_) as wire:
        await wire.ask(server.connect)
        if half_closed:
            wire.end()
        with pytest.raises(ConnectionResetError):
            await wire.rest()
        await eventually(lambda: exit_.open_connections == 0)


async def hold(wire: Wire) -> None:
    """Ignore the other side's end."""
    await asyncio.Event().wait()


async def test_a_connection_in_use_does_not_end() -> None:
    """Traffic in one direction is enough to keep a connection."""

    async def tick(wire: Wire) -> None:
        for _ in range(20):
            await wire.send(b".")
            await asyncio.sleep(0.02)

    limits = Limits(idle_s=0.2, half_closed_s=0.2)
    async with serving(tick) as server, leaving(server.host, limits=limits) as exit_, client(exit_) as wire:
        await wire.ask(server.connect)
        assert await wire.rest() == b"." * 20
