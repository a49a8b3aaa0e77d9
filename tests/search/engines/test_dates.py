"""Dates as engines write them."""

import pytest

from search.engines.dates import date_of, without_date
from tests.search.engines.reading import NOW


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025年9月29日 - ", "2025-09-29"),
        ("2025-9-2", "2025-09-02"),
        ("2025/09/29 10:11", "2025-09-29"),
        ("2025-09-29T10:11:12.000Z", "2025-09-29"),
        ("Sep 29, 2025", "2025-09-29"),
        ("On September 29th, 2025,", "2025-09-29"),
        ("29 Sept. 2025", "2025-09-29"),
        ("9/29/2025", "2025-09-29"),
        ("2025. 9. 29.", "2025-09-29"),
        ("11月29日", "2026-11-29"),
        ("12月24日", "2025-12-24"),
        ("3 days ago", "2026-11-27"),
        ("an hour ago", "2026-11-30"),
        ("13 hours ago", "2026-11-29"),
        ("2 weeks ago", "2026-11-16"),
        ("2小时前", "2026-11-30"),
        ("5 天之前", "2026-11-25"),
        ("3个月前", "2026-09-01"),
        ("30分钟前", "2026-11-30"),
        ("1年前", "2025-11-30"),
        ("3日前", "2026-11-27"),
        ("3일 전", "2026-11-27"),
        ("昨天 12:30", "2026-11-29"),
        ("前天", "2026-11-28"),
        ("Yesterday", "2026-11-29"),
        ("2025-13-40", None),
        ("30 ways to cook", None),
        ("v2025-09-29", None),
        ("9999 years ago", "1926-12-25"),
        ("", None),
        ("2025-09-29" * 20, None),
    ],
)
def test_a_date_is_read_in_every_form(text: str, day: str | None) -> None:
    """Relative ones count from a given moment; a day without a year is the last such one."""
    assert date_of(text, NOW) == day


@pytest.mark.parametrize(
    ("snippet", "day", "rest"),
    [
        ("Jul 12, 2025 · Text", "2025-07-12", "Text"),
        ("3 days ago — Text", "2026-11-27", "Text"),
        ("2025年7月12日 - 文字", "2025-07-12", "文字"),
        ("2025-07-12", "2025-07-12", ""),
        ("2025-07-12-report is ready", None, "2025-07-12-report is ready"),
        ("Jul 12, 2025 was a day", None, "Jul 12, 2025 was a day"),
        ("Today we cook", None, "Today we cook"),
    ],
)
def test_a_date_is_taken_from_a_snippet_only_where_it_is_set_off(snippet: str, day: str | None, rest: str) -> None:
    """A sentence that begins with a date stays whole."""
    assert without_date(snippet, NOW) == (day, rest)
