"""Plain HTTP through an exit: what the site gets, what the client gets, and what is not passed on at all."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from browser_service.egress import Limits
from tests.browser_service.egress_servers import Server, Wire, ask, client, eventually, leaving, serving, silence, site


def answering(*parts: bytes, rude: bool = False) -> AbstractAsyncContextManager[Server]:
    """A server that answers its first request with these parts and then hangs up, or cuts the connection."""

    async def handle(wire: Wire) -> None:
        await wire.head()
        for part in parts:
            await wire.send(part)
            await asyncio.sleep(0)
        if rude:
            wire.reset()

    return serving(handle)


async def relayed(*parts: bytes) -> bytes:
    """What the client gets for these bytes of a server that then hangs up."""
    async with answering(*parts) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.get())
        return await wire.rest()


async def test_the_site_sees_a_browser_without_a_proxy() -> None:
    """The head arrives in its order, with what is meant for the proxy taken out and the Host of the target put in."""
    async with site() as server, leaving(server.host) as exit_:
        headers = ["Proxy-Connection: keep-alive", "User-Agent: x", "Proxy-Authorization: Basic eA==", "Accept:*/*"]
        await ask(exit_, server.get("/a?b=c", *headers, "Cookie: a=b", "cookie: c=d"))
    lines = ["GET /a?b=c HTTP/1.1", f"Host: {server.host}", "Connection: keep-alive", "User-Agent: x", "Accept:*/*"]
    assert server.heads == ["\r\n".join([*lines, "Cookie: a=b", "cookie: c=d", "", ""]).encode()]


async def test_hop_by_hop_headers_stop_here() -> None:
    """What `Connection` names, and what belongs to one hop anyway, is not passed on."""
    async with site() as server, leaving(server.host) as exit_:
        headers = [
            "Connection: close, X-Secret",
            "X-Secret: 1",
            "Keep-Alive: 5",
            "TE: trailers",
            "Upgrade: h2c",
            "X: 2",
        ]
        await ask(exit_, server.get("/", *headers))
    assert server.heads[0].decode().split("\r\n")[2:] == ["Connection: close", "X: 2", "", ""]


@pytest.mark.parametrize(("target", "host"), [("example.test:80", "example.test"), ("EXAMPLE.test.", "example.test")])
async def test_the_host_comes_from_the_target(target: str, host: str) -> None:
    """There is one authority: whatever Host said, and however often, the site gets that of the target."""

    async def resolve(name: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with site() as server, leaving("127.0.0.1", resolve=resolve) as exit_:
        request = f"GET http://{target.removesuffix(':80')}:{server.port}/ HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"
        await ask(exit_, request.encode())
        await ask(exit_, request.replace("Host: a\r\nhost: b\r\n", "").encode())
    for head in server.heads:
        assert head.lower().count(b"host:") == 1
        assert f"\r\nHost: {host}:{server.port}\r\n".encode() in head


async def test_connections_are_kept() -> None:
    """Requests that follow each other on one connection to one site share one connection to it."""
    async with site() as server, leaving(server.host) as exit_, client(exit_) as wire:
        for number in range(5):
            assert (await wire.ask(server.get(f"/{number}"))).endswith(b"hi")
        assert len(server.wires) == 1
        assert len(exit_.visits) == 1


async def test_no_request_rides_on_another_sites_connection() -> None:
    """A request for another port on the same connection gets a connection of its own; the former one ends."""
    async with (
        site() as one,
        site(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo") as two,
        leaving(one.host, two.host) as exit_,
        client(exit_) as wire,
    ):
        assert (await wire.ask(one.get())).endswith(b"hi")
        assert (await wire.ask(two.get())).endswith(b"two")
        await eventually(one.wires[0].writer.is_closing)
        assert (await wire.ask(b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 403")
    assert (len(one.heads), len(two.heads)) == (1, 1)


async def test_a_stale_connection_ends_on_both_sides() -> None:
    """A site that ends a kept connection ends it for the client as well, which is no failure."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    async with answering(answer) as server, leaving(server.host) as exit_, client(exit_) as wire:
        assert (await wire.ask(server.get())).endswith(b"hi")
        assert await wire.rest() == b""
        await wire.send(server.get())
        assert exit_.last_failure("127.0.0.1", server.port, 0) is None


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Content-Length: 11", b"hello world"),
        ("Content-Length: 0", b""),
        ("Transfer-Encoding: chunked", b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"a\r\nhello\r\n0\r\n\r\n0\r\n\r\n"[:3] + b"0123456789\r\n0\r\n\r\n"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_bodies_arrive_whole(headers: str, body: bytes, step: int) -> None:
    """A request's body arrives as it was sent, in whatever pieces, and the next request is found behind it."""
    async with site() as server, leaving(server.host) as exit_, client(exit_) as wire:
        for _ in range(2):
            request = f"POST http://{server.host}/ HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body
            for at in range(0, len(request), step):
                await wire.send(request[at : at + step])
            assert (await wire.exactly(40)).endswith(b"hi")
    assert server.bodies == [body, body]


async def test_a_body_may_come_before_the_connection() -> None:
    """What a client sends while the host is still looked up is kept, and read no faster than it can be passed on."""
    ready = asyncio.Event()

    async def resolve(name: str, port: int) -> list[str]:
        await ready.wait()
        return ["127.0.0.1"]

    async with site() as server, leaving("127.0.0.1", resolve=resolve) as exit_, client(exit_) as wire:
        body = b"z" * 3_000_000
        head = f"POST http://big.test:{server.port}/ HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        sending = asyncio.create_task(wire.send(head.encode() + body))
        await eventually(lambda: exit_.bytes_sent > 300_000)
        ready.set()
        await sending
        assert (await wire.exactly(40)).endswith(b"hi")
    assert server.bodies == [body]


async def test_expect_continue() -> None:
    """An interim answer is passed on at once, and the body after it."""

    async def handle(wire: Wire) -> None:
        assert b"\r\nExpect: 100-continue\r\n" in await wire.head()
        await wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + await wire.exactly(4))

    async with serving(handle) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(
            f"PUT http://{server.host}/ HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n".encode()
        )
        assert await wire.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert (await wire.ask(b"body")).endswith(b"body")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\n\r\nto the end",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConte",
        b"HTT",
        b"<p>HTTP/0.9",
        b"\x00\x01\x02\x03\x04\x05\x06\x07\x08",
        b"SSH-2.0-server\r\n\r\n",
    ],
)
async def test_answers_pass_unchanged(answer: bytes) -> None:
    """Whatever a server says, well-formed, cut or foreign, reaches the client byte for byte, with the same end."""
    assert await relayed(answer) == answer
    assert await relayed(*(answer[at : at + 1] for at in range(len(answer)))) == answer


