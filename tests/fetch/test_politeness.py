"""Hosts are not overrun, and those that can take it are not waited for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from fetch.errors import TimedOut
from fetch.politeness import MAX_GAP_S, MAX_PAUSE_S, Politeness, host_key

HOST = "example.com"


def now() -> float:
    """The loop's clock."""
    return asyncio.get_running_loop().time()


def soon() -> float:
    """A deadline that no test comes near."""
    return now() + 20


class Visitors:
    """Visitors of one host, each of which stays until it is let go."""

    def __init__(self, politeness: Politeness) -> None:
        self.politeness = politeness
        self.inside: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.doors: list[asyncio.Event] = []

    async def come(self, count: int) -> None:
        """Let some more come, and get as far as they do by themselves."""
        for _ in range(count):
            self.doors.append(asyncio.Event())
            self.tasks.append(asyncio.create_task(self._visit(len(self.tasks))))
        await self.settle()

    async def settle(self) -> None:
        """Let everything happen that waits for nothing."""
        for _ in range(20):
            await asyncio.sleep(0)

    async def go(self, number: int) -> None:
        """Let one leave."""
        self.doors[number].set()
        await self.settle()

    async def _visit(self, number: int) -> None:
        async with self.politeness.turn(HOST, soon()):
            self.inside.append(number)
            await self.doors[number].wait()
            self.inside.remove(number)


@contextlib.asynccontextmanager
async def visitors(politeness: Politeness) -> AsyncIterator[Visitors]:
    """Visitors who are gone afterwards, with nothing left behind."""
    visitors = Visitors(politeness)
    yield visitors
    for door in visitors.doors:
        door.set()
    await asyncio.gather(*visitors.tasks, return_exceptions=True)
    assert repr(politeness).startswith("<Politeness running=0 waiting=0 hosts=0+")


async def after(politeness: Politeness, status: int | None, seconds: float, retry_after: float | None = None) -> None:
    """One visit that comes out like this."""
    async with politeness.turn(HOST, soon()) as turn:
        turn.note(status, seconds, retry_after)


async def waits(politeness: Politeness, host: str = HOST) -> bool:
    """Whether a visit now would have to wait."""
    with contextlib.suppress(TimedOut):
        async with politeness.turn(host, now()):
            return False
    return True


async def test_four_at_once() -> None:
    """A host has no more than so many visitors, and the next one comes in when one leaves, in the order of asking."""
    async with visitors(Politeness(per_host=4)) as crowd:
        await crowd.come(7)
        assert crowd.inside == [0, 1, 2, 3]
        await crowd.go(2)
        assert crowd.inside == [0, 1, 3, 4]
        await crowd.go(0)
        assert crowd.inside == [1, 3, 4, 5]


async def test_hosts_do_not_wait_for_each_other() -> None:
    """What one host has to do is no matter of another."""
    politeness = Politeness(per_host=1)
    async with politeness.turn("one", soon()), politeness.turn("two", soon()):
        assert await waits(politeness, "one")
        assert not await waits(politeness, "three")


async def test_quick_hosts_are_not_waited_for() -> None:
    """Answers that come quickly make no pause, however many there are."""
    politeness = Politeness()
    for _ in range(50):
        await after(politeness, 200, 0.05)
        assert not await waits(politeness)


async def test_slow_hosts_get_time() -> None:
    """After a slow answer, the request after the next keeps a distance; quick answers take it away again."""
    politeness = Politeness()
    await after(politeness, 200, 2.0)
    await after(politeness, 200, 2.0)  # its start is the one that the next must keep away from
    assert await waits(politeness)
    began = now()
    await after(politeness, 200, 0.0)
    assert 0.2 < now() - began < 5
    for _ in range(9):
        await after(politeness, 200, 0.0)
    assert not await waits(politeness)


