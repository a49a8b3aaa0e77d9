"""Exits that lead through another proxy."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from browser_service.egress import Egress, Limits, Upstream, parse_upstream
from fetch.address import Rule
from fetch.errors import AddressForbidden, InvalidRequest
from tests.browser_service.egress_servers import (
    Names,
    Server,
    Wire,
    ask,
    client,
    closed_port,
    leaving,
    serving,
    silence,
    site,
)

LOGIN = b"\r\nProxy-Authorization: Basic dXNlcjpwOndvcmQ=\r\n"  # user, p:word


async def splice(wire: Wire, host: str, port: int, first: bytes = b"") -> None:
    far = Wire(*await asyncio.open_connection(host, port))
    await far.send(first)

    async def copy(source: Wire, sink: Wire) -> None:
        while data := await source.reader.read(65536):
            await sink.send(data)
        sink.end()

    try:
        await asyncio.gather(copy(wire, far), copy(far, wire))
    finally:
        await far.close()


@asynccontextmanager
async def http_proxy(**options: Any) -> AsyncIterator[Server]:
    """A proxy that wants a login, and knows example.test as this machine."""

    async def handle(wire: Wire) -> None:
        head = await wire.head()
        server.heads.append(head)
        method, target, _ = head.split(b" ", 2)
        if LOGIN not in head:
            await wire.send(b"HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n")
            return
        authority = target if method == b"CONNECT" else target.split(b"/")[2]
        host, _, port = authority.decode().rpartition(":")
        if method == b"CONNECT":
            await wire.send(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n")
        first = b"" if method == b"CONNECT" else head.replace(LOGIN, b"\r\n")
        await splice(wire, host.replace("example.test", "127.0.0.1"), int(port), first)

    async with serving(handle, **options) as server:
        yield server


@asynccontextmanager
async def socks_proxy(reply: int = 0) -> AsyncIterator[Server]:
    """A SOCKS5 proxy that wants a login; `heads` are the addresses it was asked for."""

    async def handle(wire: Wire) -> None:
        version, count = await wire.exactly(2)
        if version != 5 or b"\x02" not in await wire.exactly(count):
            await wire.send(b"\x05\xff")
            return
        await wire.send(b"\x05\x02")
        login = [await wire.exactly((await wire.exactly(2 if first else 1))[-1]) for first in (True, False)]
        await wire.send(b"\x01" + bytes([login != [b"user", b"p:word"]]))
        kind = (await wire.exactly(4))[3]
        length = 4 if kind == 1 else (await wire.exactly(1))[0]
        target = await wire.exactly(length)
        port = int.from_bytes(await wire.exactly(2), "big")
        server.heads.append(target)
        await wire.send(b"\x05" + bytes([reply]) + b"\x00\x03\x04name\x00\x00")
        if reply == 0:
            await splice(wire, "127.0.0.1", port)

    async with serving(handle) as server:
        yield server


def named(port: int, method: str = "GET") -> bytes:
    target = f"example.test:{port}" if method == "CONNECT" else f"http://example.test:{port}/"
    return f"{method} {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


async def test_a_tunnel_through_an_http_proxy() -> None:
    """CONNECT is passed on with the login of the proxy."""
    async with site() as server, http_proxy() as proxy:
        upstream = f"http://user:p%3Aword@{proxy.host}"
        async with leaving("127.0.0.1", upstream=upstream) as exit_, client(exit_) as wire:
            assert b" 200 " in await wire.ask(server.connect)
            assert (await wire.ask(b"GET / HTTP/1.1\r\n\r\n")).endswith(b"hi")
    assert proxy.heads[0].startswith(f"CONNECT {server.host} HTTP/1.1\r\n".encode())


async def test_plain_http_through_an_http_proxy() -> None:
    """A request to an IP address goes to the proxy in absolute form, as a browser would send it."""
    async with site() as server, http_proxy() as proxy:
        upstream = f"http://user:p%3Aword@{proxy.host}"
        async with leaving("127.0.0.1", upstream=upstream) as exit_, client(exit_) as wire:
            assert (await wire.ask(server.get("/a"))).endswith(b"hi")
    assert proxy.heads[0].startswith(f"GET http://{server.host}/a HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization" not in server.heads[0]


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_names_are_resolved_here(method: str) -> None:
    """The proxy gets the address that was judged, not the name, so that it cannot find another one."""
    async with site() as server, http_proxy() as proxy:
        upstream = f"http://user:p%3Aword@{proxy.host}"
        names = Names(example_test=[["::1", "127.0.0.1"]])
        async with leaving("127.0.0.1", "::1", upstream=upstream, resolve=names) as exit_:
            await ask(exit_, named(server.port, method))
    assert proxy.heads[0].startswith(f"CONNECT {server.host} HTTP/1.1\r\n".encode())


async def test_names_may_be_resolved_there() -> None:
    """With remote_dns the proxy gets the name, and nothing is resolved here."""
    async with site() as server, http_proxy() as proxy:
        upstream, names = f"http://user:p%3Aword@{proxy.host}", Names()
        async with leaving("127.0.0.1", upstream=upstream, resolve=names, remote_dns=True) as exit_:
            assert (await ask(exit_, named(server.port))).endswith(b"hi")
            assert b" 200 " in await ask(exit_, named(server.port, "CONNECT"))
            assert b" 403 " in await ask(exit_, f"GET http://127.0.0.2:{server.port}/ HTTP/1.1\r\n\r\n".encode())
    assert [head.split(b" ")[1] for head in proxy.heads] == [
        f"http://example.test:{server.port}/".encode(),
        f"example.test:{server.port}".encode(),
    ]
    assert not names.asked


@pytest.mark.parametrize("remote", [True, False])
async def test_socks5(remote: bool) -> None:
    """SOCKS5 with user name and password, by address or by name."""
    async with site() as server, socks_proxy() as proxy:
        options = {"resolve": Names(example_test=[["127.0.0.1"]]), "remote_dns": remote}
        async with leaving("127.0.0.1", upstream=f"socks5://user:p%3Aword@{proxy.host}", **options) as exit_:
            assert (await ask(exit_, named(server.port))).endswith(b"hi")
    assert proxy.heads == [b"example.test" if remote else b"\x7f\x00\x00\x01"]


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("login", ["", "user:wrong-secret@"])
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_a_login_that_the_proxy_does_not_accept(scheme: str, login: str, method: str) -> None:
    """It is a failure of the proxy upstream, in the record and in the answer, and the password is in neither."""
    proxy = http_proxy() if scheme == "http" else socks_proxy()
    async with site() as server, proxy as far, leaving("127.0.0.1", upstream=f"{scheme}://{login}{far.host}") as exit_:
        answer = await ask(exit_, server.get() if method == "GET" else server.connect)
        assert answer.startswith(b"HTTP/1.1 502")
        assert b"X-Tabwright-Egress: upstream_failed" in answer
        assert exit_.visits[-1].outcome == "upstream_failed"
        assert "secret" not in f"{exit_.visits} {answer!r} {exit_.upstream}"


@pytest.mark.parametrize(
    "says",
    [b"", b"garbage\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n", b"\x05\x00\x05\x05\x00\x01", b"\x05\xff", b"\x04\x00",
     b"x" * 100_000],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
async def test_a_proxy_that_does_not_do_its_work(scheme: str, says: bytes) -> None:
    """Whatever a broken proxy says, the visit fails as upstream_failed."""

    async def handle(wire: Wire) -> None:
        await wire.send(says)
        await wire.reader.read(1)

    async with serving(handle) as proxy, leaving("127.0.0.1", upstream=f"{scheme}://{proxy.host}") as exit_:
        answer = await ask(exit_, b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 502")
        assert [visit.outcome for visit in exit_.visits] == ["upstream_failed"]


async def test_a_silent_proxy() -> None:
    """A proxy that never answers fails in time."""
    async with serving(silence) as proxy:
        upstream, limits = f"http://{proxy.host}", Limits(connect_s=0.05)
        async with leaving("127.0.0.1", upstream=upstream, limits=limits) as exit_:
            assert b"upstream_failed" in await ask(exit_, b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n")


async def test_a_dead_proxy() -> None:
    """A proxy that is not there is no failure of the site."""
    async with leaving("127.0.0.1", upstream=f"http://127.0.0.1:{closed_port()}") as exit_:
        assert b"upstream_failed" in await ask(exit_, b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n")


async def test_a_callers_proxy_is_judged() -> None:
    """A proxy that a caller names must itself be allowed: at once by address, when it is dialled by name."""
    async with http_proxy() as proxy, Egress(Rule(), resolve=Names(proxy_test=[["127.0.0.1"]])) as egress:
        with pytest.raises(AddressForbidden):
            await egress.open_exit(f"http://{proxy.host}")
        exit_ = await egress.open_exit()
        with pytest.raises(AddressForbidden):
            exit_.upstream = f"socks5://{proxy.host}"
        exit_.upstream = f"http://proxy.test:{proxy.port}"
        assert b"address_forbidden" in await ask(exit_, b"CONNECT 8.8.8.8:80 HTTP/1.1\r\n\r\n")
    assert not proxy.wires


async def test_the_services_own_proxy_is_not_judged() -> None:
    """The operator's proxy may stand in the private network; what is reached through it is judged all the same."""
    async with site() as server, http_proxy() as proxy:
        upstream = f"http://user:p%3Aword@proxy.test:{proxy.port}"
        names = Names(proxy_test=[["127.0.0.1"]], private_test=[["127.0.0.2"]])
        async with Egress(Rule(allow=[server.host]), upstream=upstream, resolve=names) as egress:
            exit_ = await egress.open_exit()
            assert (await ask(exit_, server.get())).endswith(b"hi")
            for target in (f"127.0.0.1:{proxy.port}", "private.test:80", "metadata.google.internal:80"):
                assert b"address_forbidden" in await ask(exit_, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
    assert len(proxy.wires) == 1


async def test_the_proxy_can_be_changed() -> None:
    """A new upstream counts from the next request, on kept connections, too; None returns to the service's own."""
    async with site() as server, http_proxy() as proxy, leaving("127.0.0.1") as exit_, client(exit_) as wire:
        for upstream in (None, f"http://user:p%3Aword@{proxy.host}", None):
            exit_.upstream = upstream
            assert (await wire.ask(server.get())).endswith(b"hi")
    assert len(server.wires) == 3
    assert len(proxy.wires) == 1


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_proxy_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool) -> None:
    """An https proxy is used when its certificate is valid for its name, and not otherwise."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with site() as server, http_proxy(ssl=tls) as proxy:
        upstream = f"https://user:p%3Aword@{proxy.host}"
        async with leaving("127.0.0.1", upstream=upstream) as exit_, client(exit_) as wire:
            answer = await wire.ask(server.connect)
            assert (b" 200 " in answer) == trusted
            if trusted:
                assert (await wire.ask(b"GET / HTTP/1.1\r\n\r\n")).endswith(b"hi")
    assert bool(server.heads) == trusted


@pytest.mark.parametrize(
    ("text", "upstream"),
    [
        ("http://proxy.example", Upstream("http", "proxy.example", 80)),
        ("HTTPS://proxy.example/", Upstream("https", "proxy.example", 443)),
        ("socks5://8.8.8.8", Upstream("socks5", "8.8.8.8", 1080)),
        ("http://[2606:4700::1111]:3128", Upstream("http", "2606:4700::1111", 3128)),
        ("http://u:p@proxy.example:80", Upstream("http", "proxy.example", 80, "u", "p")),
        ("socks5://u%40x:p%2F%3A@proxy.example:80", Upstream("socks5", "proxy.example", 80, "u@x", "p/:")),
        ("http://u:a@b@proxy.example", Upstream("http", "proxy.example", 80, "u", "a@b")),
        ("http://u@proxy.example", Upstream("http", "proxy.example", 80, "u", "")),
    ],
)
def test_reading_a_proxys_address(text: str, upstream: Upstream) -> None:
    """Scheme, host, port and decoded credentials, with the usual ports by default."""
    assert parse_upstream(text) == upstream


@pytest.mark.parametrize(
    "text",
    ["", "proxy:3128", "ftp://proxy", "socks4://proxy", "socks5h://proxy", "http://", "http://:80", "http://u:p@",
     "http://proxy:0", "http://proxy:99999", "http://proxy:x", "http://proxy/path", "http://pro xy", "http://[::1",
     "socks5://" + "u" * 300 + ":p@proxy"],
)  # fmt: skip
def test_what_is_no_proxys_address(text: str) -> None:
    """Anything else is refused."""
    with pytest.raises(InvalidRequest):
        parse_upstream(text)


def test_passwords_do_not_show() -> None:
    """Neither an error nor the representation repeats a password."""
    with pytest.raises(InvalidRequest) as fault:
        parse_upstream("gopher://user:secret@proxy")
    assert "secret" not in f"{fault.value.detail} {fault.value.hint}"
    assert "secret" not in repr(parse_upstream("http://user:secret@proxy"))
