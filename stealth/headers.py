"""What a browser sends when a person reloads an address or enters it: which headers, in which order, and to whom.

To sites that could be listened to (plain http elsewhere than on this machine) browsers send neither client hints nor
`Sec-Fetch-*`, and offer only the encodings that old middle boxes know; so is it here. The order of Chromium is measured
(156), those of Firefox and Safari are as published for their fingerprints.
"""

from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from stealth.identity import Identity

Header = tuple[str, str]

_PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9"
_ACCEPT_CHROMIUM = (
    f"{_PAGE},image/jxl,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7"
)
_ACCEPT = f"{_PAGE},*/*;q=0.8"
_NAVIGATION = "u=0, i"  # RFC 9218


def navigation_headers(
    identity: Identity, accept_language: str, url: str, referer: str | None = None, cookie: str | None = None
) -> list[Header]:
    """The headers of a navigation to `url`, without Host and those of the connection.

    No `Referer` is made up: an address that was entered has none, which is what `Sec-Fetch-Site: none` says. Safari has
    no `DNT`, and neither it nor Firefox has client hints.
    """
    parts = urlsplit(url)
    plain: dict[str, str | None] = {
        "Accept-Language": accept_language,
        "Accept-Encoding": "gzip, deflate, br, zstd" if is_trustworthy(parts) else "gzip, deflate",
        "Referer": referer,
        "Cookie": cookie,
        "User-Agent": identity.user_agent,
        "Cache-Control": "no-cache",
        "Pragma": "no-cache",
    }
    if is_trustworthy(parts):
        plain |= {
            "Sec-Fetch-Dest": "document",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Site": _site(parts, referer),
            "Sec-Fetch-User": "?1",
        }
    if parts.scheme == "https":
        plain["Priority"] = _NAVIGATION
    order, more = _BROWSERS[identity.family]
    given = plain | more(identity, is_trustworthy(parts))
    return [(name, value) for name in order if (value := given.get(name)) is not None]


def is_trustworthy(parts: SplitResult) -> bool:
    """Whether browsers treat the address as one that nobody can listen to (W3C Secure Contexts, 3.1)."""
    host = (parts.hostname or "").removesuffix(".")
    if parts.scheme == "https" or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _site(parts: SplitResult, referer: str | None) -> str:
    """How the site that the visitor comes from is related; a domain and its subdomains are taken for one site."""
    if referer is None:
        return "none"
    before = urlsplit(referer)
    if (before.scheme, before.netloc.lower()) == (parts.scheme, parts.netloc.lower()):
        return "same-origin"
    one, other = f".{before.hostname or ''}", f".{parts.hostname or ''}"
    return "same-site" if one.endswith(other) or other.endswith(one) else "cross-site"


def _chromium(identity: Identity, trustworthy: bool) -> dict[str, str]:
    more = {"Accept": _ACCEPT_CHROMIUM, "DNT": "1", "Upgrade-Insecure-Requests": "1"}
    if trustworthy:
        more |= {
            "sec-ch-ua": ", ".join(f'"{name}";v="{version}"' for name, version in identity.brands),
            "sec-ch-ua-mobile": "?1" if identity.mobile else "?0",
            "sec-ch-ua-platform": f'"{identity.platform}"',
        }
    return more


def _firefox(identity: Identity, trustworthy: bool) -> dict[str, str]:
    return {"Accept": _ACCEPT, "DNT": "1", "Upgrade-Insecure-Requests": "1"}


def _safari(identity: Identity, trustworthy: bool) -> dict[str, str]:
    more = {"Accept": _ACCEPT}
    return more | {"Accept-Encoding": "gzip, deflate, br"} if trustworthy else more


_BROWSERS: dict[str, tuple[tuple[str, ...], Callable[[Identity, bool], dict[str, str]]]] = {
    "chromium": (
        (
            "Pragma",
            "Cache-Control",
            "sec-ch-ua",
            "sec-ch-ua-mobile",
            "sec-ch-ua-platform",
            "DNT",
            "Upgrade-Insecure-Requests",
            "User-Agent",
            "Accept",
            "Sec-Fetch-Site",
            "Sec-Fetch-Mode",
            "Sec-Fetch-User",
            "Sec-Fetch-Dest",
            "Referer",
            "Accept-Encoding",
            "Accept-Language",
            "Cookie",
            "Priority",
        ),
        _chromium,
    ),
    "firefox": (
        (
            "User-Agent",
            "Accept",
            "Accept-Language",
            "Accept-Encoding",
            "Referer",
            "DNT",
            "Cookie",
            "Upgrade-Insecure-Requests",
            "Sec-Fetch-Dest",
            "Sec-Fetch-Mode",
            "Sec-Fetch-Site",
            "Sec-Fetch-User",
            "Priority",
            "Pragma",
            "Cache-Control",
        ),
        _firefox,
    ),
    "safari": (
        (
            "Sec-Fetch-Dest",
            "User-Agent",
            "Accept",
            "Referer",
            "Sec-Fetch-Site",
            "Sec-Fetch-Mode",
            "Cookie",
            "Cache-Control",
            "Pragma",
            "Accept-Language",
            "Priority",
            "Accept-Encoding",
        ),
        _safari,
    ),
}
