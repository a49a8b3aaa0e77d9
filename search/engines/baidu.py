"""Baidu. It is asked for JSON first (`tn=json`): there the addresses are the real ones. Its page is the other way.

On the page most cards name their address in `mu`; the redirects of the others are opaque.
"""

import html
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import httpx
from selectolax.lexbor import LexborNode

from search.engine import Answer, Hit
from search.engines.dates import without_date
from search.engines.market import Market, words
from search.engines.scraper import SNIPPET, TITLE, Scraper, html_of
from search.engines.text import one_line
from search.query import Query, TimeRange
from search.redirects import is_wrapper, web_address
from search.selectors import Selectors

_CHINA = Market("zh", "CN")
_CHINA_TIME = timezone(timedelta(hours=8))
_DAYS: Final[dict[TimeRange, int]] = {"day": 1, "week": 7, "month": 30, "year": 365}
_MARKED = re.compile(r"</?(?:em|b|strong|font|i|span)\b[^<>]*>", re.IGNORECASE)
_LATEST = 4_102_444_800  # 2100; numbers beyond it are no times in seconds


class Baidu(Scraper):
    """www.baidu.com."""

    name = "baidu"
    weight = 80
    index = "baidu"
    base = "https://www.baidu.com/"
    hosts = ("baidu.com",)
    own = (
        "baidu.com",
        "www.baidu.com",
        "m.baidu.com",
        "e.baidu.com",
        "fanyi.baidu.com",
        "image.baidu.com",
        "map.baidu.com",
        "nourl.ubs.baidu.com",
        "pos.baidu.com",
        "recommend_list.baidu.com",
        "sv.baidu.com",
        "top.baidu.com",
        "v.baidu.com",
    )
    walls = ("wappass.baidu.com/", "verify.baidu.com/", "www.baidu.com/static/captcha")

    def request(self, query: Query) -> httpx.Request:
        """For JSON."""
        return self._request(query, "json")

    def fallback(self, query: Query) -> httpx.Request:
        """For the page."""
        return self._request(query, None)

    def parse(self, response: httpx.Response, selectors: Selectors) -> Answer:
        """Read either: it is JSON if it begins like it, whatever its type is said to be."""
        refused = self.refused(response)
        if refused is not None:
            return refused
        text = html_of(response)
        return self._read_json(text) if text.lstrip("\ufeff \r\n\t")[:1] in {"{", "["} else self.read(text, selectors)

    def address(self, card: LexborNode, link: LexborNode) -> str | None:
        """What the card names as its address, where it is one; else the redirect."""
        for named in (card.attributes.get("mu"), card.attributes.get("data-url"), link.attributes.get("data-landurl")):
            url = web_address(named)
            if url is not None and "//nourl." not in url:
                return url
        return super().address(card, link)

    def _request(self, query: Query, form: str | None) -> httpx.Request:
        parameters: dict[str, str | int | None] = {
            "wd": words(query, "|"),
            "rn": max(10, min(query.count, 50)),
            "ie": "utf-8",
            "tn": form,
            "gpc": self._period(query.time_range),
        }
        return self.get("s", parameters, _CHINA)

    def _period(self, time_range: TimeRange | None) -> str | None:
        if time_range is None:
            return None
        now = int(self.now().timestamp())
        return f"stf={now - _DAYS[time_range] * 86_400},{now}|stftype=1"

    def _read_json(self, text: str) -> Answer:
        try:
            data = json.loads(text.lstrip("\ufeff"), strict=False)
        except (ValueError, RecursionError) as fault:
            return self.unreadable(f"its JSON is broken ({str(fault)[:100]})")
        feed = data.get("feed") if isinstance(data, dict) else None
        if any(isinstance(each, dict) and str(each.get("antiFlag")) == "1" for each in (data, feed)):
            return self.blocked("takes us for a robot")
        entries = feed.get("entry") if isinstance(feed, dict) else None
        if not isinstance(entries, list):
            return self.unreadable("its JSON has no list of results")
        hits = tuple(self._hits(entries))
        if hits:
            return Answer(self.name, "ok", hits)
        return self.unreadable("its JSON has results without addresses") if any(entries) else Answer(self.name, "empty")

    def _hits(self, entries: Iterable[object]) -> Iterable[Hit]:
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            title, snippet = _plain(entry.get("title"), TITLE), _plain(entry.get("abs"), SNIPPET)
            written = entry.get("url")
            url = self.target(html.unescape(written)) if title and isinstance(written, str) else None
            if url is not None:
                leading, snippet = without_date(snippet, self.now())
                yield Hit(title, url, snippet, _moment(entry.get("time")) or leading, is_wrapper(url))


def _plain(value: object, longest: int) -> str:
    return one_line(html.unescape(_MARKED.sub("", value[: longest * 4])), longest) if isinstance(value, str) else ""


def _moment(value: object) -> str | None:
    """The day, in China, of a time in seconds since 1970."""
    text = str(value)
    if not re.fullmatch(r"[1-9][0-9]{0,9}", text) or int(text) > _LATEST:
        return None
    return datetime.fromtimestamp(int(text), UTC).astimezone(_CHINA_TIME).date().isoformat()
