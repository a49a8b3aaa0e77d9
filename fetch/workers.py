"""Worker processes for what takes long and is not to be trusted: parsing and converting strangers' pages.

Why not a library: `concurrent.futures` cannot kill one call; Pebble can, but pickles and sends on threads of one shared
channel, bounds no memory, and builds on `multiprocessing`, whose children import the main module again and leave a
resource tracker behind. A plain subprocess with two pipes has none of this.
"""

import asyncio
import os
import pickle
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar, TypeVarTuple, cast

from fetch.errors import TabwrightError, TimedOut
from fetch.worker_line import Line, spawn
from fetch.worker_process import Reply

T = TypeVar("T")
Args = TypeVarTuple("Args")

START_LIMIT_S = 30.0
"""How long a new process may take until it answers."""

_LARGE = 1 << 18  # bytes or characters; more is pickled by a thread, so that the event loop goes on
_DIED = "The process that read this died."


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
        self._thread = ThreadPoolExecutor(1, "workers")  # starts and buries them: they end with their thread

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
        self._thread.shutdown(wait=False)

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
        worker = _Worker(self._thread, self._calls, self._memory, self._warming)
        self._all.append(worker)
        return worker


class _Worker:
    """One place for a process, which is started, asked, and replaced when it is spent."""

    def __init__(
        self, thread: ThreadPoolExecutor, calls: int, memory: int, warming: Callable[[], object] | None
    ) -> None:
        self._thread = thread
        self._calls = calls
        self._memory = memory
        self._warming = warming
        self._line: Line | None = None
        self._starting: asyncio.Task[None] | None = None
        self._used = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        return None if self._line is None else self._line.pid

    def prepare(self, function: Callable[[], object]) -> None:
        """Have a process ready that has called this."""
        self._warming = function
        self._replace()

    async def call(self, function: Callable[..., object], args: tuple[object, ...], limit_s: float) -> Reply:
        """What comes of a call. Raises what `Workers.run` raises of itself."""
        try:
            await self._started()  # which goes on when this call is cancelled
            reply = await self._exchange(function, args, limit_s)
        except (EOFError, OSError, pickle.UnpicklingError) as fault:
            raise (_stopping() if self._closed else TabwrightError(_DIED)) from fault
        if reply[0] == "spent" or self._used >= self._calls:
            self._replace()
        return reply

    async def close(self) -> None:
        """End the process."""
        self._closed = True
        if self._line is not None:
            self._line.kill()
        if self._starting is not None:
            await asyncio.wait([self._starting])
        await self._bury()

    async def _exchange(self, function: Callable[..., object], args: tuple[object, ...], limit_s: float) -> Reply:
        """Ask the process. If that takes too long, or nobody waits for it any more, it is killed and replaced."""
        self._used += 1
        try:
            async with asyncio.timeout(limit_s):
                message = await _dumped((function, args), max(map(_weight, args), default=0))
                line = await self._handed(message)
                return await _loaded(await line.receive())
        except TimeoutError:
            self._replace()
            raise TimedOut(f"Reading this took longer than {limit_s:g} s.") from None
        except BaseException:
            self._replace()
            raise

    async def _handed(self, message: bytes) -> Line:
        """Hand a request to the process and have it say that it has it.

        One that died between two calls (the system was short of memory, say) never began this one: the next gets it.
        """
        try:
            line = await self._started()
            await line.ask(message)
        except EOFError:
            self._replace()
            line = await self._started()
            await line.ask(message)
        return line

    def _replace(self) -> None:
        """End this process now, and have another soon."""
        if self._line is not None:
            self._line.kill()
        if not self._closed and (self._starting is None or self._starting.done()):
            self._starting = asyncio.get_running_loop().create_task(self._renew())
            self._starting.add_done_callback(_note)

    async def _started(self) -> Line:
        """The line to a process that is ready."""
        if self._starting is not None and not self._starting.done():
            await asyncio.wait([self._starting])
        if self._line is None or self._line.lost:
            if self._closed:
                raise EOFError
            self._replace()
            starting = cast("asyncio.Task[None]", self._starting)
            await asyncio.wait([starting])
            starting.result()
        return cast("Line", self._line)

    async def _renew(self) -> None:
        await self._bury()
        loop = asyncio.get_running_loop()
        process = await loop.run_in_executor(self._thread, spawn, self._memory)
        self._line, self._used = await Line.open(process), 0
        if self._closed:  # while it was being started
            self._line.kill()
        try:
            async with asyncio.timeout(START_LIMIT_S):
                await self._line.receive()
                if self._warming is not None:
                    await self._line.ask(pickle.dumps((self._warming, ())))
                    await self._line.receive()
        except BaseException:
            await self._bury()
            raise

    async def _bury(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()
            await asyncio.get_running_loop().run_in_executor(self._thread, line.bury)


def _note(task: asyncio.Task[None]) -> None:
    """Take note of how a start ended; the next call tries again and tells."""
    if not task.cancelled():
        task.exception()


def _weight(value: object) -> int:
    """About how much there is to pickle: of text, bytes, or an object that holds some."""
    if isinstance(value, bytes | str):
        return len(value)
    held = getattr(value, "__dict__", {}).values()
    return sum(len(each) for each in held if isinstance(each, bytes | str))


async def _dumped(request: object, weight: int) -> bytes:
    if weight > _LARGE:
        return await asyncio.to_thread(pickle.dumps, request, pickle.HIGHEST_PROTOCOL)
    return pickle.dumps(request, pickle.HIGHEST_PROTOCOL)


async def _loaded(message: bytes) -> Reply:
    if len(message) > _LARGE:
        reply: Reply = await asyncio.to_thread(pickle.loads, message)
    else:
        reply = pickle.loads(message)  # noqa: S301  our own child's
    return reply


def _stopping() -> TabwrightError:
    return TabwrightError("The service is stopping.", hint="Try again when it runs.")
