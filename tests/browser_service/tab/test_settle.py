"""When a page is ready to be read, and when what an input began has arrived; on both browsers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Error as PlaywrightError

from browser_service.tab.events import loop_time
from browser_service.tab.network import is_noise
from browser_service.tab.settle import Settled
from tests.browser_service.tab.pages_settle import BODY, KINDS, built, fetched
from tests.browser_service.tab.settle_browser import Chromium, Watched, launched, watched
from tests.browser_service.tab.settle_server import Server, serving

PLACES = 6  # pages at once: most of them wait


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Server]:
    """The pages' server."""
    async with serving() as server:
        yield server


@pytest.fixture(scope="module", params=["light", "full"])
async def chromium(request: pytest.FixtureRequest) -> AsyncIterator[Chromium]:
    """Each browser in turn."""
    async with launched(request.param) as chromium:
        yield chromium


@pytest.fixture
async def tab(chromium: Chromium) -> AsyncIterator[Watched]:
    """A new page with a watch."""
    async with watched(chromium) as tab:
        yield tab


@pytest.fixture(scope="module")
async def outcomes(chromium: Chromium, server: Server) -> dict[str, tuple[Settled, float, str]]:
    """How each page of the set settled, after how many seconds, and its text then."""
    places = asyncio.Semaphore(PLACES)

    async def visit(name: str) -> tuple[Settled, float, str]:
        async with places, watched(chromium) as tab:
            began = loop_time()
            settled = await tab.open(server.address(name))
            seconds = loop_time() - began
            if name == "loop":
                await tab.cdp.send("Runtime.terminateExecution")
            return settled, seconds, await tab.text()

    names = sorted(KINDS, key=lambda name: -KINDS[name].within)
    return dict(zip(names, await asyncio.gather(*map(visit, names)), strict=True))


@pytest.mark.parametrize("name", KINDS)
async def test_a_settled_page_is_complete(outcomes: dict[str, tuple[Settled, float, str]], name: str) -> None:
    """When a page has settled, its text is there, in whatever way it came."""
    settled, _, text = outcomes[name]
    assert "TOKEN" in text, settled


@pytest.mark.parametrize("name", KINDS)
async def test_settling_ends_in_time(outcomes: dict[str, tuple[Settled, float, str]], name: str) -> None:
    """What never ends is not waited for beyond its limit, and the result says whether something was."""
    settled, seconds, _ = outcomes[name]
    assert seconds < KINDS[name].within * 2 + 3
    assert settled.how == KINDS[name].ends, settled
    assert settled.partial == (settled.how == "timeout")
    assert bool(settled.waited_for) == (settled.how != "quiet")


async def test_a_page_without_scripts_settles_with_its_load_event(tab: Watched, server: Server) -> None:
    """A document that nothing can change is not waited for after it has loaded."""
    await tab.open(server.address("static"))
    began = loop_time()
    assert (await tab.watch.settle(began + 10)).how == "quiet"
    assert loop_time() - began < 1  # generous: it takes some 30 ms on an idle machine


async def test_the_deadline_ends_settling(tab: Watched, server: Server) -> None:
    """The call's own limit goes before all others."""
    began = loop_time()
    settled = await tab.open(server.address("request"), limit_s=1.0)
    hanging = f"{server.base}/hang"
    assert settled == Settled("timeout", waited_for=f"an answer from {hanging}", pending=(hanging,))
    assert loop_time() - began < 2.0


async def test_documents_that_lead_on_for_ever_are_given_up(tab: Watched, server: Server) -> None:
    """Pages that refresh to the next one without end are followed as far as redirects are."""
    began = loop_time()
    assert (await tab.open(f"{server.base}/onward", limit_s=20)).how != "quiet"
    assert loop_time() - began < 10


async def test_timers_are_counted_without_a_trace(chromium: Chromium, server: Server) -> None:
    """In the full browser a page finds nothing that differs from an unwatched one."""
    probe = server.page(
        "<script>debugger;const names=[setTimeout,setInterval,clearTimeout,IntersectionObserver.prototype.observe];"
        "const ids=[setTimeout(()=>{}),setTimeout('0',5),setInterval(()=>{},9000)];let stack;"
        "setTimeout(()=>stack=Error('x').stack.split('\\n').length);"
        "onload=()=>setTimeout(()=>document.title=JSON.stringify([names.map(f=>[String(f),Object.getOwnPropertyNames(f)]),"
        "Object.getOwnPropertyNames(window),Object.getOwnPropertyNames(document),ids,stack,requestAnimationFrame(()=>{})]),50)"
        "</script>"
    )
    if chromium.light:
        pytest.skip("the light browser's pages may notice")
    plain = await chromium.browser.new_page()
    await plain.goto(probe)
    await plain.wait_for_function("document.title.startsWith('[')", polling=50)
    async with watched(chromium) as tab:
        await tab.open(probe)
        assert await tab.page.title() == await plain.title()
    await plain.context.close()


