"""Which domains results may come from."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NoReturn

from fetch.address import canonical_host
from fetch.errors import InvalidRequest
from search.normalise import host_of, site

MOST: Final = 300
"""Domains in one list; engines and APIs stop well below."""

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")


@dataclass(frozen=True, slots=True)
class Domains:
    """A filter by domain, subdomains included. At most one of the two is filled; entries are lower case and ASCII."""

    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    @classmethod
    def parse(cls, allowed: Iterable[str] | None, blocked: Iterable[str] | None) -> "Domains":
        """Read what a caller gave: `example.com`, `*.example.com`, `https://example.com/`, `münchen.de`, an IP address.

        A domain covers its subdomains, so `*.` before it says nothing more. Raises InvalidRequest when both lists hold
        something, or naming an entry that is more than a domain (a path, a port, credentials) or none.
        """
        first, second = _read(allowed, "allowed_domains"), _read(blocked, "blocked_domains")
        if first and second:
            raise InvalidRequest(
                "allowed_domains and blocked_domains cannot be used together.",
                hint="Give allowed_domains alone: everything else is left out by that.",
            )
        return cls(first, second)

    def __bool__(self) -> bool:
        return bool(self.allowed or self.blocked)

    def admits(self, url: str) -> bool:
        """Whether a result at this address is wanted. With a filter set, what has no host is not."""
        if not self:
            return True
        host = host_of(url)
        if not host:
            return False
        return _covered(host, self.allowed) if self.allowed else not _covered(host, self.blocked)


def _covered(host: str, domains: Iterable[str]) -> bool:
    """`www.example.com` in a list means the site, so it covers `example.com` as well."""
    return any(host == one or host.endswith(f".{one}") or site(host) == site(one) for one in domains)


def _read(entries: Iterable[str] | None, name: str) -> tuple[str, ...]:
    if isinstance(entries, str):
        raise InvalidRequest(f"{name} must be a list of domains, not one text.")
    found = tuple(dict.fromkeys(_domain(entry, name) for entry in entries or ()))
    if len(found) > MOST:
        raise InvalidRequest(f"{name} holds {len(found)} domains; the limit is {MOST}.")
    return found


def _domain(entry: str, name: str) -> str:
    text = _SCHEME.sub("", entry.strip(), count=1).removesuffix("/")
    text = text.removeprefix("*.").removeprefix(".").removesuffix(".")
    if any(sign in text for sign in " ,;\t\n"):
        _refuse(entry, name, "holds more than one; give each domain as an entry of its own")
    if any(sign in text for sign in "/?#"):
        _refuse(entry, name, "has a path; results are filtered by domain alone")
    if "@" in text:
        _refuse(entry, name, "has an @ in it; give the domain alone")
    if "*" in text:
        _refuse(entry, name, "has a * inside; only one at the beginning is understood, as in *.example.com")
    if ":" in text.removeprefix("[").partition("]")[2] or (text.count(":") == 1):
        _refuse(entry, name, "has a port or a scheme; give the domain alone")
    try:
        host = canonical_host(text.strip("[]") if ":" in text else text)
    except (ValueError, UnicodeError):
        _refuse(entry, name, "is not a domain; write it as example.com")
    if ":" not in host and not all(_LABEL.fullmatch(label) for label in host.split(".")):
        _refuse(entry, name, "is not a domain; write it as example.com")
    return host


def _refuse(entry: str, name: str, why: str) -> NoReturn:
    shown = ascii(entry[:100])
    raise InvalidRequest(f"{name}: {shown} {why}.") from None
