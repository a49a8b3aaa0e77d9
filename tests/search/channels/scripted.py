"""A server that says what a test wrote down for it, byte by byte, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from fetch.errors import NavigationFailed
from search.engine import Answer, Found


@dataclass
class Asked:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """Its path."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """Its parameters."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


@dataclass
class Line:
    """One answer. `cut`: the connection ends in the middle of the body; `silent`: it never comes."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    silent: bool = False


@dataclass
class Scripted:
    """What it answers, in turn; the last line is repeated."""

    url: str = ""
    lines: list[Line] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def says(self, body: object = b"", status: int = 200, **headers: str) -> Scripted:
        """Answer with JSON, or with a string as a web page."""
        kind = "text/html; charset=utf-8" if isinstance(body, str) else "application/json"
        data = (
            body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.lines.append(Line(status, data, {"content-type": kind, **named}))
        return self

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ", 2)
            headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in head[1:] if each)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.asked.append(Asked(method, target, headers, body))
            await self._answer(self.lines.pop(0) if len(self.lines) > 1 else self.lines[0], reader, writer)
        writer.close()

    async def _answer(self, line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if line.silent:
            await reader.read()  # until the client goes away
            return
        fields = "".join(f"{name}: {value}\r\n" for name, value in line.headers.items())
        length = len(line.body) + (1000 if line.cut else 0)
        head = f"HTTP/1.1 {line.status} X\r\n{fields}content-length: {length}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + line.body)
        await writer.drain()


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[Scripted]:
    """A server on this machine."""
    stage = Scripted()
    server = await asyncio.start_server(stage.handle, "127.0.0.1", 0)
    stage.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield stage


async def send(request: httpx.Request) -> httpx.Response:
    """What the service passes in: no redirects followed, failures as its own errors."""
    async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
        try:
            return await client.send(request)
        except httpx.HTTPError as error:
            raise NavigationFailed(f"The connection failed: {error}") from error


def only(found: Found) -> Answer:
    """The one answer."""
    assert len(found.answers) == 1, found
    return found.answers[0]