_MODULE = "new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,10,4,1,2,0,11]))"


@pytest.mark.parametrize("script", ["for(i=0;i<1500;i++)setTimeout(()=>{},1)", _MODULE], ids=["timers", "wasm"])
async def test_what_counting_would_slow_down_is_left_alone(tab: Watched, server: Server, script: str) -> None:
    """Timers by the thousand, or WebAssembly, end the counting; the next navigation begins it again."""
    await tab.open(server.page(built(script, BODY)))
    await tab.open(server.address("timer_under_prose"))
    assert "TOKEN" in await tab.text()


async def test_an_adopted_page_is_caught_up_with(chromium: Chromium, server: Server) -> None:
    """A tab whose beginning nobody watched is waited for all the same."""
    async with watched(chromium) as opener:
        await opener.open(server.address("static"))
        async with opener.page.expect_popup() as popup:
            await opener.page.evaluate("address => void open(address)", server.address("drip"))
        async with watched(chromium, await popup.value) as tab:
            await tab.watch.settle(loop_time() + 10)
            assert "TOKEN" in await tab.text()


@pytest.mark.parametrize("end", ["close", "crash"])
async def test_the_end_of_the_page_ends_settling(tab: Watched, server: Server, end: str) -> None:
    """A page that is closed or crashes is not waited for."""
    began = loop_time()
    settling = asyncio.ensure_future(tab.open(server.address("late")))
    await tab.page.wait_for_url("**/page/late", wait_until="load")
    ending = asyncio.ensure_future(tab.page.close() if end == "close" else tab.cdp.send("Page.crash"))
    ending.add_done_callback(lambda done: done.cancelled() or done.exception())
    with pytest.raises(PlaywrightError, match="Target"):
        await settling
    assert loop_time() - began < 4


# What is known of the navigation


async def test_redirects_are_told(tab: Watched, server: Server) -> None:
    """Every address on the way is listed with its status, those that scripts led on from included."""
    await tab.open(server.page(built("location='/302'")))
    seen = tab.watch.navigation
    assert [status for _, status in seen.redirects] == [200, 302]
    assert (seen.url, seen.status, seen.committed) == (f"{server.base}/text?there", 200, True)
    assert seen.content_type == "text/html; charset=utf-8"


@pytest.mark.parametrize(("path", "status"), [("/204", 204), ("/file", 200), ("/503", 503)])
async def test_an_answer_without_a_document_is_known(tab: Watched, server: Server, path: str, status: int) -> None:
    """Where Chromium only says that the navigation failed, the real status is known."""
    await tab.watch.begin()
    with contextlib.suppress(PlaywrightError):
        await tab.page.goto(server.base + path, wait_until="commit")
    await tab.watch.wait_navigation(loop_time() + 5)
    assert tab.watch.navigation.status == status
    assert not tab.watch.navigating


async def test_the_declared_size_of_a_download_is_known(tab: Watched, server: Server) -> None:
    """An attachment's length is kept under its address."""
    await tab.watch.begin()
    with pytest.raises(PlaywrightError, match="Download is starting"):
        await tab.page.goto(f"{server.base}/file")
    assert tab.watch.declared_size(f"{server.base}/file") == 5000


async def test_an_error_page_is_no_document_to_wait_for(tab: Watched, server: Server) -> None:
    """A refused connection is told by its error, and settling does not wait for Chromium's own page."""
    await tab.open(server.page("<a id=x href='http://127.0.0.1:9/'>x</a>"))
    effect = await tab.click()
    assert effect.navigated
    assert (tab.watch.navigation.error or "").startswith("net::ERR_")


async def test_failed_resources_are_listed(tab: Watched, server: Server) -> None:
    """What a page could not load is known with its reason, until the next navigation."""
    await tab.open(server.page("<img src='http://127.0.0.1:9/a.png'>"))
    assert [url for url, _ in tab.watch.failed] == ["http://127.0.0.1:9/a.png"]
    assert tab.watch.failures == 1
    await tab.open(server.address("static"))
    assert tab.watch.failed == []


# What an input began


