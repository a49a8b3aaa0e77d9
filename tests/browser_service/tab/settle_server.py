"""A server on 127.0.0.1 for the pages of `pages_settle`: answers that are late, drip, break off or never come."""

import asyncio
import base64
import contextlib
import hashlib
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, unquote, urlsplit

from tests.browser_service.tab.pages_settle import KINDS, ONWARD, SET, built, shown

HEAD = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nConnection: close\r\n"
HTML = "Content-Type: text/html; charset=utf-8\r\n"
_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Server:
    """Serves until `stop`; `address(name)` is that of a page, `base` that of the server."""

    def __init__(self) -> None:
        self.base = ""
        self.pages = {name: kind.html for name, kind in KINDS.items()}
        self._closing = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def address(self, name: str) -> str:
        """Where the page with this name is."""
        return f"{self.base}/page/{name}"

    def page(self, html: str) -> str:
        """Serve one more page; gives its address."""
        name = f"p{len(self.pages)}"
        self.pages[name] = html
        return self.address(name)

    async def pause(self, seconds: float) -> bool:
        """Let time pass. False when the server stops meanwhile."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        return not self._closing.is_set()

    async def stop(self) -> None:
        """End what hangs."""
        self._closing.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's only request."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            await self._answer(head, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> None:
        target = urlsplit(head.split()[1])
        given = {name: values[0] for name, values in parse_qs(target.query, keep_blank_values=True).items()}
        if "hang" in given or target.path == "/hang":
            await self.pause(600)
            return
        stream = _STREAMS.get(target.path)
        if stream is not None:
            await stream(self, writer, head, int(given.get("ms", 300)) / 1000)
            return
        if "ms" in given:
            await self.pause(int(given["ms"]) / 1000)
        fields, body = self._content(target.path, unquote(target.query), given)
        status = "404 Not Found" if target.path in {"/nothing", "/page/missing"} else "200 OK"
        data = body.encode() if isinstance(body, str) else body
        writer.write(
            HEAD.replace("200 OK", status).encode() + f"{fields}Content-Length: {len(data)}\r\n\r\n".encode() + data
        )

    def _content(self, path: str, query: str, given: dict[str, str]) -> tuple[str, str | bytes]:
        if path.startswith("/page/"):
            name = path.removeprefix("/page/")
            return HTML, f"<!doctype html><title>{name}</title><body>{self.pages[name]}"
        if path == "/js":
            write, more = "document.write('<p>TOKEN</p>')", "import '/js?ms=150'"
            return "Content-Type: text/javascript\r\n", write if "write" in given else more if "next" in given else SET
        if path == "/hop":
            left = int(given["n"])
            return HTML, "<p>TOKEN</p>" if left == 0 else built(f"location.replace('/hop?n={left - 1}')")
        others: dict[str, tuple[str, str | bytes]] = {
            "/data": ("Content-Type: text/plain\r\n", given.get("text", "")),
            "/text": (HTML, f"<p>{query}</p>"),
            "/built": (HTML, built(shown(400))),
            "/onward": (HTML, ONWARD),
            "/css": ("Content-Type: text/css\r\n", "p{color:#333}"),
            "/png": ("Content-Type: image/png\r\n", _PIXEL),
            "/file": ("Content-Disposition: attachment; filename=chart.bin\r\n", b"0" * 5000),
        }
        return others.get(path, (HTML, ""))


async def _drip(server: Server, writer: asyncio.StreamWriter, head: str, pause_s: float) -> None:
    endless = "/endless" in head
    writer.write(f"{HEAD}{HTML}\r\n<!doctype html><body>{'<p>TOKEN</p>' if endless else ''}".encode())
    for number in range(10_000 if endless else 5):
        writer.write(f"<p>Part {number} of a body that comes in drops.</p>".encode())
        await writer.drain()
        if not await server.pause(pause_s):
            return
    writer.write(b"<p>TOKEN</p>")


async def _cut(server: Server, writer: asyncio.StreamWriter, _head: str, _pause_s: float) -> None:
    writer.write(f"{HEAD}{HTML}Content-Length: 99999\r\n\r\n<!doctype html><body><p>TOKEN</p>".encode())
    await writer.drain()
    await server.pause(0.1)


async def _no_content(_server: Server, writer: asyncio.StreamWriter, _head: str, _pause_s: float) -> None:
    writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")


async def _empty_error(_server: Server, writer: asyncio.StreamWriter, _head: str, _pause_s: float) -> None:
    writer.write(b"HTTP/1.1 503 Busy\r\nConnection: close\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")


async def _redirect(_server: Server, writer: asyncio.StreamWriter, _head: str, _pause_s: float) -> None:
    writer.write(b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /text?there\r\nContent-Length: 0\r\n\r\n")


async def _events(server: Server, writer: asyncio.StreamWriter, _head: str, pause_s: float) -> None:
    writer.write(f"{HEAD}Content-Type: text/event-stream\r\n\r\n: open\n\n".encode())
    await writer.drain()
    await server.pause(pause_s)
    writer.write(b"data: TOKEN\n\n")
    await writer.drain()
    await server.pause(600)


async def _socket(server: Server, writer: asyncio.StreamWriter, head: str, pause_s: float) -> None:
    lines = (line.partition(":") for line in head.splitlines())
    key = next(value.strip() for name, _, value in lines if name.lower() == "sec-websocket-key")
    proof = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
    fields = f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {proof}\r\n\r\n"
    writer.write(f"HTTP/1.1 101 Switching Protocols\r\n{fields}".encode())
    await writer.drain()
    await server.pause(pause_s)
    writer.write(b"\x81\x05TOKEN")
    await writer.drain()
    await server.pause(600)


_STREAMS = {
    "/drip": _drip,
    "/page/drip": _drip,
    "/page/endless": _drip,
    "/page/cut": _cut,
    "/204": _no_content,
    "/503": _empty_error,
    "/302": _redirect,
    "/sse": _events,
    "/ws": _socket,
}


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    """A running server."""
    server = Server()
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        await server.stop()
