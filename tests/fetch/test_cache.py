"""Results that are kept, and one flight for all who ask at the same time."""

import asyncio

import pytest

from fetch.cache import Cache, Flights


async def test_concurrent_calls_share_one_flight() -> None:
    """Ten who ask at once cause one piece of work, and all get its result."""
    flights: Flights[int] = Flights()
    runs = 0
    gate = asyncio.Event()

    async def work() -> int:
        nonlocal runs
        runs += 1
        await gate.wait()
        return 7

    asked = [asyncio.create_task(flights.once("key", work)) for _ in range(10)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*asked) == [7] * 10
    assert (runs, len(flights)) == (1, 0)


async def test_one_who_goes_does_not_end_it_for_the_others() -> None:
    """The work is cancelled only when the last one who waits has gone."""
    flights: Flights[int] = Flights()
    gate = asyncio.Event()
    ended: list[str] = []

    async def work() -> int:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return 1

    first, second = (asyncio.create_task(flights.once("key", work)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    assert not ended
    second.cancel()
    await asyncio.wait({first, second})
    await asyncio.sleep(0)
    assert ended == ["cancelled"]
    gate.set()
    assert await flights.once("key", work) == 1


async def test_a_failure_is_everybodys_and_is_not_kept() -> None:
    """All who wait get the failure; who asks afterwards starts anew."""
    flights: Flights[int] = Flights()

    async def fails() -> int:
        raise ValueError("no")

    async def works() -> int:
        return 2

    results = await asyncio.gather(*(flights.once("key", fails) for _ in range(2)), return_exceptions=True)
    assert [str(each) for each in results] == ["no", "no"]
    assert await flights.once("key", works) == 2


def test_the_least_recently_used_is_dropped() -> None:
    """With two places, what was used last stays."""
    cache: Cache[str] = Cache(entries=2, seconds=60)
    cache.put("a", "A")
    cache.put("b", "B")
    assert cache.get("a") == "A"
    cache.put("c", "C")
    assert [cache.get(key) for key in "abc"] == ["A", None, "C"]
    assert (cache.hits, cache.misses) == (3, 1)


@pytest.mark.parametrize("seconds", [0.001])
async def test_what_is_old_is_gone(seconds: float) -> None:
    """A result is kept for its time only."""
    cache: Cache[str] = Cache(seconds=seconds)
    cache.put("a", "A")
    async with asyncio.timeout(5):
        while cache.get("a") is not None:
            await asyncio.sleep(seconds)
    assert len(cache) == 0
