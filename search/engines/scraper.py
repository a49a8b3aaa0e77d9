"""What all scraping engines have in common: reading a page of results by selectors, and telling why there are none.

Results decide: where there are any, nothing else on the page counts. Their pages hold the words of captchas and of "no
results" in scripts and texts, so only the structure says what a page without results is.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetch.charset import decode
from fetch.http_dates import retry_after
from fetch.tame import tame
from search.engine import Answer, Hit
from search.engines.dates import Clock, date_of, utc_now, without_date
from search.engines.market import Market
from search.engines.text import one_line, text_of
from search.query import Query
from search.redirects import is_wrapper, unwrapped, web_address
from search.selectors import Selectors
from search.visitor import VERSION, chrome
from stealth.headers import navigation_headers
from stealth.identity import Identity

READ: Final = 4 << 20
"""Bytes of a page that are read. Pages of results have 0.1 to 1.5 MiB; parsing more would hold the event loop."""

TITLE: Final = 500
SNIPPET: Final = 2000
"""Characters of a title and of a snippet at most."""

_CARDS = 100  # on one page; engines show 50 at most
_NODES = 5000  # that are compared with each other
_DATES = 10  # elements of one card in which a date is looked for
_SEPARATORS = " ·•‧|-–—"  # left before a snippet whose date stood in an element of its own
_CITE = 200  # characters of a line with site and date
_REFUSALS = frozenset({202, 403, 429, 503})


class Scraper(ABC):
    """An engine whose page is read with selectors. A new one names itself and says how to ask it: `request`.

    `base` is where its relative links start. `own` are hosts of its own pages, which are no results: its searches,
    its translator, its advertisements; addresses that begin like one of `walls` (`host/path`) are its captchas. It is
    asked as `browser`, in the version of Chromium that is given; `now` tells the time for dates like "2 days ago".
    """

    name: str
    weight: int
    index: str
    base: str
    hosts: tuple[str, ...]
    own: tuple[str, ...] = ()
    walls: tuple[str, ...] = ()
    cookie_first: bool = False

    def __init__(self, version: str = VERSION, now: Clock = utc_now) -> None:
        self.visitor = self.browser(version)
        self.now = now

    def __repr__(self) -> str:
        return f"<{type(self).__name__} as {self.visitor.name} {self.visitor.version}>"

    @staticmethod
    def browser(version: str) -> Identity:
        """The browser that it is asked with."""
        return chrome(version)

    @abstractmethod
    def request(self, query: Query) -> httpx.Request:
        """The request for one page of results."""

    def fallback(self, query: Query) -> httpx.Request | None:
        """Most engines can be asked in one way only."""
        return None

    def get(self, path: str, parameters: dict[str, str | int | None], market: Market) -> httpx.Request:
        """A navigation of the visitor to a page of the engine; parameters that are None are left out."""
        given = {name: str(value) for name, value in parameters.items() if value is not None}
        url = str(httpx.URL(self.base).join(path).copy_with(params=given))
        language = self.visitor.accept_language(market.languages)
        return httpx.Request("GET", url, headers=navigation_headers(self.visitor, language, url))

    def parse(self, response: httpx.Response, selectors: Selectors) -> Answer:
        """Read a page of results. Raises nothing, whatever came."""
        return self.refused(response) or self.read(html_of(response), selectors)

    def refused(self, response: httpx.Response) -> Answer | None:
        """What the status alone says; None where the page must be looked at."""
        status = response.status_code
        here = _address(response) or self.base
        target = web_address(response.headers["location"], here) if response.has_redirect_location else None
        if self.is_wall(target or here):
            return self.blocked("leads to a captcha")
        if target is not None:
            return Answer(self.name, "error", error=f"{self.name} redirects to {urlsplit(target).hostname}.")
        if status in _REFUSALS:
            return self.blocked(f"answered with status {status}", retry_after(response.headers))
        if not response.is_success:
            return Answer(self.name, "error", error=f"{self.name} answered with status {status}.")
        return None

    def blocked(self, what: str, wait_s: float | None = None) -> Answer:
        """The answer that this engine takes us for a robot; `what` it did goes on from its name."""
        return Answer(self.name, "blocked", error=f"{self.name} {what}.", retry_after_s=wait_s)

    def unreadable(self, why: str) -> Answer:
        """The answer that the page is not what is known; `why` is the end of the sentence."""
        return Answer(self.name, "unreadable", error=f"The page of {self.name} cannot be read: {why}.")

    def is_wall(self, url: str) -> bool:
        """Whether the address is one of the engine's captchas."""
        place = url.partition("://")[2].lower()
        return any(place.startswith(wall) for wall in self.walls)

    def read(self, html: str, selectors: Selectors) -> Answer:
        """The results of a page, or why it has none."""
        if not html.strip("\x00 \r\n\t"):
            return self.unreadable("it is empty")
        tree = LexborHTMLParser(tame(html))
        _remove(tree, selectors.drop)
        for selector in selectors.cards:
            cards = _outermost(tree.css(selector))[:_CARDS]
            hits = tuple(hit for card in cards if (hit := self._hit(card, selectors)) is not None)
            if hits:
                return Answer(self.name, "ok", hits)
        title = tree.css_first("title")
        named = "" if title is None else text_of(title, TITLE)
        if any(sign in named for sign in selectors.blocked_titles) or _any(tree, selectors.blocked):
            return self.blocked("shows a captcha instead of results")
        if _any(tree, selectors.empty):
            return Answer(self.name, "empty")
        return self.unreadable("there are neither results nor a word that there are none; it may have changed")

    def address(self, card: LexborNode, link: LexborNode) -> str | None:
        """Where a result is, as it is written in its card: by default where its title links to.

        `link` is what the title was found in: the link itself, an element around it, or one within it.
        """
        place = link if link.tag == "a" else link.css_first("a[href]") or link
        while place.tag != "a" and place.mem_id != card.mem_id and place.parent is not None:
            place = place.parent
        return place.attributes.get("href")

    def target(self, written: str | None) -> str | None:
        """The address of a result, redirects that carry it undone; None where it is the engine's own, or none."""
        url = web_address(written, self.base)
        url = None if url is None else unwrapped(url)
        if url is None or (not is_wrapper(url) and urlsplit(url).hostname in self.own):
            return None
        return url

    def _hit(self, card: LexborNode, selectors: Selectors) -> Hit | None:
        for link in _all(card, selectors.title):
            title = text_of(link, TITLE) or one_line(link.attributes.get("aria-label") or "", TITLE)
            if not title:
                continue
            url = self.target(self.address(card, link))
            if url is None:
                return None
            published, snippet = self._said(card, selectors)
            return Hit(title, url, snippet, published, is_wrapper(url))
        return None

    def _said(self, card: LexborNode, selectors: Selectors) -> tuple[str | None, str]:
        """The date and the snippet of a card."""
        now = self.now()
        published = None
        for node in islice(_all(card, selectors.date), _DATES):
            text = text_of(node, _CITE)
            published = _day_in(text, now)
            if published is not None:
                if date_of(text, now) is not None:
                    node.decompose()
                break
        _remove(card, selectors.noise)
        for node in _all(card, selectors.snippet):
            leading, snippet = without_date(text_of(node, SNIPPET).lstrip(_SEPARATORS if published else ""), now)
            if snippet:
                return published or leading, snippet
        return published, ""


