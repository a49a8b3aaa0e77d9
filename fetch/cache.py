"""What was fetched, kept for a while; and one fetch for all who ask for the same at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from cachetools import TTLCache

ENTRIES = 100
SECONDS = 600.0

_T = TypeVar("_T")


class Flights(Generic[_T]):
    """Runs one piece of work a key at a time; whoever asks meanwhile gets the same result.

    The work goes on while anybody waits for it, and is cancelled when the last one has gone.
    """

    def __init__(self) -> None:
        self._flying: dict[Hashable, asyncio.Task[_T]] = {}
        self._waiting: dict[asyncio.Task[_T], int] = {}

    def __len__(self) -> int:
        return len(self._flying)

    async def once(self, key: Hashable, work: Callable[[], Awaitable[_T]]) -> _T:
        """The result of `work`, or of the one that is under way for this key. Its failure is everybody's."""
        task = self._flying.get(key)
        if task is None:
            task = self._flying[key] = asyncio.ensure_future(work())
            task.add_done_callback(lambda _: self._landed(key))
        self._waiting[task] = self._waiting.get(task, 0) + 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                task.cancel()
                if self._flying.get(key) is task:  # nobody may join work that is being cancelled
                    del self._flying[key]

    def _landed(self, key: Hashable) -> None:
        task = self._flying.get(key)
        if task is not None and task.done():
            del self._flying[key]


class Cache(Generic[_T]):
    """The last `entries` results that were used, for `seconds` each."""

    def __init__(self, entries: int = ENTRIES, seconds: float = SECONDS) -> None:
        self._kept: TTLCache[Hashable, _T] = TTLCache(entries, seconds)
        self.flights: Flights[_T] = Flights()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> _T | None:
        """What is kept for this key."""
        found = self._kept.get(key)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
        return found

    def put(self, key: Hashable, value: _T) -> None:
        """Keep it."""
        self._kept[key] = value
