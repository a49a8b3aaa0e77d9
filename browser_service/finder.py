"""Which Chromium to use: the one that was named, the one Playwright downloaded, or one that is installed.

`python -m browser_service.finder` installs what is lacking and shows what there is.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

import click

from browser_service import installer
from browser_service.errors import BrowserCrashed

Kind = Literal["full", "light"]
Source = Literal["named", "playwright", "installed"]

VERSION_LIMIT_S: Final = 10.0
DRIVER_LIMIT_S: Final = 30.0
NAMES: Final[dict[Kind, str]] = {"full": "Chromium", "light": "headless shell"}

# Below Playwright's folder: the executable of each operating system.
_DOWNLOADED: Final[dict[Kind, tuple[str, ...]]] = {
    "full": (
        "chromium-*/chrome-linux*/chrome",
        "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
        "chromium-*/chrome-win*/chrome.exe",
    ),
    "light": (
        "chromium_headless_shell-*/*/chrome-headless-shell",
        "chromium_headless_shell-*/*/headless_shell",
        "chromium_headless_shell-*/*/*.exe",
    ),
}
# Programs themselves, not the scripts in PATH that start them: Debian's adds arguments and extensions of its own, and
# the one of its headless shell stays in between, so that killing it leaves the browser behind.
_INSTALLED: Final[dict[Kind, tuple[str, ...]]] = {
    "full": (
        "/usr/lib/chromium/chromium",
        "/usr/lib/chromium-browser/chromium-browser",
        "/usr/lib64/chromium-browser/chromium-browser",
        "/opt/google/chrome/chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "C:/Program Files/Google/Chrome/Application/chrome.exe",
        "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
    ),
    "light": (
        "/usr/lib/chromium/chromium-headless-shell",
        "/usr/lib64/chromium-browser/headless_shell",
        "/opt/google/chrome-headless-shell/chrome-headless-shell",
    ),
}
_IN_PATH: Final[dict[Kind, tuple[str, ...]]] = {
    "full": ("chromium", "google-chrome", "google-chrome-stable", "chrome", "chromium-browser"),
    "light": ("chromium-headless-shell", "chrome-headless-shell", "headless_shell"),
}
_BEHIND: Final = {
    "/usr/bin/chromium": "/usr/lib/chromium/chromium",
    "/usr/bin/chromium-headless-shell": "/usr/lib/chromium/chromium-headless-shell",
    "/opt/google/chrome/google-chrome": "/opt/google/chrome/chrome",
}


class BrowserMissing(BrowserCrashed):
    """No browser of the wanted kind is installed, or the one that was named cannot be used."""

    title = "No browser found"
    retryable = False


@dataclass(frozen=True)
class Found:
    """A browser that can be started: it has told its version."""

    executable: Path
    kind: Kind
    source: Source
    version: str


def find(kind: Kind, explicit: Path | None = None) -> Found:
    """The browser to use; `explicit` (a setting) is used or refused, never replaced by another.

    Starts each candidate once with `--version`, at most 10 s each. Raises BrowserMissing.
    """
    if explicit is not None:
        executable = behind(explicit)
        return Found(executable, kind, "named", _checked(executable))
    tried = []
    for executable, source in _candidates(kind):
        try:
            return Found(executable, kind, source, _checked(executable))
        except BrowserMissing as fault:
            tried.append(fault.detail)
    looked = f"Playwright's folder {playwright_folder()}, the usual places and PATH ({', '.join(_IN_PATH[kind])})"
    raise BrowserMissing(
        " ".join((f"No {NAMES[kind]} was found in {looked}.", *tried)),
        hint=how_to_install(kind),
    )


def install(progress: installer.Progress) -> None:
    """Install what is lacking of a Chromium, a headless shell, and what Playwright's driver needs.

    `progress` gets each line of the package managers' output. Raises BrowserMissing when no Chromium can be started in
    the end; without a headless shell the full one does all work.
    """
    failures = installer.install_packages(_lacking, progress)
    lacking = _lacking()
    if "full" in lacking:
        raise BrowserMissing(" ".join(("No browser could be installed.", *failures)), hint=how_to_install("full"))
    if "driver" in lacking:
        raise BrowserMissing(
            f"Playwright's driver does not start: {driver_fault()}",
            hint="On Debian and Ubuntu: apt-get install libatomic1.",
        )
    if lacking:
        progress(f"There is no headless shell; Chromium does its work. {how_to_install('light')}")


def driver_fault() -> str | None:
    """Why Playwright's driver (a Node.js of its own) does not start; None where it does."""
    try:
        command = [sys.executable, "-m", "playwright", "--version"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=DRIVER_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        return str(fault)
    return _last_line(said) if said.returncode else None


def how_to_install(kind: Kind) -> str:
    """What a person types to get one."""
    package = {"full": "chromium", "light": "chromium-headless-shell"}[kind]
    setting = {"full": "TABWRIGHT_POOL__BROWSER_PATH", "light": "TABWRIGHT_POOL__LIGHT_PATH"}[kind]
    return f"Run `tabwright install-browser`, or on Debian `apt-get install {package}`, or set {setting} to one."


def behind(executable: Path) -> Path:
    """The program that a known starting script starts; any other path as it is, made absolute."""
    resolved = Path(os.path.realpath(executable))
    program = Path(_BEHIND.get(str(resolved), resolved))
    return program if program.exists() else resolved


def playwright_folder() -> Path:
    """Where Playwright keeps downloaded browsers (`registryDirectory` in its driver), found without starting it."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if named == "0":
        spec = find_spec("playwright")
        origin = spec.origin if spec and spec.origin else "."
        return Path(origin).parent / "driver" / "package" / ".local-browsers"
    if named:
        return Path(named).absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ms-playwright"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "ms-playwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ms-playwright"


def sandbox_likely(executable: Path | None = None) -> tuple[bool, str]:
    """Whether Chromium's sandbox should work for this process, and why; only a start shows whether it does."""
    if sys.platform != "linux":
        return True, "it needs no preparation on this system"
    if os.geteuid() == 0:
        return False, "Chromium refuses its sandbox as root; run the service as another user"
    if _may_unshare():
        return True, "unprivileged user namespaces are available"
    if executable is not None and _has_setuid_helper(executable.parent):
        return True, "Chromium's setuid helper is installed"
    return False, _why_no_namespaces()


def _lacking() -> list[str]:
    kinds: tuple[Kind, ...] = ("full", "light")
    return [*(kind for kind in kinds if not _is_found(kind)), *(["driver"] if driver_fault() else [])]


def _is_found(kind: Kind) -> bool:
    try:
        find(kind)
    except BrowserMissing:
        return False
    return True


def _candidates(kind: Kind) -> Iterator[tuple[Path, Source]]:
    for pattern in _DOWNLOADED[kind]:
        for executable in sorted(playwright_folder().glob(pattern), key=_revision, reverse=True):
            if (playwright_folder() / _download(executable).name / "INSTALLATION_COMPLETE").exists():
                yield executable, "playwright"
    for place in _INSTALLED[kind]:
        if Path(place).exists():
            yield Path(place), "installed"
    in_path = (shutil.which(name) for name in _IN_PATH[kind])
    # A snap's Chromium sees neither our temporary folder nor other file descriptors: the last resort.
    yield from ((behind(Path(each)), "installed") for each in sorted(filter(None, in_path), key=_is_snap))


def _download(executable: Path) -> Path:
    """The folder of one download, such as `chromium-1255`, which `executable` lies in."""
    root = playwright_folder()
    return next(parent for parent in executable.parents if parent.parent == root)


def _revision(executable: Path) -> int:
    number = _download(executable).name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def _is_snap(path: str) -> bool:
    if "/snap/" in os.path.realpath(path):
        return True
    if not os.access(path, os.R_OK):
        return False
    with Path(path).open("rb") as program:  # Ubuntu's chromium-browser is a script that starts the snap
        start = program.read(2000)
    return start.startswith(b"#!") and b"/snap/" in start


def _checked(executable: Path) -> str:
    """The version of a Chromium; raises BrowserMissing where this is none, or one that does not start."""
    if not executable.is_file() or not os.access(executable, os.X_OK):
        raise BrowserMissing(f"{executable} is not an executable file.", hint="Give the path of a Chromium or Chrome.")
    if sys.platform == "win32":
        return "unknown"  # Chrome for Windows opens a window instead of telling
    try:
        said = subprocess.run(
            [executable, "--version"], capture_output=True, text=True, timeout=VERSION_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise BrowserMissing(f"{executable} cannot be started: {fault}.") from fault
    words = said.stdout.split()
    if said.returncode or not any(word.startswith(("Chrom", "Google", "HeadlessChrome")) for word in words):
        raise BrowserMissing(
            f"{executable} does not answer as a Chromium: {_last_line(said)}",
            hint="If it names a missing library, run `playwright install-deps chromium` as root.",
        )
    return next((word for word in words if word[:1].isdigit()), "unknown")


def _last_line(said: subprocess.CompletedProcess[str]) -> str:
    return (said.stderr.strip() or said.stdout.strip() or f"exit status {said.returncode}").splitlines()[-1]


def _may_unshare() -> bool:
    """Try it: what containers, AppArmor and sysctls refuse is seen by nothing else as surely."""
    try:
        tried = subprocess.run(["unshare", "--user", "true"], capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def _has_setuid_helper(folder: Path) -> bool:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    if "NoNewPrivs:\t1" in status:
        return False
    helpers = (folder / "chrome-sandbox", folder / "chrome_sandbox")
    return any(helper.exists() and helper.stat().st_uid == 0 and helper.stat().st_mode & 0o4000 for helper in helpers)


def _why_no_namespaces() -> str:
    for setting, shut, reason in (
        ("kernel/unprivileged_userns_clone", "0", "the system allows user namespaces to root alone"),
        ("user/max_user_namespaces", "0", "the system allows no user namespaces"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor keeps user namespaces from this program"),
    ):
        path = Path("/proc/sys") / setting
        if path.exists() and path.read_text(encoding="ascii").strip() == shut:
            return f"{reason} (sysctl {setting.replace('/', '.')} is {shut})"
    return "user namespaces are refused here, as in a container with its usual seccomp profile"


def main() -> None:
    """Install what is lacking, say what there is, and exit with 1 where no browser can be had."""
    try:
        install(lambda line: click.echo(f"  {line}", err=True))
    except BrowserMissing as fault:
        click.echo(f"{fault.detail}\n{fault.hint}", err=True)
        sys.exit(1)
    for kind in NAMES:
        if _is_found(kind):
            found = find(kind)
            click.echo(f"{NAMES[kind]} {found.version}: {found.executable}")


if __name__ == "__main__":
    main()
