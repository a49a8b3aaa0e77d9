"""Sites that answer byte by byte as a test wants, over plain HTTP, TLS and HTTP/2, and a client that goes there."""

import asyncio
import contextlib
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import h2.config
import h2.connection
import h2.events

from browser_service.egress import Egress, Exit
from browser_service.tab.verdict import refusal
from fetch.address import Rule
from fetch.errors import TabwrightError
from fetch.http import Errand, HttpClient, ProxyRoute
from fetch.page import Page
from fetch.politeness import Politeness
from stealth.identity import identities
from tests.browser_service.egress_servers import Wire, serving

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
FIVE = identities("156.0.8078.114", AGENT)
PATIENCE_S = 20.0
HASTE: dict[str, Any] = {"ssl_shutdown_timeout": 0.1}  # a client that keeps a connection does not notice that it ends


@dataclass
class Raw:
    """Bytes to send as they are, and what becomes of the connection."""

    data: bytes
    then: Literal["keep", "close", "reset", "hold"] = "keep"


Handler = Callable[[Wire, "Asked"], Awaitable[None]]
Behaviour = Raw | Handler
Behaviours = Mapping[str, Behaviour | Sequence[Behaviour]]


def answer(body: bytes | str = b"", *headers: str, status: str = "200 OK", kind: str = "text/html") -> Raw:
    """An orderly answer."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *headers, "", ""]
    return Raw("\r\n".join(lines).encode() + data)


def redirect(location: str, *headers: str, status: str = "302 Found") -> Raw:
    """An answer that sends elsewhere."""
    return answer("moved", f"Location: {location}", *headers, status=status)


def ended(head: str, body: bytes = b"") -> Raw:
    """An answer without a length, which the end of the connection ends."""
    return Raw(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body, "close")


@dataclass
class Asked:
    """A request as it came: its path, and its headers in their order."""

    path: str
    fields: list[tuple[str, str]]

    def __getitem__(self, name: str) -> str | None:
        return next((value for each, value in self.fields if each.lower() == name), None)


@dataclass
class RawSite:
    """A site, and what it was asked. `most` is how many requests were open at once."""

    url: str = ""
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    open: int = 0
    most: int = 0

    def turns(self, path: str = "/") -> list[Asked]:
        """The requests for this path."""
        return [each for each in self.asked if each.path == path]


@contextlib.asynccontextmanager
async def raw_site(behaviours: Behaviours | Behaviour, **options: Any) -> AsyncIterator[RawSite]:
    """Serve: for each path one behaviour, or several for one request after the other, of which the last stays."""
    routes = behaviours if isinstance(behaviours, Mapping) else {"/": behaviours}
    site = RawSite()

    async def handle(wire: Wire) -> None:
        while True:
            asked = _asked(await wire.head())
            chosen = _behaviour(routes, asked, len(site.turns(asked.path)))
            site.asked.append(asked)
            site.open += 1
            site.most = max(site.most, site.open)
            try:
                if not await _behave(chosen, wire, asked):
                    return
            finally:
                site.open -= 1

    async with serving(handle, **options, **(HASTE if "ssl" in options else {})) as server:
        site.port, site.wires = server.port, server.wires
        site.url = f"{'https' if 'ssl' in options else 'http'}://{server.host}"
        yield site


def _asked(head: bytes) -> Asked:
    line, *fields = head.decode().split("\r\n")[:-2]
    pairs = [each.partition(":") for each in fields]
    return Asked(line.split(" ")[1], [(name, value.strip()) for name, _, value in pairs])


def _behaviour(routes: Behaviours, asked: Asked, before: int) -> Behaviour:
    chosen = routes.get(asked.path, answer("no such page", status="404 Not Found"))
    return chosen[min(before, len(chosen) - 1)] if isinstance(chosen, Sequence) else chosen


async def _behave(chosen: Behaviour, wire: Wire, asked: Asked) -> bool:
    """Do it; tells whether the connection is kept."""
    if not isinstance(chosen, Raw):
        await chosen(wire, asked)
        return False
    await wire.send(chosen.data)
    if chosen.then == "reset":
        wire.reset()
    if chosen.then == "hold":
        await wire.rest()
    return chosen.then == "keep"


@dataclass
class H2Site(RawSite):
    """The same over HTTP/2."""

    connections: list[Wire] = field(default_factory=list)


@contextlib.asynccontextmanager
async def h2_site(bodies: Mapping[str, bytes], tls: ssl.SSLContext) -> AsyncIterator[H2Site]:
    """Serve these bodies over HTTP/2 alone, each as far as the client's window lets."""
    tls.set_alpn_protocols(["h2"])
    site = H2Site()

    async def handle(wire: Wire) -> None:
        site.connections.append(wire)
        talk = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        talk.initiate_connection()
        left: dict[int, memoryview] = {}
        await wire.send(talk.data_to_send())
        while data := await wire.reader.read(2**16):
            for event in talk.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    fields = [(str(name), str(value)) for name, value in event.headers]
                    asked = Asked(dict(fields)[":path"], fields)
                    site.asked.append(asked)
                    left[event.stream_id] = memoryview(bodies[asked.path])
                    talk.send_headers(event.stream_id, [(":status", "200"), ("content-type", "text/html")])
            for stream in list(left):
                left[stream] = _push(talk, stream, left[stream])
                if not left[stream]:
                    talk.end_stream(stream)
                    del left[stream]
            await wire.send(talk.data_to_send())

    async with serving(handle, ssl=tls, **HASTE) as server:
        site.port, site.url = server.port, f"https://{server.host}"
        yield site


