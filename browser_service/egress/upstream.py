"""Another proxy between this one and the network: its address, and how it is asked for a connection."""

import base64
import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from typing import Literal, cast
from urllib.parse import unquote

from browser_service.egress.peer import Peer
from fetch.address import canonical_host
from fetch.errors import InvalidRequest

Scheme = Literal["http", "https", "socks5"]

_FORM = re.compile(r"(https?|socks5)://(?:(.*)@)?(\[[^\]]+\]|[^:@/]+)(?::([0-9]{1,5}))?/?", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443, "socks5": 1080}
_SOCKS_REPLIES = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "took too long",
    7: "command not supported",
    8: "kind of address not supported",
}


@dataclass(frozen=True, slots=True)
class Upstream:
    """A proxy to go through. One that a caller named is `judged`: its own address must be allowed by the rule."""

    scheme: Scheme
    host: str
    port: int
    username: str = ""
    password: str = field(default="", repr=False)
    judged: bool = True

    @property
    def authorization(self) -> bytes | None:
        """The value of `Proxy-Authorization` (RFC 7617), or None without credentials."""
        if not self.username and not self.password:
            return None
        return b"Basic " + base64.b64encode(f"{self.username}:{self.password}".encode())


class UpstreamError(Exception):
    """The proxy upstream did not give a connection; says why, without naming it or its credentials."""


def parse_upstream(text: str, *, judged: bool = True) -> Upstream:
    """Read `scheme://[user:password@]host[:port]` with http, https or socks5.

    Raises InvalidRequest, which never repeats the text: it may hold a password.
    """
    match = _FORM.fullmatch(text.strip())
    try:
        host = canonical_host(match[3]) if match else ""
    except ValueError:
        host = ""
    if match is None or not host:
        raise InvalidRequest(
            "The proxy is not a valid address; write it as http://user:password@host:port, https://… or socks5://…",
            hint="Characters such as @ or / in a user name or password are written as %40 and %2F.",
        )
    scheme = match[1].lower()
    port = int(match[4] or _PORTS[scheme])
    if not 0 < port < 65536:
        raise InvalidRequest("The proxy's port must be between 1 and 65535.")
    username, _, password = (match[2] or "").partition(":")
    credentials = unquote(username), unquote(password)
    if scheme == "socks5" and any(len(each.encode()) > 255 for each in credentials):
        raise InvalidRequest("The user name and password of a SOCKS5 proxy may have at most 255 bytes each.")
    return Upstream(cast("Scheme", scheme), host, port, *credentials, judged=judged)


async def open_tunnel(peer: Peer, upstream: Upstream, target: str, port: int) -> None:
    """Ask the proxy at the other end of `peer` for a connection to `target`, an IP address or a name."""
    try:
        if upstream.scheme == "socks5":
            await _socks(peer, upstream, target, port)
        else:
            await _connect(peer, upstream, target, port)
    except EOFError:
        raise UpstreamError("The proxy closed the connection without an answer.") from None


async def _connect(peer: Peer, upstream: Upstream, target: str, port: int) -> None:
    authority = f"[{target}]:{port}" if ":" in target else f"{target}:{port}"
    lines = [f"CONNECT {authority} HTTP/1.1".encode(), f"Host: {authority}".encode()]
    if upstream.authorization:
        lines.append(b"Proxy-Authorization: " + upstream.authorization)
    peer.write(b"\r\n".join(lines) + b"\r\n\r\n")
    head = await peer.read_until(b"\r\n\r\n")
    match = re.match(rb"HTTP/1\.[01] ([0-9]{3})", head)
    if match is None:
        raise UpstreamError("The proxy does not speak HTTP.")
    if match[1] == b"407":
        raise UpstreamError("The proxy does not accept the user name and password.")
    if not match[1].startswith(b"2"):
        raise UpstreamError(f"The proxy refused the connection with status {match[1].decode()}.")


async def _socks(peer: Peer, upstream: Upstream, target: str, port: int) -> None:
    """SOCKS5 (RFC 1928) with no authentication, or with user name and password (RFC 1929)."""
    wanted = b"\x02" if upstream.authorization else b"\x00"
    peer.write(b"\x05\x01" + wanted)
    version, method = await peer.read_exactly(2)
    if version != 5:
        raise UpstreamError("The proxy does not speak SOCKS5.")
    if method != wanted[0]:
        raise UpstreamError("The proxy does not accept this way of logging in.")
    if upstream.authorization:
        username, password = upstream.username.encode(), upstream.password.encode()
        peer.write(b"\x01%c%b%c%b" % (len(username), username, len(password), password))
        if (await peer.read_exactly(2))[1] != 0:
            raise UpstreamError("The proxy does not accept the user name and password.")
    peer.write(b"\x05\x01\x00" + _socks_address(target) + port.to_bytes(2, "big"))
    _, reply, _, kind = await peer.read_exactly(4)
    if reply != 0:
        raise UpstreamError(f"The proxy refused the connection: {_SOCKS_REPLIES.get(reply, 'unknown reason')}.")
    length = {1: 4, 4: 16}.get(kind) or (await peer.read_exactly(1))[0]
    await peer.read_exactly(length + 2)  # the address it uses on its side, of no interest here


def _socks_address(target: str) -> bytes:
    try:
        ip = ip_address(target)
    except ValueError:
        return b"\x03%c%b" % (len(target), target.encode())
    return (b"\x01" if isinstance(ip, IPv4Address) else b"\x04") + ip.packed
