"""Asking an engine on 127.0.0.1 that is slow, broken, suspicious or far away."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
import pytest

from fetch.errors import AddressForbidden, ContentTooLarge, TimedOut
from search.ask import LARGEST, ask
from search.cookies import LIFETIME_S, Cookies
from search.engine import Answer, Send
from search.engines.scraper import Scraper
from search.query import Query
from search.selectors import Selectors
from tests.fetch.http_server import Behaviours, Raw, RawSite, answer, raw_site, redirect

SELECTORS = Selectors(cards=(".card",), title=("a",), empty=(".none",), blocked=(".captcha",))
CARD = "<div class='card'><a href='https://example.org/{}'>Found</a></div>"
RESULTS = answer(CARD.format(1) + CARD.format(2) + CARD.format(3))
CAPTCHA, CHANGED, NONE = answer("<p class='captcha'>"), answer("<p>new"), answer("<p class='none'>")
COOKIE = "Set-Cookie: visitor=1; Path=/"


class Local(Scraper):
    """An engine at an address of ours, with a second way at `/other`."""

    name = "local"
    weight = 1
    index = "local"
    hosts: tuple[str, ...] = ("127.0.0.1",)

    def __init__(self, url: str, other: bool = False) -> None:
        super().__init__()
        self.base, self.other = url, other
        self.walls = (f"{url.partition('://')[2]}/captcha",)

    def request(self, query: Query) -> httpx.Request:
        """No parameters: the paths of the server are plain."""
        return httpx.Request(
            "POST" if query.text == "post" else "GET", f"{self.base}/s", headers={"Priority": "u=0, i"}
        )

    def fallback(self, query: Query) -> httpx.Request | None:
        """Only where the test has one."""
        return httpx.Request("GET", f"{self.base}/other") if self.other else None


@dataclass
class Asking:
    """An engine, its server, and what it is asked with."""

    site: RawSite
    engine: Local
    send: Send
    cookies: Cookies = field(default_factory=Cookies)

    async def ask(self, text: str = "cats", count: int = 30, timeout_s: float = 20.0) -> Answer:
        """One search."""
        query = Query(text, count)
        return await ask(self.engine, query, self.send, selectors=SELECTORS, timeout_s=timeout_s, cookies=self.cookies)


@contextlib.asynccontextmanager
async def asking(behaviours: Behaviours, other: bool = False) -> AsyncIterator[Asking]:
    """A server with these answers."""
    async with raw_site(behaviours) as site, httpx.AsyncClient(follow_redirects=False) as client:
        yield Asking(site, Local(site.url, other), client.send)


async def test_results_come_with_their_addresses() -> None:
    """As many as were wanted."""
    async with asking({"/s": RESULTS}) as one:
        found = await one.ask(count=2)
    assert (found.state, [hit.url for hit in found.hits]) == ("ok", ["https://example.org/1", "https://example.org/2"])


async def test_a_slow_engine_is_given_up_in_time() -> None:
    """It answers with `timeout`, and nobody waits longer."""
    async with asking({"/s": Raw(b"HTTP/1.1 200 OK\r\n", "hold")}) as one:
        found = await asyncio.wait_for(one.ask(timeout_s=0.2), 10)
    assert (found.state, found.hits) == ("timeout", ())
    assert "0.2 s" in str(found.error)


async def test_what_the_first_way_said_outlives_a_slow_second() -> None:
    """Being blocked is worth more to know than that time ran out."""
    async with asking({"/s": CAPTCHA, "/other": Raw(b"", "hold")}, other=True) as one:
        assert (await one.ask(timeout_s=0.5)).state == "blocked"


@pytest.mark.parametrize("cut", [Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc", "close"), Raw(b"", "reset")])
async def test_a_cut_connection_is_an_error_with_a_sentence(cut: Raw) -> None:
    """Never an empty list."""
    async with asking({"/s": cut}) as one:
        found = await one.ask()
    assert found.state == "error"
    assert "local cannot be reached" in str(found.error)


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (TimedOut("too slow"), "timeout"),
        (AddressForbidden("not there"), "error"),
        (ContentTooLarge("too much"), "error"),
        (httpx.ConnectError("refused"), "error"),
        (OSError("broken"), "error"),
    ],
)
async def test_faults_of_the_way_out_are_answers(fault: Exception, state: str) -> None:
    """With what they say."""

    async def send(request: httpx.Request) -> httpx.Response:
        raise fault

    found = await ask(Local("http://127.0.0.1:1"), Query("x"), send, selectors=SELECTORS, timeout_s=5)
    assert found.state == state
    assert str(fault) in str(found.error)


async def test_cancelling_is_not_swallowed() -> None:
    """Who asked may stop asking."""
    async with asking({"/s": Raw(b"", "hold")}) as one:
        task = asyncio.create_task(one.ask())
        while not one.site.asked:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_redirects_within_the_engine_are_followed_with_cookies() -> None:
    """Also one that only sets a cookie and leads back."""
    async with asking({"/s": [redirect("/s", COOKIE), redirect("/cn"), RESULTS], "/cn": RESULTS}) as one:
        assert (await one.ask()).state == "ok"
    assert [each["cookie"] for each in one.site.asked] == [None, "visitor=1", "visitor=1"]
    assert [name for name, _ in one.site.asked[1].fields][-2:] == ["Cookie", "Priority"]


async def test_a_form_that_is_redirected_becomes_a_plain_request() -> None:
    """As browsers do it."""
    async with asking({"/s": redirect("/cn"), "/cn": RESULTS}) as one:
        assert (await one.ask("post")).state == "ok"


async def test_a_redirect_to_a_captcha_is_blocked_and_not_visited() -> None:
    """Visiting it would only confirm the suspicion."""
    async with asking({"/s": redirect("/captcha?from=s"), "/captcha?from=s": RESULTS}) as one:
        assert (await one.ask()).state == "blocked"
    assert len(one.site.asked) == 1


async def test_a_redirect_elsewhere_is_an_error_and_not_followed() -> None:
    """The engine's own hosts are the only ones asked."""
    async with asking({"/s": redirect("http://localhost:1/login")}) as one:
        found = await one.ask()
    assert (found.state, "localhost" in str(found.error)) == ("error", True)


