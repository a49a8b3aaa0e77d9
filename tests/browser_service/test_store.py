"""The file of saved data: several processes at a time, damage, folders that cannot be written."""

import asyncio
import contextlib
import logging
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from browser_service.errors import InvalidRequest
from browser_service.store import FILE, MIGRATIONS, StorageFailed, Store
from tests.browser_service.running import short_folder

WRITER = """
import asyncio, sys
from pathlib import Path
from browser_service.store import Store

async def main():
    store = Store(Path(sys.argv[1]))
    for number in range(int(sys.argv[3])):
        row = (f"{sys.argv[2]}-{number}", "1")
        await store.write(lambda connection: connection.execute("INSERT INTO settings VALUES (?, ?)", row))
        print(number, flush=True)

asyncio.run(main())
"""


def put(connection: sqlite3.Connection, name: str = "a", value: str = "1") -> None:
    """Save one value."""
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


def names(connection: sqlite3.Connection) -> list[str]:
    """What is saved."""
    return [row[0] for row in connection.execute("SELECT name FROM settings ORDER BY name")]


def writer(folder: Path, name: str, count: int, **given: int) -> "subprocess.Popen[str]":
    """Another process that writes so many values."""
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **given)  # type: ignore[call-overload,no-any-return]


async def test_reading_makes_nothing_and_the_first_write_makes_all(tmp_path: Path) -> None:
    """The folder with its file, which only the owner may read; write-ahead logging is on."""
    store = Store(tmp_path / "deep" / "data")
    assert await store.read(names, otherwise=["none"]) == ["none"]
    assert not store.path.parent.parent.exists()
    await store.write(put)
    assert await store.read(names, otherwise=[]) == ["a"]
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    mode = await store.read(lambda connection: connection.execute("PRAGMA journal_mode").fetchone()[0], otherwise="")
    assert mode == "wal"
    assert [each.name for each in store.path.parent.glob("*.db")] == [FILE]
    assert list(store.path.parent.glob(".*")) == []


async def test_a_failed_write_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """All or nothing."""
    store = Store(tmp_path)

    def half(connection: sqlite3.Connection) -> None:
        put(connection)
        raise InvalidRequest("No.")

    with pytest.raises(InvalidRequest):
        await store.write(half)
    assert await store.read(names, otherwise=[]) == []


async def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    """Also when each of them finds no file at its start."""
    writers = [writer(tmp_path / "new", name, 40) for name in "abc"]
    for each in writers:
        _, errors = each.communicate(timeout=60)
        assert each.returncode == 0, errors
    assert len(await Store(tmp_path / "new").read(names, otherwise=[])) == 120


async def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    """At whatever moment it comes."""
    with writer(tmp_path, "a", 100_000) as process:
        assert process.stdout is not None
        written = [int(process.stdout.readline()) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
    store = Store(tmp_path)
    assert {f"a-{number}" for number in written} <= set(await store.read(names, otherwise=[]))
    await store.write(put)
    check = await store.read(
        lambda connection: connection.execute("PRAGMA integrity_check").fetchone()[0], otherwise=""
    )
    assert check == "ok"


@pytest.mark.parametrize("damage", [b"", b"this is no database" * 500, b"SQLite format 3\x00" + b"\xff" * 5000])
async def test_a_damaged_file_is_told_once_and_not_written_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    """Reading goes on without it; writing says what to do."""
    (tmp_path / FILE).write_bytes(damage)
    store = Store(tmp_path)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await store.read(names, otherwise=["default"]) == ["default"]
    assert len(caplog.records) == 1
    assert store.trouble == caplog.records[0].message
    if damage:
        with pytest.raises(StorageFailed) as fault:
            await store.write(put)
        assert str(store.path) in fault.value.detail
        assert "damaged" in (fault.value.hint or "")
        assert (tmp_path / FILE).read_bytes() == damage


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "data")
    assert await store.read(names, otherwise=["default"]) == ["default"]
    with pytest.raises(StorageFailed) as fault:
        await store.write(put)
    assert "cannot be written" in fault.value.detail
    assert "TABWRIGHT_DATA_DIR" in (fault.value.hint or "")


READER = """
import asyncio, concurrent.futures.thread, os, sys
from pathlib import Path
from browser_service.store import StorageFailed, Store
os.setuid(65534)
store = Store(Path(sys.argv[1]))
rows = asyncio.run(store.read(lambda c: c.execute("SELECT name FROM settings").fetchall(), otherwise=None))
try:
    asyncio.run(store.write(lambda c: c.execute("DELETE FROM settings")))
except StorageFailed as fault:
    print(rows, fault.detail)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who may not write")
def test_a_folder_that_is_read_only_can_be_read() -> None:
    """By a user who may not write there; writing fails in words."""
    with short_folder() as folder:
        asyncio.run(Store(folder).write(put))
        folder.chmod(0o555)
        (folder / FILE).chmod(0o444)
        command = [sys.executable, "-c", READER, str(folder)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.startswith("[('a',)] "), result.stderr
    assert "cannot be written" in result.stdout


async def test_a_file_that_others_may_read_is_closed_again(tmp_path: Path) -> None:
    """A copy that was put back has whatever mode."""
    store = Store(tmp_path)
    await store.write(put)
    store.path.chmod(0o644)
    await store.write(put)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


async def test_a_writer_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process that holds the file is named as the reason; readers are not held up."""
    monkeypatch.setattr("browser_service.store.BUSY_S", 0.05)
    store = Store(tmp_path)
    await store.write(put)
    with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await store.read(names, otherwise=[]) == ["a"]
        with pytest.raises(StorageFailed) as fault:
            await store.write(put)
    assert "Another process is writing" in (fault.value.hint or "")


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    """Its layout is not known here."""
    store = Store(tmp_path)
    await store.write(put)
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    assert await store.read(names, otherwise=["default"]) == ["default"]
    with pytest.raises(StorageFailed, match="newer version"):
        await store.write(put)


async def test_a_file_of_an_older_version_is_brought_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first write, with all that is in it."""
    store = Store(tmp_path)
    await store.write(put)
    monkeypatch.setattr("browser_service.store.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE more (name TEXT) STRICT;"))
    await store.write(lambda connection: connection.execute("INSERT INTO more VALUES ('x')"))
    assert await store.read(names, otherwise=[]) == ["a"]
