"""Worker processes for what takes long and is not to be trusted: parsing and converting strangers' pages.

Why not a library: `concurrent.futures` cannot kill one call; Pebble can, but pickles and sends on threads of one shared
channel, bounds no memory, and builds on `multiprocessing`, whose children import the main module again and leave a
resource tracker behind. A plain subprocess with two pipes and one thread for each has none of this, and does not care
which event loop runs.
"""

import asyncio
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import IO, Self, TypeVar, TypeVarTuple, cast

from fetch.errors import TabwrightError, TimedOut
from fetch.worker_process import Reply, receive, send

if sys.platform == "linux":
    from fcntl import F_SETPIPE_SZ, fcntl

T = TypeVar("T")
Args = TypeVarTuple("Args")

START_LIMIT_S = 30.0
"""How long a new process may take until it answers."""

_LARGEST_REPLY = 1 << 28  # bytes
_PIPE = 1 << 20  # bytes; the most that Linux gives without privileges
_DIED = "The process that read this died."
_SECRETS = ("TABWRIGHT_",), ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class Workers:
    """Up to `count` processes (default: one a core, four at most) that run functions; first come, first served.

    A process starts when there is work for it, and is replaced after `calls` calls. It may use `memory` bytes of
    address space (enforced on Linux only). It gives way to this process, ends with it however that ends, and has none
    of its descriptors, keys or signals.
    """

    def __init__(self, count: int | None = None, *, calls: int = 1000, memory: int = 2 << 30) -> None:
        self._count = count or min(max(os.cpu_count() or 1, 1), 4)
        self._calls = calls
        self._memory = memory
        self._all: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._waiting: deque[asyncio.Future[_Worker]] = deque()
        self._warming: Callable[[], object] | None = None
        self._closed = False

    def __repr__(self) -> str:
        busy = len(self._all) - len(self._idle)
        return f"<Workers {busy} busy, {len(self._idle)} idle, {len(self._waiting)} calls waiting>"

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that run now."""
        return tuple(worker.pid for worker in self._all if worker.pid is not None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(_stopping())
        self._waiting.clear()
        await asyncio.shield(asyncio.gather(*(worker.close() for worker in self._all)))

    def warm(self, function: Callable[[], object]) -> None:
        """Start all processes in the background and have each call this before anything else, now and when replaced."""
        self._warming = function
        while len(self._all) < self._count:
            self._idle.insert(0, self._hire())
        for worker in self._all:
            worker.prepare(function)

    async def run(self, function: Callable[[*Args], T], *args: *Args, limit_s: float) -> T:
        """What a module-level function gives, called in a worker with arguments that can be pickled.

        `limit_s` counts from when a worker takes the call; then its process is killed and TimedOut raised. What the
        function raises is raised here, with the worker's traceback as a note. A process that dies, or needs too much
        memory, is a TabwrightError and not tried again: the next page would be its next victim. Cancelling kills the
        process if the call has begun.
        """
        worker = await self._take()
        try:
            kind, value = await worker.call(function, args, limit_s)
        finally:
            self._give(worker)
        if kind != "done":
            raise cast("Exception", value)
        return cast("T", value)

    async def _take(self) -> "_Worker":
        if self._closed:
            raise _stopping()
        if self._idle:
            return self._idle.pop()
        if len(self._all) < self._count:
            return self._hire()
        place: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._give(place.result())
            raise

    def _give(self, worker: "_Worker") -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(worker)
                return
        self._idle.append(worker)

    def _hire(self) -> "_Worker":
        worker = _Worker(self._calls, self._memory, self._warming)
        self._all.append(worker)
        return worker


class _Worker:
    """One place for a process, and the thread that starts it, talks to it and buries it.

    All that may block is done by that thread, in order; `kill` alone comes from outside and ends what it waits for.
    """

    def __init__(self, calls: int, memory: int, warming: Callable[[], object] | None) -> None:
        self._calls = calls
        self._memory = memory
        self._warming = warming
        self._thread = ThreadPoolExecutor(1, "worker")
        self._process: subprocess.Popen[bytes] | None = None
        self._used = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def prepare(self, function: Callable[[], object]) -> None:
        """Have a process ready that has called this."""
        self._warming = function
        self._replace()

    async def call(self, function: Callable[..., object], args: tuple[object, ...], limit_s: float) -> Reply:
        """What comes of a call. Raises what `Workers.run` raises of itself."""
        gone = threading.Event()
        try:
            await self._within(self._start, START_LIMIT_S, gone)
            reply = await self._within(partial(self._exchange, function, args, gone), limit_s, gone)
        except BaseException:
            self._replace()
            raise
        if reply[0] == "spent" or self._used >= self._calls:
            self._replace()
        return reply

    async def close(self) -> None:
        """End the process and the thread."""
        self._closed = True
        self._kill()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._stop)
        self._thread.shutdown(wait=False)

    async def _within(self, step: Callable[[], T], limit_s: float, gone: threading.Event) -> T:
        """What comes of a step of the thread. When that takes too long, or nobody waits for it any more, the process is
        killed and `gone` is set.
        """
        if self._closed:
            raise _stopping()
        work = asyncio.get_running_loop().run_in_executor(self._thread, step)
        try:
            done, _ = await asyncio.wait([work], timeout=limit_s)
        except asyncio.CancelledError:
            gone.set()
            self._kill()
            work.cancel()
            raise
        if not done:
            gone.set()
            self._kill()
            work.cancel()
            raise TimedOut(f"Reading this took longer than {limit_s:g} s.")
        try:
            return work.result()
        except (EOFError, OSError, pickle.UnpicklingError) as fault:
            raise (_stopping() if self._closed else TabwrightError(_DIED)) from fault

    def _kill(self) -> None:
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    def _replace(self) -> None:
        if not self._closed:
            self._thread.submit(self._renew)

    # From here on: the thread's.

    def _renew(self) -> None:
        self._stop()
        self._start()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._stop()
        if self._closed:
            raise EOFError
        self._process, self._used = _spawn(self._memory), 0
        receive(_descriptor(self._process.stdout), 0)
        if self._warming is not None:
            self._exchange(self._warming, (), threading.Event())

    def _exchange(self, function: Callable[..., object], args: tuple[object, ...], gone: threading.Event) -> Reply:
        self._used += 1
        process = self._request(pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL), gone)
        reply: Reply = pickle.loads(receive(_descriptor(process.stdout), _LARGEST_REPLY))  # noqa: S301  our own child's
        return reply

    def _request(self, message: bytes, gone: threading.Event) -> "subprocess.Popen[bytes]":
        """Hand a request to the process and have it say that it has it; gives the process.

        One that died between two calls (the system was short of memory, say) never began this one: the next gets it.
        """
        try:
            return self._handed(message)
        except (EOFError, OSError):
            self._renew()
            if gone.is_set():
                raise
        return self._handed(message)

    def _handed(self, message: bytes) -> "subprocess.Popen[bytes]":
        process = self._process
        if process is None:
            raise EOFError
        send(_descriptor(process.stdin), message)
        receive(_descriptor(process.stdout), 0)
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _descriptor(pipe: IO[bytes] | None) -> int:
    return cast("IO[bytes]", pipe).fileno()


def _spawn(memory: int) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, so that Ctrl-C in a terminal reaches the service alone."""
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
                fcntl(_descriptor(pipe), F_SETPIPE_SZ, _PIPE)
    return process


def _environment() -> dict[str, str]:
    """Ours without what a worker that was taken over by a page should not know."""
    prefixes, suffixes = _SECRETS
    return {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(prefixes) and not name.upper().endswith(suffixes)
    }


def _stopping() -> TabwrightError:
    return TabwrightError("The service is stopping.", hint="Try again when it runs.")
