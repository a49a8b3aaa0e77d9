"""Requests that are sent as they are, and answers of which nothing is read, through the real egress proxy."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from browser_service.egress import Egress
from browser_service.sending import reaching, route_of, sender
from browser_service.settings import NetworkSettings
from fetch.address import Rule
from fetch.errors import AddressForbidden, ContentTooLarge, NavigationFailed, TabwrightError, TimedOut
from fetch.http import MAX_BYTES, HttpClient
from tests.browser_service.egress_servers import Wire, closed_port, eventually
from tests.browser_service.egress_servers import site as recording
from tests.fetch.http_server import Asked, Raw, Visitor, answer, raw_site, redirect, visitor

MIB = 2**20


@pytest.fixture(scope="module")
async def guest() -> AsyncIterator[Visitor]:
    """A client that may go anywhere on this machine."""
    async with visitor() as guest:
        yield guest


async def send(guest: Visitor, request: httpx.Request, limit_s: float = 20.0) -> httpx.Response:
    """The answer to it."""
    deadline = asyncio.get_running_loop().time() + limit_s
    return await guest.http.send(request, guest.route, deadline=deadline)


async def failure(guest: Visitor, url: str, limit_s: float = 20.0) -> TabwrightError:
    """The error that asking for this ends with."""
    with pytest.raises(TabwrightError) as caught:
        await send(guest, httpx.Request("GET", url), limit_s)
    return caught.value


async def reason(guest: Visitor, url: str) -> object:
    """Why there is no answer."""
    fault = await failure(guest, url)
    assert isinstance(fault, NavigationFailed), fault
    return fault.about["reason"]


# What is sent


@pytest.mark.parametrize(("method", "body"), [("GET", b""), ("POST", b'{"query": 1}'), ("PUT", b"\x00\xff" * 70_000)])
async def test_method_and_body_arrive(guest: Visitor, method: str, body: bytes) -> None:
    """With the length of the body, and none where there is no body."""
    async with recording() as server:
        got = await send(guest, httpx.Request(method, f"{server.url}a?b=c", content=body or None))
    head = server.heads[0].decode().split("\r\n")
    assert (head[0], server.bodies[0], got.text) == (f"{method} /a?b=c HTTP/1.1", body, "hi")
    lengths = [line for line in head if line.lower().startswith("content-length")]
    assert lengths == ([f"Content-Length: {len(body)}"] if body else [])


async def test_headers_arrive_in_their_order_and_no_others(guest: Visitor) -> None:
    """After the host, of which there is one; a form is told as one."""
    headers = [("User-Agent", "me"), ("Accept", "*/*"), ("X-Two", "b"), ("x-one", "a"), ("X-Two", "c")]
    async with raw_site(answer()) as site:
        await send(guest, httpx.Request("GET", f"{site.url}/", headers=headers))
        assert site.asked[0].fields == [("Host", site.url[7:]), *headers]


# What comes back


async def test_the_answer_is_given_whole(guest: Visitor) -> None:
    """Status, headers as they are, cookies apart, text in its charset; the request is at hand."""
    said = answer(
        "é".encode("latin-1"), "Set-Cookie: a=1", "Set-Cookie: b=2", status="404 Gone", kind="text/x; charset=latin-1"
    )
    async with raw_site(said) as site:
        got = await send(guest, httpx.Request("GET", f"{site.url}/"))
        assert str(got.request.url) == f"{site.url}/"
    assert (got.status_code, got.text) == (404, "é")
    assert got.headers.get_list("set-cookie") == ["a=1", "b=2"]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_redirects_are_not_followed(guest: Visitor, status: str) -> None:
    """They are answers like others."""
    async with raw_site({"/": redirect("/next", status=status), "/next": answer()}) as site:
        got = await send(guest, httpx.Request("GET", f"{site.url}/"))
        assert [each.path for each in site.asked] == ["/"]
    assert got.is_redirect
    assert got.headers["location"] == "/next"


async def test_encodings_are_undone(guest: Visitor) -> None:
    """And are not undone again by who reads the answer."""
    body = "harbours " * 1000
    async with raw_site(answer(gzip.compress(body.encode()), "Content-Encoding: gzip")) as site:
        got = await send(guest, httpx.Request("GET", f"{site.url}/"))
    assert got.text == body
    assert "content-encoding" not in got.headers


@pytest.mark.parametrize("value", ["/位置".encode(), b"na\xefve"])
async def test_headers_beyond_ascii_come_back(guest: Visitor, value: bytes) -> None:
    """Sites write addresses and names into them as they are, in UTF-8 or Latin-1."""
    data = answer().data.replace(b"\r\n\r\n", b"\r\nX-Name: " + value + b"\r\n\r\n")
    async with raw_site(Raw(data)) as site:
        got = await send(guest, httpx.Request("GET", f"{site.url}/"))
    assert got.headers["x-name"] in {"/位置", "naïve"}


async def test_headers_beyond_ascii_are_sent_as_they_are(guest: Visitor) -> None:
    """Byte by byte, as cookies need it."""
    async with recording() as server:
        await send(guest, httpx.Request("GET", server.url, headers={b"Cookie": "名=值".encode()}))
    assert "Cookie: 名=值\r\n".encode() in server.heads[0]


# What does not come


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "close"), "cut"),
        (Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "close"), "cut"),
        (answer(gzip.compress(b"half of it" * 999)[:-20], "Content-Encoding: gzip"), "cut"),
        (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "close"), "cut"),
        (Raw(b"", "close"), "reset"),
        (Raw(b"nonsense\r\n\r\n", "close"), "protocol"),
    ],
)
async def test_half_an_answer_is_none(guest: Visitor, raw: Raw, why: str) -> None:
    """What is read as JSON or as a list of results must be whole."""
    async with raw_site(raw) as site:
        assert await reason(guest, f"{site.url}/") == why


async def endless(wire: Wire, asked: Asked) -> None:
    """A body without an end."""
    await wire.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await wire.send(b"x" * 65_536)


@pytest.mark.parametrize(
    "said",
    [
        endless,
        Raw(f"HTTP/1.1 200 OK\r\nContent-Length: {MAX_BYTES + 1}\r\n\r\n".encode(), "hold"),
        answer(gzip.compress(b"\0" * (MAX_BYTES + 1)), "Content-Encoding: gzip"),
    ],
)
async def test_answers_that_are_too_large(guest: Visitor, said: Any) -> None:
    """Declared, unpacked or without an end: they are given up, and the server is let go."""
    async with raw_site(said) as site:
        assert isinstance(await failure(guest, f"{site.url}/"), ContentTooLarge)
        await eventually(lambda: site.open == 0)


async def test_the_deadline(guest: Visitor) -> None:
    """No answer in time; nothing is left of the request."""
    async with raw_site(Raw(b"", "hold")) as site:
        assert isinstance(await failure(guest, f"{site.url}/", 0.2), TimedOut)
        await eventually(lambda: site.open == 0)


async def test_a_request_that_is_given_up(guest: Visitor) -> None:
    """Neither a task nor a connection stays."""
    async with raw_site(Raw(b"", "hold")) as site:
        task = asyncio.create_task(send(guest, httpx.Request("GET", f"{site.url}/")))
        await eventually(lambda: site.open == 1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        await eventually(lambda: site.open == 0)


async def test_no_answer_at_all(guest: Visitor) -> None:
    """Each with its reason."""
    assert await reason(guest, f"http://127.0.0.1:{closed_port()}/") == "refused"
    assert await reason(guest, "http://a.nowhere/") == "dns"


# Where it may go


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "ftp://a.here/", "http://169.254.169.254/", "http://[::1]/", "http://localhost/"]
)
async def test_forbidden_addresses(url: str) -> None:
    """The client's rule is asked before anything is sent."""
    async with visitor("127.0.0.1:1") as guest:
        assert isinstance(await failure(guest, url), AddressForbidden)
        assert guest.exit.connections == 0


