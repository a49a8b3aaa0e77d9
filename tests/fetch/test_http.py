"""One GET against servers that behave in every way, through the real egress proxy."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from typing import Any

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from browser_service.egress import VERDICT_HEADER
from fetch.errors import (
    AddressForbidden,
    ContentTooLarge,
    InvalidRequest,
    NavigationFailed,
    TabwrightError,
    TimedOut,
)
from fetch.http import Errand, ProxyRoute
from fetch.http_faults import MARK
from fetch.page import Cookie
from stealth.headers import navigation_headers
from stealth.identity import LANGUAGES
from tests.browser_service.egress_servers import Wire, closed_port, eventually
from tests.fetch.http_server import FIVE, Asked, Raw, Visitor, answer, ended, raw_site, visitor

MIB = 2**20
NOWHERE = ProxyRoute("http://127.0.0.1:1", lambda url, since: None)


@pytest.fixture(scope="module")
async def guest() -> AsyncIterator[Visitor]:
    """A client that may go anywhere on this machine."""
    async with visitor() as guest:
        yield guest


@pytest.fixture
async def lone() -> AsyncIterator[Visitor]:
    """One that has no other connections than those of the test."""
    async with visitor() as guest:
        yield guest


async def failure(guest: Visitor, url: str, **given: Any) -> TabwrightError:
    """The error that getting this ends with."""
    with pytest.raises(TabwrightError) as caught:
        await guest.get(url, **given)
    return caught.value


async def reason(guest: Visitor, url: str, **given: Any) -> object:
    """Why the address could not be loaded."""
    fault = await failure(guest, url, **given)
    assert isinstance(fault, NavigationFailed), fault
    return fault.about["reason"]


# What comes back


async def test_a_page(guest: Visitor) -> None:
    """The answer comes with its status, its type and charset apart, and its headers in lower case."""
    page = answer("<p>hé", "X-One: a", "X-One: b", kind='Text/HTML;charset="UTF-8"', status="404 Gone")
    async with raw_site({"/a?b=c": page}) as site:
        got = await guest.get(f"{site.url}/a?b=c#d")
    assert (got.url, got.method, got.status) == (f"{site.url}/a?b=c#d", "http", 404)
    assert (got.content_type, got.charset, got.body) == ("text/html", "UTF-8", "<p>hé".encode())
    assert got.headers["x-one"] == "a, b"
    assert (got.redirects, got.cookies, got.cut, got.warnings) == ((), (), False, ())


@pytest.mark.parametrize("attempt", range(6))
async def test_each_attempt_is_another_visitor(guest: Visitor, attempt: int) -> None:
    """The site gets exactly the headers of the identity and language that the attempt number picks, in their order."""
    async with raw_site(answer()) as site:
        await guest.get(f"{site.url}/", attempt=attempt)
        identity = FIVE[attempt % 5]
        language = identity.accept_language(LANGUAGES[attempt % 3])
        expected = navigation_headers(identity, language, f"{site.url}/")
        assert site.asked[0].fields == [("Host", site.url[7:]), ("Connection", "keep-alive"), *expected]


async def test_the_callers_headers(guest: Visitor) -> None:
    """They take the place of the identity's; a user agent of one's own has no client hints of another's."""
    async with raw_site(answer()) as site:
        given = {
            "accept-language": "fr",
            "X-Own": "é",
            "User-Agent": "Own/1",
            "Referer": f"{site.url}/x",
            "Cookie": "o=1",
        }
        await guest.get(f"{site.url}/", headers=given, cookies=[Cookie("a", "b", "127.0.0.1")])
    asked = site.asked[0]
    assert (asked["accept-language"], asked["user-agent"], asked["cookie"]) == ("fr", "Own/1", "o=1; a=b")
    assert (asked["x-own"], asked["sec-ch-ua"], asked["sec-fetch-site"]) == ("é", None, "same-origin")


@pytest.mark.parametrize(
    "given", [{"Host": "x"}, {"Transfer-Encoding": "chunked"}, {"a b": "c"}, {"a": "b\r\nc: d"}, {"Proxy-X": "y"}]
)
def test_headers_that_nobody_may_give(given: dict[str, str]) -> None:
    """What would split a request, or belongs to the connection, is refused before anything is sent."""
    with pytest.raises(InvalidRequest):
        Errand("http://example.com/", NOWHERE, FIVE, given)


def test_cookies_that_nobody_may_give() -> None:
    """A cookie's value cannot bring another cookie, or another header."""
    for value in ("b; c=d", "b\r\nc: d"):
        with pytest.raises(InvalidRequest):
            Errand("http://example.com/", NOWHERE, FIVE, cookies=[Cookie("a", value, "example.com")])


PACKERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "gzip, br": lambda data: brotli.compress(gzip.compress(data)),
}


