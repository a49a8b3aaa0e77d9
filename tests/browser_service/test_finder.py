"""Which browser is chosen, what is said when there is none, and how package managers are kept in bounds."""

import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from playwright.async_api import async_playwright

from browser_service import finder, installer
from browser_service.finder import BrowserMissing

Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes executable scripts; by default they answer as a Chromium."""

    def make(path: str, script: str = "echo Chromium 1.2.3.4") -> Path:
        made = tmp_path / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        made.chmod(0o700)
        return made

    return make


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without browsers; gives the folder that is all of its PATH."""
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloads"))
    monkeypatch.setattr(finder, "_INSTALLED", {"full": (), "light": ()})
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def download(program: Program, revision: int, *, whole: bool = True) -> Path:
    """A browser as Playwright downloads it."""
    executable = program(f"downloads/chromium-{revision}/chrome-linux64/chrome")
    if whole:
        (executable.parents[1] / "INSTALLATION_COMPLETE").touch()
    return executable


def test_a_named_browser_is_used(program: Program) -> None:
    """The path from the settings wins over all that is installed."""
    named = program("mine/chrome")
    assert finder.find("full", named) == finder.Found(named, "full", "named", "1.2.3.4")


@pytest.mark.parametrize("script", ["echo hello", "exit 127", "echo Chromium; exit 1"])
def test_a_named_program_must_be_a_chromium(program: Program, script: str) -> None:
    """A named path that is no Chromium is refused; nothing else is taken in its place."""
    named = program("mine/thing", script)
    with pytest.raises(BrowserMissing, match=str(named)):
        finder.find("full", named)


def test_a_named_path_must_exist(tmp_path: Path) -> None:
    """A named path where nothing lies is refused by name."""
    with pytest.raises(BrowserMissing, match="nothing-here is not an executable file"):
        finder.find("light", tmp_path / "nothing-here")


def test_a_silent_program_is_not_waited_for(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that never answers is given up."""
    monkeypatch.setattr(finder, "VERSION_LIMIT_S", 0.2)
    with pytest.raises(BrowserMissing, match="timed out"):
        finder.find("full", program("mine/slow", "exec /bin/sleep 60"))


def test_downloads_come_first(bare: Path, program: Program) -> None:
    """Playwright's newest whole download is preferred to older ones, to half ones and to what is in PATH."""
    program("bin/chromium")
    download(program, 900)
    newest = download(program, 1000)
    download(program, 1100, whole=False)
    found = finder.find("full")
    assert (found.executable, found.source) == (newest, "playwright")


def test_snaps_come_last(bare: Path, program: Program) -> None:
    """A script that starts a snap is used only where there is nothing else."""
    snap = program("bin/chromium", "echo Chromium 9 # exec /snap/bin/chromium")
    assert finder.find("full").executable == snap
    chrome = program("bin/google-chrome")
    assert finder.find("full").executable == chrome


def test_broken_browsers_are_passed_over(bare: Path, program: Program) -> None:
    """A browser that does not start is no reason to overlook one that does."""
    program("bin/chromium", "exit 127")
    works = program("bin/google-chrome")
    assert finder.find("full").executable == works


def test_start_scripts_are_seen_through(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution's start script stands for the program behind it, which can be killed by its process id."""
    script, behind = program("bin/chromium-headless-shell"), program("lib/chromium-headless-shell")
    monkeypatch.setattr(finder, "_BEHIND", {str(script): str(behind)})
    assert finder.find("light", script).executable == behind


def test_nothing_found_says_where_it_looked(bare: Path, program: Program) -> None:
    """The failure names the places, what was wrong with each candidate, and what to do."""
    broken = program("bin/chromium", "echo 'libnss3.so: not found' >&2; exit 127")
    with pytest.raises(BrowserMissing) as caught:
        finder.find("full")
    assert str(bare.parent / "downloads") in caught.value.detail
    assert f"{broken} does not answer as a Chromium: libnss3.so: not found" in caught.value.detail
    assert "install-browser" in (caught.value.hint or "")
    assert caught.value.code == "browser_crashed"


async def test_playwrights_folder_is_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder that is searched is the one that Playwright downloads to, by default and when it is moved."""
    for named in (None, str(tmp_path), "0"):
        monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
        if named is not None:
            monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", named)
        async with async_playwright() as playwright:
            assert Path(playwright.chromium.executable_path).is_relative_to(finder.playwright_folder())


def test_root_has_no_sandbox() -> None:
    """The reason why the sandbox will not work is given in words."""
    likely, reason = finder.sandbox_likely()
    assert reason
    if os.geteuid() == 0:
        assert not likely
        assert "as root" in reason


def test_a_failed_installation_says_why(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the package manager said last is in the failure, and all it said went to the caller."""
    monkeypatch.setattr(installer, "_steps", lambda: [[["/bin/sh", "-c", "echo no route; exit 3"]]])
    lines: list[str] = []
    with pytest.raises(BrowserMissing, match="failed with status 3: no route"):
        finder.install(lines.append)
    assert "no route" in lines


def test_installation_stops_when_nothing_is_lacking(
    bare: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later ways to install are not tried once a browser is there."""
    program("bin/chromium")
    program("bin/chromium-headless-shell")
    monkeypatch.setattr(installer, "_steps", lambda: [[["/bin/false"]]])
    finder.install(pytest.fail)


def test_a_silent_command_is_ended_with_its_children(tmp_path: Path) -> None:
    """A package manager that hangs is ended, and so is what it started."""
    pid = tmp_path / "pid"
    script = f"sleep 60 & echo $! >{pid}; echo begun; wait"
    with pytest.raises(installer.CommandFailed, match="no progress"):
        installer.run(["/bin/sh", "-c", script], lambda _: None, silence_limit_s=0.5, total_limit_s=60)
    child = int(pid.read_text(encoding="ascii"))
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_talkative_command_is_ended_too() -> None:
    """A command that never stops talking does not run for ever."""
    with pytest.raises(installer.CommandFailed, match=r"over 0\.5 s"):
        installer.run(["/usr/bin/yes"], lambda _: None, silence_limit_s=9, total_limit_s=0.5)
