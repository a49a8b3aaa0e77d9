"""Clicking as a person does: scrolled into view, visible, enabled, still, not covered; trusted events.

An element that is all that already is pressed at once. For any other Playwright waits, which compares two frames first.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.errors import TimedOut
from browser_service.tab.faults import is_closed
from browser_service.tab.locate import Found, why_not
from browser_service.tab.world import World, WorldGone

Button = Literal["left", "right", "middle"]
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]

_OUTCOME = "() => { const g = globalThis.guard; g?.end(); globalThis.guard = null; return g ? g.hit : null; }"


async def click(
    found: Found,
    selector: str,
    *,
    world: World,
    button: Button,
    count: int,
    modifiers: Sequence[Modifier],
    timeout_ms: float,
) -> None:
    """Click an element. A checkbox or radio button that is itself invisible is clicked by its label.

    Raises ElementNotActionable, saying why, when it did not become clickable in time.
    """
    if found.ready is not None and await _click_now(
        found, found.ready, world, button=button, count=count, modifiers=modifiers, limit_s=timeout_ms / 1000
    ):
        return
    locator = found.locator
    if found.facts.get("label"):
        found.warnings.append("The control itself is not visible; its label was clicked.")
        locator = found.locator.locator("xpath=ancestor::label[1]")
        if not await locator.count():
            identity = await found.locator.get_attribute("id", timeout=timeout_ms)
            locator = found.locator.page.locator(f'label[for="{identity}"]').first
    try:
        await locator.click(
            button=button,
            click_count=count,
            modifiers=list(modifiers),
            timeout=timeout_ms,
            no_wait_after=True,
        )
    except PlaywrightTimeout:
        raise await why_not(locator, selector) from None
    except PlaywrightError as fault:
        if not is_closed(fault):  # the click closed its own tab: it was done
            raise


async def _click_now(
    found: Found,
    point: dict[str, float],
    world: World,
    *,
    button: Button,
    count: int,
    modifiers: Sequence[Modifier],
    limit_s: float,
) -> bool:
    """Press an element where it was seen a moment ago. False: something else came under the pointer."""
    page = found.locator.page
    try:
        async with asyncio.timeout(limit_s):
            await click_at(page, point["x"], point["y"], button=button, count=count, modifiers=modifiers)
            return await world(_OUTCOME, timeout_s=limit_s, patient=True) is not False
    except TimeoutError:
        raise TimedOut("The page did not answer the click in time.", hint="Raise timeout_ms.") from None
    except WorldGone:  # by the click: it went to another document
        return True
    except PlaywrightError as fault:
        if is_closed(fault):
            return True
        raise


async def click_at(
    page: Page, x: float, y: float, *, button: Button, count: int, modifiers: Sequence[Modifier]
) -> None:
    """Click at a point of the viewport, in CSS pixels."""
    held = [("Control" if each == "ControlOrMeta" else each) for each in modifiers]
    for key in held:
        await page.keyboard.down(key)
    try:
        await page.mouse.click(x, y, button=button, click_count=count)
    finally:
        for key in reversed(held):
            await page.keyboard.up(key)
