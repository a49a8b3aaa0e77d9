"""Search engines do not link to their results but to redirects of their own. Many carry the target; it is read here.

Bing: `ck/a?…&u=a1` and base64url without padding; DuckDuckGo: `l/?uddg=`; Yahoo: `/RU=…/RK=`; Google: `url?q=`; 360
before 2016: `link?url=`. The redirects of Baidu, Sogou and 360 today are opaque: only a request tells where they lead.
"""

import base64
import binascii
import re
from urllib.parse import SplitResult, parse_qs, unquote, urljoin, urlsplit

from fetch.address import MAX_LENGTH

_UNWRITABLE = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff\ufffd]")
_YAHOO = re.compile(r"/RU=([^/]+)/R[KOS]=")
_GOOGLE = re.compile(r"(?:^|\.)google\.[a-z.]{2,6}$")
_SCHEMES = {"a1": "https://", "a0": "http://"}
_NESTED = 3  # redirects inside each other that are read; more are somebody's joke


def web_address(text: str | None, base: str | None = None) -> str | None:
    """The http or https address that is meant, joined to `base` where it is relative; None when it is none."""
    whole = (text or "").strip()
    if not whole:
        return None
    try:
        if base is not None:
            whole = urljoin(base, whole)
        parts = urlsplit(whole)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - reading it raises ValueError for a port that is none
    except ValueError:
        return None
    unfit = not host.strip(".") or len(whole) > MAX_LENGTH or _UNWRITABLE.search(whole) is not None
    return None if parts.scheme not in {"http", "https"} or unfit else whole


def unwrapped(url: str) -> str:
    """The address behind a redirect that carries it, else the address as it is.

    A target that is relative is one of the engine's own pages, and comes out as such.
    """
    for _ in range(_NESTED):
        target = _carried(url)
        whole = None if target is None else web_address(target, url)
        if whole is None or whole == url:
            return url
        url = whole
    return url


def is_wrapper(url: str) -> bool:
    """Whether this is an engine's redirect: one that is opaque, or whose target could not be read."""
    parts = _split(url)
    if parts is None:
        return False
    host, path = (parts.hostname or "").lower(), parts.path
    opaque = path == "/link" and bool(parts.query) and _is_of(host, "baidu.com", "sogou.com", "so.com", "haosou.com")
    return opaque or (path.startswith("/ck/a") and _is_of(host, "bing.com"))


def _carried(url: str) -> str | None:
    """What the redirect says that it leads to."""
    parts = _split(url)
    if parts is None:
        return None
    host, path = (parts.hostname or "").lower(), parts.path.rstrip("/")
    if path.startswith("/ck/a") and _is_of(host, "bing.com"):
        return _of_bing(_value(parts, "u"))
    if _is_of(host, "r.search.yahoo.com"):
        named = _YAHOO.search(url)
        return unquote(named[1]) if named else None
    names: tuple[str, ...] = ("q", "url") if path == "/url" and _GOOGLE.search(host) else ()
    names = ("uddg",) if path == "/l" and _is_of(host, "duckduckgo.com") else names
    names = ("url",) if path == "/link" and _is_of(host, "so.com", "haosou.com") else names
    return next((value for name in names if (value := _value(parts, name))), None)


def _of_bing(said: str | None) -> str | None:
    if not said or said[:2] not in _SCHEMES:
        return None
    coded = said[2:].rstrip("=")
    try:
        target = base64.b64decode(coded + "=" * (-len(coded) % 4), b"-_", validate=True).decode()
    except (binascii.Error, ValueError):  # ValueError: not UTF-8, or not ASCII before decoding
        return None
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d)", target) or target.startswith("/"):
        return target
    return _SCHEMES[said[:2]] + target


def _value(parts: SplitResult, name: str) -> str | None:
    try:
        return parse_qs(parts.query, max_num_fields=200).get(name, [None])[0]
    except ValueError:
        return None


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _is_of(host: str, *domains: str) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
