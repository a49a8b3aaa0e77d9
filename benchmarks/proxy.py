"""The browser's network through the egress proxy against the same without it.

    python -m benchmarks.proxy [--pairs 15] [--browser /usr/bin/chromium]

One full Chromium loads, in turn directly and through an exit, a page with 60 uncached subresources from a server on
this machine (at once, and after 20 ms as from a near site; over http, and over https where `openssl` is installed), and
downloads 256 MiB. The server is a process of its own; the proxy shares the process that drives the browser, as in the
service. Prints medians and their ratio.
"""

import argparse
import asyncio
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import uvloop
from playwright.async_api import Browser, async_playwright

from browser_service.egress import Egress, Exit
from fetch.address import Rule

SUBRESOURCES = 60
DOWNLOAD_MIB = 256
FLAGS = ["--ozone-platform=headless", "--disable-gpu", "--ignore-certificate-errors"]
Measure = Callable[[Browser, Exit | None, str], Awaitable[float]]


class Site(asyncio.Protocol):
    """A small HTTP/1.1 server with kept-alive connections; the query is the delay of each answer in seconds."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.inbox = b""
        self.room = asyncio.Event()
        self.room.set()
        self.tasks: set[asyncio.Task[None]] = set()

    def pause_writing(self) -> None:
        self.room.clear()

    def resume_writing(self) -> None:
        self.room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        for task in self.tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        self.inbox += data
        while b"\r\n\r\n" in self.inbox:
            head, _, self.inbox = self.inbox.partition(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode()
            path, _, delay = target.partition("?")
            if path == "/download":
                task = asyncio.ensure_future(self.download())
                self.tasks.add(task)
            elif delay and float(delay):
                asyncio.get_running_loop().call_later(float(delay), self.answer, path, delay)
            else:
                self.answer(path, delay)

    def answer(self, path: str, delay: str) -> None:
        kind, body = "text/plain", b"x" * 200
        if path == "/":
            kind, body = "text/html", page(delay).encode()
        elif path.startswith("/script"):
            kind, body = "text/javascript", b"window.loaded = (window.loaded || 0) + 1;" + b"//" + b"x" * 12_000
        elif path.startswith("/style"):
            kind, body = "text/css", b"p { color: #123 }" + b" " * 6_000
        elif path.startswith("/image"):
            kind, body = "image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>' + b" " * 20_000
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.write(head.encode() + body)

    async def download(self) -> None:
        self.write(f"HTTP/1.1 200 OK\r\nContent-Length: {DOWNLOAD_MIB * 2**20}\r\n\r\n".encode())
        block = b"y" * 2**18
        for _ in range(DOWNLOAD_MIB * 4):
            await self.room.wait()
            self.write(block)

    def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)


def page(delay: str) -> str:
    tags = [f'<link rel="stylesheet" href="/style{n}?{delay}">' for n in range(SUBRESOURCES // 6)]
    tags += [f'<script src="/script{n}?{delay}"></script>' for n in range(SUBRESOURCES // 3)]
    tags += [f'<img src="/image{n}?{delay}">' for n in range(SUBRESOURCES // 2)]
    return "<!doctype html><title>page</title><p>text" + "".join(tags)


async def serve(folder: str) -> None:
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(Site, "127.0.0.1", 0)]
    if folder:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(Path(folder) / "cert.pem", Path(folder) / "key.pem")
        servers.append(await loop.create_server(Site, "127.0.0.1", 0, ssl=tls))
    print(*(each.sockets[0].getsockname()[1] for each in servers), flush=True)
    await asyncio.Event().wait()


def certificate(folder: str) -> bool:
    """Whether a self-signed certificate for 127.0.0.1 could be made in the folder."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return False
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    command += ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


async def page_load(browser: Browser, way: Exit | None, url: str) -> float:
    """Milliseconds to the load event, in a fresh context."""
    context = await browser.new_context(proxy=way.playwright_proxy if way else None)  # type: ignore[arg-type]
    try:
        tab = await context.new_page()
        begin = time.perf_counter()
        await tab.goto(url, wait_until="load")
        return (time.perf_counter() - begin) * 1000
    finally:
        await context.close()


async def download(browser: Browser, way: Exit | None, url: str) -> float:
    """MiB a second."""
    context = await browser.new_context(proxy=way.playwright_proxy if way else None)  # type: ignore[arg-type]
    try:
        tab = await context.new_page()
        await tab.goto(url)
        elapsed = await tab.evaluate(
            """async () => { const begin = performance.now(), reader = (await fetch('/download')).body.getReader();
                while (!(await reader.read()).done); return performance.now() - begin; }"""
        )
        return DOWNLOAD_MIB * 1000 / float(elapsed)
    finally:
        await context.close()


async def compare(browser: Browser, way: Exit, url: str, measure: Measure, pairs: int) -> tuple[float, float, float]:
    """Median directly, median through the proxy, median of the ratios of the pairs."""
    await measure(browser, None, url)
    await measure(browser, way, url)
    direct, proxied = list[float](), list[float]()
    for number in range(pairs):
        for turn in (0, 1) if number % 2 else (1, 0):  # neither always comes first
            (proxied if turn else direct).append(await measure(browser, way if turn else None, url))
    ratios = [second / first for first, second in zip(direct, proxied, strict=True)]
    return statistics.median(direct), statistics.median(proxied), statistics.median(ratios)


async def run(pairs: int, executable: str, ports: list[int]) -> None:
    plain = f"http://127.0.0.1:{ports[0]}/"
    rows: list[tuple[str, str, Measure, int]] = [
        ("page over http, ms", plain + "?0", page_load, pairs),
        ("page over http, 20 ms away, ms", plain + "?0.02", page_load, pairs),
        ("download over http, MiB/s", plain, download, max(3, pairs // 3)),
    ]
    for port in ports[1:]:
        secure = f"https://127.0.0.1:{port}/"
        rows += [
            ("page over https, ms", secure + "?0", page_load, pairs),
            ("page over https, 20 ms away, ms", secure + "?0.02", page_load, pairs),
            ("download over https, MiB/s", secure, download, max(3, pairs // 3)),
        ]
    rule = Rule(allow=[f"127.0.0.1:{port}" for port in ports])
    async with async_playwright() as playwright, Egress(rule) as egress:
        browser = await playwright.chromium.launch(
            executable_path=executable, headless=False, args=FLAGS, chromium_sandbox=False
        )
        way = await egress.open_exit()
        print(f"{'':34}{'direct':>10}{'proxy':>10}{'ratio':>8}")
        for name, url, measure, count in rows:
            direct, proxied, ratio = await compare(browser, way, url, measure, count)
            print(f"{name:34}{direct:10.1f}{proxied:10.1f}{ratio:8.2f}", flush=True)
        await browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--serve", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        uvloop.run(serve(options.serve))
        return
    with tempfile.TemporaryDirectory() as folder:
        served = folder if certificate(folder) else ""
        command = [sys.executable, "-m", "benchmarks.proxy", "--serve", served]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                uvloop.run(
                    run(options.pairs, options.browser, [int(port) for port in server.stdout.readline().split()])
                )
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
