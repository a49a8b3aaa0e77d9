"""Which pages are read and which are only checked, by ways that do as a test says."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from random import Random
from typing import Any

import pytest

from fetch.errors import NavigationFailed, TimedOut, UpstreamStatus
from search.merge import merge
from search.progress import Event
from search.rank import Ranked, rank
from search.reach import Reached
from search.reading import TRIES, Readings, ReadPage, shared_out
from tests.browser_service.egress_servers import eventually
from tests.search.serp import answer, hit

QUERY = "harbour boats"
GONE = UpstreamStatus("Gone.", about={"upstream_status": 404})
NO_HOST = NavigationFailed("No such host.", about={"reason": "dns"})
HANGS = "hangs"


class FakeWays:
    """Pages by the letter that is their path: a text, a status, a failure, or `HANGS`; and who asked for which.

    What hangs is gone once it is released.
    """

    def __init__(self, **pages: str | int | Exception) -> None:
        self.pages: Mapping[str, str | int | Exception] = pages
        self.probed: list[str] = []
        self.read_: list[str] = []
        self.limits: list[float] = []
        self.open = 0
        self.release = asyncio.Event()

    async def probe(self, url: str) -> int:
        """The status."""
        self.probed.append(url[-1])
        said = await self._said(url)
        return said if isinstance(said, int) else 200

    async def read(self, url: str, limit_s: float) -> ReadPage:
        """The text."""
        self.read_.append(url[-1])
        self.limits.append(limit_s)
        said = await self._said(url)
        return ReadPage(url, "Title", str(said))

    async def _said(self, url: str) -> str | int:
        said = self.pages[url[-1]]
        self.open += 1
        try:
            if said == HANGS:
                await self.release.wait()
                raise GONE
        finally:
            self.open -= 1
        if isinstance(said, Exception):
            raise said
        return said


def ranked(letters: str, **given: Any) -> list[Ranked]:
    """A result for each letter, in this order; `snippet` and `opaque` are those of all."""
    given = {"snippet": "Boats in every harbour, old ones and new ones.", **given}
    return rank(merge([answer("bing", *(hit(f"https://{each}.example/{each}", QUERY, **given) for each in letters))]))


class Reader:
    """Readings with what they told."""

    def __init__(self, ways: FakeWays, seconds: float) -> None:
        self.events: list[Event] = []
        deadline = asyncio.get_running_loop().time() + seconds
        self.readings = Readings(ways, self.events.append, deadline)

    async def gather(self, pages: list[Ranked], wanted: int, **given: Any) -> str:
        """The texts of what was read."""
        options: dict[str, Any] = {"order": "sequential", "snippets": False, "chance": Random(1), **given}
        found = await self.readings.gather(QUERY, pages, wanted, options.pop("order"), **options)
        return " ".join(page.content for page in found)


@contextlib.asynccontextmanager
async def reading(ways: FakeWays, seconds: float = 20.0) -> AsyncIterator[Reader]:
    """Readings that are closed afterwards."""
    reader = Reader(ways, seconds)
    try:
        yield reader
    finally:
        await reader.readings.close()
    assert ways.open == 0


async def test_the_best_are_read_and_the_others_checked() -> None:
    """No page is asked for twice."""
    ways = FakeWays(a="A", b="B", c=200, d=404)
    async with reading(ways) as reader:
        assert await reader.gather(ranked("abcd"), 2) == "A B"
    assert (ways.read_, ways.probed) == (["a", "b"], ["c", "d"])
    known = {url[-1]: each for url, each in reader.readings.reached.items()}
    assert known == {
        "a": Reached(reachable=True),
        "b": Reached(reachable=True),
        "c": Reached(reachable=True),
        "d": Reached(reachable=False, dead=True),
    }


async def test_what_reading_says_of_a_page() -> None:
    """Gone and without a host: dead; without an answer in time: nothing."""
    ways = FakeWays(a=GONE, b=NO_HOST, c=TimedOut("Late."))
    async with reading(ways) as reader:
        assert await reader.gather(ranked("abc"), 3) == ""
    dead = Reached(reachable=False, dead=True)
    assert {url[-1]: each for url, each in reader.readings.reached.items()} == {"a": dead, "b": dead}


async def test_a_page_that_was_read_answers() -> None:
    """Though the check of it fails afterwards: some sites answer every second request."""

    class Moody(FakeWays):
        async def probe(self, url: str) -> int:
            await self.release.wait()
            return 500

    ways = Moody(a="A", b="B")
    async with reading(ways) as reader:
        task = asyncio.create_task(reader.gather(ranked("ab", snippet="Boats."), 1, snippets=True))
        await eventually(lambda: len(reader.readings.reached) == 2)
        ways.release.set()
        await task
    assert set(reader.readings.reached.values()) == {Reached(reachable=True)}


async def test_pages_that_fail_are_replaced_by_the_next() -> None:
    """No more are read than were wanted."""
    ways = FakeWays(a=GONE, b="B", c=NO_HOST, d="D", e="E")
    async with reading(ways) as reader:
        assert await reader.gather(ranked("abcde"), 2) == "B D"
    assert "e" not in ways.read_


async def test_a_page_that_breaks_the_reader_is_one_that_fails() -> None:
    """A mistake of ours costs one page, and is told."""
    ways = FakeWays(a=RuntimeError("ours"), b="B")
    async with reading(ways) as reader:
        assert await reader.gather(ranked("ab"), 1) == "B"
    assert [each.data["error"] for each in reader.events] == ["It cannot be read: RuntimeError.", None]


async def test_there_is_an_end_to_trying() -> None:
    """A few pages for each that is wanted."""
    letters = "abcdefgh"
    ways = FakeWays(**dict.fromkeys(letters, GONE))
    async with reading(ways) as reader:
        await reader.gather(ranked(letters), 1)
    assert len(ways.read_) == TRIES


async def test_pages_known_to_be_gone_are_not_tried() -> None:
    """The check of the others goes on meanwhile."""
    ways = FakeWays(a=HANGS, b=404, c="C")
    async with reading(ways) as reader:
        task = asyncio.create_task(reader.gather(ranked("abc"), 1))
        await eventually(lambda: len(reader.readings.reached) == 2)
        ways.release.set()
        assert await task == "C"
    assert ways.read_ == ["a", "c"]


async def test_an_engines_own_redirects_are_neither_read_nor_checked() -> None:
    """Nobody knows where they lead."""
    ways = FakeWays()
    async with reading(ways) as reader:
        assert await reader.gather(ranked("abc", opaque=True, snippet="-"), 3, snippets=True) == ""
    assert (ways.read_, ways.probed) == ([], [])


async def test_the_deadline_gives_what_there_is() -> None:
    """A page that hangs is ended with the rest."""
    ways = FakeWays(a="A", b=HANGS, c=HANGS, d=200)
    async with reading(ways, 0.3) as reader:
        assert await reader.gather(ranked("abcd"), 3) == "A"
        assert await reader.readings.text_of(["https://b.example/b"]) == {}
    assert all(limit_s <= 0.3 for limit_s in ways.limits)


async def test_giving_up_ends_everything() -> None:
    """Checks and readings."""
    ways = FakeWays(a=HANGS, b=HANGS, c=HANGS)
    before = asyncio.all_tasks()
    async with reading(ways) as reader:
        task = asyncio.create_task(reader.gather(ranked("abc"), 1, snippets=True))
        await eventually(lambda: ways.open == 3)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    assert asyncio.all_tasks() == before


async def test_random_order_takes_any_of_them() -> None:
    """As chance has it, and not only the first."""
    ways = FakeWays(**{each: each for each in "abcdefgh"})
    taken = set()
    for seed in range(8):
        async with reading(ways) as reader:
            taken.add(await reader.gather(ranked("abcdefgh"), 1, order="random", chance=Random(seed)))
    assert len(taken) > 2


async def test_pages_for_snippets_are_read_beside_the_others() -> None:
    """The first three that have none to speak of, each once; `text_of` gives them."""
    ways = FakeWays(**{each: each.upper() for each in "abcde"})
    async with reading(ways) as reader:
        assert await reader.gather(ranked("abcde", snippet="Boats."), 1, snippets=True) == "A"
        texts = await reader.readings.text_of([f"https://{each}.example/{each}" for each in "ac"])
    assert [page.content for page in texts.values()] == ["A", "C"]
    assert sorted(ways.read_) == ["a", "b", "c"]


async def test_snippets_are_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that hangs costs a search without pages a little time, and not all of it."""
    monkeypatch.setattr("search.reading.SNIPPET_S", 0.1)
    ways = FakeWays(a=HANGS)
    async with reading(ways, 60) as reader, asyncio.timeout(10):
        assert await reader.readings.text_of(["https://a.example/a"]) == {}


