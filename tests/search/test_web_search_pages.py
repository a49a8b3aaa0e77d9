"""The pages of a search: read at once, replaced, shared out; and an end of all when the time is over."""

import asyncio
import time
from typing import Any

import pytest

from fetch.errors import TimedOut
from tests.browser_service.egress_servers import eventually
from tests.fetch.http_server import Behaviour, Raw, answer, redirect
from tests.search.small_web import ENGINES, HOLD, after, five_pages, listing, page, row, small_web

RESET = Raw(b"", "reset")
DEAD = answer("gone", status="404 Not Found")


async def test_pages_are_read_at_once() -> None:
    """Four engines and five pages take the slowest engine and the slowest page, not the sum of all."""
    slow = {f"/{name}": after(0.4, listing(f"{name}.here/{name}-1")) for name in ENGINES}
    routes = five_pages(after(0.4, page())) | slow
    routes["/bing"] = after(0.4, listing("bing.here/bing-1", "more.here/more-1"))
    async with small_web(routes) as web:
        found = await web.search(fetch_top=5)
        assert web.site.most == 5
    assert len(found.pages) == 5
    assert 0.8 <= found.elapsed_s < 2.4  # 3.6 s one after the other, 2.4 s with engines or pages in a row


async def test_links_are_checked_while_pages_are_read() -> None:
    """The check does not wait for the reading, nor the reading for the check."""
    routes: dict[str, Behaviour] = {"/bing": listing("a.here/1", "b.here/2"), "/1": HOLD, "/2": HOLD}
    async with small_web(routes) as web:
        task = asyncio.create_task(web.search(("bing",), fetch_top=1))
        await eventually(lambda: bool(web.site.turns("/1") and web.site.turns("/2")))
        task.cancel()
        await asyncio.wait([task])


async def test_a_page_that_fails_is_replaced() -> None:
    """By the next best, until there are as many as were wanted."""
    routes: dict[str, Behaviour] = {
        "/bing": listing("a.here/1", "b.here/2", "c.nowhere/3", "d.here/4", "e.here/5", "f.here/6"),
        "/1": DEAD,
        "/2": RESET,
        "/4": page("Four"),
        "/5": page("Five"),
        "/6": page("Six"),
    }
    async with small_web(routes) as web:
        found = await web.search(("bing",), fetch_top=2)
    assert [each.content for each in found.pages] == ["Four", "Five"]
    assert found.warnings == ()


async def test_too_few_pages_are_told() -> None:
    """When none is left to take the place of one that fails."""
    routes: dict[str, Behaviour] = {"/bing": listing("a.here/1", "b.here/2"), "/1": DEAD, "/2": page()}
    async with small_web(routes) as web:
        found = await web.search(("bing",), fetch_top=2)
    assert len(found.pages) == 1
    assert found.warnings == ("1 pages could be read, of 2 that were wanted.",)


async def test_pages_that_have_nothing_to_do_with_it_are_not_read() -> None:
    """Relevance goes before place in the list; without any there is no reading."""
    routes: dict[str, Behaviour] = {
        "/bing": listing(row("a.here/1", "Lamps"), row("b.here/2", "Boats"), row("c.here/3", "Harbour boats")),
        "/1": page("One"),
        "/2": page("Two"),
        "/3": page("Three"),
    }
    async with small_web(routes) as web:
        found = await web.search(("bing",), fetch_top=3)
    assert [each.content for each in found.pages] == ["Three", "Two"]


async def test_the_budget_is_shared_out() -> None:
    """Short pages are whole, what they leave goes to the long ones; together they have no more than was asked for."""
    routes: dict[str, Behaviour] = {
        "/bing": listing("a.here/1", "b.here/2", "c.here/3"),
        "/1": page("short"),
        "/2": page("word " * 500),
        "/3": page("term " * 500),
    }
    async with small_web(routes) as web:
        one, two, three = (await web.search(("bing",), fetch_top=3, max_chars=1005)).pages
    assert (one.content, one.truncated) == ("short", False)
    assert [(each.content_length, each.truncated) for each in (two, three)] == [(2500, True)] * 2
    assert all(490 <= len(each.content) <= 500 for each in (two, three))


