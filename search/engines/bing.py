"""Bing. Its redirects carry their target; its decoys (valid results that have nothing to do with the query) are judged
later. Without a market it answers Chinese queries with such decoys, so one is always named.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
from selectolax.lexbor import LexborNode

from search.engines.market import market_of, words
from search.engines.scraper import Scraper
from search.query import Query, TimeRange
from search.redirects import web_address
from search.visitor import edge
from stealth.identity import Identity

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FRESH: Final[dict[TimeRange, str]] = {"day": "ez1", "week": "ez2", "month": "ez3"}
_ADULT: Final = ("off", "moderate", "strict")
_YEAR = timedelta(days=365)


class Bing(Scraper):
    """www.bing.com, and cn.bing.com, to which it sends visitors from China."""

    name = "bing"
    weight = 90
    index = "bing"
    base = "https://www.bing.com/"
    hosts = ("bing.com",)
    own = ("bing.com", "www.bing.com", "cn.bing.com", "m.bing.com", "www2.bing.com", "th.bing.com", "r.bing.com")
    walls = ("www.bing.com/turing/", "cn.bing.com/turing/", "www.bing.com/captcha", "cn.bing.com/captcha")

    @staticmethod
    def browser(version: str) -> Identity:
        """Its maker's own."""
        return edge(version)

    def request(self, query: Query) -> httpx.Request:
        """More than ten results are asked for by number; fifty are the most."""
        market = market_of(query)
        parameters: dict[str, str | int | None] = {
            "q": words(query, "OR"),
            "form": "QBLH",
            "setmkt": market.tag,
            "mkt": market.tag,
            "setlang": market.language,
            "cc": market.region,
            "count": min(query.count, 50) if query.count > 10 else None,
            "adlt": None if query.safesearch is None else _ADULT[query.safesearch],
            "filters": self._filters(query.time_range),
        }
        return self.get("search", parameters, market)

    def address(self, card: LexborNode, link: LexborNode) -> str | None:
        """Of the title; where that is not a link, of the line with the site's name above it."""
        written = super().address(card, link)
        if web_address(written, self.base) is not None:
            return written
        site = card.css_first("a.tilk[href]")
        return None if site is None else site.attributes.get("href")

    def _filters(self, time_range: TimeRange | None) -> str | None:
        if time_range is None:
            return None
        today = self.now()
        days = [(moment - _EPOCH).days for moment in (today - _YEAR, today)]
        return f'ex1:"{_FRESH.get(time_range, f"ez5_{days[0]}_{days[1]}")}"'
