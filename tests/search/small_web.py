"""A small web on 127.0.0.1 for whole searches: engines whose answers are JSON, pages, and the way to them.

Names that end in `.here` are this machine, no other name exists. In what an engine lists, `a.here/p` is a page of the
small web; whole addresses stay as they are.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx

from fetch.errors import UpstreamStatus
from search.engine import Answer, Hit
from search.panel import Panel
from search.progress import Event, Tell
from search.query import Query
from search.reading import ReadPage
from search.selectors import Selectors
from search.told import Sourced
from search.web_search import Searched, Source, Wanted, web_search
from tests.browser_service.egress_servers import Wire, eventually
from tests.fetch.http_server import (
    PATIENCE_S,
    Asked,
    Behaviour,
    Behaviours,
    Handler,
    Raw,
    RawSite,
    Visitor,
    answer,
    raw_site,
    visitor,
)

QUERY = "harbour boats"
ENGINES = ("bing", "baidu", "sogou", "so360")
HOLD = Raw(b"", "hold")
BLOCKED = answer("a captcha", status="403 Forbidden")
EMPTY, CHANGED = answer("[]"), answer("<p>something new")
PROSE = "A page of harbours and of the boats that lie there. " * 8


def row(url: str, title: str = "", snippet: str = "", *, opaque: bool = False) -> dict[str, Any]:
    """One result; by itself it has to do with the query, and a snippet that is long enough."""
    words = title or "Harbour boats"
    return {"url": url, "title": words, "snippet": snippet or f"{words}: what there is to know of them.", "o": opaque}


def listing(*rows: str | dict[str, Any]) -> Raw:
    """What an engine answers; addresses alone will do."""
    return answer(json.dumps([row(each) if isinstance(each, str) else each for each in rows]))


def page(text: str = PROSE) -> Raw:
    """A page that can be read."""
    return answer(text)


def after(seconds: float, said: Raw) -> Handler:
    """The same answer from a slow server."""

    async def handle(wire: Wire, asked: Asked) -> None:
        await asyncio.sleep(seconds)
        await wire.send(said.data)

    return handle


def five_pages(behaviour: Behaviour) -> dict[str, Behaviour]:
    """Four engines that list a page each, one of them two, and those pages."""
    lists: dict[str, Behaviour] = {f"/{name}": listing(f"{name}.here/{name}-1") for name in ENGINES}
    lists["/bing"] = listing("bing.here/bing-1", "more.here/more-1")
    return lists | {f"/{name}-1": behaviour for name in (*ENGINES, "more")}


class SmallEngine:
    """An engine that is asked at `/<name>` of a site."""

    weight = 50
    hosts: tuple[str, ...] = ("127.0.0.1",)
    cookie_first = False

    def __init__(self, name: str, site: RawSite) -> None:
        self.name = self.index = name
        self._site = site

    def request(self, query: Query) -> httpx.Request:
        """Its one page."""
        return httpx.Request("GET", f"{self._site.url}/{self.name}")

    def fallback(self, query: Query) -> httpx.Request | None:
        """There is no other way."""
        return None

    def parse(self, response: httpx.Response, selectors: Selectors) -> Answer:
        """A list of rows; 403 is a wall."""
        if response.status_code == 403:
            return Answer(self.name, "blocked", error=f"{self.name} wants a captcha solved.")
        try:
            rows = response.json()
        except ValueError:
            return Answer(self.name, "unreadable", error=f"{self.name} has changed its page.")
        hits = tuple(Hit(each["title"], self._whole(each["url"]), each["snippet"], opaque=each["o"]) for each in rows)
        return Answer(self.name, "ok" if hits else "empty", hits)

    def _whole(self, url: str) -> str:
        host, slash, path = url.partition("/")
        return url if "://" in url else f"http://{host}:{self._site.port}{slash}{path}"


@dataclass
class SmallWeb:
    """The web, its engines, and what was told. It is also the `Ways` of a search."""

    site: RawSite
    visitor: Visitor
    panel: Panel
    events: list[Event] = field(default_factory=list)

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Through the egress proxy."""
        deadline = asyncio.get_running_loop().time() + PATIENCE_S
        return await self.visitor.http.send(request, self.visitor.route, deadline=deadline)

    async def probe(self, url: str) -> int:
        """The status alone."""
        return (await self.visitor.get(url, unread=True)).status or 0

    async def read(self, url: str, limit_s: float) -> ReadPage:
        """The page as it is."""
        got = await self.visitor.get(url, limit_s=limit_s)
        if got.status != 200:
            raise UpstreamStatus("It answered with an error.", about={"upstream_status": got.status})
        return ReadPage(url, "Title", got.body.decode())

    def source(self, names: Iterable[str] = ENGINES, timeout_s: float = PATIENCE_S) -> Source:
        """These engines."""

        async def ask(query: Query, tell: Tell, limit_s: float) -> Sourced:
            return await self.panel.ask(query, tuple(names), self.send, min(timeout_s, limit_s), tell)

        return Source("builtin", ask, tuple(names))

    async def search(
        self, names: Iterable[str] = ENGINES, *, timeout_s: float = PATIENCE_S, text: str = QUERY, **given: Any
    ) -> Searched:
        """Search by these engines; no page is read unless the test asks for it."""
        wanted = Wanted(Query(text), **{"fetch_top": 0, "enhance": False, **given})
        return await web_search(wanted, [self.source(names, timeout_s)], self, self.events.append)

    def url(self, place: str) -> str:
        """The address of `a.here/p`."""
        host, _, path = place.partition("/")
        return f"http://{host}:{self.site.port}/{path}"

    def paths(self, found: Searched) -> list[str]:
        """The results' addresses, as tests write them."""
        return [each.url.removeprefix("http://").replace(f":{self.site.port}", "") for each in found.results]

    def told(self, found: Searched) -> dict[str, str]:
        """How each engine answered."""
        return {each.answer.engine: each.answer.state for each in found.told}

    async def is_quiet(self, before: set[asyncio.Task[Any]]) -> None:
        """Wait until no request is open; fails when a task is left that was not there before."""
        left = {task for task in asyncio.all_tasks() - before if not _serves(task)}
        assert not left, left
        await eventually(lambda: self.site.open == 0)


def _serves(task: asyncio.Task[Any]) -> bool:
    """Whether it belongs to the servers of a test or the connections of the proxy, which end by themselves."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and any(part in code.co_filename for part in ("egress", "http_server"))


@contextlib.asynccontextmanager
async def small_web(routes: Behaviours, names: Iterable[str] = ENGINES) -> AsyncIterator[SmallWeb]:
    """A web with these answers by path, and a client that may go there."""
    async with raw_site(routes) as site, visitor() as guest:
        yield SmallWeb(site, guest, Panel([SmallEngine(name, site) for name in names]))
