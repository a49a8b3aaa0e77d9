"""What is searched for, in words that every engine's own parameters are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

TimeRange = Literal["day", "week", "month", "year"]

_SPELLINGS: Final[Mapping[TimeRange, tuple[str, ...]]] = {
    "day": ("day", "d", "1d", "一天"),
    "week": ("week", "w", "1w", "一周"),
    "month": ("month", "m", "1m", "一月"),
    "year": ("year", "y", "1y", "一年"),
}


def time_range_of(written: str) -> TimeRange | None:
    """The time range that is meant by a name or one of its other spellings; None for any other word."""
    word = written.strip().lower()
    return next((name for name, spellings in _SPELLINGS.items() if word in spellings), None)


@dataclass(frozen=True, slots=True)
class Query:
    """One search.

    `count`: results wanted of each engine; `language`: a BCP 47 tag (`en-US`, `zh-CN`); `safesearch`: 0 off, 1
    moderate, 2 strict; `depth` is Tavily's. Domains are lower case without a scheme and include their subdomains.
    """

    text: str
    count: int = 30
    time_range: TimeRange | None = None
    language: str | None = None
    safesearch: Literal[0, 1, 2] | None = None
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    depth: Literal["basic", "advanced"] = "basic"
