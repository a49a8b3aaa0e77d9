"""The dates that engines put beside results or before their snippets, in the ways of English, Chinese and others."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]

LONGEST: Final = 40
"""Characters that a date takes at most; longer texts are not looked at."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_CLOCK = r"(?:[T\s,]*\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[AaPp][Mm]|Z|[+-]\d{2}:?\d{2})?)?"
_YEAR = r"((?:19|20)\d{2})"
_ABSOLUTE = (
    (re.compile(rf"{_YEAR}\s?[-/.年년]\s?(\d{{1,2}})\s?[-/.月월]\s?(\d{{1,2}})(?!\d)\s?[日号일.]?{_CLOCK}"), "ymd"),
    (re.compile(rf"(?:on )?{_MONTH} (\d{{1,2}})(?:st|[nr]d|th)?,? {_YEAR}{_CLOCK}", re.IGNORECASE), "mdy"),
    (re.compile(rf"(?:on )?(\d{{1,2}})(?:st|[nr]d|th)?\.? {_MONTH},? {_YEAR}{_CLOCK}", re.IGNORECASE), "dmy"),
    (re.compile(rf"(\d{{1,2}})/(\d{{1,2}})/{_YEAR}{_CLOCK}"), "mdy"),
    (re.compile(rf"(\d{{1,2}})月(\d{{1,2}})[日号]{_CLOCK}"), "md"),
)
_DAYS = {
    "second": 0, "sec": 0, "minute": 0, "min": 0, "hour": 0, "hr": 0, "day": 1, "week": 7, "month": 30, "year": 365,
    "秒": 0, "分": 0, "时": 0, "時": 0, "天": 1, "日": 1, "周": 7, "週": 7, "星": 7, "月": 30, "年": 365,
    "초": 0, "분": 0, "시": 0, "일": 1, "주": 7, "개": 30, "년": 365,
}  # fmt: skip
_AGO = re.compile(
    r"(\d{1,4}|an?|one) ?(second|sec|minute|min|hour|hr|day|week|month|year)s?\.? ago"
    r"|(\d{1,4}) ?个?(?:多)?(秒|分|小?[时時]|天|日|周|週|星期|月|年)[钟鐘間間]?(?:间)?(?:之前|以前|前)"
    r"|(\d{1,4}) ?(초|분|시간|일|주|개월|년) ?전",
    re.IGNORECASE,
)
_HOURS = re.compile(r"(?:hour|hr|小?[时時]|시)", re.IGNORECASE)
_NAMED = {
    "yesterday": 1, "today": 0, "just now": 0, "昨天": 1, "昨日": 1, "前天": 2, "今天": 0, "今日": 0, "刚刚": 0,
    "어제": 1, "오늘": 0,
}  # fmt: skip
_NAMED_DAY = re.compile(rf"({'|'.join(_NAMED)}){_CLOCK}", re.IGNORECASE)
# What stands between a date and the snippet behind it. A hyphen needs a blank, else it is part of a word
_BREAK = re.compile(r"\s*(?:[·•‧∙—–|]+|\.\.\.|…|-(?=\s)|-$)\s*|$")
_EDGES = " \t\r\n\xa0-–—·•|,，。;:()（）[]【】"


def date_of(text: str, now: datetime) -> str | None:
    """The day that a text names which is nothing but a date, as `2026-11-30`; None for any other text."""
    text = text.strip(_EDGES)
    if not text or len(text) > LONGEST:
        return None
    found = _leading(text, now)
    return found[0] if found is not None and found[1] == len(text) else None


def without_date(snippet: str, now: datetime) -> tuple[str | None, str]:
    """The date that a snippet begins with, set off by a dash or a dot, and the rest of the snippet."""
    found = _leading(snippet, now)
    if found is None:
        return None, snippet
    end = _BREAK.match(snippet, found[1])
    return (None, snippet) if end is None else (found[0], snippet[end.end() :])


def utc_now() -> datetime:
    """The time, as engines' clocks have it."""
    return datetime.now(UTC)


def _leading(text: str, now: datetime) -> tuple[str, int] | None:
    """The day named at the beginning, and where the naming ends."""
    for pattern, order in _ABSOLUTE:
        found = pattern.match(text)
        if found is not None:
            day = _day(dict(zip(order, found.groups(), strict=True)), now)
            return None if day is None else (day.isoformat(), found.end())
    found = _NAMED_DAY.match(text)
    if found is not None:
        return _before(now, _NAMED[found[1].lower()]), found.end()
    found = _AGO.match(text)
    if found is None:
        return None
    count, unit = (each for each in found.groups() if each is not None)
    number = int(count) if count.isdecimal() else 1
    if _HOURS.match(unit):
        return _before(now, 0, number), found.end()
    return _before(
        now, number * next(days for name, days in _DAYS.items() if unit.lower().startswith(name))
    ), found.end()


def _day(parts: dict[str, str], now: datetime) -> date | None:
    month = parts["m"].lower()[:3]
    try:
        number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
        day = date(int(parts.get("y", now.year)), number, int(parts["d"]))
        if "y" not in parts and day > now.date():
            day = day.replace(year=day.year - 1)
    except ValueError:
        return None
    return day


def _before(now: datetime, days: int, hours: int = 0) -> str:
    return (now - timedelta(days=min(days, 36_500), hours=hours)).date().isoformat()
