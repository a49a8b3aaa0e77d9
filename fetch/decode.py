"""Content encodings undone as the bytes come, a bounded piece at a time.

A few kilobytes can stand for gigabytes. So no step gives more than `STEP` bytes (zstd: no more than is left of the
limit), every layer is stopped at the limit, and what a layer has not given yet stays compressed.
"""

import re
import zlib
from collections.abc import Iterator
from typing import IO, Protocol, cast

import brotli  # type: ignore[import-untyped]
import zstandard

STEP = 128 * 1024
MAX_LAYERS = 5
MAX_MEMBERS = 1000  # of a gzip stream: empty ones cost time and give nothing
ZSTD_WINDOW = 2**23  # RFC 9659: what a decoder for the web has to offer, and browsers take no more

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_ZSTD_PROBE = zstandard.ZstdCompressor().compress(b"x")


class DecodingError(Exception):
    """The body is not what its Content-Encoding says, or that is not known here; the text says which."""


class TooLong(Exception):
    """More comes out than the limit allows."""


class Layer(Protocol):
    """One encoding. `feed` gives what comes out of some bytes, in pieces; `ended` tells whether the stream is whole."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def ended(self) -> bool: ...


class Decoder:
    """Undoes the encodings that a Content-Encoding header lists, the last one first (RFC 9110, 8.4).

    Raises DecodingError for an unknown encoding. Bodies that are labelled gzip or zstd but are plain, as servers send
    that take the encoding off and leave the label on, pass as they are.
    """

    def __init__(self, content_encoding: str, limit: int) -> None:
        names = [name for part in content_encoding.split(",") if (name := part.strip().lower()) not in {"", "identity"}]
        if len(names) > MAX_LAYERS:
            raise DecodingError(f"it is encoded {len(names)} times over")
        self._layers = [_layer(name, limit) for name in reversed(names)]
        self._left = [limit] * len(names)
        self._plain_left = limit

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What comes out of the next bytes of the body, in pieces.

        Raises TooLong as soon as the whole is over the limit, and DecodingError; what was given before stays valid.
        """
        for piece in self._through(0, data):
            self._plain_left -= len(piece)
            if self._plain_left < 0:
                raise TooLong
            yield piece

    def ended(self) -> bool:
        """Whether the streams were whole: to be asked once, after the last byte. Nothing at all is whole, too."""
        return all(layer.ended() for layer in self._layers)

    def _through(self, at: int, data: bytes) -> Iterator[bytes]:
        if at == len(self._layers):
            yield data
            return
        for piece in self._layers[at].feed(data):
            self._left[at] -= len(piece)
            if self._left[at] < 0:
                raise TooLong
            yield from self._through(at + 1, piece)


def _layer(name: str, limit: int) -> Layer:
    match name:
        case "gzip" | "x-gzip":
            return _Gzip()
        case "deflate":
            return _Deflate()
        case "br":
            return _Brotli()
        case "zstd":
            return _Zstd(limit)
    raise DecodingError(f"it is encoded as {name[:40]!r}, which is not known here")


class _Gzip:
    """RFC 1952: one member after another; zeros and rubbish after the last are not part of it."""

    def __init__(self) -> None:
        self._begin = b""
        self._plain = False
        self._members = 0
        self._stream: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._plain:
            if self._stream is None:
                data, self._begin = self._begin + data, b""
                if not self._starts(data):
                    break
                self._stream = zlib.decompressobj(wbits=31)
            yield from _inflate(self._stream, data)
            if not self._stream.eof:
                return
            data, self._stream = self._stream.unused_data, None
            self._members += 1
        if self._plain and data:
            yield data

    def ended(self) -> bool:
        return self._stream is None and not (self._begin and not self._members)

    def _starts(self, data: bytes) -> bool:
        """Whether a member begins here; a beginning that is too short is kept."""
        if self._members >= MAX_MEMBERS or (self._members and not data.startswith(_GZIP_MAGIC[: len(data)])):
            return False
        if len(data) < 2:
            self._begin = data
            return False
        self._plain = not data.startswith(_GZIP_MAGIC)
        return not self._plain


class _Deflate:
    """RFC 9110, 8.4.1.2 means zlib (RFC 1950); many servers send bare deflate (RFC 1951) under this name."""

    def __init__(self) -> None:
        self._begin = b""
        self._stream: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            data = self._begin + data
            if len(data) < 2:
                self._begin = data
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._stream = zlib.decompressobj(wbits=15 if wrapped else -15)
        if not self._stream.eof:
            yield from _inflate(self._stream, data)

    def ended(self) -> bool:
        return not self._begin if self._stream is None else self._stream.eof


def _inflate(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    while True:
        try:
            piece = stream.decompress(data, STEP)
        except zlib.error:
            raise DecodingError("it is not valid gzip or deflate") from None
        data = stream.unconsumed_tail
        if piece:
            yield piece
        if stream.eof or (len(piece) < STEP and not data):  # a full piece may leave more behind without any input
            return


class _Brotli:
    """RFC 7932."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._begun = True
        while not self._stream.is_finished():
            try:
                piece = self._stream.process(data, output_buffer_limit=STEP)
            except brotli.error:
                raise DecodingError("it is not valid brotli") from None
            data = b""
            if piece:
                yield piece
            elif self._stream.can_accept_more_data():
                return

    def ended(self) -> bool:
        return not self._begun or bool(self._stream.is_finished())


class _Zstd:
    """RFC 8878, one frame after another. The library pushes what comes out, so the sink is what stops it."""

    def __init__(self, limit: int) -> None:
        self._sink = _Sink(limit)
        decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        self._stream = decompressor.stream_writer(cast("IO[bytes]", self._sink), write_size=STEP, closefd=False)
        self._begin: bytes | None = b""
        self._plain = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._begin is not None:
            data = self._begin + data
            self._begin = data if len(data) < 4 else None
            self._plain = self._begin is None and _ZSTD_MAGIC.match(data) is None
        if self._plain:
            yield data
        elif self._begin is None:
            self._write(data)
            yield from self._sink.take()

    def ended(self) -> bool:
        """The library does not say whether a frame has ended; another one behind it comes out only if it has."""
        if self._plain or self._begin is not None:
            return not self._begin
        try:
            self._write(_ZSTD_PROBE)
        except (DecodingError, TooLong):
            return False
        return b"".join(self._sink.take()) == b"x"

    def _write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
        except zstandard.ZstdError:
            raise DecodingError("it is not valid zstd") from None


class _Sink:
    """Takes what comes out, up to the limit."""

    def __init__(self, limit: int) -> None:
        self._left = limit + STEP
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise TooLong
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> list[bytes]:
        taken, self._pieces = self._pieces, []
        return taken
