"""The file of selectors: read again when it changes, and never a danger."""

import os
from pathlib import Path

import pytest

from search.engines import ENGINES
from search.selectors import PACKAGED, SelectorFile


def _write(path: Path, text: str, moment: int) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(moment, moment))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that changes one thing."""
    path = tmp_path / "own.toml"
    _write(path, '[bing]\ntitle = ["h9 a"]\n', 1)
    return path


def test_the_packaged_file_serves_every_engine() -> None:
    """It is sound."""
    file = SelectorFile()
    assert file.fault is None
    assert all(file.current()[engine.name].cards for engine in ENGINES)


def test_a_file_of_ones_own_changes_what_it_names(path: Path) -> None:
    """All else stays as packaged."""
    bing, packaged = (SelectorFile(place).current()["bing"] for place in (path, None))
    assert bing.title == ("h9 a",)
    assert bing.cards == packaged.cards


def test_a_change_counts_with_the_next_search(path: Path) -> None:
    """No restart."""
    file = SelectorFile(path)
    _write(path, '[bing]\ntitle = ["h8 a"]\n', 2)
    assert file.current()["bing"].title == ("h8 a",)


def test_an_unchanged_file_is_not_read_again(path: Path) -> None:
    """Time and size are looked at, no more."""
    file = SelectorFile(path)
    _write(path, '[bing]\ntitle = ["h8 a"]\n', 1)
    assert file.current()["bing"].title == ("h9 a",)


@pytest.mark.parametrize(
    "broken",
    [
        "[bing",
        "bing = 3",
        "[bing]\ntitle = 'h2 a'",
        "[bing]\ntitle = [3]",
        "[bing]\ntitle = ['']",
        "[bing]\ntitle = ['h2 >']",
        "[bing]\ntitel = ['h2 a']",
        "a = " + "[" * 5000,
    ],
)
def test_a_broken_edit_keeps_the_last_good_one(path: Path, broken: str, caplog: pytest.LogCaptureFixture) -> None:
    """It is reported once, until it is mended."""
    file = SelectorFile(path)
    _write(path, broken, 2)
    assert [file.current()["bing"].title for _ in range(2)] == [("h9 a",)] * 2
    assert str(path) in str(file.fault)
    assert len(caplog.records) == 1
    _write(path, '[bing]\ntitle = ["h7 a"]\n', 3)
    assert file.current()["bing"].title == ("h7 a",)
    assert file.fault is None


def test_bytes_that_are_no_text_are_a_fault_too(path: Path) -> None:
    """As is a file that is gone."""
    file = SelectorFile(path)
    path.write_bytes(b"\xff\xfe")
    assert file.current()["bing"].title == ("h9 a",)
    path.unlink()
    assert file.current()["bing"].title == ("h9 a",)
    assert file.fault


def test_a_broken_file_at_the_start_leaves_the_packaged_one(tmp_path: Path) -> None:
    """The service starts."""
    file = SelectorFile(tmp_path / "missing.toml")
    assert file.current() == SelectorFile().current()
    assert file.fault
    assert "faulty" in repr(file)


def test_the_file_lies_in_the_package() -> None:
    """So it is installed with it."""
    assert PACKAGED.parent.name == "search"
    assert PACKAGED.is_file()
