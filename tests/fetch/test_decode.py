"""Content encodings are undone piece by piece, and no body grows beyond its limit on the way."""

import gzip
import os
import tracemalloc
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from fetch.decode import MAX_LAYERS, STEP, Decoder, DecodingError, TooLong

TEXT = b"".join(b"line %d of the page\n" % number for number in range(20_000))
LIMIT = 2**20
MIB = 2**20


def raw_deflate(data: bytes) -> bytes:
    """Deflate without a wrapper."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def members(data: bytes) -> bytes:
    """Gzip in several members."""
    return b"".join(gzip.compress(data[at : at + 50_000]) for at in range(0, len(data), 50_000))


def zstd(data: bytes) -> bytes:
    """One frame of zstd."""
    return zstandard.ZstdCompressor().compress(data)


def frames(data: bytes) -> bytes:
    """Two frames of zstd with one between that is to be skipped."""
    return zstd(data[:1000]) + b"\x50\x2a\x4d\x18\x04\0\0\0skip" + zstd(data[1000:])


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("", bytes),
    "identity": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "members": ("x-gzip", members),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "brotli": ("BR", brotli.compress),
    "zstd": ("zstd", zstd),
    "frames": ("zstd", frames),
    "stacked": ("gzip, identity, br , zstd", lambda data: zstd(brotli.compress(gzip.compress(data)))),
}
PACKED = pytest.mark.parametrize("way", PACKERS)


def unpack(encoding: str, data: bytes, *, step: int = 1000, limit: int = LIMIT) -> tuple[bytes, bool]:
    """What comes out of it, and whether it was whole."""
    decoder = Decoder(encoding, limit)
    out = b"".join(piece for at in range(0, len(data), step) for piece in decoder.feed(data[at : at + step]))
    return out, decoder.ended()


@PACKED
@pytest.mark.parametrize("step", [1, 997, 10**7])
def test_bodies_come_out_whole(way: str, step: int) -> None:
    """Each encoding is undone, in whatever pieces the bytes come."""
    encoding, pack = PACKERS[way]
    text = TEXT[:20_000] if step == 1 else TEXT
    assert unpack(encoding, pack(text), step=step) == (text, True)


@PACKED
def test_nothing_is_whole(way: str) -> None:
    """An empty body is no broken one, whatever its label."""
    assert unpack(PACKERS[way][0], b"") == (b"", True)


@pytest.mark.parametrize("way", [way for way in PACKERS if way not in {"plain", "identity", "stacked"}])
def test_a_cut_stream_gives_what_it_had(way: str) -> None:
    """What was decoded before a stream ends too early is kept, and it is said that it did."""
    encoding, pack = PACKERS[way]
    noise = os.urandom(300_000)  # does not shrink: a cut near the middle leaves about a half
    packed = pack(noise)
    out, whole = unpack(encoding, packed[: len(packed) * 4 // 9])
    assert not whole
    assert 50_000 < len(out) < 200_000
    assert noise.startswith(out)
    assert not unpack(encoding, packed[:1])[1]


@pytest.mark.parametrize("way", ["gzip", "zlib", "raw deflate", "brotli", "zstd", "stacked"])
def test_a_bomb_stops_at_the_limit(way: str) -> None:
    """A gigabyte in little space is stopped at the limit, without being unpacked in memory before."""
    encoding, pack = PACKERS[way]
    bomb = pack(bytes(64 * MIB))
    pieces = Decoder(encoding, LIMIT).feed(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(TooLong):
            list(pieces)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LIMIT + MIB


def test_a_bomb_inside_stops_too() -> None:
    """The layer in between is bounded as well: many empty members that stand for nothing in the end."""
    bomb = gzip.compress(gzip.compress(b"") * 200_000)
    with pytest.raises(TooLong):
        list(Decoder("gzip, gzip", LIMIT).feed(bomb))


def test_a_great_many_members_are_cut() -> None:
    """Empty members cost time and give nothing: after a thousand the rest is not read."""
    out, whole = unpack("gzip", gzip.compress(b"") * 5000 + gzip.compress(b"late"))
    assert (out, whole) == (b"", True)


def test_exactly_the_limit_passes() -> None:
    """The limit itself is allowed, one byte more is not."""
    assert unpack("gzip", gzip.compress(bytes(LIMIT)))[0] == bytes(LIMIT)
    with pytest.raises(TooLong):
        unpack("gzip", gzip.compress(bytes(LIMIT + 1)))
    with pytest.raises(TooLong):
        unpack("", bytes(LIMIT + 1))


def test_pieces_are_small() -> None:
    """Whoever reads can do something else between two pieces."""
    for way in ("gzip", "zlib", "zstd"):
        encoding, pack = PACKERS[way]
        assert max(map(len, Decoder(encoding, 10 * MIB).feed(pack(bytes(5 * MIB))))) <= STEP


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("step", [1, 1000])
def test_a_wrong_label_on_a_plain_body(encoding: str, step: int) -> None:
    """A body that is plain in spite of its label passes as it is."""
    assert unpack(encoding, b"<p>plain", step=step) == (b"<p>plain", True)


def test_rubbish_after_gzip_is_dropped() -> None:
    """What follows the last member is no part of the body."""
    assert unpack("gzip", gzip.compress(b"text") + b"\0\0\0\0rubbish")[0] == b"text"


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", b"\x1f\x8b" + b"x" * 50),
        ("deflate", b"\xff" * 50),
        ("br", b"\xff" * 50),
        ("zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 50),
    ],
)
def test_broken_streams(encoding: str, data: bytes) -> None:
    """What is not valid is an error, not an empty page."""
    with pytest.raises(DecodingError, match="not valid"):
        unpack(encoding, data)


def test_what_is_not_known() -> None:
    """Unknown encodings, and too many of them, are named before anything is read."""
    with pytest.raises(DecodingError, match="'compress'"):
        Decoder("gzip, compress", LIMIT)
    with pytest.raises(DecodingError, match="6 times"):
        Decoder(",".join(["gzip"] * (MAX_LAYERS + 1)), LIMIT)
