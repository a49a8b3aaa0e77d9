"""A proxy that notes who asks for what, and lets through plain HTTP to this machine alone."""

import asyncio
from collections.abc import Collection
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class RecordingProxy:
    """`async with RecordingProxy() as proxy:`; `asked` holds the hosts in order, `connections` counts them all."""

    def __init__(self, expected: Collection[str] = ()) -> None:
        self.expected = expected
        self.asked: list[str] = []
        self.connections = 0
        self.connected = asyncio.Event()
        self.surprised = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.server = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.connected.set()
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            host = target if method == "CONNECT" else urlsplit(target).netloc
            self.asked.append(host)
            if host not in self.expected:
                self.surprised.set()
            writer.write(await _fetched(method, target, host))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


async def _fetched(method: str, target: str, host: str) -> bytes:
    if method == "CONNECT" or not host.startswith("127.0.0.1:"):
        return b"HTTP/1.1 502 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.rpartition(":")[2]))
    writer.write(f"{method} {urlsplit(target).path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    try:
        return await reader.read(-1)
    finally:
        writer.close()
