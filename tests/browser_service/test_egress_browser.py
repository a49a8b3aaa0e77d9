"""A real browser behind an exit: by no known way does a page reach what the rule forbids."""

import asyncio
import base64
import contextlib
import hashlib
import itertools
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from browser_service.egress import VERDICT_HEADER, Egress, Exit, Visit, canary_reached
from fetch.address import Rule
from tests.browser_service.egress_servers import Handler, Names, Wire, eventually, leaving, serving, silence, site
from tests.browser_service.egress_ways import UNSURE_WAYS, WAYS, Canary, canary_at, ways_site

EXECUTABLES = {"full": "/usr/bin/chromium", "light": "/usr/bin/chromium-headless-shell"}
QUIET = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
GUARDS = [
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@contextlib.asynccontextmanager
async def browser(kind: str, *flags: str, proxy: Exit | None = None) -> AsyncIterator[Browser]:
    """A browser of this kind; popups are let through, as a page in a session could click its way to them."""
    full = ["--ozone-platform=headless", "--disable-gpu"] if kind == "full" else []
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=EXECUTABLES[kind],
            headless=kind == "light",
            args=[*full, *QUIET, "--disable-popup-blocking", *flags],
            proxy=proxy.playwright_proxy if proxy else None,  # type: ignore[arg-type]
            chromium_sandbox=False,
        )
        yield launched
        await launched.close()


@contextlib.asynccontextmanager
async def guarded(kind: str, egress: Egress) -> AsyncIterator[Browser]:
    """A browser that is started as the service starts it."""
    async with browser(kind, *GUARDS, proxy=await egress.open_closed_exit()) as launched:
        yield launched


@contextlib.asynccontextmanager
async def context_of(browser: Browser, exit_: Exit | None, **options: Any) -> AsyncIterator[BrowserContext]:
    """A context behind an exit."""
    proxy = exit_.playwright_proxy if exit_ else None
    context = await browser.new_context(proxy=proxy, **options)  # type: ignore[arg-type]
    yield context
    await context.close()


async def quiet(count: Callable[[], int], pause_s: float = 1.5) -> None:
    """Wait until nothing new has been counted for a while."""
    loop = asyncio.get_running_loop()
    seen, since = count(), loop.time()
    while loop.time() - since < pause_s:
        await asyncio.sleep(0.05)
        if count() != seen:
            seen, since = count(), loop.time()


async def try_all(context: BrowserContext, base: str, query: str) -> Page:
    """Open the page of all ways; it has tried them all when this returns."""
    page = await context.new_page()
    await page.goto(f"{base}/?{query}", wait_until="domcontentloaded")
    tried, failed = await page.evaluate("[window.tried, window.failed]")
    assert tried > 80
    assert not [fault for fault in failed if "insecure URL" not in fault]  # some ways exist for trustworthy hosts alone
    return page


async def test_without_a_guard_the_canary_is_reached() -> None:
    """The control: the same page reaches the canary by nearly all its ways when nothing stands between."""
    async with (
        ways_site() as base,
        canary_at() as canary,
        browser("full") as launched,
        context_of(launched, None) as context,
    ):
        await try_all(context, base, canary.query())
        with contextlib.suppress(AssertionError):
            await eventually(lambda: not missing(canary))
    assert len(missing(canary)) < 5, missing(canary)


def missing(canary: Canary) -> set[str]:
    """The ways that should have led to the canary and did not."""
    return WAYS - UNSURE_WAYS - {hit.partition("/")[0] for hit in canary.hits}


@pytest.mark.parametrize("kind", ["full", "light"])
async def test_no_way_out(kind: str) -> None:
    """Behind an exit the canary is not reached by any of them: not by its address, not by a name that rebinds to it."""
    answers = itertools.cycle([["127.0.0.2"], ["127.0.0.1"], ["127.0.0.2", "127.0.0.1"]])
    async with (
        ways_site() as base,
        canary_at() as canary,
        site(ip="127.0.0.2", port=canary.port) as public,
        Egress(
            Rule(allow=[base.removeprefix("http://"), public.host]),
            resolve=lambda host, port: asyncio.sleep(0, next(answers)),
        ) as egress,
        guarded(kind, egress) as launched,
    ):
        for host in ("127.0.0.1", "rebind.test"):
            refused = await refusals(launched, egress, base, canary.query(host))
            assert len(refused) > 15
            assert len({visit.port for visit in refused}) >= 5  # TLS, WebSocket and TURN among them
    assert public.heads
    assert canary.hits == []


async def refusals(launched: Browser, egress: Egress, base: str, query: str) -> list[Visit]:
    """What an exit refused while a page tried all ways."""
    exit_ = await egress.open_exit()
    async with context_of(launched, exit_) as context:
        await try_all(context, base, query)
        await quiet(lambda: exit_.connections + len(exit_.visits))
    return [visit for visit in exit_.visits if visit.outcome == "address_forbidden"]


@pytest.fixture(scope="module")
async def light() -> AsyncIterator[Browser]:
    """One light browser with all guards, for the tests below; its contexts have exits of their own."""
    async with Egress(Rule()) as egress, guarded("light", egress) as launched:
        yield launched