async def test_each_page_is_told_when_it_is_there() -> None:
    """With its length, or why there is none."""
    ways = FakeWays(a="Text", b=GONE)
    async with reading(ways) as reader:
        await reader.gather(ranked("ab"), 2)
    told = {each.data["url"][-1]: each.data for each in reader.events}
    assert (told["a"]["title"], told["a"]["characters"], told["a"]["error"]) == ("Title", 4, None)
    assert (told["b"]["title"], told["b"]["characters"], told["b"]["error"]) == ("", 0, "Gone.")
    assert {each.name for each in reader.events} == {"page_fetched"}


# The budget


def lengths(*given: int, room: int) -> list[int]:
    """What pages of these lengths get."""
    pages = [ReadPage("https://a.example/", "", "x" * length) for length in given]
    return [len(page.content) for page in shared_out(pages, room)]


@pytest.mark.parametrize(
    ("given", "room", "shares"),
    [
        ((10, 10), 0, [10, 10]),
        ((10, 10), 20, [10, 10]),
        ((100, 100), 20, [10, 10]),
        ((100, 4, 100), 24, [10, 4, 10]),
        ((4, 100, 8), 1000, [4, 100, 8]),
        ((100, 100, 100), 2, [0, 1, 1]),
        ((0, 100), 5, [0, 5]),
        ((), 10, []),
    ],
)
def test_what_short_pages_leave_goes_to_the_long_ones(given: tuple[int, ...], room: int, shares: list[int]) -> None:
    """Together never more than there is room for."""
    assert lengths(*given, room=room) == shares


def test_what_is_cut_says_so() -> None:
    """With the length of the whole."""
    short, long, empty = shared_out([ReadPage("u", "", text) for text in ("one", "word " * 10, "")], 20)
    assert (short.truncated, short.content_length) == (False, 3)
    assert (long.truncated, long.content_length) == (True, 50)
    assert (empty.truncated, empty.content_length) == (False, 0)
    (cut,) = shared_out([ReadPage("u", "", "word")], 1)
    assert (cut.content, cut.truncated) == ("w", True)