def html_of(response: httpx.Response) -> str:
    """The text of the answer, as far as it is read, in the encoding that it declares or seems to have."""
    return decode(response.content[:READ], response.charset_encoding)[0]


def _address(response: httpx.Response) -> str:
    try:
        return str(response.url)
    except RuntimeError:  # a saved page, which nobody asked for
        return ""


def _day_in(text: str, now: datetime) -> str | None:
    """The date of a line like `example.com - 2018-3-4`, which is its last part or last word."""
    parts = (text, text.rpartition(" - ")[2], text.rpartition(" ")[2])
    return next((day for part in parts if (day := date_of(part, now)) is not None), None)


def _all(place: LexborHTMLParser | LexborNode, selectors: Iterable[str]) -> Iterator[LexborNode]:
    return (node for selector in selectors for node in place.css(selector))


def _any(tree: LexborHTMLParser, selectors: Iterable[str]) -> bool:
    return any(tree.css_first(selector) is not None for selector in selectors)


def _outermost(nodes: Iterable[LexborNode]) -> tuple[LexborNode, ...]:
    """Each once, without those that lie in another of them."""
    found: dict[int, LexborNode] = {}
    for node in islice(nodes, _NODES):
        place: LexborNode | None = node
        while place is not None and place.mem_id not in found:
            place = place.parent
        if place is None:
            found[node.mem_id] = node
    return tuple(found.values())


def _remove(place: LexborHTMLParser | LexborNode, selectors: Iterable[str]) -> None:
    if selectors:  # outermost ones alone: what lies in them goes with them, and must not be touched again
        for node in _outermost(place.css(", ".join(selectors))):
            node.decompose()
