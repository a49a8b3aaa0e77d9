"""The line to a worker process: messages both ways through two pipes of the event loop.

No thread waits for them. One that does needs the interpreter's lock for each step, and gets it from a busy event loop
only after 5 ms; that cost a third of all pages a second.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections import deque
from typing import IO, Self, cast

from fetch.worker_process import LENGTH

if sys.platform == "linux":
    from fcntl import F_SETPIPE_SZ, fcntl

LARGEST = 1 << 28
"""Bytes of one message that a process may send; then it is killed."""

_PIPE = 1 << 20  # bytes; the most that Linux gives without privileges
_SECRETS = ("TABWRIGHT_",), ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def spawn(memory: int) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, so that Ctrl-C in a terminal reaches the service alone.

    It ends with the thread that calls this.
    """
    serving = f"from fetch.worker_process import serve; serve({os.getpid()}, {memory})"
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {serving}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        env=_environment(),
    )
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # the user may have used up what may be had
            for pipe in (process.stdin, process.stdout):
                fcntl(cast("IO[bytes]", pipe).fileno(), F_SETPIPE_SZ, _PIPE)
    return process


def _environment() -> dict[str, str]:
    """Ours without what a worker that was taken over by a page should not know."""
    prefixes, suffixes = _SECRETS
    settings = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(prefixes) and not name.upper().endswith(suffixes)
    }
    return settings | {"OPENBLAS_NUM_THREADS": "1"}  # NumPy would start a thread for each core, and 8 MB for each


class Line(asyncio.Protocol):
    """A process, what it sends, and what it is sent. Of one task at a time."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._buffer = bytearray()
        self._messages: deque[bytes] = deque()
        self._awaited: asyncio.Future[None] | None = None
        self._pipes: list[asyncio.BaseTransport] = []
        self.lost = False
        """Whether nothing more can come."""

    @classmethod
    async def open(cls, process: "subprocess.Popen[bytes]") -> Self:
        """Connect a process that was just started with the running event loop."""
        line = cls(process)
        loop = asyncio.get_running_loop()
        line._pipes.append((await loop.connect_read_pipe(lambda: line, process.stdout))[0])
        line._pipes.append((await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin))[0])
        return line

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    async def ask(self, message: bytes) -> None:
        """Hand a request to the process and have it say that it has it. EOFError where it died before."""
        if self.lost:
            raise EOFError
        pipe = cast("asyncio.WriteTransport", self._pipes[1])
        pipe.write(LENGTH.pack(len(message)))
        pipe.write(message)
        await self.receive()

    async def receive(self) -> bytes:
        """The next message. EOFError where none will come."""
        while not self._messages:
            if self.lost:
                raise EOFError
            self._awaited = asyncio.get_running_loop().create_future()
            await self._awaited
        return self._messages.popleft()

    def kill(self) -> None:
        """End the process, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def close(self) -> None:
        """Give the pipes back; the process ends by that, too."""
        self.connection_lost(None)
        for pipe in self._pipes:
            pipe.close()

    def bury(self) -> None:
        """Kill the process and wait until it is gone. Blocks."""
        self.kill()
        self._process.wait()

    def data_received(self, data: bytes) -> None:
        """Part of what it sends."""
        self._buffer += data
        while len(self._buffer) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._buffer)
            if length > LARGEST:
                self.kill()
            end = LENGTH.size + length
            if len(self._buffer) < end:
                return
            self._messages.append(bytes(self._buffer[LENGTH.size : end]))
            del self._buffer[:end]
            self._wake()

    def connection_lost(self, _: Exception | None) -> None:
        """Its end of the pipe is closed."""
        self.lost = True
        self._wake()

    def _wake(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)
