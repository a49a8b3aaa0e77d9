"""When a request is made again, and when not; and how hosts are spared."""

import asyncio
import time
from collections.abc import AsyncIterator
from email.utils import formatdate

import pytest

from fetch.errors import NavigationFailed, TimedOut
from fetch.http import JITTER, RETRIED, WAITS_S, HttpClient, retry_after
from fetch.http_routes import IDLE_KEPT
from fetch.page import Cookie
from fetch.politeness import Politeness
from tests.browser_service.egress_servers import Wire, closed_port, eventually
from tests.fetch.http_server import FIVE, Asked, Raw, Visitor, answer, raw_site, redirect, visitor


@pytest.fixture(scope="module")
async def guest() -> AsyncIterator[Visitor]:
    """A client that may go anywhere on this machine, and hardly pauses before a retry."""
    async with visitor() as guest:
        yield guest


def status(code: int, *headers: str) -> Raw:
    """An answer with this status."""
    return answer(f"status {code}", *headers, status=f"{code} Whatever")


async def test_a_retry_is_another_visitor(guest: Visitor) -> None:
    """After an error that may pass, the next identity tries with the next languages and no cookies of the first."""
    fails = status(500, "Set-Cookie: a=b")
    async with raw_site({"/": [fails, fails, answer("here")]}) as site:
        page = await guest.fetch(f"{site.url}/")
    assert (page.status, page.body, page.cookies) == (200, b"here", ())
    assert [each["user-agent"] for each in site.asked] == [each.user_agent for each in FIVE[:3]]
    assert len({each["accept-language"] for each in site.asked}) == 3
    assert [each["cookie"] for each in site.asked] == [None] * 3


@pytest.mark.parametrize("code", sorted(RETRIED))
async def test_what_is_retried(guest: Visitor, code: int) -> None:
    """Three retries; when they are spent, the page that there was is given."""
    async with raw_site(status(code)) as site:
        page = await guest.fetch(f"{site.url}/")
    assert (page.status, len(site.asked)) == (code, 4)


@pytest.mark.parametrize("code", [200, 404, 403, 429, 501, 502, 503, 505])
async def test_what_is_not_retried(guest: Visitor, code: int) -> None:
    """Refusals and busy sites are given back at once, for a browser to try."""
    async with raw_site(status(code)) as site:
        assert (await guest.fetch(f"{site.url}/")).status == code
    assert len(site.asked) == 1


async def test_connection_faults_are_retried(guest: Visitor) -> None:
    """A connection that is reset is tried again; when it stays so, the fault is told."""
    async with raw_site({"/": [Raw(b"", "reset"), answer("here")], "/never": Raw(b"", "reset")}) as site:
        with pytest.raises(NavigationFailed):
            await guest.fetch(f"{site.url}/never")
        assert (await guest.fetch(f"{site.url}/")).body == b"here"
    assert (len(site.turns("/")), len(site.turns("/never"))) == (2, 4)


async def test_refused_ports_are_retried(guest: Visitor) -> None:
    """A port that refuses may be open a moment later."""
    port = closed_port()
    with pytest.raises(NavigationFailed) as caught:
        await guest.fetch(f"http://127.0.0.1:{port}/")
    assert caught.value.about["reason"] == "refused"
    assert len([visit for visit in guest.exit.visits if visit.port == port]) == 4


@pytest.mark.parametrize("url", ["http://nowhere.test/", "https://nowhere.test/"])
async def test_dns_failure_is_final(guest: Visitor, url: str) -> None:
    """A name that does not exist is asked for once."""
    before = len(guest.exit.visits)
    with pytest.raises(NavigationFailed):
        await guest.fetch(url)
    assert len(guest.exit.visits) == before + 1


async def test_no_retries_on_request(guest: Visitor) -> None:
    """With none allowed there are none."""
    async with raw_site(status(500)) as site:
        assert (await guest.fetch(f"{site.url}/", retries=0)).status == 500
    assert len(site.asked) == 1


async def test_pauses_are_those_of_the_contract() -> None:
    """2, 4 and 6 seconds, each with up to 60 % on top; the last stands for any further."""
    none = HttpClient(lambda host, port: None, chance=lambda: 0)
    all_of_it = HttpClient(lambda host, port: None, chance=lambda: 1)
    assert [none._wait(attempt) for attempt in range(4)] == [*WAITS_S, WAITS_S[-1]] == [2, 4, 6, 6]
    assert [all_of_it._wait(attempt) for attempt in range(3)] == [each * (1 + JITTER) for each in WAITS_S]


async def test_a_pause_that_does_not_fit() -> None:
    """A pause that would last beyond the deadline is not begun: the page there is comes at once."""
    async with visitor(waits_s=(5.0,)) as guest, raw_site(status(500)) as site:
        began = time.monotonic()
        assert (await guest.fetch(f"{site.url}/", limit_s=4)).status == 500
        assert time.monotonic() - began < 3
    assert len(site.asked) == 1


