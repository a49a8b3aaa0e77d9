"""For which country and in which language a query is asked."""

import re
from dataclasses import dataclass
from typing import Final

from search.query import Query

# Where a language alone is given: the largest market of an engine that speaks it
_REGIONS: Final = {
    "ar": "SA", "bg": "BG", "cs": "CZ", "da": "DK", "de": "DE", "el": "GR", "en": "US", "es": "ES", "et": "EE",
    "fa": "IR", "fi": "FI", "fr": "FR", "he": "IL", "hi": "IN", "hr": "HR", "hu": "HU", "id": "ID", "it": "IT",
    "ja": "JP", "ko": "KR", "lt": "LT", "lv": "LV", "ms": "MY", "nb": "NO", "nl": "NL", "no": "NO", "pl": "PL",
    "pt": "BR", "ro": "RO", "ru": "RU", "sk": "SK", "sl": "SI", "sv": "SE", "th": "TH", "tr": "TR", "uk": "UA",
    "vi": "VN", "zh": "CN",
}  # fmt: skip
_SCRIPTS: Final = {"hant": "TW", "hans": "CN"}
_LONGEST: Final = 1000  # characters of a query; engines read a part of that
_SITES: Final = 5  # domains asked for at most; engines ignore words beyond some thirty
_TAG = re.compile(r"([a-zA-Z]{2,3})(?:[-_]([a-zA-Z]{4}))?(?:[-_]([a-zA-Z]{2}))?(?:[-_].*)?")
_KANA = re.compile(r"[\u3040-\u30ff\uff66-\uff9d]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")


@dataclass(frozen=True, slots=True)
class Market:
    """A language and a country: `zh` and `CN`."""

    language: str
    region: str

    @property
    def tag(self) -> str:
        """As in `zh-CN`."""
        return f"{self.language}-{self.region}"

    @property
    def languages(self) -> tuple[str, ...]:
        """What a person there has in the settings of the browser, best first."""
        own = (self.tag, self.language)
        return own if self.language == "en" else (*own, "en-US", "en")


def market_of(query: Query) -> Market:
    """The market of the language that is given; else of the script that the query is written in.

    Engines answer Chinese queries without a market with results that have nothing to do with them.
    """
    tag = _TAG.fullmatch((query.language or "").strip())
    if tag is not None:
        language = tag[1].lower()
        region = tag[3] or _SCRIPTS.get((tag[2] or "").lower()) or _REGIONS.get(language)
        if region is not None:
            return Market(language, region.upper())
    if _KANA.search(query.text):
        return Market("ja", "JP")
    if _HANGUL.search(query.text):
        return Market("ko", "KR")
    return Market("zh", "CN") if _HAN.search(query.text) else Market("en", "US")


def words(query: Query, either: str | None = None) -> str:
    """What is typed into the search box: the query, held to the allowed domains where the engine understands that.

    `either` is the engine's word for "or" between `site:` terms; without one, only a single domain is asked for.
    """
    text = query.text[:_LONGEST].encode("utf-8", "replace").decode().replace("\x00", " ")
    sites = [f"site:{domain}" for domain in query.allowed_domains]
    if not sites or "site:" in text or len(sites) > (_SITES if either else 1):
        return text
    return f"{text} {sites[0]}" if len(sites) == 1 else f"{text} ({f' {either} '.join(sites)})"
