"""The service as a process of its own, as a person or a supervisor runs it: signals, output, what is left."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import psutil

from tests.site import Site

COMMAND = (sys.executable, "-m", "browser_service")
# Root's Chromium has no sandbox; one browser and no contexts ahead keep the start short.
SETTINGS = {"TABWRIGHT_POOL__SANDBOX": "off", "TABWRIGHT_POOL__SIZE": "1", "TABWRIGHT_POOL__WARM": "0"}
START_LIMIT_S = 60
END_LIMIT_S = 30


def environment(folder: Path, **given: str) -> dict[str, str]:
    """The environment of a service that keeps everything in `folder`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TABWRIGHT_")}
    own = {"TMPDIR": str(folder), "TABWRIGHT_DATA_DIR": str(folder / "data"), "COLUMNS": "100"}
    return inherited | SETTINGS | own | given


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A temporary folder with a short path: Chromium makes sockets in it."""
    folder = Path(tempfile.mkdtemp(prefix="tw-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Running:
    """A service that was started with `serve`; `base` is where it answers, once `ready` has returned."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, errors: Path) -> None:
        self.process = process
        self.folder = folder
        self.base = ""
        self._errors = errors

    @property
    def log(self) -> str:
        """What it has written to stderr."""
        return self._errors.read_text(encoding="utf-8")

    async def ready(self) -> None:
        """Wait for the line that names its address."""
        assert self.process.stdout is not None
        async with asyncio.timeout(START_LIMIT_S):
            while line := await self.process.stdout.readline():
                if found := re.search(rb"ready on (http://\S+)", line):
                    self.base = found[1].decode()
                    return
        raise AssertionError(self.log)

    async def ended(self, limit_s: float = END_LIMIT_S) -> int:
        """Wait until it is gone; its exit status."""
        async with asyncio.timeout(limit_s):
            return await self.process.wait()


def run_folders(folder: Path) -> list[Path]:
    """The folders of runs that are there."""
    return list(folder.glob("tabwright-*"))


def processes_in(folder: Path) -> list[psutil.Process]:
    """Whatever runs with its temporary folder, or its profile, in `folder`: services, drivers, browsers."""
    return [each for each in psutil.process_iter() if _lives_in(each, str(folder))]


def _lives_in(process: psutil.Process, folder: str) -> bool:
    with contextlib.suppress(psutil.Error):
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.environ().get("TMPDIR", "").startswith(folder) or any(
            part.startswith(f"--user-data-dir={folder}") for part in process.cmdline()
        )
    return False


async def all_gone(folder: Path, limit_s: float = 10) -> None:
    """Wait until no process of `folder` is left."""
    async with asyncio.timeout(limit_s):
        while processes_in(folder):
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def started(folder: Path, *arguments: str, **settings: str) -> AsyncIterator[Running]:
    """Start `tabwright serve` on a free port, in a session of its own as a terminal's job; killed afterwards."""
    errors = folder / "stderr"
    with errors.open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            "serve",
            "--port",
            "0",
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=environment(folder, **settings),
            start_new_session=True,
        )
    running = Running(process, folder, errors)
    try:
        yield running
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGTERM)
            await running.ended()


@contextlib.asynccontextmanager
async def serving(site: Site, folder: Path, **settings: str) -> AsyncIterator[tuple[Running, httpx.AsyncClient]]:
    """A started service that answers and may visit the test site, and a client of it."""
    allow = f'["{site.host}"]'
    async with started(folder, **{"TABWRIGHT_NETWORK__ALLOW": allow} | settings) as running:
        await running.ready()
        async with httpx.AsyncClient(base_url=running.base, timeout=60) as http:
            yield running, http