@pytest.mark.parametrize("encoding", PACKERS)
async def test_encodings_are_undone(guest: Visitor, encoding: str) -> None:
    """What is offered in Accept-Encoding can be read."""
    text = b"".join(b"<p>%d" % number for number in range(50_000))
    async with raw_site(answer(PACKERS[encoding](text), f"Content-Encoding: {encoding}")) as site:
        assert (await guest.get(f"{site.url}/")).body == text


async def test_bare_deflate(guest: Visitor) -> None:
    """The deflate that many servers send, without the wrapper that it should have."""
    packer = zlib.compressobj(wbits=-15)
    async with raw_site(answer(packer.compress(b"<p>hi") + packer.flush(), "Content-Encoding: deflate")) as site:
        assert (await guest.get(f"{site.url}/")).body == b"<p>hi"


@pytest.mark.parametrize(
    "raw",
    [
        ended("HTTP/1.0 200 OK\nContent-Type: text/html", b"<p>hi"),
        ended("HTTP/1.1 200 OK\nContent-Type: text/html", b"<p>hi"),
        Raw(b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n<p>hi"),
        Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n<p\r\n3;x=y\r\n>hi\r\n0\r\nTrailer: x\r\n\r\n"),
        Raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<p>hi"),
        Raw(b"HTTP/1.1 200 OK\nContent-Length: 5\n\n<p>hi"),
    ],
)
async def test_framings(guest: Visitor, raw: Raw) -> None:
    """Bodies arrive whole however their end is told."""
    async with raw_site(raw) as site:
        page = await guest.get(f"{site.url}/")
    assert (page.status, page.body, page.cut) == (200, b"<p>hi", False)


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_answers_without_a_body(guest: Visitor, status: str) -> None:
    """No body is waited for where there can be none."""
    async with raw_site(Raw(f"HTTP/1.1 {status}\r\nContent-Length: 50\r\n\r\n".encode(), "hold")) as site:
        page = await guest.get(f"{site.url}/")
    assert (page.status, page.body, page.cut) == (int(status[:3]), b"", False)


@pytest.mark.parametrize(
    "raw",
    [
        Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n<p>hi", "close"),
        Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>hi\r\n", "close"),
        Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>hi\r\nzz\r\n", "close"),
        ended("HTTP/1.1 200 OK\nContent-Encoding: gzip", gzip.compress(b"<p>hi")[:-3]),
    ],
)
async def test_bodies_that_are_cut_off(guest: Visitor, raw: Raw) -> None:
    """What came of a body is kept, and it is said that it is not all."""
    async with raw_site(raw) as site:
        page = await guest.get(f"{site.url}/")
    assert (page.status, page.body, page.cut) == (200, b"<p>hi", True)
    assert "cut off after 5 bytes" in page.warnings[0]


async def test_a_reset_in_the_middle(guest: Visitor) -> None:
    """A reset leaves what had come before it; where nothing had, it is a failure."""

    async def behave(wire: Wire, asked: Asked) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")
        await asyncio.sleep(0.05)
        wire.reset()

    async with raw_site(behave) as site:
        assert await reason(guest, f"{site.url}/") == "cut"


async def test_more_than_was_declared(guest: Visitor) -> None:
    """What follows a body is not taken for the answer to another request."""
    false = answer("false").data
    async with raw_site({"/": Raw(answer("true").data + false), "/next": answer("next")}) as site:
        assert (await guest.get(f"{site.url}/")).body == b"true"
        assert (await guest.get(f"{site.url}/next")).body == b"next"


@pytest.mark.parametrize(("encoding", "words"), [("compress", "not known"), ("gzip", "not valid gzip")])
async def test_bodies_that_do_not_decode(guest: Visitor, encoding: str, words: str) -> None:
    """It is said what is wrong with the encoding."""
    async with raw_site(answer(b"\x1f\x8b" + b"x" * 100, f"Content-Encoding: {encoding}")) as site:
        fault = await failure(guest, f"{site.url}/")
    assert fault.about["reason"] == "decoding"
    assert words in fault.detail


# Limits


async def test_a_declared_length_over_the_limit(lone: Visitor) -> None:
    """It is refused by what it says of itself, before anything of it comes."""
    async with raw_site(Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "hold")) as site:
        with pytest.raises(ContentTooLarge, match=r"95\.4 MiB"):
            await lone.get(f"{site.url}/")
        await eventually(lambda: lone.exit.open_connections == 0)


async def endless(wire: Wire, asked: Asked) -> None:
    """A body that goes on and on."""
    await wire.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await wire.send(b"x" * 65536)


BOMBS = {name: pack(bytes(20 * MIB)) for name, pack in PACKERS.items()}


