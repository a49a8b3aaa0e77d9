"""Waiting for something in a page: an element's state, a text, an address, a condition of the caller's own."""

import asyncio
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.errors import TimedOut
from browser_service.tab import refs
from browser_service.tab.evaluate import evaluate
from browser_service.tab.locate import scope
from browser_service.tab.tab import Tab
from browser_service.tab.world import WorldGone

State = Literal["visible", "attached", "hidden", "detached"]
COUNT_LIMIT_S = 0.4
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 0.25


async def for_selector(page: Page, selector: str, frame: str | None, state: State, timeout_ms: float) -> None:
    """Until an element that matches is in `state`. Raises TimedOut saying how it stands instead."""
    every = scope(page, frame).locator(selector)
    # `hidden` means that none of those that match is to be seen; `detached`, that none is there
    wanted = every.filter(visible=True).first if state in {"visible", "hidden"} else every.first
    goal: State = "detached" if state == "hidden" else state
    try:
        await wanted.wait_for(state=goal, timeout=timeout_ms)
    except PlaywrightTimeout:
        raise TimedOut(
            f"{selector!r} was not {state} within {timeout_ms / 1000:g} s; {await _standing(every)}.",
            hint="Raise timeout_ms, or look at the page with extract or screenshot.",
        ) from None


async def for_ref(tab: Tab, numbers: refs.Numbers, ref: str, state: State, timeout_ms: float) -> None:
    """Until the element of a ref is in `state`; one that is another now is gone. Raises TimedOut, StaleRef."""
    leaving = state in {"hidden", "detached"}
    if leaving and not refs.given(ref, numbers):
        raise refs.gone("it was never given.")
    element = refs.locate(tab.page, tab.frames, ref, "?" if leaving else "")
    try:
        await element.wait_for(state=state, timeout=timeout_ms)
    except PlaywrightTimeout:
        raise TimedOut(f"{ref} was not {state} within {timeout_ms / 1000:g} s.", hint="Raise timeout_ms.") from None


async def _standing(every: Locator) -> str:
    """How many elements match now, in words."""
    try:
        async with asyncio.timeout(COUNT_LIMIT_S):
            count, visible = await every.count(), await every.filter(visible=True).count()
    except (TimeoutError, PlaywrightError):
        return "the page does not answer"
    return f"{count} elements match, {visible} of them visible" if count else "nothing matches"


async def for_text(page: Page, text: str, frame: str | None, timeout_ms: float) -> None:
    """Until the text is visible on the page (letter case and runs of white space do not count)."""
    shown = scope(page, frame).get_by_text(text).filter(visible=True).first
    try:
        await shown.wait_for(state="visible", timeout=timeout_ms)
    except PlaywrightTimeout:
        raise TimedOut(
            f"The text {text!r} did not appear within {timeout_ms / 1000:g} s.",
            hint="Read the page with extract to see what it says instead.",
        ) from None


async def for_url(page: Page, pattern: str, timeout_ms: float) -> None:
    """Until the tab's address contains `pattern`, or matches it where it holds `*`."""
    wanted = pattern if "*" in pattern else lambda url: pattern in url
    try:
        await page.wait_for_url(wanted, timeout=timeout_ms, wait_until="commit")
    except PlaywrightTimeout:
        raise TimedOut(
            f"The address did not become {pattern!r} within {timeout_ms / 1000:g} s; it is {page.url}.",
            hint="A pattern is a part of the address, or a glob such as **/done.",
        ) from None


async def for_condition(tab: Tab, js: str, deadline: float) -> None:
    """Until the caller's JavaScript gives something true. It is asked at growing intervals, across navigations."""
    loop = asyncio.get_running_loop()
    pause = SHORTEST_PAUSE_S
    while True:
        left = deadline - loop.time()
        if left <= 0:
            raise TimedOut("The condition did not become true in time.", hint="Raise timeout_ms, or check the script.")
        try:
            answer = await evaluate(tab.cdp, js, world="main", isolated=tab.world, timeout_s=left)
            if answer.value:
                return
        except WorldGone:
            pause = SHORTEST_PAUSE_S
        await asyncio.sleep(min(pause, left))  # what a script looks at gives no event
        pause = min(pause * 1.5, LONGEST_PAUSE_S)
