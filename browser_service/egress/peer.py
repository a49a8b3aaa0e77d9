"""The far end of a relayed connection: a site, or a proxy upstream."""

import asyncio
import contextlib
import socket
import struct
from typing import Protocol, cast

HIGH_WATER = 256 * 1024
"""Bytes that may wait for a slow reader before the other side is no longer read."""

_NO_LINGER = struct.pack("ii", 1, 0)


class Owner(Protocol):
    """Who gets what comes from the far end."""

    def from_peer(self, data: bytes) -> None: ...
    def peer_eof(self) -> None: ...
    def peer_lost(self, fault: Exception | None) -> None: ...
    def peer_full(self, full: bool) -> None: ...


class Peer(asyncio.Protocol):
    """A connection to the far end. It is read by `read_*` until somebody takes it over with `attach`."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.route: object = None
        """The proxy upstream that it was dialled through, None without one."""
        self.authorization: bytes | None = None
        self.absolute = False
        """Whether requests go to a proxy in absolute form, with `authorization`, instead of straight to the site."""
        self._owner: Owner | None = None
        self._inbox = bytearray()
        self._arrived = asyncio.Event()
        self.lost = False
        self._ended = False
        self._fault: Exception | None = None

    def attach(self, owner: Owner) -> None:
        """Hand everything on to `owner` from now on, beginning with what has come already."""
        self._owner = owner
        self.hold(False)
        if self._inbox:
            owner.from_peer(bytes(self._inbox))
            self._inbox.clear()
        if self._ended:
            owner.peer_eof()
        if self.lost:
            owner.peer_lost(self._fault)

    def detach(self) -> None:
        """Close at once; what still comes concerns nobody."""
        self._owner = None
        self.reset()

    @property
    def usable(self) -> bool:
        """Whether another request may be sent."""
        return self.transport is not None and not self.transport.is_closing() and not self._ended

    def write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def write_eof(self) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:  # TLS cannot be closed one way
            self.transport.close()

    def close(self) -> None:
        """Send what is waiting, then close."""
        if self.transport is not None:
            self.transport.close()

    def reset(self) -> None:
        """Close at once, in a way that the far end cannot take for a regular end."""
        if self.transport is not None:
            reset(self.transport)

    def hold(self, held: bool) -> None:
        """Stop or go on reading."""
        if self.transport is not None:
            hold(self.transport, held)

    async def read_until(self, mark: bytes, limit: int = 64 * 1024) -> bytes:
        """All up to and including `mark`; raises EOFError when the end or the limit comes first."""
        while (end := self._inbox.find(mark)) < 0:
            if len(self._inbox) > limit:
                raise EOFError
            await self._more()
        return self._take(end + len(mark))

    async def read_exactly(self, count: int) -> bytes:
        """That many bytes; raises EOFError when the end comes first."""
        while len(self._inbox) < count:
            await self._more()
        return self._take(count)

    def _take(self, count: int) -> bytes:
        taken = bytes(self._inbox[:count])
        del self._inbox[:count]
        return taken

    async def _more(self) -> None:
        if self._ended or self.lost:
            raise EOFError
        self._arrived.clear()
        await self._arrived.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER)

    def data_received(self, data: bytes) -> None:
        if self._owner is not None:
            self._owner.from_peer(data)
            return
        self._inbox += data
        self._arrived.set()
        if len(self._inbox) > HIGH_WATER:
            self.hold(True)

    def eof_received(self) -> bool:
        self._ended = True
        self._arrived.set()
        if self._owner is not None:
            self._owner.peer_eof()
        return self.transport is not None and self.transport.can_write_eof()  # TLS cannot stay open one way

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost, self._fault = True, exc
        self._arrived.set()
        if self._owner is not None:
            self._owner.peer_lost(exc)

    def pause_writing(self) -> None:
        if self._owner is not None:
            self._owner.peer_full(True)

    def resume_writing(self) -> None:
        if self._owner is not None:
            self._owner.peer_full(False)


def hold(transport: asyncio.Transport, held: bool) -> None:
    """Stop or go on reading, if there is anything left to read."""
    if transport.is_closing():
        return
    if held:
        transport.pause_reading()
    else:
        transport.resume_reading()


def reset(transport: asyncio.Transport) -> None:
    """Close with RST: a plain abort ends in FIN, which would make a cut body look whole."""
    raw: socket.socket | None = transport.get_extra_info("socket")
    if raw is not None and not transport.is_closing():
        with contextlib.suppress(OSError):  # the other side was faster
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()
