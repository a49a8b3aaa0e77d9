"""The same over TLS, where the proxy sees nothing, and over HTTP/2."""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browser_service.egress import VERDICT_HEADER
from fetch.errors import ContentTooLarge, NavigationFailed
from tests.browser_service.egress_servers import eventually
from tests.fetch.http_server import FIVE, Raw, Visitor, answer, certificate, h2_site, raw_site, redirect, visitor

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")

MIB = 2**20
Contexts = tuple[ssl.SSLContext, ssl.SSLContext]


@pytest.fixture(scope="module")
async def contexts(tmp_path_factory: pytest.TempPathFactory) -> Contexts:
    """A certificate, for the server and for a client that trusts it."""
    folder: Path = tmp_path_factory.mktemp("tls")
    return await asyncio.to_thread(certificate, folder)


@pytest.fixture
async def guest(contexts: Contexts) -> AsyncIterator[Visitor]:
    """A client that trusts the certificate."""
    async with visitor(tls=contexts[1]) as guest:
        yield guest


async def why_not(guest: Visitor, url: str) -> tuple[object, str]:
    """The reason and the words of a failure."""
    with pytest.raises(NavigationFailed) as caught:
        await guest.get(url)
    return caught.value.about["reason"], caught.value.detail


async def test_pages_over_tls(guest: Visitor, contexts: Contexts) -> None:
    """Pages and redirects come over TLS as without, on one connection."""
    async with raw_site({"/": redirect("/b"), "/b": answer("here")}, ssl=contexts[0]) as site:
        page = await guest.get(f"{site.url}/")
    assert (page.body, page.redirects) == (b"here", ((f"{site.url}/", 302),))
    assert site.asked[0]["sec-ch-ua"] is not None
    assert len(site.wires) == 1


async def test_the_proxys_mark_means_nothing_over_tls(guest: Visitor, contexts: Contexts) -> None:
    """A site that makes the mark of the proxy itself is not believed."""
    async with raw_site(answer("mine", f"{VERDICT_HEADER}: address_forbidden"), ssl=contexts[0]) as site:
        assert (await guest.get(f"{site.url}/")).body == b"mine"


async def test_certificates_are_checked(contexts: Contexts) -> None:
    """A certificate that nobody vouches for is a failure which says so, and no request is sent."""
    async with visitor() as stranger, raw_site(answer(), ssl=contexts[0]) as site:
        reason, words = await why_not(stranger, f"{site.url}/")
        assert (reason, site.asked) == ("tls", [])
        assert "certificate is not accepted (self-signed certificate)" in words
        await eventually(lambda: stranger.exit.open_connections == 0)


@pytest.mark.parametrize("raw", [Raw(b"", "close"), Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n", "close")])
async def test_ports_without_tls(guest: Visitor, raw: Raw) -> None:
    """A port that speaks no TLS, or hangs up on it, is told as such."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(raw.data)
        writer.close()

    async with await asyncio.start_server(behave, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (await why_not(guest, f"https://127.0.0.1:{port}/"))[0] == "tls"


async def test_cut_off_over_tls(guest: Visitor, contexts: Contexts) -> None:
    """What came of a body before its connection ended is kept."""
    raw = Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n<p>hi", "reset")
    async with raw_site({"/": raw, "/nothing": Raw(b"", "reset")}, ssl=contexts[0]) as site:
        page = await guest.get(f"{site.url}/")
        assert (await why_not(guest, f"{site.url}/nothing"))[0] == "reset"
    assert (page.cut, page.body) == (True, b"<p>hi")


async def test_http2(guest: Visitor, contexts: Contexts) -> None:
    """HTTP/2 is spoken where it is offered, with the headers in the browser's order, on one connection."""
    async with h2_site({"/": b"here", "/big": bytes(3 * MIB)}, contexts[0]) as site:
        assert (await guest.get(f"{site.url}/")).body == b"here"
        pages = await asyncio.gather(*(guest.get(f"{site.url}/big") for _ in range(4)))
        assert [len(each.body) for each in pages] == [3 * MIB] * 4
        assert len(site.connections) == 1
    names = [name for name, _ in site.asked[0].fields]
    assert names[:4] == [":method", ":authority", ":scheme", ":path"]
    assert names[4:9] == ["pragma", "cache-control", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"]
    assert site.asked[0]["user-agent"] == FIVE[0].user_agent


async def test_http2_after_a_body_that_was_too_large(guest: Visitor, contexts: Contexts) -> None:
    """A stream that is left does not starve those after it."""
    async with h2_site({"/": b"here", "/big": bytes(40 * MIB)}, contexts[0]) as site:
        for _ in range(3):
            with pytest.raises(ContentTooLarge):
                await guest.get(f"{site.url}/big", max_bytes=2 * MIB)
            assert (await guest.get(f"{site.url}/", limit_s=10)).body == b"here"


async def test_http2_on_a_connection_that_went_stale(guest: Visitor, contexts: Contexts) -> None:
    """A kept connection that has ended meanwhile is replaced, without a fault or a retry."""
    async with h2_site({"/": b"here"}, contexts[0]) as site:
        assert (await guest.get(f"{site.url}/")).body == b"here"
        await site.connections[0].close()
        assert (await guest.get(f"{site.url}/")).body == b"here"
        assert len(site.connections) == 2
