"""Which addresses may be visited: the one rule, used by the HTTP client, the browser's proxy and search.

Addresses are read as a browser reads them (the WHATWG URL standard, by Ada), so that `127.1`, `0x7f000001`, full-width
digits and IDNA names are judged as the host that would really be contacted. Hosts are judged by an explicit table of
prefixes from the IANA special-purpose registries: `ipaddress.is_global` lets multicast, NAT64, 6to4 and others pass,
and its answers change between versions of Python.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NoReturn

from ada_url import URL

from fetch.errors import AddressForbidden, InvalidRequest

IP = IPv4Address | IPv6Address

MAX_LENGTH = 8192
"""Longest address in characters; servers commonly stop at 8 KiB."""

LOOPBACK = ("127.0.0.1", "::1")
"""What `localhost` and its subdomains mean (RFC 6761, 6.3); no resolver is asked about them."""

_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_HOST_AND_PORT = re.compile(r"[^/?#:@\s]+:\d{1,5}(?![^/?#])")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

# https://www.iana.org/assignments/iana-ipv4-special-registry
_REFUSED_V4 = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # shared by carriers (CGNAT)
    "127.0.0.0/8",  # loopback
    "168.63.129.16/32",  # Azure's host
    "169.254.0.0/16",  # link-local
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT relays
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast
)

# https://www.iana.org/assignments/iana-ipv6-special-registry: only global unicast is open, and of that not these
_GLOBAL_V6 = "2000::/3"
_REFUSED_V6 = (
    "2001::/23",  # protocol assignments, Teredo, ORCHID, benchmarks
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4
    "2620:4f:8000::/48",  # AS112
    "3ffe::/16",  # 6bone, returned
    "3fff::/20",  # documentation
)

# Where clouds hand credentials to their machines. These stay shut even when an entry of `allow` covers them.
_METADATA = (
    "100.100.100.200/32",  # Alibaba
    "168.63.129.16/32",  # Azure
    "169.254.0.23/32",  # Tencent
    "169.254.42.42/32",  # Scaleway
    "169.254.169.0/24",  # AWS, Google, Azure, DigitalOcean, Oracle and others
    "169.254.170.0/24",  # AWS containers: .2 for ECS, .23 for EKS
    "192.0.0.192/32",  # Oracle
)
_METADATA_V6 = ("fd00:42::42/128", "fd00:ec2::/32", "fd20:ce::254/128", "fe80::a9fe:a9fe/128")
_METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",
    }
)


class _Ranges:
    """A set of addresses of one family, as sorted ranges of numbers."""

    def __init__(self, *prefixes: str) -> None:
        spans = sorted((int(net[0]), int(net[-1])) for net in map(ip_network, prefixes))
        self._starts = [first for first, _ in spans]
        self._ends = [last for _, last in spans]

    def __contains__(self, ip: IP) -> bool:
        value = int(ip)
        at = bisect_right(self._starts, value) - 1
        return at >= 0 and value <= self._ends[at]


_refused_v4, _refused_v6, _global_v6 = _Ranges(*_REFUSED_V4), _Ranges(*_REFUSED_V6), _Ranges(_GLOBAL_V6)
_metadata_v4, _metadata_v6 = _Ranges(*_METADATA), _Ranges(*_METADATA_V6)
_nat64, _compatible = _Ranges("64:ff9b::/96", "64:ff9b:1::/48"), _Ranges("::/96")
_six_to_four, _teredo = _Ranges("2002::/16"), _Ranges("2001::/32")


@dataclass(frozen=True, slots=True)
class Address:
    """One http or https address: `url` in canonical form, `host` without brackets and final dot."""

    url: str
    scheme: str
    host: str
    port: int


def parse_address(text: str) -> Address:
    """Read an address that a caller gave.

    Raises InvalidRequest when it is malformed and AddressForbidden when it is none that the service visits: another
    scheme, or credentials before the host. Whether the host may be visited is for `Rule.check` to say.
    """
    authority = _authority(text)
    try:
        parsed = URL(text)
        host = canonical_host(parsed.hostname)
    except ValueError:
        _malformed("The address cannot be read: its host or port is not valid.")
    scheme = parsed.protocol[:-1]
    port = int(parsed.port or _PORTS[scheme])
    if port == 0:
        _malformed(f"Port 0 cannot be visited; name another port for {host}, or none.")
    if "\\" in authority + re.split(r"[?#]", text, maxsplit=1)[0]:
        _malformed("The address contains a backslash; write / instead, or %5C where one is meant.")
    return Address(parsed.href, scheme, host, port)


def canonical_host(host: str) -> str:
    """The host as a browser would contact it: lower case, IDNA, IP addresses in full, no brackets, no final dot.

    Raises ValueError when it is not a host.
    """
    if not host or any(mark in host for mark in "/?#@\\"):
        raise ValueError(f"{host!r} is not a host")
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    name = URL(f"http://{bracketed}/").hostname.strip("[]").removesuffix(".")
    if not name or len(name) > 253 or name.startswith(".") or name.endswith(".") or ".." in name:
        raise ValueError(f"{host!r} is not a host")
    return name


def _authority(text: str) -> str:
    """The part between `//` and the next slash, after refusing what parsers are known to disagree on."""
    if not text.strip():
        _malformed("The address is empty; give one that begins with https:// or http://.")
    if len(text) > MAX_LENGTH:
        _malformed(f"The address is {len(text)} characters long; the limit is {MAX_LENGTH}.")
    if text != text.strip() or _UNREADABLE.search(text):
        _malformed("The address has blanks around it or control characters in it; remove them.")
    match = _SCHEME.match(text)
    if match is None or _HOST_AND_PORT.match(text):
        whole = text.lstrip("/\\")
        hint = f"Write https://{whole}" if len(whole) <= 200 and "@" not in whole else "Write https:// before it."
        raise InvalidRequest("The address has no scheme; put https:// or http:// before it.", hint=hint)
    scheme, rest = match[1].lower(), text[match.end() :]
    if scheme not in _PORTS:
        raise AddressForbidden(f"Addresses that begin with {scheme[:40]}: are not visited; use http:// or https://.")
    authority = rest[2:].split("/", 1)[0]
    if not rest.startswith("//") or not authority:
        _malformed(f"The address needs exactly two slashes and a host after {scheme}: as in {scheme}://example.com/.")
    if "@" in authority:
        raise AddressForbidden(
            "The address has an @ before its path; take the user name out, or write %40 where an @ is meant.",
            hint="Credentials go into http_credentials, or into an Authorization header.",
        )
    return authority


def _malformed(detail: str) -> NoReturn:
    raise InvalidRequest(detail) from None


class _Entries:
    """The entries of one list of settings: host, host:port, *.domain, IP address, CIDR."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._names: set[tuple[str, int | None]] = set()
        self._domains: list[tuple[str, int | None]] = []
        self._networks: list[tuple[IPv4Network | IPv6Network, int | None]] = []
        for entry in entries:
            try:
                self._add(entry.strip())
            except ValueError:
                raise ValueError(
                    f"{entry!r} is not a host, host:port, [IPv6]:port, *.domain, IP address or CIDR"
                ) from None

    def _add(self, entry: str) -> None:
        if "/" in entry or (entry.count(":") > 1 and not entry.startswith("[")):
            network = ip_network(entry)
            if isinstance(network, IPv6Network) and network[0].ipv4_mapped and network.prefixlen >= 96:
                network = ip_network(f"{network[0].ipv4_mapped}/{network.prefixlen - 96}")
            self._networks.append((network, None))
            return
        host, port = _split_port(entry)
        if host.startswith("*.") and "*" not in host[2:]:
            self._domains.append((f".{canonical_host(host[2:])}", port))
            return
        if "*" in host:
            raise ValueError(host)
        name = canonical_host(host)
        ip = _ip(name)
        if ip is None:
            self._names.add((name, port))
        else:
            self._networks.append((ip_network(ip), port))

    def cover_name(self, host: str, port: int) -> bool:
        if (host, None) in self._names or (host, port) in self._names:
            return True
        return any(only in (None, port) and host.endswith(domain) for domain, only in self._domains)

    def cover_ip(self, ip: IP, port: int) -> bool:
        return any(only in (None, port) and ip in network for network, only in self._networks)

    def name_exactly(self, host: str, port: int) -> bool:
        ip = _ip(host)
        if ip is None:
            return (host, port) in self._names
        return any(only == port and ip in network for network, only in self._networks)


