"""Reading the best pages of a search, beside the check of which answer at all."""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Protocol

from fetch.budget import cut
from fetch.errors import TabwrightError
from search.progress import Event, Tell
from search.rank import Ranked
from search.reach import Reach, Reached, by_fault, by_status
from search.relevance import Order, reading_order, relevance
from search.snippets import FIRST, SHORT

_log = logging.getLogger(__name__)

PAGE_S: Final = 25.0
"""For one page."""

SNIPPET_S: Final = 5.0
"""How much longer than all else a page is waited for that only gives a snippet."""

TRIES: Final = 4
"""Pages that are tried for each one that is wanted."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page as it was read; `content_length` counts it whole."""

    url: str
    title: str
    content: str
    content_length: int = 0
    truncated: bool = False


class Ways(Protocol):
    """How pages are reached; from the service."""

    async def probe(self, url: str) -> int:
        """The status that an address answers with, redirects followed, nothing read. See `search.reach.Probe`."""
        ...

    async def read(self, url: str, limit_s: float) -> ReadPage:
        """The page's main content. Raises TabwrightError where there is none."""
        ...


class Readings:
    """What becomes known of the pages of one search: whether they answer, and what some of them say."""

    def __init__(self, ways: Ways, tell: Tell, deadline: float) -> None:
        self.reached: dict[str, Reached] = {}
        self._ways = ways
        self._tell = tell
        self._deadline = deadline
        self._pages: dict[str, asyncio.Task[ReadPage | None]] = {}

    async def gather(
        self, query: str, ranked: Sequence[Ranked], wanted: int, order: Order, *, snippets: bool, chance: Random
    ) -> list[ReadPage]:
        """Read `wanted` pages, and check the others; at the deadline what there is has to do.

        Pages that fail are replaced by the next. With `snippets`, the first results that have none to speak of are
        read as well.
        """
        pages = [each.page for each in ranked if not each.page.opaque]
        candidates = reading_order(pages, lambda page: relevance(query, page.title, page.snippet), order, chance)
        urls = [page.url for page in candidates]
        unread = [page.url for page in pages if page.url not in urls[:wanted]]
        work: list[asyncio.Task[object]] = [
            asyncio.create_task(Reach(self._ways.probe).check(unread, self._note)),
            asyncio.create_task(self._read(iter(urls[: wanted * TRIES]), wanted)),
        ]
        if snippets:
            for each in ranked[:FIRST]:
                if len(each.page.snippet.strip()) < SHORT and not each.page.opaque:
                    self._start(each.page.url)
        try:
            await asyncio.wait(work, timeout=self._left())
        finally:
            await _end(work)
        read = (self._done(url) for url in urls)
        return list({page.url: page for page in read if page is not None}.values())[:wanted]

    async def text_of(self, urls: Iterable[str]) -> dict[str, ReadPage]:
        """The pages at these addresses, those that can be read soon and before the deadline."""
        tasks = {url: self._start(url) for url in urls}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=min(SNIPPET_S, self._left()))
        return {url: page for url in tasks if (page := self._done(url)) is not None}

    async def close(self) -> None:
        """End what is still being read."""
        await _end(self._pages.values())

    async def _read(self, urls: Iterator[str], wanted: int) -> None:
        async def one() -> None:
            for url in urls:  # shared: each address is taken by one reader
                if not self.reached.get(url, Reached()).dead and await asyncio.shield(self._start(url)) is not None:
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(wanted):
                group.create_task(one())

    def _start(self, url: str) -> asyncio.Task[ReadPage | None]:
        if url not in self._pages:
            self._pages[url] = asyncio.create_task(self._page(url))
        return self._pages[url]

    async def _page(self, url: str) -> ReadPage | None:
        began = time.monotonic()
        title, length, error = "", 0, None
        page = None
        try:
            page = await self._ways.read(url, max(0.1, min(PAGE_S, self._left())))
            title, length = page.title, len(page.content)
            self._note(url, Reached(reachable=True))
        except TabwrightError as fault:
            error = fault.detail
            status = fault.about.get("upstream_status")
            self._note(url, by_status(status) if isinstance(status, int) else by_fault(fault))
        except Exception as fault:  # noqa: BLE001 - one page must not end the search
            _log.exception("reading %s failed", url[:200])
            error = f"It cannot be read: {type(fault).__name__}."
        elapsed_ms = round((time.monotonic() - began) * 1000)
        about = {"url": url, "title": title, "characters": length, "error": error, "elapsed_ms": elapsed_ms}
        self._tell(Event("page_fetched", about))
        return page

    def _done(self, url: str) -> ReadPage | None:
        task = self._pages.get(url)
        return task.result() if task is not None and task.done() and not task.cancelled() else None

    def _note(self, url: str, known: Reached) -> None:
        """What says something outweighs what says nothing, and a page that was read one that did not answer in time."""
        if known.reachable is not None and not self.reached.get(url, Reached()).reachable:
            self.reached[url] = known

    def _left(self) -> float:
        return max(0.0, self._deadline - asyncio.get_running_loop().time())


def shared_out(pages: Sequence[ReadPage], max_chars: int) -> list[ReadPage]:
    """The pages cut so that together they have at most `max_chars` characters (0: any number).

    Short ones are given whole, and what they leave goes to the longer ones in equal parts.
    """
    room = max_chars
    allowed: dict[int, int] = {}
    for left, index in enumerate(sorted(range(len(pages)), key=lambda index: len(pages[index].content))):
        share = room // (len(pages) - left)
        allowed[index] = min(share, len(pages[index].content))
        room -= allowed[index]
    return [_cut(page, allowed[index] if max_chars else 0, max_chars) for index, page in enumerate(pages)]


def _cut(page: ReadPage, allowed: int, max_chars: int) -> ReadPage:
    length = len(page.content)
    if max_chars and not allowed:
        return replace(page, content="", content_length=length, truncated=length > 0)
    part = cut(page.content, max_chars=allowed, offset=0)
    return replace(page, content=part.content, content_length=length, truncated=part.truncated)


async def _end(tasks: Iterable[asyncio.Task[object]]) -> None:
    waiting = [task for task in tasks if not task.done()]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
