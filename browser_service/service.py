"""The composition root: builds everything in order, closes it in reverse."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from importlib.metadata import version
from types import TracebackType
from typing import Self

from browser_service.egress import Egress, Rotation, canary_reached
from browser_service.errors import BrowserCrashed, ShuttingDown
from browser_service.lanes import Lane
from browser_service.launcher import Launcher
from browser_service.pool import BrowserPool
from browser_service.processes import RunFolder
from browser_service.saved import Saved
from browser_service.searcher import Searcher
from browser_service.session import Lifetime, Session
from browser_service.sessions import Sessions
from browser_service.settings import Settings
from browser_service.tab import refs
from browser_service.tab.options import ContextOptions
from browser_service.web import Web
from fetch.address import Rule

_log = logging.getLogger(__name__)

ONE_SHOT = Lifetime(idle_timeout_ms=3_600_000, max_lifetime_ms=3_600_000)
READY_LIMIT_S = 2.0
SELF_TEST_LIMIT_S = 20.0
_VERSION = re.compile(r"Chrome/([0-9.]+)")


class Service:
    """`async with Service(settings) as service:` runs it; the interfaces serve it."""

    egress: Egress
    launcher: Launcher
    pool: BrowserPool
    searcher: Searcher
    sessions: Sessions
    web: Web
    user_agent: str

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rule = Rule(allow=settings.network.allow, deny=settings.network.deny)
        self.saved = Saved(settings)
        self.captures = Lane(settings.pool.one_shot_places(), settings.pool.queue)
        self.draining = False
        self.closed = asyncio.Event()
        self._working = 0
        self._idle = asyncio.Event()
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        settings = self.settings
        async with contextlib.AsyncExitStack() as stack:
            folder = stack.enter_context(RunFolder())
            await self.saved.protect()
            upstream = settings.network.proxy_url
            self.egress = await stack.enter_async_context(
                Egress(
                    self.rule,
                    upstream=upstream.get_secret_value() if upstream else None,
                    remote_dns=settings.network.remote_dns,
                )
            )
            if settings.port:
                self.egress.own_ports.add(settings.port)
            rotation = Rotation([each.get_secret_value() for each in settings.network.proxy_list])
            self.web = await stack.enter_async_context(Web(settings.fetch, self.egress, self.rule, rotation))
            nowhere = await self.egress.open_closed_exit()
            self.launcher = Launcher(settings.pool, folder.path, nowhere.server, {refs.ENGINE: refs.engine()})
            self.pool = BrowserPool(settings.pool, self.launcher, self.egress, rotation)
            stack.push_async_callback(self.pool.close)
            await self.pool.fleet.start()
            await self._test_egress()
            self.searcher = Searcher(self.web, settings.network, self.chromium)
            self.sessions = Sessions(settings.sessions, self.pool, self.rule, self.web.judge)
            stack.push_async_callback(self.sessions.close_all)
            stack.push_async_callback(_cancelled, asyncio.create_task(self.sessions.expire()))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_admitting()
        try:
            await self._stack.aclose()
        finally:
            self.closed.set()

    def stop_admitting(self) -> None:
        """Take no new work."""
        self.draining = True
        self.sessions.stop_admitting()

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Counts as running work; refused with ShuttingDown once the service is stopping."""
        if self.draining:
            raise ShuttingDown("The service is stopping.", hint="Try again when it is back.", retry_after_s=5)
        self._working += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._working -= 1
            if not self._working:
                self._idle.set()

    async def drain(self, limit_s: float) -> None:
        """Take no new work and wait until what runs is done, at most `limit_s`."""
        self.stop_admitting()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                if self._working:
                    await self._idle.wait()

    def health(self) -> dict[str, object]:
        """How it stands, at once and without asking any browser."""
        browsers = self.pool.fleet.browsers()
        return {
            "status": "draining" if self.draining else "ok",
            "version": version("tabwright"),
            "browsers": [
                {
                    "name": each.name,
                    "kind": each.kind,
                    "version": each.found.version,
                    "contexts": each.contexts,
                    "served": each.served,
                    "draining": each.draining,
                }
                for each in browsers
            ],
            "sandbox": all(mode.sandbox for mode in self.launcher.modes.values()),
            "modes": {kind: str(mode) for kind, mode in self.launcher.modes.items()},
            "sessions": len(self.sessions),
            "captures_waiting": self.captures.waiting,
            "fetches_waiting": self.web.lane.waiting,
            "cache": {"entries": len(self.web.cache), "hits": self.web.cache.hits, "misses": self.web.cache.misses},
            "engines": {name: asdict(each) for name, each in self.searcher.engines().items()},
            "warm_contexts": self.pool.warm(),
            "browser_deaths": self.pool.fleet.deaths,
            "remote_dns": self.settings.network.remote_dns,
        }

    @property
    def chromium(self) -> str:
        """The version of the browser, as it names itself to sites."""
        found = _VERSION.search(self.user_agent)
        return found[1] if found else "0"

    async def ready(self) -> bool:
        """Whether a browser answers within two seconds and new work is taken."""
        return not self.draining and await self.pool.fleet.ready(READY_LIMIT_S)

    @contextlib.asynccontextmanager
    async def borrow(self, options: ContextOptions, owner: str, limit_s: float) -> AsyncIterator[Session]:
        """A session for one piece of work, in the lane of one-shot calls; nobody else sees it, gone afterwards."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit_s
        async with self.captures.place(owner, limit_s):
            seat = await self.pool.lend(options, deadline - loop.time())
            session = Session(owner, ONE_SHOT, seat, self.rule, judge=self.web.judge, queue=0)
            seat.on_loss = lambda: session.end("browser_crashed")
            try:
                yield session
            finally:
                session.end("closed")
                await self.pool.give_back(seat)

    async def _test_egress(self) -> None:
        """Refuse to run when a page can reach an address of this machine that it must not reach."""
        seat = await self.pool.lend(ContextOptions(), SELF_TEST_LIMIT_S)
        try:
            self.user_agent = await seat.tabs.user_agent()
            if await canary_reached(seat.tabs.context, self.egress):
                raise BrowserCrashed(
                    "The network guard does not hold: a page reached this machine's loopback interface.",
                    hint="Check that no policy or extension of the installed browser overrides its proxy.",
                )
        finally:
            await self.pool.give_back(seat)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
