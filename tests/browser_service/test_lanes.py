"""Lanes: places, the queue, fair shares."""

import asyncio

import pytest

from browser_service.errors import Overloaded
from browser_service.lanes import Lane


async def hold(lane: Lane, owner: str, order: list[str], release: asyncio.Event) -> None:
    """Take a place, write down that it was had, keep it until told."""
    async with lane.place(owner, 5):
        order.append(owner)
        await release.wait()


@pytest.fixture
def order() -> list[str]:
    """In which order places were had."""
    return []


async def started(*works: object) -> None:
    """Let tasks run until they wait."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_full_queue_refuses_at_once(order: list[str]) -> None:
    """With the place taken and the queue full, the next call fails with Overloaded and a time to come back."""
    lane, release = Lane(1, 1), asyncio.Event()
    tasks = [asyncio.create_task(hold(lane, "a", order, release)) for _ in range(2)]
    await started()
    with pytest.raises(Overloaded) as fault:
        async with lane.place("b", 5):
            pass
    assert fault.value.retry_after_s
    release.set()
    await asyncio.gather(*tasks)


async def test_keys_take_turns(order: list[str]) -> None:
    """A key with many waiting calls does not make another key wait for all of them."""
    lane, release = Lane(1, 10), asyncio.Event()
    tasks = [asyncio.create_task(hold(lane, owner, order, release)) for owner in ("a", "a", "a", "a", "b")]
    await started()
    release.set()
    await asyncio.gather(*tasks)
    assert order.index("b") <= 2


async def test_a_place_that_does_not_come_free_in_time_is_refused(order: list[str]) -> None:
    """Waiting ends with Overloaded after the limit, and leaves no trace in the queue."""
    lane, release = Lane(1, 10), asyncio.Event()
    task = asyncio.create_task(hold(lane, "a", order, release))
    await started()
    with pytest.raises(Overloaded):
        async with lane.place("b", 0.01):
            pass
    assert lane.waiting == 0
    release.set()
    await task


async def test_a_cancelled_wait_gives_its_place_on(order: list[str]) -> None:
    """A caller that goes away while waiting does not keep the place from the next one."""
    lane, release = Lane(1, 10), asyncio.Event()
    first, second, third = (asyncio.create_task(hold(lane, owner, order, release)) for owner in "abc")
    await started()
    second.cancel()
    release.set()
    await asyncio.gather(first, third)
    assert order == ["a", "c"]
    assert repr(lane) == "<Lane free=1 waiting=0>"