class Rule:
    """What may be visited: public addresses, plus those in `allow`, minus those in `deny`.

    Entries are a host, `host:port`, `[IPv6]:port`, an IP address, a CIDR, or `*.example.com` (its subdomains, not the
    domain itself). `deny` wins over `allow`, and the addresses of cloud metadata stay shut whatever is allowed. A
    malformed entry raises ValueError naming it. Errors never say what a name resolved to: the rule must not become a
    way to map the network it stands in.
    """

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._allow = _Entries(allow)
        self._deny = _Entries(deny)

    def check(self, host: str, port: int) -> None:
        """Judge before any name is resolved; raises AddressForbidden."""
        host = _canonical(host)
        if host in _METADATA_NAMES:
            raise AddressForbidden(f"The network policy refuses {host}: it is a cloud's metadata service.")
        if self._deny.cover_name(host, port):
            raise AddressForbidden(f"The network policy refuses {host}: the settings of this service deny it.")
        ip = _ip(host)
        if ip is not None and _is_metadata(ip):
            raise AddressForbidden(f"The network policy refuses {host}: it is a cloud's metadata service.")
        if ip is not None and not self._permits(ip, port):
            _refuse(host, port, ": it is a private, reserved or denied address")
        if is_localhost(host) and not self.loopback(host, port):
            _refuse(host, port, ": it is this machine itself")

    def check_answers(self, host: str, port: int, ips: Iterable[str]) -> None:
        """Judge what `host` resolved to: raises AddressForbidden unless there are addresses and all are allowed."""
        self.check(host, port)
        named = self._allow.cover_name(_canonical(host), port)
        answers = [_ip(text) for text in ips]
        if not answers or not all(ip and self._permits(ip, port, named=named) for ip in answers):
            _refuse(_canonical(host), port, "")

    def loopback(self, host: str, port: int) -> list[str]:
        """The loopback addresses that may be dialled for a localhost name."""
        named = self._allow.cover_name(host, port)
        return [text for text in LOOPBACK if self._permits(ip_address(text), port, named=named)]

    def allows_exactly(self, host: str, port: int) -> bool:
        """Whether `allow` has an entry for just this host and port, and so was written with this port in mind."""
        return self._allow.name_exactly(_canonical(host), port)

    def _permits(self, ip: IP, port: int, *, named: bool = False) -> bool:
        if _is_metadata(ip) or self._deny.cover_ip(ip, port):
            return False
        inner = _embedded(ip)
        if inner is not None:  # some gateway would translate it: the outer and the inner address must both be open
            return (named or self._allow.cover_ip(ip, port)) and self._permits(inner, port, named=named)
        return named or _is_public(ip) or self._allow.cover_ip(ip, port)