@pytest.mark.parametrize("head", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"])
async def test_a_cut_body_is_seen_as_cut(head: bytes) -> None:
    """A connection that the server resets is reset for the client, so that a cut body cannot pass for a whole one."""
    async with answering(head + b"cut", rude=True) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.get())
        with pytest.raises(ConnectionResetError):
            await wire.rest()


@pytest.mark.parametrize(
    "lines",
    [
        b"Proxy-Authenticate: Basic realm=x\r\n",
        b"proxy-connection: keep-alive\r\n",
        b"X-Tabwright-Egress: address_forbidden\r\n",
        b"x-tabwright-EGRESS : address_forbidden\r\n",
        b"X-Tabwright-Egress:\r\n address_forbidden\r\n\tagain\r\n",
        b"X-Tabwright-Egress: a\nX-Tabwright-Egress: b\n",
    ],
)
@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 407 Login\r\n",
        b"HTTP/1.1\r\n",
        b"\r\n\r\nhttp/1.1 200 OK\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n",
    ],
)
async def test_only_the_proxy_speaks_for_the_proxy(first: bytes, lines: bytes) -> None:
    """Headers that would pass for this proxy's own are taken out of what a server says, however it writes them."""
    answer = first + b"A: 1\r\n" + lines + b"B: 2\r\n\r\nbody"
    assert await relayed(answer) == first + b"A: 1\r\nB: 2\r\n\r\nbody"


async def test_an_endless_head_is_cut() -> None:
    """A response head that does not end is not collected for ever."""
    endless = b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 60_000
    async with answering(endless) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.get())
        with pytest.raises(ConnectionResetError):
            await wire.rest()


async def refused(request: str | bytes, status: bytes = b"400") -> None:
    """The request gets the proxy's own answer, and no server hears of it."""
    async with serving(silence) as server, leaving(server.host) as exit_, client(exit_) as wire:
        data = request if isinstance(request, bytes) else request.replace("SITE", server.host).encode()
        await wire.send(data)
        answer = await wire.head()
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert b"X-Tabwright-Egress: bad_request" in answer
    assert not server.wires


@pytest.mark.parametrize(
    "fields",
    [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: 0x5",
        "Content-Length: -1",
        "Content-Length: 5\x0b",
        "Content-Length: 99999999999999999999999",
        "Content-Length:",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: chunked\r\n folded: 1",
        " Transfer-Encoding: chunked",
        "A: b\rTransfer-Encoding: chunked",
        "A: b\nTransfer-Encoding: chunked",
        "A: \x00",
        "Content-Length: 5\r\nConnection: close, Content-Length",
        "Transfer-Encoding: chunked\r\nConnection: transfer-encoding",
        ": empty",
        "no colon",
        "Bad Name: 1",
    ],
)
async def test_ambiguous_requests_are_refused(fields: str) -> None:
    """A head that two parsers could read differently reaches no server (request smuggling)."""
    await refused(f"POST http://SITE/ HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n")


