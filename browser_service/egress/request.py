"""Requests to the proxy: read strictly (RFC 9112), and written as the browser would have sent them without a proxy."""

import re
from dataclasses import dataclass

from browser_service.egress.limits import MAX_REQUEST_HEAD
from fetch.address import canonical_host

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") ([^\x00-\x20\x7f]+) HTTP/1\.([01])")
_HEADERS = re.compile(rb"(?:" + _TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*\r\n)*")
_ABSOLUTE = re.compile(rb"http://([^/?#@\\]+)([/?][^#]*)?", re.IGNORECASE)
_AUTHORITY = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/?#@\\]+)(?::([0-9]{1,5}))?")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")
_TRAILER = re.compile(_TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*\r\n")
_NEEDED = frozenset({b"content-length", b"host", b"transfer-encoding"})
_HOP_BY_HOP = frozenset({b"keep-alive", b"te"})


Field = tuple[bytes, bytes, bytes]
"""One header: its name in lower case, its name as it came, its value."""


class HeadError(Exception):
    """What the client sent is not a request that this proxy takes."""

    def __init__(self, why: str, status: bytes = b"400 Bad Request") -> None:
        super().__init__(why)
        self.status = status


class Body:
    """Follows a request's body to its end: `feed` returns how many of the bytes belong to it. This one has a length."""

    def __init__(self, length: int = 0) -> None:
        self._left = length

    @property
    def done(self) -> bool:
        return self._left == 0

    def feed(self, data: bytes) -> int:
        used = min(self._left, len(data))
        self._left -= used
        return used


class ChunkedBody(Body):
    """A body in chunks (RFC 9112, 7.1), with CRLF line ends alone. Raises HeadError when it is malformed."""

    def __init__(self) -> None:
        super().__init__()
        self._line = bytearray()
        self._expects = self._size_line
        self._trailers = 0
        self._ended = False

    @property
    def done(self) -> bool:
        return self._ended

    def feed(self, data: bytes) -> int:
        at = 0
        while at < len(data) and not self._ended:
            if self._left:
                at += super().feed(data[at:] if at else data)
                continue
            end = data.find(b"\n", at) + 1 or len(data)
            self._line += data[at:end]
            at = end
            if len(self._line) > 4096:
                raise HeadError("A chunk begins with a line that is too long.")
            if self._line.endswith(b"\n"):
                line = bytes(self._line)
                self._line.clear()
                self._expects(line)
        return at

    def _size_line(self, line: bytes) -> None:
        match = _CHUNK_SIZE.fullmatch(line)
        if match is None:
            raise HeadError("A chunk does not begin with its size.")
        self._left = int(match[1], 16)
        self._expects = self._chunk_end if self._left else self._trailer

    def _chunk_end(self, line: bytes) -> None:
        if line != b"\r\n":
            raise HeadError("A chunk is longer than its size.")
        self._expects = self._size_line

    def _trailer(self, line: bytes) -> None:
        self._trailers += len(line)
        if line == b"\r\n":
            self._ended = True
        elif self._trailers > MAX_REQUEST_HEAD or not _TRAILER.fullmatch(line):
            raise HeadError("The trailers are malformed or too long.")


@dataclass(slots=True)
class Request:
    """One request to this proxy. `path` is empty for CONNECT; `authority` is canonical, without a default port."""

    method: bytes
    host: str
    port: int
    authority: bytes
    path: bytes
    minor: bytes
    headers: list[Field]
    connection: set[bytes]
    body: Body

    @property
    def tunnel(self) -> bool:
        return self.method == b"CONNECT"

    @property
    def upgrade(self) -> bool:
        """Whether it asks for a WebSocket; other upgrades are between the client and this proxy, which has none."""
        return b"upgrade" in self.connection and any(
            lower == b"upgrade" and value.strip().lower() == b"websocket" for lower, _, value in self.headers
        )

    def upstream_head(self, *, absolute: bool = False, authorization: bytes | None = None) -> bytes:
        """The head as the site should see it: as a browser without a proxy sends it, in the same order.

        `absolute` and `authorization` are for a proxy upstream, which gets the whole address.
        """
        target = b"http://" + self.authority + self.path if absolute else self.path
        upgrade = self.upgrade
        host = [b"Host: " + self.authority]
        wish = b"Upgrade" if upgrade else b"close" if b"close" in self.connection else b"keep-alive"
        connection = [b"Connection: " + wish]
        lines = [self.method + b" " + target + b" HTTP/1." + self.minor]
        if not any(lower == b"host" for lower, _, _ in self.headers):
            lines.append(host.pop())
        for lower, name, value in self.headers:
            if lower == b"host":
                lines += host
                host = []
            elif lower in (b"connection", b"proxy-connection"):
                lines += connection
                connection = []
            elif lower == b"upgrade":
                lines += [name + b":" + value] if upgrade else []
            elif not (lower in _HOP_BY_HOP or lower in self.connection or lower.startswith(b"proxy-")):
                lines.append(name + b":" + value)
        if authorization:
            lines.append(b"Proxy-Authorization: " + authorization)
        return b"\r\n".join(lines) + b"\r\n\r\n"


def parse_request(head: bytes) -> Request:
    """Read a whole request head, blank line included. Raises HeadError."""
    if not head.endswith(b"\r\n\r\n"):
        raise HeadError("The head of the request is too long.", b"431 Request Header Fields Too Large")
    line, _, block = head[:-2].partition(b"\r\n")
    match = _REQUEST_LINE.fullmatch(line)
    if match is None or not _HEADERS.fullmatch(block):
        raise HeadError("The head of the request is malformed.")
    method, target, minor = match.groups()
    if method == b"CONNECT":
        authority, path, default = target, b"", 0
    else:
        absolute = _ABSOLUTE.fullmatch(target)
        if absolute is None:
            raise HeadError("This is a proxy: the request must name a whole http:// address, without credentials.")
        authority, path, default = absolute[1], absolute[2] or b"/", 80
        path = path if path.startswith(b"/") else b"/" + path
    host, port = _host_and_port(authority, default)
    fields = [_field(each) for each in block.split(b"\r\n")[:-1]]
    shown = f"[{host}]" if ":" in host else host
    return Request(
        method=method,
        host=host,
        port=port,
        authority=(shown if port == default else f"{shown}:{port}").encode(),
        path=path,
        minor=minor,
        headers=fields,
        connection=_tokens(fields),
        body=Body() if method == b"CONNECT" else _body(fields, minor),
    )


def _field(line: bytes) -> Field:
    name, _, value = line.partition(b":")
    return name.lower(), name, value


def _host_and_port(authority: bytes, default: int) -> tuple[str, int]:
    match = _AUTHORITY.fullmatch(authority)
    try:
        host = canonical_host(match[1].decode("ascii")) if match else ""
    except ValueError:
        host = ""
    port = int(match[2] or default) if match else 0
    if not host or not 0 < port < 65536:
        raise HeadError("The request names no valid host and port.")
    return host, port


def _tokens(fields: list[Field]) -> set[bytes]:
    """What `Connection` says, and `Proxy-Connection` in its place."""
    given = [value for lower, _, value in fields if lower == b"connection"]
    given = given or [value for lower, _, value in fields if lower == b"proxy-connection"]
    tokens = {token.strip().lower() for value in given for token in value.split(b",")} - {b""}
    if tokens & _NEEDED:
        raise HeadError("The request wants a header taken out that says where it goes or how long it is.")
    return tokens


def _body(fields: list[Field], minor: bytes) -> Body:
    """How long the body is; anything that two parsers could read differently is refused (RFC 9112, 6.1 and 6.3)."""
    lengths = [value.strip(b" \t") for lower, _, value in fields if lower == b"content-length"]
    encodings = [value.strip(b" \t").lower() for lower, _, value in fields if lower == b"transfer-encoding"]
    if not encodings:
        if len(lengths) > 1 or not all(re.fullmatch(rb"[0-9]{1,18}", each) for each in lengths):
            raise HeadError("The length of the request's body is not one plain number.")
        return Body(int(lengths[0])) if lengths else Body()
    if lengths or encodings != [b"chunked"] or minor == b"0":
        raise HeadError("The request says in two ways, or in an unknown one, how long its body is.")
    return ChunkedBody()