async def test_endless_redirects_end() -> None:
    """After five."""
    async with asking({"/s": redirect("/s")}) as one:
        found = await one.ask()
    assert (found.state, len(one.site.asked)) == ("error", 6)


@pytest.mark.parametrize("first", [CAPTCHA, CHANGED, redirect("/captcha"), answer("", status="429 Too Many")])
async def test_the_second_way_is_tried_where_the_first_failed(first: Raw) -> None:
    """Blocked, or not to be read."""
    async with asking({"/s": first, "/other": RESULTS}, other=True) as one:
        assert (await one.ask()).state == "ok"


@pytest.mark.parametrize("first", [RESULTS, NONE, Raw(b"", "reset")])
async def test_the_second_way_is_left_alone_otherwise(first: Raw) -> None:
    """Results, their absence and a broken network are answers."""
    async with asking({"/s": first, "/other": RESULTS}, other=True) as one:
        await one.ask()
    assert not one.site.turns("/other")


async def test_of_two_failures_being_blocked_is_told() -> None:
    """The engine has to rest then."""
    async with asking(
        {"/s": answer("", "Retry-After: 7", status="429 Too Many"), "/other": CHANGED}, other=True
    ) as one:
        found = await one.ask()
    assert (found.state, found.retry_after_s) == ("blocked", 7)


@pytest.mark.parametrize("first", [answer("", COOKIE), answer("<p class='captcha'>", COOKIE)])
async def test_an_engine_that_wants_its_cookie_back_is_asked_again_with_it(first: Raw) -> None:
    """Once, and not at all while the cookie is there."""
    async with asking({"/s": [first, RESULTS]}) as one:
        one.engine.cookie_first = True
        assert [(await one.ask()).state for _ in range(2)] == ["ok", "ok"]
    assert [each["cookie"] for each in one.site.asked] == [None, "visitor=1", "visitor=1"]


async def test_an_engine_that_gives_no_cookie_is_asked_once() -> None:
    """Repeating would change nothing."""
    async with asking({"/s": CAPTCHA}) as one:
        one.engine.cookie_first = True
        assert (await one.ask()).state == "blocked"
    assert len(one.site.asked) == 1


async def test_cookies_are_forgotten_after_an_hour() -> None:
    """A visitor who is always the same is soon known."""
    hour = [0.0]
    async with asking({"/s": [answer(CARD, COOKIE), RESULTS]}) as one:
        one.cookies = Cookies(lambda: hour[0])
        for moment in (0.0, LIFETIME_S - 1, LIFETIME_S):
            hour[0] = moment
            await one.ask()
    assert [each["cookie"] for each in one.site.asked] == [None, "visitor=1", None]


async def test_a_huge_answer_is_refused() -> None:
    """Nobody parses it."""
    async with asking({"/s": answer(b" " * (LARGEST + 1))}) as one:
        found = await one.ask()
    assert (found.state, "10 MiB" in str(found.error)) == ("error", True)


async def test_the_loop_goes_on_while_a_large_page_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it waits for something that only the loop can do."""
    loop, seen = asyncio.get_running_loop(), []

    async def tick() -> str:
        return "ticked"

    def parse(response: httpx.Response, selectors: Selectors) -> Answer:
        seen.append(asyncio.run_coroutine_threadsafe(tick(), loop).result(10))
        return Answer("local", "empty")

    async with asking({"/s": answer(b" " * 300_000)}) as one:
        monkeypatch.setattr(one.engine, "parse", parse)
        assert (await one.ask()).state == "empty"
    assert seen == ["ticked"]


async def test_an_engine_that_fails_to_read_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in one engine does not end the search of all."""

    def parse(response: httpx.Response, selectors: Selectors) -> Answer:
        raise KeyError("x")

    async with asking({"/s": RESULTS}) as one:
        monkeypatch.setattr(one.engine, "parse", parse)
        found = await one.ask()
    assert (found.state, "KeyError" in str(found.error)) == ("unreadable", True)
