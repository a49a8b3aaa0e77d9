"""From a selector to the one element that is meant, and the reason why an element cannot be acted on."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, FrameLocator, Locator, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.errors import AmbiguousSelector, ElementNotActionable, ElementNotFound, TabwrightError, TimedOut
from browser_service.tab import refs
from browser_service.tab.world import World, gone_with_its_document, script

DIAGNOSE_LIMIT_S = 0.4
GLANCE_LIMIT_S = 2.0
FRAME_SEPARATOR = " >> "
_INSPECT = script("inspect.js")
_GLANCE = f"(selector, intent) => ({script('glance.js')})(selector, intent, {_INSPECT}, {script('ready.js')})"
# Playwright's own engines, pseudo-classes and separators are left to Playwright
_EXTENSIONS = r"has-text|text|visible|nth-match|near|light|left-of|right-of|above|below"
_PLAIN_CSS = re.compile(rf"(?![\w-]+=|/|\.\.|[\"'(])(?!.*(>>|:({_EXTENSIONS})\b))[^\n]+")
_DIAGNOSE = script("diagnose.js")

Intent = Literal["click", "type"]


@dataclass
class Found:
    """An element: how to reach it, what it is, and what the caller should know about the choice.

    `ready`: it can be used at once (ready.js): where to press it, or that the cursor is in it and all of it selected.
    """

    locator: Locator
    kind: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    ready: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)


def scope(page: Page, frame: str | None) -> Page | FrameLocator:
    """Where a selector is looked for: the page, or an iframe in it (nested ones separated by ` >> `)."""
    place: Page | FrameLocator = page
    for part in frame.split(FRAME_SEPARATOR) if frame else ():
        place = place.frame_locator(part).first
    return place


async def frame_of(page: Page, frame: str, timeout_ms: float) -> Frame:
    """The document inside an iframe. Raises ElementNotFound when there is none."""
    if not await page.locator(frame.split(FRAME_SEPARATOR, 1)[0]).count():
        raise _no_frame(frame)
    place = scope(page, frame)
    if isinstance(place, FrameLocator):
        handle = await place.owner.element_handle(timeout=timeout_ms)
        inner = await handle.content_frame()
        if inner is not None:
            return inner
    raise _no_frame(frame)


async def find(
    page: Page,
    world: World,
    selector: str,
    frame: str | None,
    *,
    strict: bool = False,
    wait_ms: float = 0,
    intent: Intent | None = None,
) -> Found:
    """The first visible element that matches, else the first.

    `world` is that of the page. With `wait_ms` the element may take so long to appear. With `intent` it is made ready
    for that where nothing stands in the way, unless the choice is refused. Raises ElementNotFound when
    nothing matches, AmbiguousSelector when `strict` and several do.
    """
    place = scope(page, frame)
    every = place.locator(selector)
    if wait_ms:
        await every.filter(visible=True).first.wait_for(state="visible", timeout=wait_ms)
    seen = await _glance(world, selector, None if strict else intent) if frame is None else None
    if seen is None:
        seen = await _inspect(page, every, frame)
    if not seen["count"]:
        raise await _nothing(page, selector, frame)
    if strict and seen["count"] > 1:
        raise AmbiguousSelector(
            f"{seen['count']} elements match {selector!r}.", hint="Narrow the selector, or leave out strict."
        )
    found = Found(every.first, seen["kind"], seen, seen.get("ready"))
    if seen["visible"] > 0 and seen["first"] > 0:
        found.locator = every.filter(visible=True).first
    if seen["count"] > 1:
        chosen = "the first visible one" if seen["visible"] else "the first one"
        found.warnings.append(
            f"{seen['count']} elements match the selector ({seen['visible']} visible); used {chosen}."
        )
    return found


async def find_ref(page: Page, frames: refs.Frames, ref: str, limit_s: float, intent: Intent | None = None) -> Found:
    """The element that a ref means. Raises StaleRef where it is gone or another one now."""
    locator = refs.locate(page, frames, ref, "!" if intent == "click" else "")
    try:
        with gone_with_its_document():  # evaluate_all would look in the world of the page's scripts
            seen = await locator.evaluate(f"(e) => ({_INSPECT})([e])", timeout=limit_s * 1000)
    except PlaywrightTimeout:
        raise refs.gone("the frame that it was in does not answer.") from None
    return Found(locator, seen["kind"], seen)


async def _glance(world: World, selector: str, intent: Intent | None) -> dict[str, Any] | None:
    """What `_inspect` tells, three times faster and out of reach of the page's scripts.

    For plain CSS on a page without open shadow roots; None for anything else.
    """
    if not _PLAIN_CSS.fullmatch(selector):
        return None
    seen: dict[str, Any] | None = await world(_GLANCE, selector, intent, timeout_s=GLANCE_LIMIT_S)
    return seen


async def _inspect(page: Page, every: Locator, frame: str | None) -> dict[str, Any]:
    if frame:  # evaluate_all gives an empty answer only when the frame is there; a missing one it waits for
        first = page.locator(frame.split(FRAME_SEPARATOR, 1)[0])
        if not await first.count():
            raise _no_frame(frame)
    with gone_with_its_document():
        seen: dict[str, Any] = await every.evaluate_all(_INSPECT)
    return seen


async def _nothing(page: Page, selector: str, frame: str | None) -> ElementNotFound:
    hint = "Wait for it (wait: true), or look at the page with extract or screenshot."
    if not frame and len(page.frames) > 1:
        hint = "It may be inside an iframe: name that one with frame. " + hint
    return ElementNotFound(f"Nothing matches {selector!r}.", hint=hint)


def _no_frame(frame: str) -> ElementNotFound:
    return ElementNotFound(f"No iframe matches {frame!r}.", hint="frame is the selector of the iframe element.")


async def why_not(locator: Locator, selector: str) -> TabwrightError:
    """Why an action on this element did not become possible within its time: covered, hidden, disabled, moving."""
    try:
        async with asyncio.timeout(DIAGNOSE_LIMIT_S):
            seen = await locator.evaluate(_DIAGNOSE, timeout=DIAGNOSE_LIMIT_S * 1000)
    except (TimeoutError, PlaywrightError) as fault:
        ref = refs.stale(fault) if isinstance(fault, PlaywrightError) else None
        return ref or TimedOut(f"Nothing could be done with {selector!r} in time; the page does not answer.")
    about = {"problem": seen["problem"]}
    match seen["problem"]:
        case "covered":
            detail = f"{seen['element']} is covered by {seen['cover']} and did not come free in time."
            hint = "Close or scroll away what covers it first."
        case "hidden":
            detail = f"{seen['element']} is not visible ({seen['why']}) and did not appear in time."
            hint = "Open what contains it first (a menu, a tab, a dialog)."
        case "disabled":
            detail = f"{seen['element']} is disabled and was not enabled in time."
            hint = "Fill in what it needs first."
        case "readonly":
            detail = f"{seen['element']} cannot be edited (read-only)."
            hint = "Choose another field."
        case _:
            detail = f"{seen['element']} did not keep still in time."
            hint = "It is animated or moves: raise timeout_ms."
    return ElementNotActionable(detail, hint=hint, about=about)
