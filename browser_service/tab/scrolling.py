"""Scrolling the page or a box in it."""

import asyncio
from typing import Literal, TypedDict

from playwright.async_api import Locator

from browser_service.tab.tab import Tab
from browser_service.tab.world import Call, script

Direction = Literal["up", "down", "top", "bottom"]
STEP_PX = 500
GROWTH_LIMIT_S = 1.5
_SCROLL = script("scroll.js")
_GROWS = script("grows.js")


class Position(TypedDict):
    """Where the scrolled box stands, in CSS pixels."""

    x: float
    y: float
    max_y: float
    at_end: bool


async def scroll(call: Call, direction: Direction, amount: int | None, timeout_s: float) -> Position:
    """Scroll the page (or what scrolls in its place) and tell where it stands then."""
    position: Position = await call(_SCROLL, direction, amount if amount is not None else STEP_PX, timeout_s=timeout_s)
    return position


async def scroll_box(box: Locator, direction: Direction, amount: int | None, timeout_ms: float) -> Position:
    """The same for one element."""
    function = f"(box, [direction, amount]) => ({_SCROLL})(direction, amount, box)"
    given = [direction, amount if amount is not None else STEP_PX]
    position: Position = await box.evaluate(function, given, timeout=timeout_ms)
    return position


async def scroll_until_still(tab: Tab, deadline: float) -> Position:
    """Go to the end again and again until nothing more loads there, or until `deadline` (loop time)."""
    loop = asyncio.get_running_loop()
    while True:
        left = max(0.1, deadline - loop.time())
        position = await scroll(tab.world, "bottom", None, left)
        patience = min(GROWTH_LIMIT_S, deadline - loop.time())
        if patience <= 0:
            return position
        grew = await tab.world(_GROWS, position["max_y"], patience * 1000, timeout_s=patience + 1)
        if not grew:
            return await scroll(tab.world, "bottom", None, max(0.1, deadline - loop.time()))
