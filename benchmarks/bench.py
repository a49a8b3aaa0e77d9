"""What the benchmarks share: a service with real Chromium, a site, paired timings and the table."""

import asyncio
import contextlib
import socket
import statistics
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import uvicorn
from rich.console import Console
from rich.table import Table

from browser_service.interfaces.rest import build
from browser_service.service import Service
from browser_service.settings import load_settings

Work = Callable[[], Awaitable[object]]


@dataclass
class Pair:
    """The same thing done by us and by raw Playwright, in turn; times in milliseconds."""

    name: str
    target: str
    ours: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)

    async def run(self, ours: Work, raw: Work, *, rounds: int, block: int = 10, warmup: int = 3) -> "Pair":
        """Measure both `rounds` times after a warm-up, in blocks by turns.

        Not call by call: an input waits for frames, and the one would then always start at the end of the other's.
        """
        for work in (raw, ours):
            for _ in range(warmup):
                await work()
        while len(self.ours) < rounds:
            for work, times in ((raw, self.raw), (ours, self.ours)):
                for _ in range(block):
                    began = time.perf_counter()
                    await work()
                    times.append((time.perf_counter() - began) * 1000)
        return self

    @property
    def ratio(self) -> float:
        """Median of ours over median of raw."""
        return statistics.median(self.ours) / statistics.median(self.raw)


def show(title: str, pairs: list[Pair]) -> None:
    """Print the table."""
    table = Table("what", "raw ms", "ours ms", "ratio", "target", title=title)
    for pair in pairs:
        raw, ours = statistics.median(pair.raw), statistics.median(pair.ours)
        table.add_row(pair.name, f"{raw:.1f}", f"{ours:.1f}", f"{pair.ratio:.2f}", pair.target)
    Console().print(table)


class _Pages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages: dict[str, bytes]

    def do_GET(self) -> None:
        body = self.pages.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay quiet."""


@contextlib.contextmanager
def pages(**given: str) -> Iterator[str]:
    """Serve these documents by name; gives the base address."""
    _Pages.pages = {f"/{name}": html.encode() for name, html in given.items()}
    with serving(_Pages) as base:
        yield base


class _Server(ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is no error."""


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve what this class answers; gives the base address."""
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.asynccontextmanager
async def service_for(base: str, **settings: Any) -> AsyncIterator[tuple[Service, httpx.AsyncClient]]:
    """A service that may visit `base`, and a client of it."""
    made = load_settings(network={"allow": [base.removeprefix("http://")]}, **settings)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    async with Service(made) as service:
        config = uvicorn.Config(build(service), log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                yield service, client
        finally:
            server.should_exit = True
            await serving


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a benchmark on the loop that the service uses."""
    import uvloop  # noqa: PLC0415  not to be had on Windows

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())
