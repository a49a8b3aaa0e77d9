"""What can go wrong on the way to an answer, translated here and nowhere else into what a caller may see.

`about["reason"]` says which it was: `dns`, `refused`, `timeout` (no connection in time), `reset`, `tls`, `protocol`,
`decoding`, `cut`, `proxy`, `redirect_loop`, `bad_redirect`, `address_forbidden`, `busy`.
"""

import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import h2.exceptions
import httpx

from fetch.errors import AddressForbidden, ContentTooLarge, InvalidRequest, NavigationFailed, TabwrightError, TimedOut

NETWORK: Final = (httpx.TransportError, h2.exceptions.ProtocolError, OSError)
"""What the HTTP library raises; in the middle of a body not all of it is wrapped."""

RETRIED_REASONS: Final = frozenset({"refused", "timeout", "reset", "cut", "proxy"})
"""Faults that may be gone in a few seconds."""

MARK: Final = "x-tabwright-egress"

_REASONS = {
    "address_forbidden": "address_forbidden",
    "dns_failed": "dns",
    "connect_refused": "refused",
    "connect_timeout": "timeout",
    "connect_reset": "reset",
    "too_many": "busy",
}
_WORDS = {
    "dns": "its name does not resolve (DNS)",
    "refused": "it refuses connections",
    "timeout": "it does not accept connections in time",
    "reset": "it closed the connection without an answer",
    "busy": "too many connections are open",
    "proxy": "the connection to it could not be made",
}


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """The way out. `server` is the egress proxy's address (`http://127.0.0.1:port`).

    `why` gives the failure that the proxy recorded for an address since then (`time.monotonic`), if any. `mark` is the
    header, in lower case, on answers that are the proxy's own, which it takes out of all others.
    """

    server: str
    why: Callable[[str, float], TabwrightError | None]
    mark: str = MARK


def failed(url: str, reason: str, words: str = "", hint: str | None = None) -> NavigationFailed:
    """The address could not be loaded, for this reason."""
    host = urlsplit(url).hostname or url
    about = {"final_url": url, "reason": reason}
    return NavigationFailed(f"{host} cannot be loaded: {words or _WORDS[reason]}.", hint=hint, about=about)


def refused_by_proxy(route: ProxyRoute, url: str, since: float, verdict: str) -> TabwrightError:
    """What the proxy's own answer means; `verdict` is what its mark says. Its record tells more, where it has more."""
    reason = _REASONS.get(verdict, "proxy")
    fault = route.why(url, since)
    if fault is None and reason == "address_forbidden":
        fault = AddressForbidden(f"The network policy refuses {urlsplit(url).hostname}.", about={"final_url": url})
    fault = fault or failed(url, reason)
    fault.about.setdefault("reason", reason)
    return fault


def translate(fault: BaseException, url: str, *, in_tls: bool = False) -> TabwrightError:
    """What a fault of the network before the answer means. `in_tls`: it came while TLS was negotiated."""
    if isinstance(fault, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        return InvalidRequest("The request's headers are not valid HTTP.")
    tls = _tls_words(fault) or ("it closed the connection while TLS was negotiated" if in_tls else "")
    if tls:
        return failed(url, "tls", tls)
    if isinstance(fault, httpx.ConnectError):
        return failed(url, "proxy", "the egress proxy of this service does not answer")
    if isinstance(fault, httpx.RemoteProtocolError | h2.exceptions.ProtocolError) and "disconnected" not in str(fault):
        return failed(url, "protocol", "its answer is not valid HTTP")
    return failed(url, "reset")


def late(url: str, seconds: float) -> TimedOut:
    """No answer came in time."""
    host = urlsplit(url).hostname or url
    return TimedOut(
        f"{host} did not answer within {seconds:.1f} s.",
        hint="Raise timeout_ms, or try again later.",
        about={"final_url": url},
    )


def too_large(url: str, limit: int, declared: int | None = None) -> ContentTooLarge:
    """The body is over the limit."""
    host = urlsplit(url).hostname or url
    size = f"{declared / 2**20:.1f} MiB" if declared else "more"
    return ContentTooLarge(
        f"The answer of {host} has {size}; the limit is {limit / 2**20:.0f} MiB.",
        hint="Whoever runs this service can raise the limit; or download the file within a session.",
        about={"final_url": url},
    )


def _tls_words(fault: BaseException) -> str:
    for each in _chain(fault):
        if isinstance(each, ssl.SSLCertVerificationError):
            return f"TLS fails: its certificate is not accepted ({each.verify_message})"
        if isinstance(each, ssl.SSLError):
            return f"TLS fails ({each.reason or 'protocol error'})"
    return ""


def _chain(fault: BaseException | None) -> Iterator[BaseException]:
    """The fault and what it came from."""
    seen: set[int] = set()
    while fault is not None and id(fault) not in seen:
        seen.add(id(fault))
        yield fault
        fault = fault.__cause__ or fault.__context__
