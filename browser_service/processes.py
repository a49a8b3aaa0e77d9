"""The operating system's side of browsers: their temporary folder, their process trees, and what was left behind."""

import contextlib
import fcntl
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import psutil

_log = logging.getLogger(__name__)

LIMIT_S = 3.0

_PREFIX = "tabwright-"
_NAME = re.compile(_PREFIX + "[a-z0-9_]{8}")  # as tempfile.mkdtemp makes them
_LOCK = "lock"
_SOCKET = "/tabwright-01234567/light-1000/org.chromium.Chromium.abcdef/SingletonSocket"
_SOCKET_LIMIT = 107 if sys.platform == "linux" else 103  # bytes of a socket's path: unix(7), on macOS unix(4)
_SHORT = Path("/tmp").resolve()  # noqa: S108  what is made there is made by mkdtemp
_PROFILE = "--user-data-dir="
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError, PermissionError)


class RunFolder:
    """A private temporary folder that lives as long as this process, locked while it does.

    Every browser gets a folder below it as its TMPDIR, so that whatever a browser leaves lies here and its processes
    can be told by their environment. Entering sweeps what earlier runs left, after `kill -9` too: a folder whose lock
    nobody holds is removed with all processes that use it.
    """

    def __init__(self) -> None:
        self.path = Path()
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        sweep()
        while self._lock is None:  # another service's sweep may take a folder that is not locked yet
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_base()))
            self._lock = _lock(self.path, new=True)
        self._lock.write(str(os.getpid()))
        self._lock.flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        reap(self.path)
        _remove_run(self.path)
        if self._lock is not None:
            self._lock.close()


def sweep() -> None:
    """Remove the folders, and end the processes, of services that are no longer running."""
    for folder in _runs():
        with contextlib.suppress(OSError):
            lock = _lock(folder, new=False)
            if lock is None:
                continue
            with lock:
                ended = reap(folder)
                _remove_run(folder)
            _log.info("removed what an earlier run left: %s, %d processes", folder, ended)


def reap(folder: Path) -> int:
    """Kill every process whose temporary folder or profile lies in `folder`, with its descendants; gives their number.

    A service that runs, though it was started from within a browser's environment, is left alone.
    """
    deadline = time.monotonic() + LIMIT_S
    ended: set[int] = set()
    while users := _users(folder):  # again: what is being killed may start processes
        kill(users, deadline - time.monotonic())
        ended.update(user.pid for user in users)
        if time.monotonic() > deadline:
            break
    for child in psutil.Process().children():
        if _session(child.pid) != child.pid:  # a leader of a session may be a program that was started here
            _bury(child)
    return len(ended)


def tree(*pids: int | None) -> list[psutil.Process]:
    """The processes with these ids, all that descend from them, and the members of sessions that they led.

    Chromium leads a session of its own; its members can be told by it when their parents are gone. An id that has been
    given to a process which is not a browser's (TMPDIR tells) is passed over.
    """
    everyone = list(psutil.process_iter())
    alive = {process.pid: process for process in everyone}
    roots = set()
    for pid in pids:
        if pid is None or (pid in alive and not _is_browsers(alive[pid])):
            continue
        # The system gives no new process an id under which a session still exists.
        roots |= {process.pid for process in everyone if process.pid == pid or _session(process.pid) == pid}
    return _with_descendants(everyone, roots, spared={os.getpid()})


def kill(processes: Iterable[psutil.Process], limit_s: float = LIMIT_S) -> int:
    """SIGKILL these processes, stopped ones too; wait until they are gone, at most `limit_s`; give their number."""
    killed = []
    for process in processes:
        with contextlib.suppress(*_GONE):
            process.kill()
            killed.append(process)
    deadline = time.monotonic() + limit_s
    pause_s = 0.001
    while time.monotonic() < deadline and any(_runs_still(process) for process in killed):
        time.sleep(pause_s)  # there is no event for the end of a process that is not a child
        pause_s = min(2 * pause_s, 0.05)
    for process in killed:
        _bury(process)
    return len(killed)


def remove(folder: Path) -> None:
    """Delete a folder and all in it; what cannot be deleted stays for the next sweep."""
    shutil.rmtree(folder, ignore_errors=True)