def _push(talk: h2.connection.H2Connection, stream: int, data: memoryview) -> memoryview:
    while data and (room := min(talk.local_flow_control_window(stream), talk.max_outbound_frame_size)):
        talk.send_data(stream, bytes(data[:room]))
        data = data[room:]
    return data


def certificate(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server on 127.0.0.1 shows, and what a client trusts that knows it. Needs the openssl command."""
    key, shown = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(shown)]
    subprocess.run(command, check=True, capture_output=True)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(shown, key)
    return server, ssl.create_default_context(cafile=str(shown))


async def everything_is_here(host: str, port: int) -> Sequence[str]:
    """A resolver for which each name that ends in `.here` is this machine, and no other exists."""
    if not host.endswith(".here"):
        raise OSError
    return ["127.0.0.1"]


@dataclass
class Visitor:
    """A client behind an exit of a real egress proxy."""

    http: HttpClient
    exit: Exit

    @property
    def route(self) -> ProxyRoute:
        """Its way out."""

        def why(url: str, since: float) -> TabwrightError | None:
            return refusal(self.exit, url, since)

        return ProxyRoute(self.exit.server, why)

    def errand(self, url: str, **given: Any) -> Errand:
        """An errand for it."""
        return Errand(url, self.route, given.pop("identities", FIVE), **given)

    async def get(self, url: str, *, limit_s: float = PATIENCE_S, attempt: int = 0, **given: Any) -> Page:
        """Get it once."""
        deadline = asyncio.get_running_loop().time() + limit_s
        return await self.http.get(self.errand(url, **given), deadline=deadline, attempt=attempt)

    async def fetch(
        self,
        url: str,
        *,
        limit_s: float = PATIENCE_S,
        retries: int = 3,
        turns: Politeness | None = None,
        **given: Any,
    ) -> Page:
        """Get it with retries."""
        deadline = asyncio.get_running_loop().time() + limit_s
        return await self.http.fetch(self.errand(url, **given), deadline=deadline, retries=retries, turns=turns)


@contextlib.asynccontextmanager
async def visitor(*allow: str, **options: Any) -> AsyncIterator[Visitor]:
    """A client that may go to these places, with pauses before retries that are none to speak of."""
    rule = Rule(allow=allow or ["127.0.0.1"])
    options = {"waits_s": (0.01, 0.02, 0.03), **options}
    async with (
        Egress(rule, resolve=everything_is_here) as egress,
        HttpClient(rule.check, **options) as http,
    ):
        yield Visitor(http, await egress.open_exit())
