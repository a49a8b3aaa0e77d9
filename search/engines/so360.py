"""360 (so.com). Its links are opaque redirects, but most name the real address beside it."""

from typing import Final

import httpx
from selectolax.lexbor import LexborNode

from search.engine import Answer
from search.engines.market import Market, words
from search.engines.scraper import Scraper
from search.query import Query, TimeRange
from search.redirects import web_address
from search.selectors import Selectors

_CHINA = Market("zh", "CN")
_FRESH: Final[dict[TimeRange, str]] = {"day": "d", "week": "w", "month": "m", "year": "y"}
_NAMED: Final = ("data-mdurl", "data-replaceurl", "data-url")  # newest first; the last was used until 2018


class So360(Scraper):
    """www.so.com, which was haosou.com for a year. Its first answer may only set the cookie that it wants to see."""

    name = "so360"
    weight = 75
    index = "so360"
    base = "https://www.so.com/"
    hosts = ("so.com", "haosou.com")
    own = (
        "so.com",
        "www.so.com",
        "m.so.com",
        "ai.so.com",
        "e.so.com",
        "e.360.cn",
        "fanyi.so.com",
        "image.so.com",
        "ditu.so.com",
        "map.so.com",
        "news.so.com",
        "video.so.com",
        "www.haosou.com",
    )
    walls = ("qcaptcha.so.com/", "www.so.com/captcha", "www.so.com/error")
    cookie_first = True

    def request(self, query: Query) -> httpx.Request:
        """Ten results to a page; there is no way to ask for more."""
        parameters: dict[str, str | int | None] = {
            "ie": "utf-8",
            "q": words(query),
            "adv_t": None if query.time_range is None else _FRESH[query.time_range],
        }
        return self.get("s", parameters, _CHINA)

    def parse(self, response: httpx.Response, selectors: Selectors) -> Answer:
        """Read a page of results. An empty one is what visitors get who are not trusted, many from abroad."""
        if response.is_success and not response.content.strip():
            return self.blocked("gave an empty page, as it does to visitors that it does not trust")
        return super().parse(response, selectors)

    def address(self, card: LexborNode, link: LexborNode) -> str | None:
        """What the link names as its address, where it is one; else the redirect."""
        named = (web_address(link.attributes.get(name)) for name in _NAMED)
        return next((url for url in named if url is not None), None) or super().address(card, link)
