"""A lane: so many at a time, a bounded queue behind them, and a fair share of it for every key."""

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import AsyncIterator

from browser_service.errors import Overloaded

RETRY_AFTER_S = 2


class Lane:
    """Admits `places` at a time. Waiting keys take turns, each key's own calls in order."""

    def __init__(
        self, places: int, queue: int, settings: str = "TABWRIGHT_POOL__ONE_SHOT or TABWRIGHT_POOL__QUEUE"
    ) -> None:
        self._places = self._free = places
        self._settings = settings
        self._queue = queue
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Lane free={self._free} waiting={self.waiting}>"

    @property
    def held(self) -> int:
        """How many places are taken."""
        return self._places - self._free

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(len(calls) for calls in self._waiting.values())

    @contextlib.asynccontextmanager
    async def place(self, owner: str, limit_s: float) -> AsyncIterator[None]:
        """Hold a place. Overloaded at once when the queue is full, or when none comes free within `limit_s`."""
        await self._take(owner, limit_s)
        try:
            yield
        finally:
            self._release()

    async def _take(self, owner: str, limit_s: float) -> None:
        if self._free > 0:
            self._free -= 1
            return
        if self.waiting >= self._queue:
            raise self._full("and the queue is full")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            async with asyncio.timeout(limit_s):
                await turn
        except BaseException as fault:
            self._leave(owner, turn)
            if isinstance(fault, TimeoutError):
                raise self._full(f"and none came free within {limit_s:g} s") from None
            raise

    def _leave(self, owner: str, turn: "asyncio.Future[None]") -> None:
        if turn.done() and not turn.cancelled():  # the place came at the same moment: pass it on
            self._release()
            return
        calls = self._waiting.get(owner)
        if calls is not None and turn in calls:
            calls.remove(turn)
            if not calls:
                del self._waiting[owner]

    def _release(self) -> None:
        while self._waiting:
            owner, calls = next(iter(self._waiting.items()))
            turn = calls.popleft()
            del self._waiting[owner]
            if calls:
                self._waiting[owner] = calls  # behind the other keys
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _full(self, why: str) -> Overloaded:
        return Overloaded(
            f"All places for this kind of work are taken, {why}.",
            hint=f"Try again later, or raise {self._settings}.",
            retry_after_s=RETRY_AFTER_S,
        )
