"""One accepted connection of a browser, and the one connection upstream that belongs to it.

The two live and end together: an end, a half-close or a reset on one side is the same on the other, so the browser sees
what it would see without a proxy, its own retry of a kept-alive connection that went stale included. Requests for
another host on the same connection get a new connection upstream. Responses pass unframed (see `head`).
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Protocol, cast

from browser_service.egress.answer import AnswerHeads, refusal, rejection
from browser_service.egress.dial import DialError
from browser_service.egress.limits import MAX_REQUEST_HEAD, Limits
from browser_service.egress.peer import HIGH_WATER, Peer, hold, reset
from browser_service.egress.record import Outcome
from browser_service.egress.request import Body, HeadError, Request, parse_request

_log = logging.getLogger(__name__)

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Gate(Protocol):
    """What a relay needs of the exit that it belongs to."""

    limits: Limits
    bytes_sent: int
    bytes_received: int

    def admit(self, relay: "Relay") -> bool: ...
    def leave(self, relay: "Relay") -> None: ...
    def note(self, host: str, port: int, outcome: Outcome, detail: str = "") -> None: ...
    def reusable(self, peer: Peer) -> bool: ...
    async def dial(self, request: Request) -> Peer: ...


class Relay(asyncio.Protocol):
    """A client's connection. `_take` is what to do with the bytes that come from it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._loop = asyncio.get_running_loop()
        self._take: Callable[[bytes], None] = self._take_head
        self._client: asyncio.Transport | None = None
        self._client_ended = False
        self._pending = bytearray()
        self._deadline: asyncio.TimerHandle | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._body = Body()
        self._request: Request | None = None
        self._peer: Peer | None = None
        self._peer_ended = False
        self._awaiting = False
        self._answered = False
        self._asked = False
        self._heads = AnswerHeads()
        self.touched = self._loop.time()

    # The client's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._client = cast("asyncio.Transport", transport)
        self._client.set_write_buffer_limits(high=HIGH_WATER)
        if not self._gate.admit(self):
            reset(self._client)

    def data_received(self, data: bytes) -> None:
        self.touched = self._loop.time()
        self._gate.bytes_sent += len(data)
        self._take(data)

    def eof_received(self) -> bool:
        self._client_ended = True
        if self._take == self._keep:
            self.abort()
        elif self._peer is None or self._peer_ended:
            self._finish()
        else:
            self._peer.write_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._client_ended = True
        self._gate.leave(self)
        self._stop()
        if self._peer is not None:
            self._peer.reset()

    def pause_writing(self) -> None:
        if self._peer is not None:
            self._peer.hold(True)

    def resume_writing(self) -> None:
        if self._peer is not None:
            self._peer.hold(False)

    # The far end's side

    def from_peer(self, data: bytes) -> None:
        self.touched = self._loop.time()
        self._gate.bytes_received += len(data)
        self._answered = True
        if not self._awaiting:
            self._to_client(data)
            return
        try:
            for status, head in self._heads.feed(data):
                self._pass_head(status, head)
        except HeadError:
            self.abort()

    def peer_eof(self) -> None:
        self._peer_ended = True
        self._note_silence("The host closed the connection without an answer.")
        self._to_client(self._heads.rest())  # a head that was cut goes on as it is, and the browser judges
        if self._client_ended:
            self._finish()
        else:
            self._end_for_client()

    def peer_lost(self, fault: Exception | None) -> None:
        if fault is not None:
            self._note_silence("The host reset the connection before it answered.")
        if fault is not None or not self._peer_ended:
            self.abort()
        elif self._client_ended:
            self._finish()

    def peer_full(self, full: bool) -> None:
        if self._client is not None:
            hold(self._client, full)

    # Ends

    def abort(self) -> None:
        """End both sides at once."""
        self._stop()
        if self._client is not None:
            reset(self._client)
        if self._peer is not None:
            self._peer.reset()

    def tasks(self) -> list[asyncio.Task[None]]:
        """What still runs for it."""
        return [self._dialling] if self._dialling is not None else []

    def expire(self, now: float) -> None:
        """End it if it was silent for too long."""
        limits = self._gate.limits
        half_closed = self._client_ended or self._peer_ended or self._take == self._discard
        if self._dialling is None and now - self.touched > (limits.half_closed_s if half_closed else limits.idle_s):
            self.abort()

    def _finish(self) -> None:
        """Both sides have ended: close, after what is still waiting has been sent to either."""
        if self._peer is not None and not self._peer.lost:
            self._peer.close()  # `peer_lost` will come back here
        elif self._client is not None:
            self._client.close()

    def _stop(self) -> None:
        self._take = self._discard
        if self._deadline is not None:
            self._deadline.cancel()
        if self._dialling is not None:
            self._dialling.cancel()

    def _drop_peer(self) -> None:
        if self._peer is not None:
            self._peer.detach()
        self._peer, self._peer_ended, self._awaiting = None, False, False

    def _note_silence(self, detail: str) -> None:
        """Note an end before the first answer; a later one is a stale connection, which browsers retry."""
        if self._request is not None and self._asked and not self._answered and not self._client_ended:
            self._gate.note(self._request.host, self._request.port, "connect_reset", detail)

    def _refuse(self, answer: bytes) -> None:
        """Give the proxy's own answer; the client ends the connection when it has read it."""
        self._take = self._discard
        self._drop_peer()
        if self._client is not None and not self._client.is_closing():
            self._client.write(answer)
            self._end_for_client()

    def _end_for_client(self) -> None:
        if self._client is not None and not self._client.is_closing():
            with contextlib.suppress(OSError):  # it has gone already, and nothing has told us yet
                self._client.write_eof()

    # What to do with the client's bytes

    def _discard(self, data: bytes) -> None:
        pass

    def _keep(self, data: bytes) -> None:
        self._pending += data
        if len(self._pending) > HIGH_WATER and self._client is not None:
            hold(self._client, True)

    def _take_head(self, data: bytes) -> None:
        if not data:
            return
        if self._awaiting or self._peer_ended:  # no browser pipelines; a request after the end can have no answer
            self.abort()
            return
        self._pending += data
        end = self._pending.find(b"\r\n\r\n", 0, MAX_REQUEST_HEAD) + 4
        if end < 4 and len(self._pending) < MAX_REQUEST_HEAD:
            if self._deadline is None:
                self._deadline = self._loop.call_later(self._gate.limits.head_s, self.abort)
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        try:
            request = parse_request(bytes(self._pending[:end]))
        except HeadError as fault:
            self._refuse(rejection(fault))
            return
        del self._pending[:end]
        self._begin(request)

    def _take_body(self, data: bytes) -> None:
        try:
            used = self._body.feed(data)
        except HeadError:
            self.abort()
            return
        if self._peer is not None and used:
            self._peer.write(data if used == len(data) else data[:used])
        if self._body.done:
            self._take = self._keep if self._request is not None and self._request.upgrade else self._take_head
            if used < len(data):
                self._take(data[used:])

    def _take_tunnel(self, data: bytes) -> None:
        if self._peer is not None and data:
            self._asked = True
            self._peer.write(data)

    def _release(self, take: Callable[[bytes], None]) -> None:
        """Go on with `take`, beginning with what was kept."""
        self._take = take
        if self._client is not None:
            hold(self._client, False)
        kept = bytes(self._pending)
        self._pending.clear()
        take(kept)

    # Requests and their answers

    def _begin(self, request: Request) -> None:
        before = self._request
        self._request = request
        same = before is not None and (before.host, before.port) == (request.host, request.port)
        if self._peer is not None and same and not request.tunnel and self._gate.reusable(self._peer):
            self._send(self._peer, request)
            return
        self._drop_peer()
        self._take = self._keep
        self._dialling = self._loop.create_task(self._dial(request))

    async def _dial(self, request: Request) -> None:
        try:
            peer = await self._gate.dial(request)
        except DialError as fault:
            self._gate.note(request.host, request.port, fault.outcome, fault.detail)
            self._refuse(refusal(fault.outcome, fault.detail))
            return
        except Exception:  # noqa: BLE001  the edge of a task: reported, and the client is told
            _log.exception("A connection could not be made")
            self.abort()
            return
        finally:
            self._dialling = None
        self.touched = self._loop.time()
        self._gate.note(request.host, request.port, "ok")
        self._peer = peer
        self._answered = self._asked = False
        if request.tunnel:
            self._to_client(_ESTABLISHED)
            self._release(self._take_tunnel)
        else:
            self._send(peer, request)
        peer.attach(self)

    def _send(self, peer: Peer, request: Request) -> None:
        self._awaiting = self._asked = True
        self._body = request.body
        self._heads = AnswerHeads()
        peer.write(request.upstream_head(absolute=peer.absolute, authorization=peer.authorization))
        self._release(self._take_body)

    def _pass_head(self, status: int, head: bytes) -> None:
        if status == 407 and self._peer is not None and self._peer.absolute and self._request is not None:
            detail = "The proxy does not accept the user name and password."
            self._gate.note(self._request.host, self._request.port, "upstream_failed", detail)
            self._refuse(refusal("upstream_failed", detail))
            return
        self._to_client(head)
        if 100 <= status < 200 and status != 101:
            return
        self._awaiting = False
        if self._request is not None and self._request.upgrade and self._take == self._keep:
            self._release(self._take_tunnel if status == 101 else self._take_head)

    def _to_client(self, data: bytes) -> None:
        if data and self._client is not None and not self._client.is_closing():
            self._client.write(data)
