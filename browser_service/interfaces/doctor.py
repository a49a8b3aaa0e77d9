"""`tabwright doctor`: does this machine have what the service needs, and if not, how to mend it?"""

import asyncio
import contextlib
import json
import logging
import platform
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from rich.console import Console
from rich.table import Table
from rich.text import Text

from browser_service import finder
from browser_service.browser import Browser
from browser_service.egress import Egress, canary_reached
from browser_service.errors import BrowserCrashed, TabwrightError
from browser_service.launcher import Launcher
from browser_service.processes import RunFolder
from browser_service.settings import Kind, Settings
from fetch.address import Rule

State = Literal["ok", "warning", "failed"]

PAGE_LIMIT_S: Final = 20.0
_TEST_PAGE: Final = "data:text/html,<title>well</title><body>"
_SANDBOX_HELP: Final = (
    "Run the service as an ordinary user, on a system that allows unprivileged user namespaces (in a container: with "
    "Chromium's seccomp profile). TABWRIGHT_POOL__SANDBOX=require refuses to start without it."
)
# Draws each text alone; equal pictures of two different texts mean that the font has neither (both show a box).
_DRAW: Final = """texts => texts.map(text => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [64, 64];
    const pen = canvas.getContext('2d', {willReadFrequently: true});
    pen.font = '40px sans-serif';
    pen.fillText(text, 4, 50);
    const pixels = pen.getImageData(0, 0, 64, 64).data;
    let coloured = false;
    for (let i = 0; i < pixels.length; i += 4)
        coloured ||= pixels[i] !== pixels[i + 1] || pixels[i + 1] !== pixels[i + 2];
    return {picture: pixels.join(), coloured};
})"""
# The emoji are none of the few that DejaVu has, in black.
_FONTS: Final[tuple[tuple[str, tuple[str, str], str], ...]] = (
    ("Chinese, Japanese and Korean fonts", ("漢", "語"), "fonts-noto-cjk"),
    ("emoji font", ("🚀", "🦊"), "fonts-noto-color-emoji"),
)


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `mend` says what to do unless it is ok."""

    name: str
    state: State
    detail: str
    mend: str = ""


def main(settings: Settings, *, as_json: bool) -> int:
    """Run all checks and show them; the exit status is 1 when one failed."""
    logging.disable(logging.WARNING)  # the checks say it themselves
    checks = asyncio.run(run_checks(settings))
    if as_json:
        sys.stdout.write(json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=2) + "\n")
    else:
        show_checks(Console(), checks)
    return int(any(check.state == "failed" for check in checks))


async def run_checks(settings: Settings) -> list[Check]:
    """Look at everything; browsers are really started and load a page."""
    checks = [_python(), _folder(settings.data_dir), _port(settings.host, settings.port), _driver()]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(RunFolder())
        async with Egress(Rule(allow=settings.network.allow, deny=settings.network.deny)) as egress:
            nowhere = await egress.open_closed_exit()
            pool = settings.pool.model_copy(update={"install": False})
            launcher = Launcher(pool, folder.path, nowhere.server)
            checks += await _full(launcher, egress)
            checks += await _light(launcher)
    return checks


def show_checks(console: Console, checks: Sequence[Check]) -> None:
    """A table for people, with what to do below each check that is not ok."""
    styles: dict[State, tuple[str, str]] = {
        "ok": ("ok", "green"),
        "warning": ("warning", "yellow"),
        "failed": ("FAILED", "bold red"),
    }
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for check in checks:
        word, style = styles[check.state]
        detail = Text(check.detail)
        if check.mend:
            detail.append(f"\n→ {check.mend}", style="cyan")
        table.add_row(Text(word, style=style), Text(check.name), detail)
    console.print(table)


async def _full(launcher: Launcher, egress: Egress) -> list[Check]:
    try:
        async with _started(launcher, "full") as browser:
            checks = [_browser(browser, launcher), _sandbox(browser, launcher)]
            exit_ = await egress.open_exit()
            async with asyncio.timeout(PAGE_LIMIT_S):
                context = await browser.new_context(proxy={"server": exit_.server})
                page = await context.new_page()
                await page.goto(_TEST_PAGE)
                checks += await _fonts(page)
            return [*checks, _network(await canary_reached(context, egress))]
    except (TabwrightError, PlaywrightError, TimeoutError) as fault:
        return [_no_browser("full", fault, "failed")]


async def _light(launcher: Launcher) -> list[Check]:
    try:
        async with _started(launcher, "light") as browser:
            return [_browser(browser, launcher)]
    except (TabwrightError, PlaywrightError, TimeoutError) as fault:
        return [_no_browser("light", fault, "warning")]


@contextlib.asynccontextmanager
async def _started(launcher: Launcher, kind: Kind) -> AsyncIterator[Browser]:
    """A browser that has just loaded a page."""
    browser = await launcher.launch(kind)
    try:
        if not await browser.healthy(PAGE_LIMIT_S):
            raise BrowserCrashed(f"{browser.found.executable} starts but loads no page.")
        yield browser
    finally:
        await browser.close()


def _python() -> Check:
    said = f"Python {platform.python_version()} on {platform.platform()}"
    if sys.platform == "win32":
        return Check("platform", "warning", said, "Windows is not tested; use Linux, macOS or the Docker image.")
    return Check("platform", "ok", said)


def _folder(data_dir: Path) -> Check:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=data_dir):
            return Check("data folder", "ok", str(data_dir))
    except OSError as fault:
        return Check("data folder", "failed", str(fault), "Set TABWRIGHT_DATA_DIR to a folder that can be written to.")


def _port(host: str, port: int) -> Check:
    address = f"{host}:{port}"
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    except OSError as fault:
        return Check(
            "address", "warning", f"{address}: {fault.strerror}", "Stop what listens there, or set TABWRIGHT_PORT."
        )
    return Check("address", "ok", f"{address} is free")


def _driver() -> Check:
    fault = finder.driver_fault()
    if fault is None:
        return Check("Playwright's driver", "ok", "starts")
    return Check("Playwright's driver", "failed", fault, "On Debian and Ubuntu: apt-get install libatomic1.")


def _browser(browser: Browser, launcher: Launcher) -> Check:
    found = browser.found
    said = f"{found.version}, {found.executable} ({found.source}), {launcher.modes[found.kind]}; loads a page"
    return Check(finder.NAMES[found.kind], "ok", said)


def _no_browser(kind: Kind, fault: Exception, state: State) -> Check:
    detail = fault.detail if isinstance(fault, TabwrightError) else str(fault) or "no answer in time"
    hint = fault.hint if isinstance(fault, TabwrightError) else None
    return Check(finder.NAMES[kind], state, detail, hint or finder.how_to_install(kind))


def _sandbox(browser: Browser, launcher: Launcher) -> Check:
    _, reason = finder.sandbox_likely(browser.found.executable)
    if launcher.modes[browser.found.kind].sandbox:
        return Check("sandbox", "ok", f"Chromium runs in its sandbox; {reason}")
    return Check("sandbox", "warning", f"Chromium runs without its sandbox: {reason}", _SANDBOX_HELP)


async def _fonts(page: Page) -> list[Check]:
    checks = []
    for name, texts, package in _FONTS:
        first, second = await page.evaluate(_DRAW, list(texts))
        good = first["picture"] != second["picture"] and (name != "emoji font" or first["coloured"])
        said = "characters are drawn" if good else "boxes are drawn in place of characters"
        mend = "" if good else f"On Debian and Ubuntu: apt-get install {package}."
        checks.append(Check(name, "ok" if good else "warning", said, mend))
    return checks


def _network(reached: bool) -> Check:
    if reached:
        help_ = "Do not run the service: look for a policy or extension of this browser that overrides its proxy."
        return Check("network guard", "failed", "a page reached this machine past the proxy", help_)
    return Check("network guard", "ok", "pages reach the network through the proxy alone")