async def test_a_page_cannot_read_what_its_name_rebinds_to(light: Browser) -> None:
    """The classic attack: a name that first leads to the attacker's server, then to one in the private network."""
    names = Names(rebind_test=[["127.0.0.2"], ["127.0.0.1"]])
    page_of = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: 3\r\n\r\n<p>"
    async with (
        serving(answering(page_of), ip="127.0.0.2") as attacker,
        canary_at(attacker.port) as canary,
        leaving("127.0.0.2", resolve=names) as exit_,
        context_of(light, exit_) as context,
    ):
        page = await context.new_page()
        await page.goto(f"http://rebind.test:{attacker.port}/")
        read = await page.evaluate("fetch('/secret').then(answer => answer.text(), String)")
        assert "secret" not in read
        assert exit_.visits[-1].outcome == "address_forbidden"
    assert canary.hits == []


def answering(answer: bytes) -> Handler:
    """A server that gives one answer and hangs up."""

    async def handle(wire: Wire) -> None:
        await wire.head()
        await wire.send(answer)

    return handle


async def test_the_record_tells_a_refusal_from_an_answer(light: Browser) -> None:
    """A redirect to a forbidden address is refused; the record names the address, and when it was."""
    async with (
        serving(
            answering(b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")
        ) as server,
        leaving(server.host) as exit_,
        context_of(light, exit_) as context,
    ):
        since = time.monotonic()
        answer = await (await context.new_page()).goto(f"http://{server.host}/")
        assert answer is not None
        assert answer.headers[VERDICT_HEADER.lower()] == "address_forbidden"
        assert [visit.host for visit in exit_.forbidden_since(since)] == ["169.254.169.254"]
        assert exit_.last_failure("169.254.169.254", 80, since) is not None


@pytest.mark.parametrize(
    ("answer", "whole"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", True),
        (b"HTTP/1.0 200 OK\r\n\r\nabc", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc", False),
    ],
)
async def test_a_browser_sees_cut_bodies_as_cut(light: Browser, answer: bytes, whole: bool) -> None:
    """Through an exit a body that ends too early fails to load, as it does without one."""
    answer = answer.replace(b"\r\n", b"\r\nAccess-Control-Allow-Origin: *\r\n", 1)
    async with (
        serving(answering(answer)) as server,
        leaving(server.host) as exit_,
        context_of(light, exit_) as context,
    ):
        page = await context.new_page()
        read = await page.evaluate("url => fetch(url).then(answer => answer.text(), String).catch(String)", server.url)
        assert (read == "abc") == whole, read


async def test_a_websocket_through_an_exit(light: Browser) -> None:
    """A page's WebSocket passes: the browser tunnels it."""

    async def shake_hands(wire: Wire) -> None:
        key = (await wire.head()).split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        await wire.send(switch + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n\x81\x05hello")
        await wire.rest()

    async with serving(shake_hands) as server, leaving(server.host) as exit_, context_of(light, exit_) as context:
        page = await context.new_page()
        script = "url => new Promise(done => new WebSocket(url).onmessage = event => done(event.data))"
        assert await page.evaluate(script, server.url.replace("http", "ws")) == "hello"


async def test_loopback_goes_through_the_exit(light: Browser) -> None:
    """Requests to this machine do not go past a context's proxy, with and without the bypass rule written out."""
    async with serving(silence) as canary, leaving() as exit_:
        for proxy in ({"server": exit_.server}, exit_.playwright_proxy):
            context = await light.new_context(proxy=proxy)  # type: ignore[arg-type]
            for host in ("127.0.0.1", "localhost"):
                await (await context.new_page()).goto(f"http://{host}:{canary.port}/")
            await context.close()
        assert [visit.outcome for visit in exit_.visits] == ["address_forbidden"] * 4
    assert not canary.wires


async def test_the_bypass_rule_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Playwright is told not to add the rule, only `playwright_proxy` keeps this machine behind the exit."""
    monkeypatch.setenv("PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK", "1")
    async with site() as server, leaving() as exit_, browser("light", *GUARDS, proxy=exit_) as launched:
        status = {}
        for name, proxy in (("bare", {"server": exit_.server}), ("ours", exit_.playwright_proxy)):
            context = await launched.new_context(proxy=proxy)  # type: ignore[arg-type]
            answer = await (await context.new_page()).goto(server.url)
            status[name] = answer.status if answer else None
            await context.close()
    assert status == {"bare": 200, "ours": 403}


async def test_the_self_test_passes_behind_an_exit(light: Browser) -> None:
    """The service's own canary is not reached behind an exit, even where the rule allows all of this machine."""
    async with leaving("127.0.0.0/8", "localhost") as exit_, context_of(light, exit_) as context:
        assert not await canary_reached(context, exit_.egress)
        assert {visit.outcome for visit in exit_.visits} == {"address_forbidden"}


async def test_the_self_test_fails_without_a_proxy() -> None:
    """It is reached by a context whose traffic does not pass the exit."""
    async with Egress(Rule()) as egress, browser("light", *GUARDS) as launched, context_of(launched, None) as context:
        assert await canary_reached(context, egress)


async def test_the_self_test_fails_when_datagrams_get_out() -> None:
    """It is reached when only the flags against WebRTC's own packets are missing."""
    async with leaving() as exit_, browser("light", proxy=exit_) as launched, context_of(launched, exit_) as context:
        assert await canary_reached(context, exit_.egress)
        assert [visit.outcome for visit in exit_.visits][:1] == ["address_forbidden"]