def is_localhost(host: str) -> bool:
    """Whether the canonical name means this machine by definition (RFC 6761)."""
    return host == "localhost" or host.endswith(".localhost")


def _canonical(host: str) -> str:
    try:
        return canonical_host(host)
    except ValueError:
        raise InvalidRequest("The host of the address is not valid.") from None


def _refuse(host: str, port: int, why: str) -> NoReturn:
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    hint = f"Whoever runs this service can open it by listing {shown} in TABWRIGHT_NETWORK__ALLOW."
    raise AddressForbidden(f"The network policy refuses {host}{why}.", hint=hint)


def _split_port(entry: str) -> tuple[str, int | None]:
    host, colon, digits = entry.rpartition(":")
    if not colon or entry.endswith("]"):
        return entry, None
    if not re.fullmatch(r"[0-9]{1,5}", digits) or not 0 < int(digits) < 65536:
        raise ValueError(entry)
    return host, int(digits)


def _ip(host: str) -> IP | None:
    """The address if it is one; IPv4-mapped IPv6 counts as the IPv4 address that would be dialled."""
    try:
        ip = ip_address(host)
    except ValueError:
        return None
    return ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip


def _is_metadata(ip: IP) -> bool:
    if isinstance(ip, IPv4Address):
        return ip in _metadata_v4
    inner = _embedded(ip)
    return ip in _metadata_v6 or (inner is not None and inner in _metadata_v4)


def _is_public(ip: IP) -> bool:
    if isinstance(ip, IPv4Address):
        return ip not in _refused_v4
    return ip in _global_v6 and ip not in _refused_v6


def _embedded(ip: IP) -> IPv4Address | None:
    """The IPv4 address inside an IPv6 address that some gateway or tunnel would translate; None when there is none."""
    if isinstance(ip, IPv4Address):
        return None
    value = int(ip)
    if ip in _six_to_four:
        return IPv4Address(value >> 80 & 0xFFFFFFFF)
    if ip in _teredo:
        return IPv4Address(~value & 0xFFFFFFFF)
    isatap = value >> 32 & 0xFDFFFFFF == 0x00005EFE  # interface identifiers ::0:5efe:a.b.c.d and ::200:5efe:a.b.c.d
    if isatap or ip in _nat64 or (ip in _compatible and value > 1):
        return IPv4Address(value & 0xFFFFFFFF)
    return None
