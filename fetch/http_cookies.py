"""The cookies of one call: set by the answers on the way, sent where they belong (RFC 6265, as browsers read it).

A jar lives no longer than a call, so the list of public suffixes, which guards sites against each other's cookies over
time, is not needed: the only sites in it are those that redirect to each other.
"""

import re
import time
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from fetch.http_dates import http_date
from fetch.page import Cookie
from stealth.headers import is_trustworthy

MAX_COOKIES = 180
MAX_BYTES = 4096  # of name and value together

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SECONDS = re.compile(r"-?[0-9]{1,12}")
_Key = tuple[str, str, str]


class Jar:
    """Begins with what the caller gave. `set_by_servers` are those that came since, as they stand."""

    def __init__(self, cookies: Iterable[Cookie] = ()) -> None:
        self._kept: dict[_Key, Cookie] = {_key(each): each for each in cookies}
        self._set: set[_Key] = set()

    @property
    def set_by_servers(self) -> tuple[Cookie, ...]:
        """Cookies that answers have set, in their order."""
        return tuple(cookie for key, cookie in self._kept.items() if key in self._set)

    def header(self, url: str) -> str | None:
        """The value of `Cookie` for a request to `url`: longer paths first, then as they were set."""
        parts = urlsplit(url)
        now = time.time()
        fitting = [each for each in self._kept.values() if _belongs(each, parts, now)]
        fitting.sort(key=lambda each: -len(each.path))
        return "; ".join(f"{each.name}={each.value}" if each.name else each.value for each in fitting) or None

    def store(self, set_cookie: Iterable[str], url: str) -> None:
        """Take what the `Set-Cookie` headers of an answer from `url` say. What is not valid is ignored."""
        parts = urlsplit(url)
        for text in set_cookie:
            cookie = read_cookie(text, parts)
            if cookie is None:
                continue
            key = _key(cookie)
            if cookie.expires is not None and cookie.expires <= time.time():
                self._kept.pop(key, None)
                continue
            self._set.add(key)
            self._kept[key] = cookie
            if len(self._kept) > MAX_COOKIES:
                del self._kept[next(iter(self._kept))]


def read_cookie(text: str, parts: SplitResult) -> Cookie | None:
    """One `Set-Cookie` from this address; None where browsers would not take it (RFC 6265bis, 5.6 and 5.7)."""
    pair, *rest = text.split(";")
    name, equals, value = pair.partition("=")
    name, value = (name.strip(), value.strip()) if equals else ("", pair.strip())
    if not (name or value) or len(name) + len(value) > MAX_BYTES or _CONTROL.search(name + value):
        return None
    given = {key.strip().lower(): said.strip() for key, _, said in (each.partition("=") for each in rest)}
    domain = _domain(given.get("domain", ""), _host(parts))
    secure = "secure" in given
    if domain is None or (secure and not is_trustworthy(parts)):
        return None
    path = given.get("path", "")
    cookie = Cookie(
        name,
        value,
        domain,
        path if path.startswith("/") else _default_path(parts),
        _end(given),
        secure,
        "httponly" in given,
    )
    return cookie if _keeps_promise(cookie) else None


def _keeps_promise(cookie: Cookie) -> bool:
    """Whether the cookie is what a prefix of its name promises (RFC 6265bis, 4.1.3)."""
    lower = cookie.name.lower()
    if lower.startswith("__host-"):
        return cookie.secure and cookie.path == "/" and not cookie.domain.startswith(".")
    return cookie.secure or not lower.startswith("__secure-")


def _key(cookie: Cookie) -> _Key:
    return cookie.name, cookie.domain.lstrip("."), cookie.path


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").removesuffix(".")


def _domain(said: str, host: str) -> str | None:
    """Where it may go: the host alone, or `.domain` with everything below; None when it may not be set at all."""
    domain = said.removeprefix(".").lower()
    if not domain or (domain == host and _is_ip(host)):
        return host
    if domain == host or ("." in domain and host.endswith(f".{domain}") and not _is_ip(host)):
        return f".{domain}"
    return None


def _end(given: dict[str, str]) -> float | None:
    age = given.get("max-age", "")
    if _SECONDS.fullmatch(age):
        return time.time() + int(age) if int(age) > 0 else 0.0
    return http_date(given["expires"]) if given.get("expires") else None


def _default_path(parts: SplitResult) -> str:
    folder = parts.path.rpartition("/")[0]
    return folder if folder.startswith("/") else "/"


def _belongs(cookie: Cookie, parts: SplitResult, now: float) -> bool:
    host = _host(parts)
    domain = cookie.domain.lower()
    here = domain == host or (domain.startswith(".") and f".{host}".endswith(domain) and not _is_ip(host))
    return (
        here
        and _is_below(parts.path or "/", cookie.path)
        and (cookie.expires is None or cookie.expires > now)
        and (not cookie.secure or is_trustworthy(parts))
    )


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith("/") else f"{folder}/")


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
