"""What fetching shares between calls: the HTTP client and its ways out, pauses of hosts, workers, what is kept."""

import contextlib
import time
from collections.abc import AsyncIterator, Hashable
from types import TracebackType
from typing import Self

from cachetools import TTLCache

from browser_service.egress import Egress, Exit, Rotation
from browser_service.lanes import Lane
from browser_service.sending import route_of, sender
from browser_service.settings import FetchSettings
from fetch.address import Rule
from fetch.cache import Cache
from fetch.http import HttpClient, ProxyRoute
from fetch.page import Cookie, Page, Verdict
from fetch.politeness import Politeness
from fetch.reading import glance, warm_up
from fetch.web_fetch import Fetched
from fetch.workers import Workers
from search.engine import Send

GLANCE_LIMIT_S = 5.0
CLEARANCES = 1000
CLEARANCE_S = 1800.0  # as long as the usual ones last; those that end before are not sent then


class Web:
    """`async with Web(settings, egress, rule, rotation) as web:`."""

    def __init__(self, settings: FetchSettings, egress: Egress, rule: Rule, rotation: Rotation) -> None:
        self.settings = settings
        self.cache: Cache[Fetched] = Cache(settings.cache_entries, settings.cache_ms / 1000)
        self.lane = Lane(settings.concurrency, settings.queue, "TABWRIGHT_FETCH__CONCURRENCY or TABWRIGHT_FETCH__QUEUE")
        self.politeness = Politeness(settings.per_host)
        self.workers = Workers(settings.worker_processes())
        self.http = HttpClient(rule.check)
        self._egress = egress
        self._rotation = rotation
        self._shared: Exit | None = None
        self._clearances: TTLCache[Hashable, tuple[Cookie, ...]] = TTLCache(CLEARANCES, CLEARANCE_S)
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self.workers)
            self._shared = await self._egress.open_exit()
            stack.push_async_callback(self._shared.close)
            await stack.enter_async_context(self.http)
            self.workers.warm(warm_up)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def judge(self, page: Page) -> Verdict:
        """What kind of answer a rendered page is, without reading it. Raises TimedOut, or TabwrightError."""
        return await self.workers.run(glance, page, limit_s=GLANCE_LIMIT_S)

    @contextlib.asynccontextmanager
    async def route(self, upstream: str | None) -> AsyncIterator[ProxyRoute]:
        """The way out of one call: the shared one, or one of its own through an upstream proxy, given or in turn."""
        if upstream is None and not self._rotation and self._shared is not None:
            yield route_of(self._shared)
            return
        way_out = await self._egress.open_exit()
        try:
            self._rotation.lead(way_out, upstream)
            yield route_of(way_out)
        finally:
            await way_out.close()

    @contextlib.asynccontextmanager
    async def sending(self, rule: Rule | None = None) -> AsyncIterator[Send]:
        """What sends requests as they are: by the common way out, or by one under a rule of its own."""
        if rule is None:
            async with self.route(None) as route:
                yield sender(self.http, route)
            return
        way_out = await self._egress.open_exit(rule=rule)
        try:
            yield sender(self.http, route_of(way_out), rule.check)
        finally:
            await way_out.close()

    def clearance(self, key: Hashable) -> tuple[Cookie, ...]:
        """Cookies that a site gave after a challenge, and that have not expired."""
        now = time.time()
        return tuple(each for each in self._clearances.get(key, ()) if each.expires is None or each.expires > now)

    def keep_clearance(self, key: Hashable, cookies: tuple[Cookie, ...]) -> None:
        """Keep them for later calls."""
        self._clearances[key] = cookies
