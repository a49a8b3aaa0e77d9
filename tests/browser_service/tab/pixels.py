"""Judging pictures by their pixels, and pages whose pixels are known."""

import io
from typing import Any

from PIL import Image, ImageChops

from browser_service.tab.capture import Picture

RED, GREEN, BLUE, WHITE, BLACK = (255, 0, 0), (0, 128, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)


def pixels(picture: Picture) -> Image.Image:
    """The picture, decoded; its real size is the one that was told."""
    image = Image.open(io.BytesIO(picture.data))
    assert image.size == (picture.width, picture.height)
    assert Image.MIME[image.format or ""] == picture.mime_type
    return image.convert("RGB")


def colour(picture: Picture | Image.Image, x: int, y: int) -> tuple[int, ...]:
    """One pixel; negative places count from the end."""
    image = pixels(picture) if isinstance(picture, Picture) else picture
    found = image.getpixel((x % image.width, y % image.height))
    assert isinstance(found, tuple)
    return found


def differing(one: bytes, other: bytes) -> int:
    """The largest difference of any pixel."""
    pair = [Image.open(io.BytesIO(each)).convert("RGB") for each in (one, other)]
    assert pair[0].size == pair[1].size
    extrema: Any = ImageChops.difference(*pair).getextrema()
    return int(max(high for _, high in extrema))


def block(css: str, attributes: str = "") -> str:
    """A coloured box."""
    return f'<div style="{css}" {attributes}></div>'


def stripes(height: int) -> str:
    """A page whose every 100 pixels have a colour of their own."""
    rows = (f'<div style="height:100px;background:rgb({row})"></div>' for row in map(stripe, range(height // 100)))
    return "<style>body{margin:0}</style>" + "".join(rows)


def stripe(row: int) -> str:
    """The colour of one row, as CSS writes it."""
    return f"{row * 37 % 256},{row // 256 * 64},{row * 91 % 256}"


def wrong_stripes(picture: Picture, ratio: float = 1) -> list[int]:
    """The rows that are not as they should be."""
    image = pixels(picture)
    rows = range(int(image.height / ratio) // 100)
    return [r for r in rows if ",".join(map(str, colour(image, -9, int((r * 100 + 50) * ratio)))) != stripe(r)]
