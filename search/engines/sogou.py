"""Sogou. Its links are opaque redirects, but most cards name the real address for its suggestions, in `data-url`."""

from typing import Final

import httpx
from selectolax.lexbor import LexborNode

from search.engines.market import Market, words
from search.engines.scraper import Scraper
from search.query import Query, TimeRange
from search.redirects import is_wrapper, web_address

_CHINA = Market("zh", "CN")
_RANGES: Final[tuple[TimeRange, ...]] = ("day", "week", "month", "year")
_COUNTER = "//mp.weixin.qq.com/count/"  # counts the readers of an article; no page


class Sogou(Scraper):
    """www.sogou.com."""

    name = "sogou"
    weight = 75
    index = "sogou"
    base = "https://www.sogou.com/"
    hosts = ("sogou.com",)
    own = (
        "sogou.com",
        "www.sogou.com",
        "m.sogou.com",
        "wap.sogou.com",
        "as.sogou.com",
        "fanyi.sogou.com",
        "map.sogou.com",
        "news.sogou.com",
        "pic.sogou.com",
        "v.sogou.com",
        "weixin.sogou.com",
        "zhihu.sogou.com",
    )
    walls = (
        "www.sogou.com/antispider",
        "sogou.com/antispider",
        "weixin.sogou.com/antispider",
        "m.sogou.com/antispider",
    )

    def request(self, query: Query) -> httpx.Request:
        """Ten results to a page; there is no way to ask for more."""
        parameters: dict[str, str | int | None] = {
            "query": words(query),
            "ie": "utf8",
        }
        if query.time_range is not None:
            source = f"inttime_{query.time_range}"
            parameters |= {"tsn": _RANGES.index(query.time_range) + 1, "sourceid": source, "s_from": source}
        return self.get("web", parameters, _CHINA)

    def address(self, card: LexborNode, link: LexborNode) -> str | None:
        """The link, unless it is a redirect and the card names the address as well."""
        written = super().address(card, link)
        whole = web_address(written, self.base)
        if whole is None or not is_wrapper(whole):
            return written
        for place in (card.css_first(".r-sech[data-url]"), card.css_first("[data-url]"), card):
            named = web_address(
                None if place is None else (place.attributes.get("data-url") or "").replace("&amp;", "&")
            )
            if named is not None and _COUNTER not in named:
                return named
        return written
