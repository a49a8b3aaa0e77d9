"""What the service keeps between starts: one SQLite file, used by several processes at a time.

A call opens the file, does its work in one transaction in a thread, and closes it: nothing is held between calls, so a
file that another process replaces, restores or deletes is seen at the next one. Nothing is created before the first
write. The write-ahead log keeps readers and a writer out of each other's way, and survives a kill at any moment.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from browser_service.errors import TabwrightError

_log = logging.getLogger(__name__)

FILE: Final = "tabwright.db"
BUSY_S: Final = 5.0
"""How long a writer waits for another one."""

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
    """,
)
"""Each brings the file from one version of its layout to the next. To add one: append it, and change none of these."""

T = TypeVar("T")
U = TypeVar("U")


class StorageFailed(TabwrightError):
    """The file of saved data cannot be read or written."""

    title = "Storage failed"


class Store:
    """`await store.write(work)` and `await store.read(work)`; `work` gets the connection, in another thread.

    `trouble` says why the last reading failed; it is empty where it did not.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE
        self.trouble = ""

    async def read(self, work: Callable[[sqlite3.Connection], T], otherwise: U) -> T | U:
        """What `work` gives; `otherwise` where there is no file yet, or, with a warning in the log, a damaged one."""
        return await asyncio.to_thread(self._read, work, otherwise)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` gives, all of it kept or, where it raises, nothing. Raises StorageFailed."""
        return await asyncio.to_thread(self._write, work)

    def _read(self, work: Callable[[sqlite3.Connection], T], otherwise: U) -> T | U:
        try:
            if not self.path.exists():
                return otherwise
            with self._connected(writable=False) as connection:
                result = work(connection)
        except (sqlite3.Error, OSError, StorageFailed) as fault:
            self._complain(f"{self.path} cannot be read ({_reason(fault)}); what was saved in it does not count.")
            return otherwise
        self.trouble = ""
        return result

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._create()
            with self._connected(writable=True) as connection:
                connection.execute("PRAGMA secure_delete = ON")  # what is replaced may have been a secret
                connection.execute("BEGIN IMMEDIATE")
                self._migrate(connection)
                result = work(connection)
                connection.execute("COMMIT")
                return result
        except (sqlite3.Error, OSError) as fault:
            raise StorageFailed(f"{self.path} cannot be written: {_reason(fault)}.", hint=_hint(fault)) from fault

    def _create(self) -> None:
        """Make the file whole and only then give it its name: no other process sees it half made, or readable."""
        if self.path.exists():
            with contextlib.suppress(OSError):  # a copy that was put back may be readable to others
                self.path.chmod(0o600)
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_name(f".{FILE}.{secrets.token_hex(8)}")
        draft.touch(mode=0o600)
        try:
            with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                self._migrate(connection)
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(draft, self.path)
        finally:
            draft.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _connected(self, *, writable: bool) -> Iterator[sqlite3.Connection]:
        mode = "rw" if writable else "ro"
        if not writable and not _has_log(self.path) and not os.access(self.path.parent, os.W_OK):
            mode = "ro&immutable=1"  # without it even a reader makes files beside this one
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None)
        with contextlib.closing(connection):
            self._check(connection)
            yield connection

    def _check(self, connection: sqlite3.Connection) -> None:
        if _version(connection) > len(MIGRATIONS):
            raise StorageFailed(
                f"{self.path} was written by a newer version of this program.",
                hint="Install that version, or move the file away to start with an empty one.",
            )

    def _migrate(self, connection: sqlite3.Connection) -> None:
        version = _version(connection)
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")

    def _complain(self, text: str) -> None:
        """Once for each new trouble, not at every call."""
        if text != self.trouble:
            self.trouble = text
            _log.warning("%s", text)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _has_log(path: Path) -> bool:
    return path.with_name(path.name + "-wal").exists()


def _reason(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror
    return str(fault)


def _hint(fault: Exception) -> str:
    if isinstance(fault, sqlite3.OperationalError) and "locked" in str(fault):
        return "Another process is writing for a long time; try again."
    if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.OperationalError):
        return "The file is damaged: restore it from a copy, or move it away to start with an empty one."
    return "See that the folder exists, is writable and not full, or choose another one with TABWRIGHT_DATA_DIR."