def _remove_run(folder: Path) -> None:
    """Delete a run folder, its lock last: as long as anything is left in it, the next sweep will find it."""
    for each in folder.iterdir():
        if each.name == _LOCK:
            continue
        if each.is_dir() and not each.is_symlink():
            remove(each)
        else:
            each.unlink(missing_ok=True)
    if [each.name for each in folder.iterdir()] == [_LOCK]:
        remove(folder)


def _base() -> Path:
    """Where run folders lie: the system's temporary folder. Where that is a browser's, the one around its service's.

    Chromium makes a socket in its folder and dies when that has too long a path; then /tmp is used.
    """
    base = Path(tempfile.gettempdir()).resolve()
    for outer in (base, *base.parents):
        if _NAME.fullmatch(outer.name) and (outer / _LOCK).is_file():
            base = outer.parent
    too_long = len(os.fsencode(base)) + len(_SOCKET) > _SOCKET_LIMIT
    return _SHORT if too_long and os.access(_SHORT, os.W_OK | os.X_OK) else base


def _runs() -> Iterator[Path]:
    """The run folders of this user, running or not. Links, and folders of others that are named alike, are not."""
    for folder in _base().glob(_PREFIX + "*"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            if _NAME.fullmatch(folder.name) and stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid():
                yield folder


def _lock(folder: Path, *, new: bool) -> IO[str] | None:
    """The lock of a run folder, taken. None when another holds it, or has deleted it. OSError where there is none."""
    flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if new else 0)
    lock = os.fdopen(os.open(folder / _LOCK, flags, 0o600), "r+", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    if not os.fstat(lock.fileno()).st_nlink:
        lock.close()
        return None
    return lock


def _services() -> set[int]:
    """The processes of services that run: this one, and those that wrote their id into their locks."""
    found = {os.getpid()}
    for folder in _runs():
        with contextlib.suppress(OSError, ValueError, *_GONE):
            pid = int((folder / _LOCK).read_text(encoding="ascii"))
            written = (folder / _LOCK).stat().st_mtime
            if psutil.Process(pid).create_time() <= written + 1:  # else the id has been given to another process
                found.add(pid)
    return found


def _users(folder: Path) -> list[psutil.Process]:
    everyone = list(psutil.process_iter())
    marked = {process.pid for process in everyone if _uses(process, folder)}
    if not marked:
        return []
    spared = _services()
    return _with_descendants(everyone, marked - spared, spared)


def _uses(process: psutil.Process, folder: Path) -> bool:
    try:
        if process.uids().real != os.getuid():
            return False
        if _lies_in(process.environ().get("TMPDIR", ""), folder):
            return True
        # Chromium's helpers overwrite their environment but keep this argument.
        profiles = (part.removeprefix(_PROFILE) for part in process.cmdline() if part.startswith(_PROFILE))
        return any(_lies_in(profile, folder) for profile in profiles)
    except _GONE:
        return False


def _lies_in(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(f"{folder}{os.sep}")


def _is_browsers(process: psutil.Process) -> bool:
    """Whether a process has a browser's folder as its TMPDIR; of a dead one it is taken as given, there is no harm."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        return any(_NAME.fullmatch(part) for part in Path(process.environ().get("TMPDIR", "")).parts)
    except _GONE:
        return False


def _with_descendants(everyone: Collection[psutil.Process], pids: set[int], spared: set[int]) -> list[psutil.Process]:
    """The processes with these ids and their descendants, without those that are spared and what they started."""
    children: dict[int, list[int]] = {}
    for process in everyone:
        with contextlib.suppress(*_GONE):
            children.setdefault(process.ppid(), []).append(process.pid)
    found: set[int] = set()
    ahead = list(pids)
    while ahead:
        pid = ahead.pop()
        if pid not in found and pid not in spared:
            found.add(pid)
            ahead += children.get(pid, [])
    return [process for process in everyone if process.pid in found]


def _runs_still(process: psutil.Process) -> bool:
    """Whether it has not ended. One whose parent has not asked for its exit status yet has."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except _GONE:
        return False


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _bury(process: psutil.Process) -> None:
    """Wait for a dead process that this one inherited when its parents died, as the first process of a container.

    Those that asyncio started are asyncio's to wait for; they belong to our own session.
    """
    with contextlib.suppress(*_GONE, ChildProcessError):
        inherited = process.ppid() == os.getpid() and _session(process.pid) not in {os.getsid(0), None}
        if inherited and process.status() == psutil.STATUS_ZOMBIE:
            os.waitpid(process.pid, os.WNOHANG)