async def test_a_late_retry_does_not_lose_the_page(guest: Visitor) -> None:
    """When the time runs out during a retry, the page of the try before is given."""
    async with raw_site({"/": [status(500), Raw(b"", "hold")]}) as site:
        assert (await guest.fetch(f"{site.url}/", limit_s=0.5)).status == 500


# Hosts


async def test_four_at_once(guest: Visitor) -> None:
    """A host gets four requests at a time, however many are wanted, and all are served."""

    async def slowly(wire: Wire, asked: Asked) -> None:
        await asyncio.sleep(0.02)
        await wire.send(answer("here").data)

    politeness = Politeness()
    async with raw_site(slowly) as site:
        pages = await asyncio.gather(*(guest.fetch(f"{site.url}/", turns=politeness) for _ in range(20)))
    assert [each.body for each in pages] == [b"here"] * 20
    assert site.most == 4
    assert repr(politeness).startswith("<Politeness running=0 waiting=0")


async def test_hops_take_turns_of_their_own(guest: Visitor) -> None:
    """A redirect to the same host does not wait for the turn that it has itself."""
    async with raw_site({"/": redirect("/b"), "/b": answer("here")}) as site:
        page = await guest.fetch(f"{site.url}/", turns=Politeness(per_host=1), limit_s=5)
    assert page.body == b"here"


async def test_a_host_that_asks_for_a_pause(guest: Visitor) -> None:
    """After a 429 with Retry-After the next call to that host, and to no other, waits or says for how long."""
    politeness = Politeness()
    async with raw_site(status(429, "Retry-After: 30")) as busy, raw_site(answer("here")) as other:
        page = await guest.fetch(f"{busy.url}/", turns=politeness)
        assert (page.status, retry_after(page.headers)) == (429, 30)
        with pytest.raises(TimedOut) as caught:
            await guest.fetch(f"{busy.url}/", turns=politeness, limit_s=5)
        assert (await guest.fetch(f"{other.url}/", turns=politeness)).body == b"here"
    assert caught.value.retry_after_s == pytest.approx(30, abs=5)
    assert len(busy.asked) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("1.5", 1.5),
        ("9" * 400, 86_400),
        (formatdate(1_000_060, usegmt=True), 60),
        ("Mon, 12-Jan-1970 13:47:40 GMT", 60),
        (formatdate(999_000, usegmt=True), 0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("٣", None),
    ],
)
def test_retry_after(text: str, seconds: float | None) -> None:
    """Seconds and dates are understood, in at most a day; anything else is nothing."""
    assert retry_after({"retry-after": text}, now=1_000_000) == seconds
    assert retry_after({}) is None


# Connections


async def test_connections_are_kept_and_closed() -> None:
    """Calls that follow each other share a connection; when the client closes, none is left."""
    async with visitor() as guest, raw_site(answer("here")) as site:
        for _ in range(10):
            await guest.fetch(f"{site.url}/", cookies=[Cookie("a", "b", "127.0.0.1")])
        assert (len(site.wires), guest.exit.open_connections) == (1, 1)
        await guest.http.__aexit__(None, None, None)
        await eventually(lambda: guest.exit.open_connections == 0)


async def test_many_at_once() -> None:
    """A crowd of calls gets its pages, each its own, and leaves no request behind."""

    async def echo(wire: Wire, asked: Asked) -> None:
        await wire.send(answer(f"{asked.path} {asked['cookie']}").data)

    paths = [f"/{number}" for number in range(64)]
    async with visitor() as guest, raw_site(dict.fromkeys(paths, echo)) as site:
        cookies = [[Cookie("n", path[1:], "127.0.0.1")] for path in paths]
        calls = (guest.fetch(site.url + path, cookies=given) for path, given in zip(paths, cookies, strict=True))
        pages = await asyncio.gather(*calls)
        assert [each.body.decode() for each in pages] == [f"{path} n={path[1:]}" for path in paths]
        await eventually(lambda: guest.exit.open_connections == 0)


async def test_ways_out_are_not_kept_for_ever() -> None:
    """Each way out has its own connections; those of the ones that nobody has used lately are closed."""
    async with visitor() as guest, raw_site(answer("here")) as site:
        exits = [await guest.exit.egress.open_exit() for _ in range(IDLE_KEPT + 3)]
        for each in exits:
            assert (await Visitor(guest.http, each).fetch(f"{site.url}/")).body == b"here"
        await eventually(lambda: sum(each.open_connections for each in exits) == IDLE_KEPT)
        assert [each.open_connections for each in exits] == [0] * 3 + [1] * IDLE_KEPT
