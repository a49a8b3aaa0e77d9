"""Results as a Markdown list of links, for people and models."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, Protocol
from urllib.parse import quote

from search.normalise import host_of, site

MAX_CHARS: Final = 20_000
_MAX_TITLE = 200
_MAX_SNIPPET = 400
_MAX_URL = 2000

_BLANKS = re.compile(r"\s+")
# What can begin something inside a line of Markdown or GFM; links without marks (`https:`, `www.`) as well
_INLINE = re.compile(r"[\\`*_\[\]<>~|&]|(?<=http)(?=:)|(?<=https)(?=:)|(?<=ftp)(?=:)|(?<=www)(?=\.)", re.IGNORECASE)
_BLOCK = re.compile(r"[-+=#:]|\d{1,9}(?=[.)])")
_IN_ADDRESS = "!#$%&'*+,/:;=?@-._~"  # kept in a link's address; brackets and parentheses are escaped
_JOINERS = "\u200c\u200d"  # which scripts and emoji need


class Line(Protocol):
    """A result, as far as the list shows it."""

    @property
    def title(self) -> str:
        """Its title, as its engines give it."""
        ...

    @property
    def url(self) -> str:
        """Its address."""
        ...

    @property
    def snippet(self) -> str:
        """What they say of it."""
        ...

    @property
    def engines(self) -> Sequence[str]:
        """Who found it."""
        ...

    @property
    def published(self) -> str | None:
        """Its date, where one is known."""
        ...


def formatted(results: Iterable[Line], max_chars: int = MAX_CHARS) -> str:
    """A numbered list: title as a link, then host, date and engines, then the snippet. At most `max_chars` characters.

    Texts are shown as they are written: nothing in them can end the link or the item, begin a block, or become a link,
    markup or HTML of its own. Results that do not fit are counted in a last line.
    """
    items = [_item(number, result) for number, result in enumerate(results, 1)]
    kept: list[str] = []
    room = max_chars
    for item in items:
        more = _more(len(items) - len(kept) - 1)
        if len(item) + 1 + len(more) > room:
            break
        kept.append(item)
        room -= len(item) + 1
    left = _more(len(items) - len(kept))
    return "\n".join([*kept, left] if left else kept)[:max_chars]


def _more(count: int) -> str:
    return f"… and {count} more" if count else ""


def _item(number: int, result: Line) -> str:
    host = site(host_of(result.url))
    title = _inline(result.title, _MAX_TITLE) or _inline(host, _MAX_TITLE) or "Untitled"
    address = _address(result.url) if host else ""
    head = f"{number}. [{title}]({address})" if address else f"{number}. {_guarded(title)}"
    about = [host, result.published or "", ", ".join(result.engines)]
    lines = [
        head,
        " · ".join(_inline(part, _MAX_TITLE) for part in about if part),
        _inline(result.snippet, _MAX_SNIPPET),
    ]
    indent = " " * (len(str(number)) + 2)
    return f"\n{indent}".join(line if at == 0 else _guarded(line) for at, line in enumerate(lines) if line)


def _address(url: str) -> str:
    """The address for a link's parentheses; an empty string where it is too long to be shown."""
    if len(url) > _MAX_URL:
        return ""
    clean = quote(_clean(url).replace(" ", "%20"), safe=_IN_ADDRESS)
    return clean if len(clean) <= _MAX_URL else ""


def _inline(text: str, limit: int) -> str:
    """A text on one line, cut to `limit` characters, in which nothing means anything to Markdown."""
    plain = _clean(text[: 4 * limit])
    short = plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"
    return _INLINE.sub(lambda match: "\\" + match[0], short)


def _guarded(line: str) -> str:
    """The line with its beginning made plain, where that would begin a block."""
    match = _BLOCK.match(line)
    if match is None:
        return line
    return f"{match[0]}\\{line[match.end() :]}" if match[0].isdigit() else f"\\{line}"


def _clean(text: str) -> str:
    """Without control, invisible and direction-changing characters and halves of surrogate pairs."""
    spaced = _BLANKS.sub(" ", text)
    return "".join(
        sign for sign in spaced if sign in _JOINERS or unicodedata.category(sign) not in {"Cc", "Cf", "Cs", "Co"}
    ).strip()
