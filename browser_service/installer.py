"""Running the package managers that bring a browser, bounded in time."""

import contextlib
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Final

Progress = Callable[[str], None]

SILENCE_LIMIT_S: Final = 120.0
TOTAL_LIMIT_S: Final = 1800.0
END_LIMIT_S: Final = 10.0
_KEPT_LINES: Final = 15
_ENVIRONMENT: Final = {
    "DEBIAN_FRONTEND": "noninteractive",
    "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "20000",  # ms, for each of its five tries
}
# Liberation has the widths of Arial, Times and Courier; Noto has Chinese, Japanese, Korean and emoji.
_FONTS: Final = ("fonts-liberation", "fonts-noto-cjk", "fonts-noto-color-emoji")
_PACKAGES: Final = ("chromium", "chromium-sandbox", "libatomic1", *_FONTS)  # Playwright's driver needs the library
_LIGHT_PACKAGE: Final = "chromium-headless-shell"


class CommandFailed(Exception):
    """A command ended with a failure, or had to be ended."""


def install_packages(
    lacking: Callable[[], Sequence[str]],
    progress: Progress,
    *,
    silence_limit_s: float = SILENCE_LIMIT_S,
    total_limit_s: float = TOTAL_LIMIT_S,
) -> list[str]:
    """Install browsers step by step while something is `lacking`; gives what failed, in words.

    Debian's packages where this process is root on Debian, since they bring libraries and fonts along; elsewhere, and
    where that fails, Playwright's downloads. `progress` gets every line. A command that is silent for
    `silence_limit_s`, or takes longer than `total_limit_s`, is ended with all its children.
    """
    failures = []
    for commands in _steps():
        if not lacking():
            break
        try:
            for command in commands:
                progress(f"$ {' '.join(command)}")
                run(command, progress, silence_limit_s=silence_limit_s, total_limit_s=total_limit_s)
        except CommandFailed as fault:
            progress(str(fault))
            failures.append(str(fault))
    return failures


def _steps() -> list[list[list[str]]]:
    """What to try, in order; each step is a list of commands."""
    steps = []
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and _is_debian():
        apt = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0"]  # waits for another apt-get
        get = [*apt, "install", "-y", "--no-install-recommends"]
        steps.append([[*apt, "update"], [*get, *_PACKAGES]])
        steps.append([[*get, _LIGHT_PACKAGE]])
    libraries = ["--with-deps"] if root and sys.platform == "linux" else []
    steps.append([[sys.executable, "-m", "playwright", "install", *libraries, "chromium"]])
    return steps


def _is_debian() -> bool:
    """Debian itself: Ubuntu's package of the same name only installs a snap."""
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


def run(command: Sequence[str], progress: Progress, *, silence_limit_s: float, total_limit_s: float) -> None:
    """Run one command and pass its lines on; raises CommandFailed with the last of them."""
    name = f"`{' '.join(command)}`"
    lines: queue.Queue[str | None] = queue.Queue()
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # a group of its own, to be ended as a whole
            env={**os.environ, **_ENVIRONMENT},
        )
    except OSError as fault:
        raise CommandFailed(f"{name} cannot be started: {fault}.") from fault
    reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
    reader.start()
    end = time.monotonic() + total_limit_s
    try:
        for line in _received(lines, silence_limit_s, end):
            last.append(line)
            progress(line)
        status = process.wait(timeout=silence_limit_s)
    except (TimeoutError, subprocess.TimeoutExpired):
        raise CommandFailed(
            f"{name} made no progress for {silence_limit_s:g} s, or took over {total_limit_s:g} s."
        ) from None
    finally:
        _end(process)
        reader.join(timeout=5)
    if status:
        raise CommandFailed(f"{name} failed with status {status}: {' / '.join(last) or 'no output'}")


def _received(lines: "queue.Queue[str | None]", silence_limit_s: float, end: float) -> Iterator[str]:
    try:
        while (line := lines.get(timeout=silence_limit_s)) is not None:
            if time.monotonic() > end:
                raise TimeoutError
            yield line
    except queue.Empty:
        raise TimeoutError from None


def _read(stream: IO[str] | None, lines: "queue.Queue[str | None]") -> None:
    if stream is not None:
        with stream:
            for line in stream:
                if text := line.strip():
                    lines.put(text)
    lines.put(None)


def _end(process: subprocess.Popen[str]) -> None:
    """End the command's whole group, politely first: apt-get must not be cut off while it unpacks."""
    if sys.platform == "win32":
        process.kill()
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, sign)
            process.wait(timeout=END_LIMIT_S)
