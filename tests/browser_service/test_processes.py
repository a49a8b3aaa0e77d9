"""Ending processes and removing folders, with real ones: all that is ours, and nothing else."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import psutil
import pytest

from browser_service.processes import RunFolder, kill, reap, sweep, tree
from tests.browser_service.running import short_folder

Start = Callable[..., "subprocess.Popen[str]"]

SERVICE = """
import sys
from browser_service.processes import RunFolder
with RunFolder() as run:
    print(run.path, flush=True)
    sys.stdin.read()
"""
# Starts a process in a session of its own, and goes: its child is an orphan. Prints the child's id.
ORPHAN = "import os, subprocess as s; os.setsid(); print(s.Popen(['sleep', '60'], stdout=s.DEVNULL).pid, flush=True)"


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of the test's own: what others run on this machine stays out of it."""
    with short_folder() as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        yield folder.resolve()


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program with this TMPDIR; it is ended after the test."""
    with contextlib.ExitStack() as stack:

        def begin(*command: str, tmpdir: Path | str = "/tmp", **given: Any) -> "subprocess.Popen[str]":
            environment = {**os.environ, "TMPDIR": str(tmpdir)}
            process: subprocess.Popen[str] = subprocess.Popen(
                command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **given
            )
            stack.callback(process.__exit__, None, None, None)
            stack.callback(process.kill)
            return process

        yield begin


def said(process: "subprocess.Popen[str]") -> str:
    """The next line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def sleeper(start: Start, tmpdir: Path | str, *command: str) -> "subprocess.Popen[str]":
    """A process that sleeps, with this TMPDIR."""
    return start(*(command or ("sleep", "60")), tmpdir=tmpdir)


def service(start: Start, tmpdir: Path) -> tuple["subprocess.Popen[str]", Path]:
    """Another process that holds a run folder below `tmpdir`."""
    running = start(sys.executable, "-c", SERVICE, tmpdir=tmpdir)
    return running, Path(said(running))


def runs(process: "subprocess.Popen[str]") -> bool:
    """Whether it has not ended."""
    return process.poll() is None


def test_reap_ends_what_has_its_temporary_folder_inside(base: Path, start: Start) -> None:
    """Running or stopped, in the folder or below it."""
    users = [sleeper(start, base / "full-1"), sleeper(start, base / "full-1" / "deeper")]
    users[1].send_signal(signal.SIGSTOP)
    assert reap(base / "full-1") == 2
    assert [user.wait(5) for user in users] == [-9, -9]


def test_reap_ends_helpers_that_have_lost_their_environment(base: Path, start: Start) -> None:
    """They are told by the profile they name, or by their parents."""
    profile = f"--user-data-dir={base}/full-1/profile"
    by_name = sleeper(start, "/tmp", sys.executable, "-c", "input()", profile)
    parent = sleeper(start, base / "full-1", "sh", "-c", "env -i sleep 60 & echo $!; wait")
    child = psutil.Process(int(said(parent)))
    assert reap(base / "full-1") == 3
    assert by_name.wait(5) == -9
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_reap_leaves_those_alone_that_only_look_alike(base: Path, start: Start) -> None:
    """A browser whose number begins with the same digits, and a program that merely names the folder."""
    others = [sleeper(start, base / "full-10"), sleeper(start, "/tmp", "tail", "-f", "/dev/null", f"{base}/full-1/x")]
    assert reap(base / "full-1") == 0
    assert all(map(runs, others))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_reap_leaves_other_users_alone(base: Path, start: Start) -> None:
    """Whatever their environment says."""
    other = start("sleep", "60", tmpdir=base / "full-1", user=65534)
    assert reap(base / "full-1") == 0
    assert runs(other)


def test_reap_spares_a_service_that_was_started_inside(base: Path, start: Start) -> None:
    """A service whose TMPDIR is a browser's keeps its own folder outside of it, and survives that browser."""
    with RunFolder() as run:
        browser = run.path / "full-1"
        browser.mkdir()
        inner, folder = service(start, browser)
        assert folder.parent == base
        assert reap(browser) == 0
        assert runs(inner)
    assert folder.is_dir()


def test_sweep_removes_what_a_killed_service_left(base: Path, start: Start) -> None:
    """Its folder, and the processes that use it."""
    killed, folder = service(start, base)
    (folder / "full-1").mkdir()
    (folder / "stray").write_text("")
    browser = sleeper(start, folder / "full-1")
    killed.kill()
    killed.wait()
    sweep()
    assert browser.wait(5) == -9
    assert list(base.iterdir()) == []


def test_sweep_leaves_a_running_service_alone(base: Path, start: Start) -> None:
    """Its folder and its processes stay."""
    running, folder = service(start, base)
    browser = sleeper(start, folder / "full-1")
    sweep()
    assert runs(running)
    assert runs(browser)
    assert (folder / "lock").is_file()