@pytest.mark.parametrize(
    "line",
    [
        "GET / HTTP/1.1",
        "GET https://SITE/ HTTP/1.1",
        "GET ftp://SITE/ HTTP/1.1",
        "GET SITE/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://u:p@SITE/ HTTP/1.1",
        "GET http://SITE:1/ HTTP/1.1",
        "GET http://127.0.0.1:0/ HTTP/1.1",
        "GET http://127.0.0.1:65536/ HTTP/1.1",
        "GET http://127.0.0.1:8a/ HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "GET http://SITE\\x/ HTTP/1.1",
        "GET http://SITE/#x HTTP/1.1",
        "GET  http://SITE/ HTTP/1.1",
        "GET http://SITE/ x HTTP/1.1",
        "GET http://SITE/\x01 HTTP/1.1",
        "GET http://SITE/",
        "GET http://SITE/ HTTP/0.9",
        "GET http://SITE/ HTTP/2.0",
        "G(T http://SITE/ HTTP/1.1",
        "CONNECT http://SITE/ HTTP/1.1",
        "CONNECT 127.0.0.1 HTTP/1.1",
        "CONNECT 127.0.0.1:0 HTTP/1.1",
        "CONNECT SITE/x HTTP/1.1",
        "CONNECT u@SITE HTTP/1.1",
        "\x16\x03\x01\x02\x00\x01\x00\x01",
    ],
)
async def test_only_whole_addresses_are_served(line: str) -> None:
    """The proxy takes absolute http addresses and CONNECT to a host and port; it is no web server."""
    await refused(f"{line}\r\nHost: SITE\r\n\r\n")


async def test_http_1_0_has_no_chunks() -> None:
    """Chunked bodies do not exist in HTTP/1.0, so such a request is ambiguous, too."""
    await refused("POST http://SITE/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")


@pytest.mark.parametrize("size", [70_000, 200_000])
async def test_a_giant_head_is_refused(size: int) -> None:
    """A request's head is collected up to 64 KiB."""
    await refused(b"GET http://127.0.0.1/ HTTP/1.1\r\nA: " + b"x" * size, b"431")
    await refused(b"GET http://127.0.0.1/ HTTP/1.1\r\nA: " + b"x" * size + b"\r\n\r\n", b"431")


async def test_a_slow_head_is_cut() -> None:
    """A head that is not whole in time ends the connection."""
    async with leaving(limits=Limits(head_s=0.05)) as exit_, client(exit_) as wire:
        await wire.send(b"GET http://127.0.0.1/ HT")
        with pytest.raises(ConnectionResetError):
            await wire.rest()


@pytest.mark.parametrize(
    "body",
    [b"5\nhello\r\n0\r\n\r\n", b"5\r\nhelloX\r\n0\r\n\r\n", b"-1\r\n", b"0x5\r\n", b" 5\r\n", b"\r\n", b"5 x\r\n",
     b"fffffffffffffffff\r\n", b"0\r\nbad trailer\r\n\r\n", b"5;" + b"x" * 9000, b"0\r\n" + b"A: b\r\n" * 15_000],
)  # fmt: skip
async def test_malformed_chunks_end_the_connection(body: bytes) -> None:
    """A chunked body that two parsers could read differently is cut where it becomes so."""
    async with serving(silence) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(f"POST http://{server.host}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + body)
        with pytest.raises(ConnectionResetError):
            await wire.rest()


async def test_requests_are_not_pipelined() -> None:
    """A second request before the answer to the first ends the connection: it could be smuggled into a body."""
    async with serving(silence) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.get() + server.get("/second"))
        with pytest.raises(ConnectionResetError):
            await wire.rest()


UPGRADE = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: eA==")


async def test_websockets_without_a_tunnel() -> None:
    """After a switch of protocols bytes pass both ways, those that came early included."""

    async def handle(wire: Wire) -> None:
        server.heads.append(await wire.head())
        await wire.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfrom server"
        )
        await wire.send(await wire.exactly(11))

    async with serving(handle) as server, leaving(server.host) as exit_, client(exit_) as wire:
        await wire.send(server.get("/", *UPGRADE) + b"from client")
        assert (await wire.head()).startswith(b"HTTP/1.1 101")
        assert await wire.exactly(22) == b"from serverfrom client"
    assert b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" in server.heads[0]


async def test_a_declined_websocket() -> None:
    """A site that declines to switch is asked further requests as before."""
    async with site() as server, leaving(server.host) as exit_, client(exit_) as wire:
        assert (await wire.ask(server.get("/", *UPGRADE))).endswith(b"hi")
        assert (await wire.ask(server.get())).endswith(b"hi")
    assert isinstance(server, Server)
    assert len(server.heads) == 2
