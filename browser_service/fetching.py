"""web_fetch with this service's ways: HTTP through the egress proxy, the pool's browsers, the worker processes."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from browser_service.errors import InvalidRequest
from browser_service.rendering import RenderWish, render, render_in_session
from browser_service.service import Service
from browser_service.tab.options import Proxy
from fetch.errors import TabwrightError, TimedOut
from fetch.http import Errand, ProxyRoute, retry_after
from fetch.page import Cookie, Page, Reading, Verdict, Wish
from fetch.politeness import host_key
from fetch.reading import read, read_simply
from fetch.robots import allows
from fetch.web_fetch import WALLS, Ask, Fetched, web_fetch
from stealth.identity import Identity, identities

_log = logging.getLogger(__name__)

READ_SHARE = 0.7
GRACE_S = 0.8  # the phases keep the limit themselves; this one catches what does not
_PAGES = frozenset({"", "text/html", "application/xhtml+xml"})
LEAST_CACHED, MOST_CACHED = 100, 2**21  # characters; a hundred of the longest pages would fill the memory
DEFAULT_LIMIT_S = 60.0  # in which a place must come free


@dataclass(frozen=True)
class Wanted:
    """A fetch as a caller wants it."""

    ask: Ask
    caller: str
    owner: str | None
    proxy: Proxy | None = None
    session: str | None = None
    cache: Literal["use", "refresh", "off"] = "use"
    robots: bool = False

    @property
    def private(self) -> bool:
        """Whether the result is this caller's alone."""
        return bool(self.ask.headers or self.ask.cookies or self.proxy)

    def key(self) -> Hashable:
        """All that changes the result."""
        ask = self.ask
        mine = (
            self.caller,
            tuple(sorted(ask.headers.items())),
            ask.cookies,
            self.proxy.url() if self.proxy else "",
        )
        wish = (ask.wish, ask.render, ask.retry, ask.mobile, ask.wait_selector, self.robots)
        return (ask.url, *wish, mine if self.private else None)


async def fetch(service: Service, wanted: Wanted) -> tuple[Fetched, bool]:
    """Fetch it, or take what is kept; tells which. Concurrent calls for the same share one fetch."""
    cache = service.web.cache
    if wanted.session is not None or wanted.cache == "off":
        return await _fetch(service, wanted), False
    key = wanted.key()
    if wanted.cache == "use" and (kept := cache.get(key)) is not None:
        return kept, True
    found = await cache.flights.once((key, wanted.ask.limit_s), lambda: _fetch(service, wanted))
    if found.reading.verdict.outcome == "ok" and LEAST_CACHED <= len(found.reading.content) <= MOST_CACHED:
        cache.put(key, found)
    return found, False


async def _fetch(service: Service, wanted: Wanted) -> Fetched:
    limit_s = wanted.ask.limit_s if wanted.ask.limit_s is not None else DEFAULT_LIMIT_S
    began = asyncio.get_running_loop().time()
    async with service.web.lane.place(wanted.caller, limit_s), _ways(service, wanted) as ways:
        waited = asyncio.get_running_loop().time() - began
        ask = wanted.ask if wanted.ask.limit_s is None else replace(wanted.ask, limit_s=max(0.05, limit_s - waited))
        if wanted.robots:
            await ways.check_robots(began + limit_s)
        if ask.limit_s is None:
            return await web_fetch(ask, ways)
        try:
            async with asyncio.timeout(ask.limit_s + GRACE_S):
                return await web_fetch(ask, ways)
        except TimeoutError:
            raise TimedOut("The page could not be fetched in time.", hint="Raise timeout_ms.") from None


@contextlib.asynccontextmanager
async def _ways(service: Service, wanted: Wanted) -> AsyncIterator["ServiceWays"]:
    async with service.web.route(wanted.proxy.url() if wanted.proxy else None) as route:
        yield ServiceWays(service, wanted, route)