async def test_short_snippets_are_replaced() -> None:
    """Of the first three that answer, by the beginning of the page; others stay, pages are not given for it."""
    short = [row(f"{host}.here/{host}", snippet="Boats.") for host in "abcde"]
    routes: dict[str, Behaviour] = {"/bing": listing(*short), "/b": answer("", status="403 Forbidden")}
    routes |= {f"/{host}": page(f"Page {host} tells of boats. " * 20) for host in "acde"}
    async with small_web(routes) as web:
        found = await web.search(("bing",), enhance=True)
    assert [each.enhanced for each in found.results] == [True, False, True, False, False]
    assert found.results[0].snippet.startswith("Page a tells of boats. Page a")
    assert 150 < len(found.results[0].snippet) <= 200
    assert [each.snippet for each in found.results if not each.enhanced] == ["Boats."] * 3
    assert found.pages == ()


async def test_snippets_stay_when_pages_say_no_more() -> None:
    """Nor when nobody wants them replaced."""
    routes: dict[str, Behaviour] = {"/bing": listing(row("a.here/1", snippet="Boats of all kinds.")), "/1": page("Hm.")}
    async with small_web(routes) as web:
        (result,) = (await web.search(("bing",), enhance=True)).results
        assert (result.snippet, result.enhanced) == ("Boats of all kinds.", False)
        await web.search(("bing",), enhance=False)
        assert len(web.site.turns("/1")) == 3  # checked and read, then only checked


# The end


async def test_the_deadline_ends_everything_with_what_is_there() -> None:
    """A hanging engine, page and link do not matter to the others; nothing is left running."""
    routes: dict[str, Behaviour] = {
        "/bing": HOLD,
        "/baidu": listing("a.here/1", "b.here/2", row("c.here/3", "Boats"), row("d.here/4", "Lamps")),
        "/1": page("Read"),
        "/2": HOLD,
        "/3": HOLD,
        "/4": HOLD,
    }
    async with small_web(routes) as web:
        before, began = asyncio.all_tasks(), time.monotonic()
        found = await web.search(("bing", "baidu"), fetch_top=3, enhance=True, deadline_s=3)
        assert time.monotonic() - began < 5
        await web.is_quiet(before)
    assert web.told(found) == {"bing": "timeout", "baidu": "ok"}
    assert web.paths(found) == ["a.here/1", "b.here/2", "c.here/3", "d.here/4"]
    assert [each.content for each in found.pages] == ["Read"]
    assert [each.reachable for each in found.results] == [True, None, None, None]


async def test_a_deadline_in_which_no_engine_answers() -> None:
    """It is an error of time that names them, and not the caller's mistake."""
    async with small_web({"/bing": HOLD, "/baidu": HOLD}) as web:
        before = asyncio.all_tasks()
        with pytest.raises(TimedOut, match=r"bing did not answer .* baidu did not answer"):
            await web.search(("bing", "baidu"), deadline_s=0.6)
        await web.is_quiet(before)


@pytest.mark.parametrize(
    ("stage", "given"),
    [
        ("/bing", {}),
        ("/link?1", {}),
        ("/checked", {}),
        ("/read", {"fetch_top": 1}),
        ("/snippet", {"enhance": True}),
    ],
)
async def test_a_search_can_be_given_up_at_every_stage(stage: str, given: dict[str, Any]) -> None:
    """While engines are asked, redirects resolved, links checked, pages read: no task and no request is left."""
    routes: dict[str, Behaviour] = {
        "/bing": listing(
            "a.here/read",
            row("b.here/snippet", "Boats", "-"),
            row("c.here/checked", "Lamps"),
            row("127.0.0.1/link?1", opaque=True),
        ),
        "/read": page(),
        "/snippet": page(),
        "/checked": page(),
        "/link?1": redirect("http://d.nowhere/"),
    }
    async with small_web(routes | {stage: HOLD}) as web:
        before = asyncio.all_tasks()
        task = asyncio.create_task(web.search(("bing",), **given))
        await eventually(lambda: bool(web.site.turns(stage)))
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        await web.is_quiet(before)
