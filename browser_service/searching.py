"""web_search with this service's ways: its engines and channels, and its fetches to read pages."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final

from browser_service.errors import UnsupportedContent, UpstreamStatus
from browser_service.fetching import Wanted as Fetching
from browser_service.fetching import fetch
from browser_service.searcher import Choice
from browser_service.service import Service
from fetch.address import parse_address
from fetch.http import Errand, ProxyRoute
from fetch.page import Wish
from fetch.web_fetch import Ask
from search.progress import Tell
from search.reach import GONE
from search.reading import ReadPage
from search.settings import SearchSettings
from search.web_search import Searched, Wanted, web_search
from stealth.identity import identities

LEAST: Final = 40  # characters of a page that says something


@dataclass(frozen=True)
class Searching:
    """A search as a caller wants it; `wanted` with what the settings say about the choice that is made."""

    wanted: Wanted
    choice: Choice
    now: SearchSettings
    caller: str
    owner: str | None

    def key(self) -> Hashable:
        """All that changes the result; words are compared without case and superfluous space."""
        query = replace(self.wanted.query, text=" ".join(self.wanted.query.text.casefold().split()))
        return replace(self.wanted, query=query), self.choice, self.now


async def search(service: Service, searching: Searching, tell: Tell) -> tuple[Searched, bool]:
    """Search, or take what is kept; tells which."""
    searcher = service.searcher
    sources = searcher.sources(searching.now, searching.choice)
    key = searching.key()
    kept = searcher.cache.get(key)
    if kept is not None:
        return kept, True
    async with service.web.route(None) as route:
        found = await web_search(searching.wanted, sources, _Ways(service, searching, route), tell)
    if found.results:
        searcher.cache.put(key, found)
    return found, False


class _Ways:
    """How the pages of one search are reached."""

    def __init__(self, service: Service, searching: Searching, route: ProxyRoute) -> None:
        self._service = service
        self._searching = searching
        self._route = route
        self._visitors = identities(service.chromium, service.user_agent)

    async def probe(self, url: str) -> int:
        """The status that it answers with."""
        web = self._service.web
        errand = Errand(url, self._route, self._visitors, unread=True)
        deadline = asyncio.get_running_loop().time() + 60
        return (await web.http.get(errand, deadline=deadline, turns=web.politeness)).status or 0

    async def read(self, url: str, limit_s: float) -> ReadPage:
        """Its main content as Markdown, by web_fetch."""
        address = parse_address(url)
        ask = Ask(
            url=address.url, host=address.host, wish=Wish("markdown", "article", None), retry=False, limit_s=limit_s
        )
        wanted = Fetching(ask=ask, caller=self._searching.caller, owner=self._searching.owner)
        found, _ = await fetch(self._service, wanted)
        page, reading = found.page, found.reading
        if page.status in GONE:
            about = {"final_url": page.url, "upstream_status": page.status}
            raise UpstreamStatus(f"{address.host} answered with status {page.status}.", about=about)
        if len(reading.content.strip()) < LEAST:
            raise UnsupportedContent(f"{address.host} gave a page without text.", about={"final_url": page.url})
        return ReadPage(page.url, reading.title, reading.content)
