"""One request and its answer: asked through the proxy, read to its end or to its limit."""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import h2.exceptions
import httpx

from fetch.address import Address
from fetch.decode import Decoder, DecodingError, TooLong
from fetch.errors import InvalidRequest
from fetch.http_faults import NETWORK, ProxyRoute, failed, late, refused_by_proxy, too_large, translate

BREATH = 1024 * 1024  # decoded bytes after which others get a turn
STALE_TRIES = 4
DRAINED = 64 * 1024
DRAIN_LIMIT_S = 0.5

_STALE = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError, h2.exceptions.ProtocolError)
_LENGTH = re.compile(r"[0-9]+")

Fields = Sequence[tuple[str, str]]


@dataclass(slots=True)
class _Progress:
    """What the HTTP library tells of a request on its way."""

    connected: bool = False
    in_tls: bool = False
    head: Sequence[tuple[bytes, bytes]] = ()

    async def note(self, name: str, info: Mapping[str, Any]) -> None:
        """The `trace` extension of httpcore."""
        if name.endswith("connect_tcp.started"):
            self.connected = True
        elif name.endswith("start_tls.started"):
            self.in_tls = True
        elif name.endswith("start_tls.complete"):
            self.in_tls = False
        elif name.endswith("receive_response_headers.complete"):
            self.head = info["return_value"][-1]


@dataclass
class Answer:
    """The head of an answer; `read` gives the body. `seconds`: how long the head took."""

    url: str
    status: int
    fields: Fields
    seconds: float
    response: httpx.Response = field(repr=False)
    whole: bool = False

    @cached_property
    def headers(self) -> dict[str, str]:
        """By name in lower case; several of one name are joined by commas."""
        joined: dict[str, str] = {}
        for name, value in self.fields:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined

    def all(self, name: str) -> list[str]:
        """Every value of this name."""
        return [value for each, value in self.fields if each == name]

    async def read(self, deadline: float, limit: int) -> tuple[bytes, str]:
        """The body with its encodings undone, and why it is not whole (empty: it is).

        Raises ContentTooLarge, by the declared length before anything is read; NavigationFailed and TimedOut when there
        is nothing of it.
        """
        declared = self.headers.get("content-length", "")
        if _LENGTH.fullmatch(declared) and int(declared) > limit:
            raise too_large(self.url, limit, int(declared))
        pieces: list[bytes] = []
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(deadline):
                cut = await self._collect(pieces, limit)
        except TimeoutError:
            if not pieces:
                raise late(self.url, deadline - began + self.seconds) from None
            return b"".join(pieces), "it did not end in time"
        except TooLong:
            raise too_large(self.url, limit) from None
        except DecodingError as fault:
            if not pieces:
                raise failed(self.url, "decoding", str(fault)) from None
            return b"".join(pieces), str(fault)
        except NETWORK as fault:
            if not pieces:
                raise failed(self.url, "cut", "its body was cut off before anything of it came") from fault
            cut = "the connection ended before it did"
        return b"".join(pieces), cut

    async def _collect(self, pieces: list[bytes], limit: int) -> str:
        decoder = Decoder(self.headers.get("content-encoding", ""), limit)
        raw = since_breath = 0
        async for data in self._stream:
            raw += len(data)
            if raw > limit:
                raise TooLong
            for piece in decoder.feed(data):
                pieces.append(piece)
                since_breath += len(piece)
                if since_breath > BREATH:
                    since_breath = 0
                    await asyncio.sleep(0)
        self.whole = True
        return "" if decoder.ended() else "its encoded form ends too early"

    async def drain(self) -> None:
        """Read the little that a redirect has to say, so that its connection can be used again."""
        with contextlib.suppress(TimeoutError, *NETWORK):
            async with asyncio.timeout(DRAIN_LIMIT_S):
                size = 0
                async for data in self._stream:
                    size += len(data)
                    if size > DRAINED:
                        return
                self.whole = True

    @property
    def _stream(self) -> httpx.AsyncByteStream:
        stream = self.response.stream
        if not isinstance(stream, httpx.AsyncByteStream):
            raise TypeError("The answer of an asynchronous transport can only be read so.")
        return stream

    async def close(self) -> None:
        """End it. What was not read to its end takes its connection along."""
        with contextlib.suppress(*NETWORK):
            if self._spoils_its_connection():
                await self.response.extensions["network_stream"].aclose()
            await self._stream.aclose()

    def _spoils_its_connection(self) -> bool:
        """Whether nothing more may be asked on this connection, though httpcore would.

        A stream of HTTP/2 that is left is not reset there, and what still comes uses up the window of all others. After
        an answer of HTTP/1 that brought more than it declared, the rest would be taken for the next answer; only the
        parser knows of it, and it is reached by private names (a test notices when they change).
        """
        if self.response.extensions.get("http_version") == b"HTTP/2":
            return not self.whole
        inner = getattr(getattr(self._stream, "_httpcore_stream", None), "_stream", None)
        parser = getattr(getattr(inner, "_connection", None), "_h11_state", None)
        return parser is not None and bool(parser.trailing_data[0])


@dataclass(frozen=True)
class Question:
    """What is asked: of HTTP/1.1 and 2, in this order."""

    address: Address
    headers: Fields
    method: str = "GET"
    content: bytes | None = None


@contextlib.asynccontextmanager
async def asking(
    transport: httpx.AsyncHTTPTransport, route: ProxyRoute, question: Question, deadline: float
) -> AsyncIterator[Answer]:
    """Ask, until the head of the answer is there.

    Raises TimedOut at the deadline (loop time), AddressForbidden and NavigationFailed with their reason, and whatever
    else the proxy recorded for this address.
    """
    since, began = time.monotonic(), asyncio.get_running_loop().time()
    address = question.address
    request, progress = _request(question)
    try:
        async with asyncio.timeout_at(deadline):
            response = await _respond(transport, request, progress)
    except TimeoutError:
        raise late(address.url, deadline - began) from None
    except httpx.ProxyError as fault:
        raise refused_by_proxy(route, address.url, since, _value(progress.head, route.mark)) from fault
    except NETWORK as fault:
        raise translate(fault, address.url, in_tls=progress.in_tls) from fault
    fields = [(_text(name).lower(), _text(value)) for name, value in response.headers.raw]
    seconds = asyncio.get_running_loop().time() - began
    answer = Answer(address.url, response.status_code, fields, seconds, response)
    try:
        verdict = answer.headers.get(route.mark, "") if address.scheme == "http" else ""
        if verdict:
            raise refused_by_proxy(route, address.url, since, verdict)
        yield answer
    finally:
        await answer.close()


def _request(question: Question) -> tuple[httpx.Request, _Progress]:
    progress = _Progress()
    fields = [(name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in question.headers]
    method, url, content = question.method, question.address.url, question.content
    try:
        request = httpx.Request(method, url, headers=fields, content=content, extensions={"trace": progress.note})
    except (httpx.InvalidURL, UnicodeError):
        raise InvalidRequest("The host of the address is not valid.") from None
    return request, progress


async def _respond(transport: httpx.AsyncHTTPTransport, request: httpx.Request, progress: _Progress) -> httpx.Response:
    """The head of the answer. A kept connection that went stale is not the site's fault: then on another one."""
    for _ in range(STALE_TRIES):
        progress.connected = False
        try:
            return await transport.handle_async_request(request)
        except _STALE:
            if progress.connected:
                raise
    return await transport.handle_async_request(request)


def _value(fields: Sequence[tuple[bytes, bytes]], name: str) -> str:
    return next((_text(value) for each, value in fields if _text(each).lower() == name), "")


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
