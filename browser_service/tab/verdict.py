"""Why an address could not be loaded: by the egress proxy's record first, then by Chromium's own error."""

import re
from urllib.parse import urlsplit

from browser_service.egress import Exit
from browser_service.errors import AddressForbidden, NavigationFailed, Overloaded, TabwrightError

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

# Chromium's net errors (net/base/net_error_list.h) by what they mean to a caller
_MEANING = {
    "ERR_NAME_NOT_RESOLVED": "its name does not resolve (DNS)",
    "ERR_CONNECTION_REFUSED": "it refuses connections",
    "ERR_CONNECTION_RESET": "it reset the connection",
    "ERR_CONNECTION_CLOSED": "it closed the connection without an answer",
    "ERR_CONNECTION_TIMED_OUT": "it does not accept connections in time",
    "ERR_EMPTY_RESPONSE": "it closed the connection without an answer",
    "ERR_INVALID_HTTP_RESPONSE": "its answer is not valid HTTP",
    "ERR_INVALID_RESPONSE": "its answer is not valid HTTP",
    "ERR_RESPONSE_HEADERS_TOO_BIG": "its response headers are too large",
    "ERR_CONTENT_DECODING_FAILED": "its body does not decode as its Content-Encoding says",
    "ERR_CONTENT_LENGTH_MISMATCH": "its body was cut off",
    "ERR_INCOMPLETE_CHUNKED_ENCODING": "its body was cut off",
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a loop, or more than 20 times",
    "ERR_UNSAFE_REDIRECT": "it redirects to an address that no page may redirect to",
    "ERR_UNSAFE_PORT": "browsers refuse this port",
    "ERR_HTTP2_PROTOCOL_ERROR": "it breaks the HTTP/2 protocol",
    "ERR_SSL_PROTOCOL_ERROR": "TLS fails: it does not speak TLS on this port, or breaks the protocol",
    "ERR_SSL_VERSION_OR_CIPHER_MISMATCH": "TLS fails: it offers no version or cipher that is still accepted",
    "ERR_CERT_AUTHORITY_INVALID": "TLS fails: its certificate is signed by nobody who is trusted",
    "ERR_CERT_COMMON_NAME_INVALID": "TLS fails: its certificate is for another name",
    "ERR_CERT_DATE_INVALID": "TLS fails: its certificate has expired or is not valid yet",
    "ERR_TUNNEL_CONNECTION_FAILED": "the connection to it could not be made",
    "ERR_PROXY_CONNECTION_FAILED": "the connection to it could not be made",
}
_OUTCOMES = {
    "dns_failed": "its name does not resolve (DNS)",
    "connect_refused": "it refuses connections",
    "connect_timeout": "it does not accept connections in time",
    "connect_reset": "it reset the connection",
    "upstream_failed": "the upstream proxy could not reach it",
}
_TLS_HINT = "For a certificate that you trust all the same, make the session with ignore_https_errors."


def refusal(exit_: Exit, url: str, since: float) -> TabwrightError | None:
    """The failure that the proxy recorded for this document's host since then (`time.monotonic`), if any."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removesuffix(".")
    try:
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    visit = exit_.last_failure(host, port, since)
    if visit is None:
        return None
    about = {"final_url": url}
    if visit.outcome == "address_forbidden":
        return AddressForbidden(
            visit.detail,
            hint=f"Whoever runs this service can open it by listing {host}:{port} in TABWRIGHT_NETWORK__ALLOW.",
            about=about,
        )
    if visit.outcome == "too_many":
        return Overloaded("The page holds too many connections.", retry_after_s=5, about=about)
    return NavigationFailed(f"{host} cannot be loaded: {_OUTCOMES[visit.outcome]}.", about=about)


def net_failure(message: str, url: str) -> TabwrightError | None:
    """What a `net::ERR_…` in Chromium's message means; None where there is none."""
    match = re.search(r"net::(ERR_[A-Z0-9_]+)", message)
    if match is None:
        return None
    name = match.group(1)
    meaning = _MEANING.get(name)
    if meaning is None:
        kind = "TLS fails" if name.startswith(("ERR_SSL", "ERR_CERT", "ERR_BAD_SSL")) else "the browser says"
        meaning = f"{kind}: {name}"
    hint = _TLS_HINT if name.startswith("ERR_CERT") else None
    return NavigationFailed(
        f"{urlsplit(url).hostname or url} cannot be loaded: {meaning}.", hint=hint, about={"final_url": url}
    )
