"""What one picture can hold, and reading its size, without a browser."""

import io

import pytest
from PIL import Image

from browser_service.errors import ContentTooLarge, InvalidRequest
from browser_service.tab.picture import LARGEST, TALLEST, TILE, Box, Format, Shot, plan, size_of


@pytest.mark.parametrize("form", ["png", "jpeg", "webp"])
@pytest.mark.parametrize("lossless", [False, True])
def test_size_comes_from_the_header(form: Format, lossless: bool) -> None:
    """Width and height are read from the first bytes of each format, lossy, lossless and with transparency."""
    for mode in ("RGB", "RGBA") if form != "jpeg" else ("RGB",):
        file = io.BytesIO()
        Image.new(mode, (317, 41), (1, 2, 3, 4)[: len(mode)]).save(file, form, lossless=lossless)
        assert size_of(file.getvalue()) == (317, 41)


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF1234WEBP", b"GIF89a" * 9])
def test_what_is_no_picture_has_no_size(data: bytes) -> None:
    """Nothing, and cut-off files, are told from pictures."""
    assert size_of(data) is None


def test_a_progressive_jpeg_has_a_size() -> None:
    """Tables before the frame header are skipped."""
    file = io.BytesIO()
    Image.effect_noise((70, 90), 50).convert("RGB").save(file, "jpeg", progressive=True, comment=b"x" * 500)
    assert size_of(file.getvalue()) == (70, 90)


def test_max_width_scales_down_by_device_pixels() -> None:
    """The scale is on top of the pixel ratio, so that the picture is exactly so wide."""
    made = plan(Box(0, 0, 1000, 500), 2, Shot(max_width=500))
    assert made.scale == 0.25
    assert made.parts == (Box(0, 0, 1000, 500),)


def test_scaling_never_enlarges() -> None:
    """A max_width over the picture's own width changes nothing."""
    assert plan(Box(0, 0, 100, 50), 1, Shot(max_width=5000, max_side=5000)).scale == 1


def test_max_side_counts_the_longer_side() -> None:
    """max_side limits height and width alike, and the smaller of two wishes holds."""
    assert plan(Box(0, 0, 100, 400), 1, Shot(max_side=200)).scale == 0.5
    assert plan(Box(0, 0, 100, 400), 1, Shot(max_side=200, max_width=10)).scale == 0.1


def test_a_tall_page_is_cut_with_a_warning() -> None:
    """Over 65 000 pixels in height the picture ends, and says so."""
    made = plan(Box(0, 0, 100, 70_000), 1, Shot(full_page=True))
    assert made.parts[0].height == TALLEST
    assert "cut" in made.warnings[0]


def test_a_page_of_65_000_pixels_is_whole() -> None:
    """The limit itself is not cut."""
    assert plan(Box(0, 0, 1000, TALLEST), 1, Shot(full_page=True)).warnings == ()


def test_scaling_comes_before_cutting() -> None:
    """What fits once it is scaled down is not cut."""
    assert plan(Box(0, 0, 1000, 100_000), 1, Shot(full_page=True, max_width=500)).warnings == ()


@pytest.mark.parametrize(("form", "height"), [("webp", 16_384), ("jpeg", 65_536)])
def test_formats_end_where_chromium_fails(form: Format, height: int) -> None:
    """A side longer than the format can have makes a PNG, with a warning."""
    made = plan(Box(0, 0, 100, height), 1, Shot(format=form, full_page=True))
    assert made.format == "png" if form == "webp" else made.parts[0].height == TALLEST
    assert made.warnings


def test_the_longest_webp_stays_webp() -> None:
    """16 383 pixels are still a WebP."""
    assert plan(Box(0, 0, 100, 16_383), 1, Shot(format="webp")).format == "webp"


def test_too_many_megapixels_name_what_to_change() -> None:
    """Over 120 megapixels the call fails before anything is captured."""
    with pytest.raises(ContentTooLarge) as caught:
        plan(Box(0, 0, 2000, LARGEST / 2000 + 1), 1, Shot(full_page=True))
    assert "max_width" in (caught.value.hint or "")


def test_tiles_cover_the_page_without_gaps() -> None:
    """Each tile begins where the one before ends, and none is taller than a picture may be."""
    made = plan(Box(0, 0, 2000, 70_001), 2, Shot(full_page=True, tiles=True, format="webp"))
    assert made.format == "webp"
    assert all(part.height * 2 <= TILE for part in made.parts)
    assert all(next_.y == part.y + part.height for part, next_ in zip(made.parts, made.parts[1:], strict=False))
    assert sum(part.height for part in made.parts) == 70_001


def test_short_pages_are_one_picture_also_as_tiles() -> None:
    """Tiles are made only where one picture is not enough."""
    assert len(plan(Box(0, 0, 800, 5000), 1, Shot(full_page=True, tiles=True)).parts) == 1


def test_a_box_is_rounded_outwards() -> None:
    """Every pixel that the element touches belongs to its picture; noise of floating point does not add one."""
    assert Box(1.5, 2.2, 3, 3).whole() == Box(1, 2, 4, 4)
    assert Box(10.0000001, 0, 99.9999998, 1).whole() == Box(10, 0, 100, 1)


def test_a_clip_outside_of_the_page_is_refused() -> None:
    """A rectangle that shows nothing is the caller's mistake; one that overlaps is trimmed."""
    page = Box(0, 0, 100, 100)
    assert Box(50, 50, 100, 100).cut_to(page) == Box(50, 50, 50, 50)
    with pytest.raises(InvalidRequest, match="100 by 100"):
        Box(100, 0, 10, 10).cut_to(page)