async def test_a_name_that_leads_to_a_forbidden_address() -> None:
    """The proxy refuses it, whatever the client's rule says of the name."""
    async with raw_site(answer()) as site, visitor("127.0.0.1:1") as guest:
        assert isinstance(await failure(guest, f"http://a.here:{site.port}/"), AddressForbidden)
        assert site.asked == []


async def test_a_rule_of_ones_own() -> None:
    """One address of this machine, through an exit that lets it pass; its neighbours stay shut, as for all others."""
    common = Rule()
    async with (
        raw_site(answer("chosen")) as chosen,
        raw_site(answer()) as other,
        Egress(common) as egress,
        HttpClient(common.check) as http,
    ):
        rule = reaching(NetworkSettings(), f"{chosen.url}/search")
        own = sender(http, route_of(await egress.open_exit(rule=rule)), rule.check)
        assert (await own(httpx.Request("GET", f"{chosen.url}/"))).text == "chosen"
        shared = sender(http, route_of(await egress.open_exit()))
        for way, url in ((own, other.url), (shared, chosen.url), (shared, other.url)):
            with pytest.raises(AddressForbidden):
                await way(httpx.Request("GET", url))
        assert other.asked == []


# Answers that are not read


async def test_an_unread_answer_costs_its_head() -> None:
    """A gigabyte is declared and sent, and next to nothing of it comes through."""

    async def gigabyte(wire: Wire, asked: Asked) -> None:
        await wire.send(f"HTTP/1.1 200 OK\r\nContent-Length: {2**30}\r\n\r\n".encode())
        for _ in range(1024):
            await wire.send(b"x" * MIB)

    async with raw_site(gigabyte) as site, visitor() as guest:
        got = await guest.get(f"{site.url}/", unread=True)
        await eventually(lambda: site.open == 0)
        assert guest.exit.bytes_received < 64 * MIB
    assert (got.status, got.body, got.cut) == (200, b"", False)


async def test_an_unread_answer_need_not_end() -> None:
    """Not even begin: the head is enough."""
    head = Raw(b"HTTP/1.1 404 Gone\r\nContent-Length: 5\r\n\r\n", "hold")
    async with raw_site(head) as site, visitor() as guest:
        assert (await guest.get(f"{site.url}/", unread=True)).status == 404
        await eventually(lambda: site.open == 0)


async def test_redirects_to_unread_answers_are_followed(guest: Visitor) -> None:
    """What counts is the status at their end."""
    async with raw_site({"/": redirect("/next"), "/next": answer(status="410 Gone")}) as site:
        got = await guest.get(f"{site.url}/", unread=True)
    assert (got.status, got.url) == (410, f"{site.url}/next")
