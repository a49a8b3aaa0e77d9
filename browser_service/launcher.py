"""Starting browsers: which executable, with which sandbox, in which mode; what worked is remembered."""

import asyncio
import itertools
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import async_playwright

from browser_service import finder
from browser_service.browser import Browser, Driver
from browser_service.errors import BrowserCrashed
from browser_service.settings import Kind, PoolSettings
from stealth.launch import launch_options, prepare_profile

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Mode:
    """One way to start a browser."""

    sandbox: bool
    ozone: bool

    def __str__(self) -> str:
        display = "headed without a display" if self.ozone else "headless"
        return f"{display}, {'with' if self.sandbox else 'without'} sandbox"


class Launcher:
    """Starts browsers below one run folder; all of them behind `proxy_server` until a context names its own proxy.

    `engines`: sources of selector engines, by name, that run out of reach of pages' scripts.
    """

    def __init__(
        self, settings: PoolSettings, folder: Path, proxy_server: str, engines: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._proxy_server = proxy_server
        self._engines = dict(engines or {})
        self._numbers = itertools.count(1)
        self._environment = asyncio.Lock()
        self.modes: dict[Kind, Mode] = {}

    async def launch(self, kind: Kind) -> Browser:
        """A running browser of this kind. Raises BrowserCrashed (BrowserMissing where none is installed)."""
        found = await self._find(kind)
        faults = []
        for mode in self._candidates(kind):
            browser = Browser(found, self._folder / f"{kind}-{next(self._numbers)}")
            options = launch_options(
                kind,
                found.executable,
                sandbox=mode.sandbox,
                proxy_server=self._proxy_server,
                profile=prepare_profile(browser.folder),
                headed_ozone=mode.ozone,
            )
            options["env"] = {**os.environ, "TMPDIR": str(browser.folder)}
            try:
                await browser.start(options, self._start_driver, self._settings.launch_timeout_ms / 1000)
            except BrowserCrashed as fault:
                _log.info("%s does not start %s", found.executable, mode)
                faults.append(fault)
                continue
            self._remember(kind, mode, faults)
            return browser
        raise faults[-1]

    def _remember(self, kind: Kind, mode: Mode, faults: list[BrowserCrashed]) -> None:
        if self.modes.get(kind) == mode:
            return
        self.modes[kind] = mode
        if faults and not mode.sandbox:
            _log.warning("Chromium runs WITHOUT its sandbox: it does not start with it here (%s)", sandbox_reason())

    def _candidates(self, kind: Kind) -> Iterator[Mode]:
        """What worked last, first; else headed before headless, and each with the sandbox before without it."""
        known = self.modes.get(kind)
        if known is not None:
            yield known
        sandboxes = {"auto": (True, False), "require": (True,), "off": (False,)}[self._settings.sandbox]
        for ozone in (True, False) if kind == "full" else (False,):
            for sandbox in sandboxes:
                if Mode(sandbox, ozone) != known:
                    yield Mode(sandbox, ozone)

    async def _find(self, kind: Kind) -> finder.Found:
        settings = self._settings
        explicit = settings.browser_path if kind == "full" else settings.light_path
        try:
            return await asyncio.to_thread(finder.find, kind, explicit)
        except finder.BrowserMissing as fault:
            if explicit is not None:  # the one that was named, or none
                raise BrowserCrashed(fault.detail, hint=fault.hint) from fault
            if not settings.install:
                raise
        await asyncio.to_thread(finder.install, lambda line: _log.info("installing a browser: %s", line))
        return await asyncio.to_thread(finder.find, kind, None)

    async def _start_driver(self, folder: Path) -> Driver:
        """A driver whose temporary files, Chromium's profile among them, lie in `folder`."""
        async with self._environment:  # a driver takes our environment as it is, so it is changed while one starts
            before = os.environ.get("TMPDIR")
            os.environ["TMPDIR"] = str(folder)
            try:
                manager = async_playwright()
                playwright = await manager.start()
            finally:
                if before is None:
                    del os.environ["TMPDIR"]
                else:
                    os.environ["TMPDIR"] = before
        for name, source in self._engines.items():
            await playwright.selectors.register(name, script=source, content_script=True)
        # Playwright tells nobody when its driver dies, so the process itself has to be watched.
        transport = manager._client._transport  # type: ignore[union-attr]  # noqa: SLF001
        transport.on_error_future.add_done_callback(_retrieve)
        return Driver(playwright, transport._proc)  # noqa: SLF001


def _retrieve(failed: "asyncio.Future[object]") -> None:
    """A driver that was killed leaves an exception that nobody else looks at."""
    if not failed.cancelled():
        failed.exception()


def sandbox_reason() -> str:
    """Why the sandbox is not expected to work here, in words."""
    return finder.sandbox_likely()[1]
