"""Whether pages answer is found out quickly, and nothing is left running."""

import asyncio

import httpx
import pytest

from fetch.errors import AddressForbidden, NavigationFailed, TimedOut
from search.reach import UNKNOWN, Reach, Reached, by_status

FAILED = Reached(reachable=False)
DEAD = Reached(reachable=False, dead=True)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 204, 206), Reached(reachable=True)),
        ((404, 410), DEAD),
        ((500, 502, 504, 520, 451), FAILED),
        ((401, 403, 405, 406, 429, 503, 301, 304, 100, 0), UNKNOWN),
    ],
)
def test_what_a_status_says(statuses: tuple[int, ...], expected: Reached) -> None:
    """2xx is reachable, 404 and 410 are dead, 5xx fails; what is about the visitor says nothing."""
    assert {by_status(status) for status in statuses} == {expected}


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (NavigationFailed("No such host.", about={"reason": "dns"}), DEAD),
        (NavigationFailed("Refused.", about={"reason": "refused"}), FAILED),
        (NavigationFailed("The proxy.", about={"reason": "proxy"}), UNKNOWN),
        (AddressForbidden("Private."), FAILED),
        (httpx.InvalidURL("no"), FAILED),
        (TimedOut("Late."), UNKNOWN),
        (httpx.ReadTimeout("Late."), UNKNOWN),
        (ValueError("odd"), UNKNOWN),
    ],
)
async def test_what_a_failure_says(fault: Exception, expected: Reached) -> None:
    """Only a host that does not exist is dead; time limits say nothing."""

    async def probe(url: str) -> int:
        raise fault

    assert await Reach(probe).check(["https://a.example/"]) == {"https://a.example/": expected}


class Pages:
    """Pages that answer when they are told to, and how many are being asked."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.inside = 0
        self.most = 0
        self.full = asyncio.Event()

    async def probe(self, url: str) -> int:
        """Quick ones answer at once."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 5:
            self.full.set()
        try:
            if not url.startswith("quick"):
                await self.opened.wait()
        finally:
            self.inside -= 1
        return 200


async def test_five_at_a_time() -> None:
    """The sixth waits; all are answered in the end, in the order given, each address once."""
    pages = Pages()
    task = asyncio.create_task(Reach(pages.probe).check([f"{n}" for n in range(12)] * 2))
    await pages.full.wait()
    pages.opened.set()
    assert list(await task) == [f"{n}" for n in range(12)]
    assert pages.most == 5


async def test_what_is_late_is_unknown() -> None:
    """The time for all ends it; what came before is kept and was told as it came."""
    pages, told = Pages(), list[str]()
    reach = Reach(pages.probe, all_s=0.05)
    known = await reach.check(["slow", "quick"], lambda url, reached: told.append(url))
    assert known == {"slow": UNKNOWN, "quick": Reached(reachable=True)}
    assert (told, pages.inside) == (["quick"], 0)


async def test_each_has_its_own_time() -> None:
    """A page that hangs is given up for the next one."""
    known = await Reach(Pages().probe, at_once=1, each_s=0.02, all_s=20).check(["slow", "quick"])
    assert known == {"slow": UNKNOWN, "quick": Reached(reachable=True)}


async def test_cancelling_leaves_no_task() -> None:
    """When the search is given up, so are its checks."""
    pages = Pages()
    before = asyncio.all_tasks()
    task = asyncio.create_task(Reach(pages.probe).check([f"{n}" for n in range(9)]))
    await pages.full.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (pages.inside, asyncio.all_tasks() - before) == (0, set())


async def test_nothing_to_check() -> None:
    """No addresses, no checks."""
    assert await Reach(Pages().probe).check([]) == {}
