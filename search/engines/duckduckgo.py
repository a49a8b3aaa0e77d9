"""DuckDuckGo's page for browsers without scripts. Its results are Bing's, so it is asked only by name."""

from typing import Final

import httpx

from search.engines.market import market_of, words
from search.engines.scraper import Scraper
from search.query import Query
from stealth.headers import navigation_headers

_SAFE: Final = ("-2", "-1", "1")


class DuckDuckGo(Scraper):
    """html.duckduckgo.com, asked as its own form asks."""

    name = "duckduckgo"
    weight = 70
    index = "bing"
    base = "https://html.duckduckgo.com/"
    hosts = ("duckduckgo.com",)
    own = ("duckduckgo.com", "html.duckduckgo.com", "www.duckduckgo.com")

    def request(self, query: Query) -> httpx.Request:
        """Region, time range and safe search are fields of it; it gives ten results."""
        market = market_of(query)
        form = {
            "q": words(query, "OR"),
            "b": "",
            "kl": f"{market.region.lower()}-{market.language}",
            "df": query.time_range[0] if query.time_range is not None else "",
            "kp": "" if query.safesearch is None else _SAFE[query.safesearch],
        }
        url = f"{self.base}html/"
        language = self.visitor.accept_language(market.languages)
        headers = navigation_headers(self.visitor, language, url, referer=self.base)
        return httpx.Request("POST", url, data=form, headers=headers)