class ServiceWays:
    """The ways of one fetch."""

    def __init__(self, service: Service, wanted: Wanted, route: ProxyRoute) -> None:
        self._service = service
        self._wanted = wanted
        self._route = route
        self._challenged = False

    async def http(self, ask: Ask, deadline: float) -> Page:
        """By HTTP, in the host's turn."""
        web = self._service.web
        errand = Errand(
            ask.url,
            self._route,
            self._identities(ask.mobile),
            ask.headers,
            (*web.clearance(self._clearance_key(ask)), *ask.cookies),
            web.settings.max_bytes,
        )
        return await web.http.fetch(errand, deadline=deadline, retries=3 if ask.retry else 0, turns=web.politeness)

    async def browser(self, ask: Ask, cookies: tuple[Cookie, ...], deadline: float, *, light: bool) -> Page:
        """In a context of its own, or in a tab of the session."""
        limit_s = max(0.05, deadline - asyncio.get_running_loop().time())
        wanted, web = self._wanted, self._service.web
        wish = RenderWish(
            url=ask.url,
            mobile=ask.mobile,
            headers=ask.headers,
            cookies=(*web.clearance(self._clearance_key(ask)), *cookies),
            proxy=wanted.proxy,
            wait_selector=ask.wait_selector,
            light=light,
        )
        if wanted.session is not None:
            session = self._service.sessions.get(wanted.session, wanted.owner)
            return await render_in_session(session, wish, limit_s=limit_s, judge=self._judge)
        async with web.politeness.turn(host_key(ask.url), deadline):
            return await render(self._service, wish, owner=wanted.caller, limit_s=limit_s, judge=self._judge)

    async def read(self, page: Page, wish: Wish, limit_s: float) -> Reading:
        """In a worker process; by the simplest means where that does not get it done in its share of the time."""
        run = self._service.web.workers.run
        try:
            found = await run(read, page, wish, limit_s=limit_s * READ_SHARE)
        except TabwrightError as fault:
            if page.content_type not in _PAGES or wish.selector is not None:
                raise
            _log.warning("%s cannot be read: %s", page.url[:200], fault)
            found = await run(read_simply, page, wish, limit_s=limit_s * (1 - READ_SHARE))
        if isinstance(found, TabwrightError):
            raise found
        self._note_clearance(page, found.verdict)
        return found

    def pause(self, page: Page) -> float:
        """What the host's Retry-After asks for."""
        return retry_after(page.headers) or 0.0

    async def check_robots(self, deadline: float) -> None:
        """Raise InvalidRequest where the site's robots.txt does not allow the address."""
        ask = self._wanted.ask
        if not await allows(ask.url, lambda url: self.http(replace(ask, url=url, headers={}), deadline)):
            raise InvalidRequest(
                f"The robots.txt of {ask.host} does not allow this address.", hint="Leave out respect_robots."
            )

    def _identities(self, mobile: bool) -> Sequence[Identity]:
        """Whom attempts come as: first the browser that a rendering would use."""
        known = identities(self._service.chromium, self._service.user_agent)
        return [each for each in known if each.mobile] if mobile else known

    def _clearance_key(self, ask: Ask) -> Hashable:
        proxy = self._wanted.proxy
        return (self._wanted.caller, ask.host, ask.mobile, proxy.url() if proxy else "")

    async def _judge(self, page: Page) -> Verdict:
        """Whether what a browser shows is a challenge that may lift."""
        verdict = await self._service.web.judge(page)
        self._note_clearance(page, verdict)
        return verdict

    def _note_clearance(self, page: Page, verdict: Verdict) -> None:
        """Keep the cookies of a browser that got past a challenge, here or in the HTTP phase before."""
        if verdict.may_lift:
            self._challenged = True
        elif self._challenged and page.method == "browser" and verdict.outcome not in WALLS:
            self._service.web.keep_clearance(self._clearance_key(self._wanted.ask), page.cookies)