def test_sweep_touches_no_folder_that_is_not_certainly_ours(base: Path) -> None:
    """Without a lock, with another kind of name, a link, or with a lock that is a link."""
    target = base / "target"
    target.mkdir()
    (target / "lock").write_text("")
    (base / "tabwright-link0000").symlink_to(target)
    for name in ("tabwright-nolock00", "tabwright-data", "tabwright-linklock"):
        (base / name).mkdir()
    (base / "tabwright-data" / "lock").write_text("")
    (base / "tabwright-linklock" / "lock").symlink_to(target / "lock")
    before = sorted(base.rglob("*"))
    sweep()
    assert sorted(base.rglob("*")) == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_sweep_leaves_other_users_folders(base: Path) -> None:
    """Though root could remove them."""
    folder = base / "tabwright-ofnobody"
    folder.mkdir()
    (folder / "lock").write_text("")
    os.chown(folder, 65534, 65534)
    sweep()
    assert folder.is_dir()


def test_a_folder_that_could_not_be_emptied_is_found_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock goes last."""
    folder = base / "tabwright-stubborn"
    (folder / "full-1").mkdir(parents=True)
    (folder / "lock").write_text("")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as on a full or broken disk
        sweep()
    assert (folder / "lock").is_file()
    sweep()
    assert not folder.exists()


def test_folders_made_and_swept_at_the_same_time_are_not_lost(base: Path) -> None:
    """A folder that has been entered exists until it is left, whoever sweeps meanwhile."""
    lost = []

    def enter_often() -> None:
        for _ in range(25):
            with RunFolder() as run:
                sweep()
                lost.extend([] if (run.path / "lock").is_file() else [run.path])

    threads = [threading.Thread(target=enter_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert list(base.iterdir()) == []


def test_a_folder_swept_before_it_was_locked_is_made_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another service may start, and sweep, between the making of the folder and its lock."""
    lock = fcntl.flock

    def late(file: IO[str], operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        for folder in base.iterdir():
            shutil.rmtree(folder)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with RunFolder() as run:
        assert (run.path / "lock").is_file()


def test_a_tree_has_no_process_that_is_not_a_browsers(base: Path, start: Start) -> None:
    """An id that the system has given to another program since: it and its children are not listed."""
    shell = sleeper(start, "/tmp", "sh", "-c", "sleep 60 & echo $!; wait")
    assert said(shell)
    assert tree(shell.pid, None, 2**22 - 1) == []


def test_a_tree_has_orphans_of_a_dead_browser(base: Path, start: Start) -> None:
    """Chromium leads a session; its members are found when it is gone and their environment too."""
    leader = start(sys.executable, "-c", ORPHAN, tmpdir="/tmp")
    orphan = int(said(leader))
    leader.wait(5)
    found = tree(leader.pid)
    assert [each.pid for each in found] == [orphan]
    assert kill(found) == 1


def test_kill_leaves_the_exit_status_of_children_to_those_who_started_them(base: Path, start: Start) -> None:
    """Asyncio waits for its own children; their status must not be taken away from it."""
    child = start("sleep", "60", tmpdir=base)
    assert kill([psutil.Process(child.pid)]) == 1
    assert child.wait(5) == -9


def test_a_process_that_is_gone_is_no_error(base: Path, start: Start) -> None:
    """Between looking and killing, processes end."""
    child = start("sleep", "60", tmpdir=base)
    handle = psutil.Process(child.pid)
    child.kill()
    child.wait()
    assert kill([handle]) == 0
    assert tree(child.pid) == []


def test_a_long_temporary_folder_is_not_used(monkeypatch: pytest.MonkeyPatch, base: Path) -> None:
    """Chromium could not make its socket in it."""
    deep = base / ("deep" * 12)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with RunFolder() as run:
        assert run.path.parent == Path("/tmp").resolve()


INHERITS = f"""
import ctypes, os, subprocess, sys, psutil
from pathlib import Path
from browser_service.processes import kill, reap, tree
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become this process's children
run = lambda *command: psutil.Process(int(subprocess.check_output(command)))
member = run(sys.executable, "-c", {ORPHAN!r})
leader = run("sh", "-c", "setsid sleep 60 > /dev/null & echo $!")
own = subprocess.Popen(["true"], start_new_session=True)
while os.getsid(leader.pid) != leader.pid:
    pass
for each in (member, leader):
    each.kill()
for each in (member, leader, psutil.Process(own.pid)):
    while each.status() != psutil.STATUS_ZOMBIE:
        pass
kill(tree(leader.pid))
reap(Path("/nowhere"))
print(member.is_running(), leader.is_running(), own.wait(), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")
def test_dead_orphans_are_buried(base: Path, start: Start) -> None:
    """As process 1 of a container, where nobody else waits for them; own children are left to their owners."""
    assert said(start(sys.executable, "-c", INHERITS)) == "False False 0"
