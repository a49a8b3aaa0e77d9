"""Real ends for the proxy to stand between: servers that do as told, and a client that speaks byte by byte."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from browser_service.egress import Egress, Exit
from browser_service.egress.peer import reset
from fetch.address import Rule

PATIENCE_S = 20.0
Handler = Callable[["Wire"], Awaitable[None]]


class Wire:
    """One end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        async with asyncio.timeout(PATIENCE_S):
            await self.writer.drain()

    async def head(self) -> bytes:
        """Everything up to and including the next blank line."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def exactly(self, count: int) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readexactly(count)

    async def rest(self) -> bytes:
        """Everything up to the end; raises ConnectionResetError where there is no regular one."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.read(-1)

    async def ask(self, request: bytes) -> bytes:
        """Send, and read one answer that has a Content-Length; gives head and body."""
        await self.send(request)
        head = await self.head()
        length = next((each for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:")), b":0")
        return head + await self.exactly(int(length.split(b":")[1]))

    def end(self) -> None:
        """Say that nothing more will be sent."""
        self.writer.write_eof()

    def reset(self) -> None:
        reset(cast("asyncio.Transport", self.writer.transport))

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await self.writer.wait_closed()


@dataclass
class Server:
    """A server and what it has seen."""

    ip: str = "127.0.0.1"
    port: int = 0
    wires: list[Wire] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"{self.ip}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/"

    def get(self, path: str = "/", *headers: str) -> bytes:
        """A request for it, as a proxy gets one."""
        return "\r\n".join([f"GET http://{self.host}{path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()

    @property
    def connect(self) -> bytes:
        return f"CONNECT {self.host} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()


@contextlib.asynccontextmanager
async def serving(handler: Handler, ip: str = "127.0.0.1", port: int = 0, **options: Any) -> AsyncIterator[Server]:
    """Serve with one task for each connection; all of them are over afterwards."""
    server = Server(ip)
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = Wire(reader, writer)
        server.wires.append(wire)
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            await handler(wire)
        await wire.close()

    listening = await asyncio.start_server(accept, ip, port, **options)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def site(
    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", **where: Any
) -> AsyncIterator[Server]:
    """An HTTP server that gives the same answer to each request and keeps connections open."""

    async def handle(wire: Wire) -> None:
        while True:
            head = await wire.head()
            server.heads.append(head)
            server.bodies.append(await _body(wire, head.lower()))
            await wire.send(answer)

    async with serving(handle, **where) as server:
        yield server


async def _body(wire: Wire, head: bytes) -> bytes:
    if b"transfer-encoding: chunked" in head:
        return await wire.reader.readuntil(b"0\r\n\r\n")
    if b"content-length: " in head:
        return await wire.exactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
    return b""


async def echo(wire: Wire) -> None:
    """Send back what comes, to the end."""
    while data := await wire.reader.read(2**16):
        await wire.send(data)
    wire.end()


async def silence(wire: Wire) -> None:
    """Say nothing, and wait for the end."""
    await wire.rest()


@contextlib.asynccontextmanager
async def leaving(*allow: str, upstream: str | None = None, **options: Any) -> AsyncIterator[Exit]:
    """An exit whose rule allows these; `upstream` is one that a caller named."""
    async with Egress(Rule(allow=allow), **options) as egress:
        yield await egress.open_exit(upstream)


@contextlib.asynccontextmanager
async def client(exit_: Exit) -> AsyncIterator[Wire]:
    """A connection to an exit."""
    wire = Wire(*await asyncio.open_connection("127.0.0.1", exit_.port))
    try:
        yield wire
    finally:
        await wire.close()


async def ask(exit_: Exit, request: bytes) -> bytes:
    """The answer to one request on a connection of its own."""
    async with client(exit_) as wire:
        return await wire.ask(request)


class Names:
    """A resolver that gives each name the answers listed for it, one after the other, and counts."""

    def __init__(self, **answers: Sequence[Sequence[str] | Exception]) -> None:
        self.answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        given = self.answers[host]
        answer = given.pop(0) if len(given) > 1 else given[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until it holds; fails after a while."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        await asyncio.sleep(0.005)


def closed_port() -> int:
    """A port of 127.0.0.1 where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def full_backlog() -> Any:
    """A port where connections are neither accepted nor refused."""
    with socket.socket() as listening, contextlib.ExitStack() as stack:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]