async def test_errors_make_a_distance() -> None:
    """Errors and answers that never came add up, to a limit, until an answer is good."""
    politeness = Politeness()
    for status in (500, None):
        await after(politeness, status, 0.01)
        assert not await waits(politeness)  # the first after an error need not wait …
        assert await waits(politeness)  # … but is not followed at once
        await after(politeness, 200, 0.01)
        await after(politeness, 200, 0.01)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_pause_that_the_host_asks_for(status: int) -> None:
    """Who has no time for the pause is told so at once, and for how long; who has waits for it."""
    politeness = Politeness()
    await after(politeness, status, 0.01, retry_after=0.2)
    assert 0 < politeness.pause(HOST) < 0.21
    with pytest.raises(TimedOut) as caught:
        async with politeness.turn(HOST, now() + 0.01):
            pass
    assert caught.value.about == {"reason": "host_pause"}
    assert caught.value.retry_after_s is not None
    began = now()
    await after(politeness, 200, 0.01)
    assert now() - began > 0.1


async def test_no_pause_is_for_ever() -> None:
    """A host cannot shut itself for hours, and Retry-After counts only with the statuses that it belongs to."""
    politeness = Politeness()
    await after(politeness, 200, 0.01, retry_after=100)
    assert politeness.pause(HOST) == 0
    await after(politeness, 429, 0.01, retry_after=1e9)
    assert politeness.pause(HOST) <= MAX_PAUSE_S


async def test_a_turn_that_does_not_come() -> None:
    """At its deadline a visitor gives up, and leaves no gap in the queue."""
    async with visitors(Politeness(per_host=1)) as crowd:
        await crowd.come(1)
        with pytest.raises(TimedOut) as caught:
            async with crowd.politeness.turn(HOST, now() + 0.02):
                pass
        assert caught.value.about == {"reason": "host_queue"}
        await crowd.come(1)
        await crowd.go(0)
        assert crowd.inside == [1]


async def test_giving_up_while_waiting() -> None:
    """A visitor who is called off while waiting takes nobody's place."""
    async with visitors(Politeness(per_host=1)) as crowd:
        await crowd.come(4)
        crowd.tasks[1].cancel()
        await crowd.go(0)
        assert crowd.inside == [2]
        await crowd.go(2)
        assert crowd.inside == [3]


async def test_giving_up_as_the_turn_comes() -> None:
    """A visitor who is called off in the very moment of the turn gives it on."""
    async with visitors(Politeness(per_host=1)) as crowd:
        await crowd.come(3)
        crowd.doors[0].set()
        while crowd.inside:  # until the first has left, and not yet further
            await asyncio.sleep(0)
        crowd.tasks[1].cancel()
        await crowd.settle()
        assert crowd.inside == [2]


async def test_giving_up_inside() -> None:
    """A visit that fails or is called off ends all the same."""
    async with visitors(Politeness(per_host=1)) as crowd:
        await crowd.come(2)
        crowd.tasks[0].cancel()
        await crowd.settle()
        assert crowd.inside == [0, 1]  # the first was torn away without a goodbye
        crowd.inside.remove(0)


async def test_what_is_known_is_bounded() -> None:
    """Only the latest hosts are remembered."""
    politeness = Politeness(hosts_kept=10)
    for number in range(100):
        async with politeness.turn(f"host{number}", soon()) as turn:
            turn.note(200, 0.01)
    assert repr(politeness) == "<Politeness running=0 waiting=0 hosts=0+10>"


async def test_a_gap_has_an_end() -> None:
    """However slow a host is, and however many errors it gives, requests to it are not farther apart than a limit."""
    politeness = Politeness()
    async with politeness.turn(HOST, soon()) as turn:
        for _ in range(20):
            turn.note(500, 1000.0)
        began = now()
        async with politeness.turn(HOST, began + 1):
            pass
        with pytest.raises(TimedOut):
            async with politeness.turn(HOST, began + 0.05):
                pass
        assert politeness._active[HOST].next_at - began <= MAX_GAP_S + 1


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://example.com/a", "example.com"),
        ("https://example.com:443/", "example.com"),
        ("http://example.com:443/", "example.com:443"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000"),
    ],
)
def test_what_one_host_is(url: str, key: str) -> None:
    """A name, and a port of its own where it has one."""
    assert host_key(url) == key
