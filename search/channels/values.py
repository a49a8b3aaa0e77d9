"""Reading JSON that may hold anything: every function takes any value and gives one of the type that it names."""

import html
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from search import redirects

TITLE: Final = 300  # characters; longer ones are text that got into the wrong field
SNIPPET: Final = 1000

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INLINE_TAG = re.compile(r"</?(?:strong|b|em|i|mark|br)\s*/?>", re.IGNORECASE)
_NAMED_DAYS = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%A, %B %d, %Y", "%Y/%m/%d")


def line(value: object, most: int = SNIPPET) -> str:
    """The text in one line, without control characters and halves of surrogate pairs; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    text = " ".join(_CONTROL.sub(" ", value[: 4 * most]).split())
    return (text if len(text) <= most else f"{text[: most - 1].rstrip()}…").encode("utf-8", "replace").decode()


def unmarked(value: object, most: int = SNIPPET) -> str:
    """`line` of a text that may hold entities and tags that mark words."""
    return line(html.unescape(_INLINE_TAG.sub("", value[: 8 * most])), most) if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """The JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object, most: int = 1000) -> list[object]:
    """The first of a JSON array; none for anything else."""
    return value[:most] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """The finite number; None for anything else, booleans too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def web_address(value: object) -> str:
    """The address of a page, http or https with a host; "" for anything else."""
    return (redirects.web_address(value) if isinstance(value, str) else None) or ""


def moment(value: object) -> str | None:
    """A date, or date and time, in ISO 8601, from that, RFC 2822 or a date in English words; None for anything else.

    Midnight without a time zone is how APIs write a day: it becomes that.
    """
    text = line(value, 60)
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return _named_day(text) or _of_mail(text)
    if len(text) == 10 or (read.tzinfo is None and (read.hour, read.minute, read.second) == (0, 0, 0)):
        return read.date().isoformat()
    return read.isoformat(timespec="seconds")


def joined(parts: Iterable[str], most: int = SNIPPET) -> str:
    """Excerpts of one page in one line; those are left out that another before them holds."""
    kept: list[str] = []
    for part in filter(None, parts):
        if not any(part in before for before in kept):
            kept.append(part)
    return line(" … ".join(kept), most)


def _of_mail(text: str) -> str | None:
    try:
        return parsedate_to_datetime(text).isoformat(timespec="seconds")
    except (ValueError, TypeError, OverflowError):
        return None


def _named_day(text: str) -> str | None:
    for form in _NAMED_DAYS:
        try:
            return _day(text, form).isoformat()
        except ValueError:
            continue
    return None


def _day(text: str, form: str) -> date:
    return datetime.strptime(text, form).date()  # noqa: DTZ007 -- a day has no time zone