@pytest.mark.parametrize("encoding", ["", *PACKERS])
async def test_bodies_over_the_limit(lone: Visitor, encoding: str) -> None:
    """An endless body, and a small one that unpacks to a large one, end at the limit, which memory does not pass."""
    bomb = answer(BOMBS[encoding], f"Content-Encoding: {encoding}") if encoding else endless
    async with raw_site(bomb) as site:
        tracemalloc.start()
        try:
            with pytest.raises(ContentTooLarge, match="limit is 4 MiB"):
                await lone.get(f"{site.url}/", max_bytes=4 * MIB)
            assert tracemalloc.get_traced_memory()[1] < 6 * MIB
        finally:
            tracemalloc.stop()
        await eventually(lambda: lone.exit.open_connections == 0)


async def test_the_limit_itself(guest: Visitor) -> None:
    """Exactly as much as is allowed passes."""
    async with raw_site(answer(bytes(MIB))) as site:
        assert len((await guest.get(f"{site.url}/", max_bytes=MIB)).body) == MIB
        with pytest.raises(ContentTooLarge):
            await guest.get(f"{site.url}/", max_bytes=MIB - 1)


async def test_a_server_that_says_nothing(lone: Visitor) -> None:
    """The limit holds while an answer is waited for, and nothing is left of the request."""
    async with raw_site(Raw(b"", "hold")) as site:
        with pytest.raises(TimedOut, match="did not answer within"):
            await lone.get(f"{site.url}/", limit_s=0.1)
        await eventually(lambda: lone.exit.open_connections == 0)


async def test_a_body_that_drips(guest: Visitor) -> None:
    """At the limit the call ends with what there is so far."""

    async def drip(wire: Wire, asked: Asked) -> None:
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>")
        while True:
            await wire.send(b".")
            await asyncio.sleep(0.01)

    async with raw_site(drip) as site:
        page = await guest.get(f"{site.url}/", limit_s=0.3)
    assert page.body.startswith(b"<p>.")
    assert page.cut
    assert "in time" in page.warnings[0]


async def test_a_call_that_is_given_up(lone: Visitor) -> None:
    """When the caller goes, the connection goes as well."""
    async with raw_site(Raw(b"HTTP/1.1 200 OK\r\n\r\n<p>", "hold")) as site:
        task = asyncio.create_task(lone.get(f"{site.url}/"))
        await eventually(lambda: bool(site.asked))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: lone.exit.open_connections == 0)


# Failures, and whose they are


async def test_names_that_do_not_exist(guest: Visitor) -> None:
    """DNS failure is told as such, over http and https."""
    assert await reason(guest, "http://nowhere.test/") == "dns"
    assert await reason(guest, "https://nowhere.test/") == "dns"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_ports_where_nobody_listens(guest: Visitor, scheme: str) -> None:
    """A refused connection is told as such; the proxy's own page is not taken for the site's."""
    assert await reason(guest, f"{scheme}://127.0.0.1:{closed_port()}/") == "refused"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_addresses_that_the_proxy_refuses(scheme: str) -> None:
    """What a name leads to is judged by the proxy, and its refusal is an error, never a page."""
    async with visitor("1.2.3.4") as guest:
        fault = await failure(guest, f"{scheme}://private.here/")
    assert isinstance(fault, AddressForbidden)
    assert fault.about["final_url"] == f"{scheme}://private.here/"


async def test_the_mark_of_the_proxy(guest: Visitor) -> None:
    """It is the one that the proxy makes, and no site can make it."""
    assert VERDICT_HEADER.lower() == MARK
    async with raw_site(answer("mine", f"{VERDICT_HEADER}: dns_failed")) as site:
        assert (await guest.get(f"{site.url}/")).body == b"mine"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (Raw(b"", "close"), "reset"),
        (Raw(b"", "reset"), "reset"),
        (Raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "close"), "protocol"),
        (Raw(b"HTTP/1.1 200 OK\r\nBroken\r\n\r\n", "close"), "protocol"),
        (Raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n", "close"), "protocol"),
    ],
)
async def test_servers_that_do_not_answer(guest: Visitor, raw: Raw, kind: str) -> None:
    """A connection that ends without an answer and an answer that is no HTTP are told apart."""
    async with raw_site(raw) as site:
        assert await reason(guest, f"{site.url}/") == kind
        assert len(site.asked) == 1


async def test_a_connection_that_went_stale(guest: Visitor) -> None:
    """When a kept connection has ended meanwhile, the request goes out once more on a new one."""
    async with raw_site({"/": [answer("one"), Raw(b"", "close"), answer("two")]}) as site:
        assert (await guest.get(f"{site.url}/")).body == b"one"
        assert (await guest.get(f"{site.url}/")).body == b"two"
        assert len(site.wires) == 2


async def test_without_the_proxy() -> None:
    """When the way out is closed, nothing goes out by another way."""
    async with visitor() as guest, raw_site(answer()) as site:
        await guest.exit.close()
        assert await reason(guest, f"{site.url}/") == "proxy"
        assert not site.asked
