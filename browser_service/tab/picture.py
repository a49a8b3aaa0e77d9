"""The geometry of pictures: which part of the page, at which scale, in which format, and what one picture can hold."""

import math
import struct
from dataclasses import dataclass
from typing import Literal

from playwright.async_api import Locator

from browser_service.errors import ContentTooLarge, InvalidRequest

Format = Literal["png", "jpeg", "webp"]

# Chromium 156: one capture is whole and right up to about 86 000 pixels in height, and white below.
TALLEST = 65_000
LARGEST = 120_000_000
# WebP's own limit, and JPEG's; beyond, Chromium answers with nothing, or with what is no picture, and no error.
LONGEST_SIDE: dict[Format, int] = {"png": TALLEST, "jpeg": 65_535, "webp": 16_383}
TILE = 16_000
MOST_TILES = 32


@dataclass(frozen=True, kw_only=True)
class Shot:
    """How a picture is taken: of the viewport, or of `element`, of the rectangle `clip`, or of the whole page.

    `clip` is x, y, width, height in CSS pixels from the page's top left corner. `max_width` and `max_side` scale down,
    never up, in the picture's pixels. `hide` are CSS selectors of elements that are left out; they keep their place.
    `animations` off: what ends is shown at its end, what does not as if it did not run. `optimize`: a PNG a third
    smaller, at three times the time. `tiles`: a page that is taller than 16 000 pixels comes in several pictures.
    """

    element: Locator | None = None
    full_page: bool = False
    clip: tuple[float, float, float, float] | None = None
    format: Format = "png"
    quality: int | None = None
    max_width: int | None = None
    max_side: int | None = None
    hide: tuple[str, ...] = ()
    style: str | None = None
    omit_background: bool = False
    animations: Literal["off", "on"] = "off"
    optimize: bool = False
    tiles: bool = False
    hide_scrollbars: bool = True


@dataclass(frozen=True)
class Box:
    """A rectangle in CSS pixels."""

    x: float
    y: float
    width: float
    height: float

    def moved(self, x: float, y: float) -> "Box":
        """The same, elsewhere."""
        return Box(self.x + x, self.y + y, self.width, self.height)

    def whole(self) -> "Box":
        """The smallest rectangle of whole pixels around it."""
        left, top = math.floor(self.x + 1e-3), math.floor(self.y + 1e-3)
        right, bottom = math.ceil(self.x + self.width - 1e-3), math.ceil(self.y + self.height - 1e-3)
        return Box(left, top, max(1, right - left), max(1, bottom - top))

    def within(self, other: "Box") -> bool:
        """Whether it lies inside the other."""
        return (
            self.x >= other.x
            and self.y >= other.y
            and self.x + self.width <= other.x + other.width
            and self.y + self.height <= other.y + other.height
        )

    def cut_to(self, other: "Box") -> "Box":
        """The part that lies inside the other. Raises InvalidRequest where there is none."""
        left, top = max(self.x, other.x), max(self.y, other.y)
        width = min(self.x + self.width, other.x + other.width) - left
        height = min(self.y + self.height, other.y + other.height) - top
        if width <= 0 or height <= 0:
            raise InvalidRequest(
                f"That rectangle lies outside of the page, which is {other.width:g} by {other.height:g} CSS pixels."
            )
        return Box(left, top, width, height)


@dataclass(frozen=True)
class Plan:
    """The captures to be made. `scale` is on top of the page's device pixels; several `parts` are tiles."""

    parts: tuple[Box, ...]
    scale: float
    format: Format
    warnings: tuple[str, ...] = ()


def plan(box: Box, ratio: float, shot: Shot) -> Plan:
    """How to capture `box`, at `ratio` device pixels for one CSS pixel, within what a picture can hold.

    Raises ContentTooLarge over 120 megapixels, unless tiles will do.
    """
    scale = _scale(box, ratio, shot)
    pixels = ratio * scale
    warnings = []
    tallest = TILE * MOST_TILES if shot.tiles else TALLEST
    kept = Box(
        box.x,
        box.y,
        min(box.width, math.floor(TALLEST / pixels)),
        min(box.height, math.floor(tallest / pixels)),
    )
    if kept != box:
        warnings.append(
            f"The picture is cut: it shows {kept.width:g} x {kept.height:g} of {box.width:g} x {box.height:g} CSS "
            f"pixels; {tallest} pixels in height are the most."
        )
    box = kept
    tiled = shot.tiles and round(box.height * pixels) > TILE
    size = box.width * box.height * pixels * pixels
    if size > LARGEST and not tiled:
        raise ContentTooLarge(
            f"The picture would have {size / 1e6:.0f} megapixels; {LARGEST / 1e6:.0f} are the most.",
            hint="Give max_width, a clip or a selector, a smaller device_scale_factor, or leave out full_page.",
        )
    longest = max(box.width, TILE / pixels if tiled else box.height) * pixels
    kind = shot.format
    if round(longest) > LONGEST_SIDE[kind] and kind != "png":
        warnings.append(f"A side is longer than the {LONGEST_SIDE[kind]} pixels of {kind}: this is a png.")
        kind = "png"
    parts = _tiles(box, pixels) if tiled else (box,)
    return Plan(parts, scale, kind, tuple(warnings))


def _scale(box: Box, ratio: float, shot: Shot) -> float:
    scale = 1.0
    if shot.max_width is not None:
        scale = min(scale, shot.max_width / (box.width * ratio))
    if shot.max_side is not None:
        scale = min(scale, shot.max_side / (max(box.width, box.height) * ratio))
    return scale


def _tiles(box: Box, pixels: float) -> tuple[Box, ...]:
    step = math.floor(TILE / pixels)
    return tuple(
        Box(box.x, box.y + top, box.width, min(step, box.height - top)) for top in range(0, math.ceil(box.height), step)
    )


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height from the header of a PNG, JPEG or WebP file; None where it is none of these."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data[:2] == b"\xff\xd8":
        return _size_of_jpeg(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _size_of_webp(data)
    return None


def _size_of_jpeg(data: bytes) -> tuple[int, int] | None:
    """From the frame header, the first marker of C0-CF that is no table (ITU-T T.81, B.1.1.3 and B.2.2)."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def _size_of_webp(data: bytes) -> tuple[int, int] | None:
    """From the first chunk: extended, lossless or lossy (RFC 9649, 2.5-2.7)."""
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None
