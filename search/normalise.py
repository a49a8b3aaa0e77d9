"""Addresses brought to one form, for comparing them only; what is given to the caller is the address itself."""

import re
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from ada_url import URL

_DEFAULT_PORTS = {"80", "443"}
_MAX_PARAMETERS = 500

# Set by those who count clicks and never by a site to choose what it shows. `ref`, `source`, `from` are not here.
_TRACKING: Final = frozenset(
    {
        "_ga", "_gl", "_hsenc", "_hsmi", "dclid", "fbclid", "gad_campaignid", "gad_source", "gbraid", "gclid",
        "gclsrc", "hsctatracking", "igsh", "igshid", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "oly_anon_id",
        "oly_enc_id", "rb_clickid", "srsltid", "ttclid", "twclid", "vero_id", "wbraid", "wickedid", "yclid", "ysclid",
    }
)  # fmt: skip
_TRACKING_PREFIXES = ("utm_", "pk_campaign", "mtm_")
# `spm` and `scm` are Alibaba's; elsewhere they may mean anything
_OF_HOSTS: Final = {
    "spm": ("taobao.com", "tmall.com", "aliyun.com", "alibaba.com", "1688.com", "aliexpress.com", "csdn.net"),
    "scm": ("taobao.com", "tmall.com", "aliyun.com", "alibaba.com", "1688.com"),
    "si": ("youtube.com", "youtu.be"),
}
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")  # RFC 3986, 2.3


def key(url: str) -> str:
    """What two addresses of one page have in common. Never raises; what is no address is its own key.

    Left out: scheme (sites answer on both with the same page), `www.` (hosts that differ in that alone are one site),
    default ports, a final dot or slash, tracking parameters, the fragment unless it names a page (`#!…`, `#/…`).
    Parameters are sorted by name, as engines reorder them and sites do not mind; those of one name keep their order.
    The path keeps its case.
    """
    text = url.strip().encode("utf-8", "replace").decode()
    try:
        parsed = URL(text)
    except ValueError:
        return text
    if parsed.protocol not in ("http:", "https:"):
        return parsed.href
    host = site(parsed.hostname)
    port = f":{parsed.port}" if parsed.port and parsed.port not in _DEFAULT_PORTS else ""
    path = _ESCAPE.sub(_escape, parsed.pathname).rstrip("/")
    query = _query(parsed.search, host)
    fragment = parsed.hash if parsed.hash.startswith(("#!", "#/")) and len(parsed.hash) > 2 else ""
    return f"//{host}{port}{path}{query}{_ESCAPE.sub(_escape, fragment).rstrip('/')}"


def host_of(url: str) -> str:
    """The host of an http(s) address, in lower case and as ASCII; an empty string where there is none."""
    try:
        parsed = URL(url.strip())
    except (ValueError, UnicodeError):
        return ""
    return parsed.hostname.strip("[]").removesuffix(".") if parsed.protocol in ("http:", "https:") else ""


def site(host: str) -> str:
    """The host without a final dot and without `www.`."""
    return host.removesuffix(".").removeprefix("www.")


def _query(search: str, host: str) -> str:
    if len(search) < 2:
        return ""
    written = search[1:].split("&", _MAX_PARAMETERS)
    kept = [part for part in written if part and not _is_tracking(part.partition("=")[0].lower(), host)]
    even = [_ESCAPE.sub(_escape, part.replace("+", "%20")).removesuffix("=") for part in kept]
    return "?" + "&".join(sorted(even, key=lambda part: part.partition("=")[0])) if even else ""


def _is_tracking(name: str, host: str) -> bool:
    if name in _TRACKING or name.startswith(_TRACKING_PREFIXES):
        return True
    return any(host == one or host.endswith(f".{one}") for one in _OF_HOSTS.get(name, ()))


def _escape(match: "re.Match[str]") -> str:
    """An escape in capitals; the character itself where none is needed (RFC 3986, 6.2.2)."""
    byte = unquote_to_bytes(match[0])
    return byte.decode() if byte[0] in _UNRESERVED else quote(byte, safe="")
