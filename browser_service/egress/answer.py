"""Answers: those of the network, passed on as they come but for their heads, and the proxy's own.

Answers are not framed here. The browser finds their end, and since each of its connections is tied to one connection
upstream, the two cannot get out of step on where one answer ends and the next begins (RFC 9112, 6.3 and 11.2).
"""

import re
from collections.abc import Iterator

from browser_service.egress.limits import MAX_RESPONSE_HEAD
from browser_service.egress.record import Outcome
from browser_service.egress.request import HeadError

VERDICT_HEADER = "X-Tabwright-Egress"
"""On every answer that is this proxy's own; taken out of every plain http response that comes from elsewhere."""

_VERDICT = VERDICT_HEADER.lower().encode()
_END_OF_HEAD = re.compile(rb"\n\r?\n")
# A browser looks past four bytes of rubbish for the first line, and takes one without a status as a 200.
_BEGIN_OF_HEAD = re.compile(rb".{0,4}?HTTP(?:/[0-9.]* +([0-9]{3}))?", re.IGNORECASE | re.DOTALL)
_STATUS = {
    "address_forbidden": b"403 Forbidden",
    "dns_failed": b"502 Bad Gateway",
    "connect_refused": b"502 Bad Gateway",
    "connect_timeout": b"504 Gateway Timeout",
    "connect_reset": b"502 Bad Gateway",
    "upstream_failed": b"502 Bad Gateway",
    "too_many": b"503 Service Unavailable",
}


class AnswerHeads:
    """Finds the head of an answer, and interim ones before it (RFC 9110, 15.2), in what a server sends."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Heads as they become whole, each with its status, cleaned; the last one with all that follows it.

        The status is 0 when the server does not speak HTTP/1 and the browser must judge. Raises HeadError when a head
        does not end. Nothing may be fed after a status of 200 or more, 101 or 0.
        """
        self._kept += data
        while self._kept:
            begin = _BEGIN_OF_HEAD.match(self._kept)
            end = _END_OF_HEAD.search(self._kept, begin.end() if begin else 0)
            if begin is None and len(self._kept) >= 8:
                yield 0, self._take(len(self._kept))
                return
            if begin is None or end is None:
                if len(self._kept) > MAX_RESPONSE_HEAD:
                    raise HeadError("The head of the answer is too long.")
                return
            status = int(begin[1] or 200)  # read now: a match looks into what is taken next
            head = clean_response(self._take(end.end()))
            if 100 <= status < 200 and status != 101:
                yield status, head
                continue
            yield status, head + self._take(len(self._kept))
            return

    def rest(self) -> bytes:
        """What there is of a head that was cut."""
        return clean_response(self._take(len(self._kept)))

    def _take(self, count: int) -> bytes:
        taken = bytes(self._kept[:count])
        del self._kept[:count]
        return taken


def clean_response(head: bytes) -> bytes:
    """A response's head without what only this proxy may say: `Proxy-*` and the verdict header."""
    lower = head.lower()
    if b"proxy-" not in lower and _VERDICT not in lower:
        return head
    kept, dropping = [], False
    for line in head.splitlines(keepends=True):
        if not line.startswith((b" ", b"\t")):  # a line that begins so continues the one before
            name = line.partition(b":")[0].strip().lower()
            dropping = name.startswith(b"proxy-") or name == _VERDICT
        if not dropping:
            kept.append(line)
    return b"".join(kept)


def refusal(outcome: Outcome, detail: str) -> bytes:
    """The proxy's own answer to a request that it did not pass on."""
    return _answer(_STATUS[outcome], outcome, detail)


def rejection(fault: HeadError) -> bytes:
    """The proxy's own answer to something that is not a request for it."""
    return _answer(fault.status, "bad_request", str(fault))


def _answer(status: bytes, verdict: str, detail: str) -> bytes:
    text = detail.encode() + b"\n"
    return (
        b"HTTP/1.1 %b\r\n%b: %b\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"
        b"Content-Length: %d\r\nConnection: close\r\n\r\n%b"
    ) % (status, VERDICT_HEADER.encode(), verdict.encode(), len(text), text)