async def test_an_input_without_effect_costs_nothing(tab: Watched, server: Server) -> None:
    """When nothing began, that is known after two round trips."""
    await tab.open(server.page("<button id=x>x</button>"))
    began = loop_time()
    effect = await tab.click()
    assert (effect.navigated, effect.moved, effect.windows) == (False, False, 0)
    assert loop_time() - began < 1.5


NAVIGATIONS = {
    "link": "<a id=x href='/data?ms=200&text=a'>x</a>",
    "form": "<form action=/data><button id=x>x</button></form>",
    "script": "<button id=x onclick=\"location='/text?a'\">x</button>",
    "promise": "<button id=x onclick=\"Promise.resolve().then(()=>location='/text?a')\">x</button>",
    "task": "<button id=x onclick=\"setTimeout(()=>location='/text?a')\">x</button>",
    "timer": "<button id=x onclick=\"setTimeout(()=>location='/text?a',40)\">x</button>",
    "request": f"<button id=x onclick=\"{fetched(100)}.then(()=>location='/text?a')\">x</button>",
    "history": "<button id=x onclick='history.back()'>x</button>",
    "reload": "<button id=x onclick='location.reload()'>x</button>",
}


@pytest.mark.parametrize("way", NAVIGATIONS)
async def test_a_navigation_is_followed(tab: Watched, server: Server, way: str) -> None:
    """However an input leads to another page, that page has settled when the input's effect is told."""
    await tab.open(server.address("static"))
    await tab.open(server.page(NAVIGATIONS[way]))
    effect = await tab.click()
    assert (effect.navigated, effect.committed) == (True, True)
    assert effect.settled is not None
    assert effect.settled.how == "quiet"


@pytest.mark.parametrize("path", ["/204", "/file"])
async def test_a_navigation_without_a_document_ends(tab: Watched, server: Server, path: str) -> None:
    """A link to a download, or to an answer without content, leaves the page and is not waited for."""
    await tab.open(server.page(f"<a id=x href={path}>x</a>"))
    effect = await tab.click()
    assert not effect.committed
    assert not tab.watch.navigating
    assert tab.watch.navigation.url == server.base + path


@pytest.mark.parametrize(
    "html", ["<a id=x href=#there>x</a>", "<p id=x onclick=\"history.pushState(0,'','/there')\">x"]
)
async def test_a_move_within_the_document_is_no_navigation(tab: Watched, server: Server, html: str) -> None:
    """Another fragment, or an address that a script sets, is told as what it is."""
    await tab.open(server.page(html))
    effect = await tab.click()
    assert (effect.moved, effect.navigated) == (True, False)


async def test_a_new_window_is_counted(tab: Watched, server: Server) -> None:
    """Windows that the input opened are known at once."""
    await tab.open(server.page("<button id=x onclick=\"window.open('/text?a')\">x</button>"))
    assert (await tab.click()).windows == 1


async def test_the_answer_to_a_click_is_waited_for(tab: Watched, server: Server) -> None:
    """What a click fetches and shows is there when its effect is told."""
    await tab.open(server.page(f'<p id=root></p><p id=x onclick="{fetched(300)}.then(t=>root.innerHTML=t)">x'))
    effect = await tab.click()
    assert effect.changed
    assert "TOKEN" in await tab.text()


async def test_a_request_that_hangs_is_given_up(tab: Watched, server: Server) -> None:
    """What a click asks for is waited for a second at most."""
    await tab.open(server.page("<p id=x onclick=\"fetch('/hang')\">x"))
    effect = await tab.click()
    assert effect.settled is not None
    assert effect.settled.how == "ceiling"


# What is no content


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", "https://www.google-analytics.com/g/collect?v=2"),
        ("GET", "https://hm.baidu.com/hm.js?a"),
        ("POST", "https://shop.example/api/events"),
        ("GET", "https://stats.shop.example/pixel.gif"),
    ],
)
def test_measuring_the_visitor_is_noise(method: str, url: str) -> None:
    """Requests that bring no text are not waited for."""
    assert is_noise(method, url)


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", "https://city.example/api/events?month=5"),
        ("GET", "https://build.example/logs"),
        ("GET", "https://league.example/stats"),
        ("POST", "https://shop.example/graphql"),
        ("GET", "https://music.example/track/17"),
        ("GET", "https://collections.example/list"),
    ],
)
def test_content_with_an_ambiguous_name_is_not_noise(method: str, url: str) -> None:
    """What a reader may have come for is waited for, however it is called."""
    assert not is_noise(method, url)
