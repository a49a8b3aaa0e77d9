"""Points in time as HTTP writes them."""

import re
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz

LONGEST_S = 86_400.0

_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def http_date(text: str) -> float | None:
    """Seconds since 1970 for a date in any form in use (RFC 9110, 5.6.7, and cookies' own); None if it is none."""
    parsed = parsedate_tz(text)
    if parsed is None:
        return None
    try:
        return float(mktime_tz(parsed))
    except (ValueError, OverflowError):
        return None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """For how many seconds `Retry-After` asks to be left alone, at most a day; None where it does not, or not readably.

    `headers` have names in lower case; `now` is in seconds since 1970, for dates.
    """
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), LONGEST_S)
    until = http_date(text) if text else None
    if until is None:
        return None
    return min(max(0.0, until - (time.time() if now is None else now)), LONGEST_S)
