"""Pictures of a page, an element or a part, by DevTools' own capture: about twice as fast as Playwright's screenshot.

With a clip, Chromium emulates another screen for the moment of the capture, as the DevTools session that asks knows it,
and afterwards goes back to what that session had set. So where Playwright emulates a screen in a session of its own,
the same is set in ours beforehand; the page would lose its pixel ratio otherwise.
"""

import asyncio
import base64
import contextlib
import io
import logging
from dataclasses import dataclass
from typing import Any

from PIL import Image
from playwright.async_api import CDPSession, Locator, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.errors import ElementNotActionable, ElementNotFound, InvalidRequest, TabwrightError, TimedOut
from browser_service.tab.faults import page_crashed
from browser_service.tab.picture import Box, Format, Plan, Shot, plan, size_of
from browser_service.tab.world import World, WorldGone, is_gone, script

__all__ = ["Picture", "Shot", "Tile", "capture"]

_log = logging.getLogger(__name__)

RESTORE_LIMIT_S = 0.5
QUALITY = 80
_CAMERA = script("capture.js")
_SHOW = script("show.js")
_MIME_TYPES: dict[Format, str] = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}
_GONE_FOR_GOOD = ("has been closed", "Target closed", "Connection closed", "Session closed", "crashed")


@dataclass(frozen=True)
class Tile:
    """One of several pictures that make up a tall page, from the top down."""

    data: bytes
    width: int
    height: int


@dataclass(frozen=True)
class Picture:
    """A picture, its size in pixels, and what is to be said about it. Of `tiles`, `data` is the first."""

    data: bytes
    mime_type: str
    width: int
    height: int
    warnings: list[str]
    tiles: tuple[Tile, ...] = ()


async def capture(page: Page, cdp: CDPSession, world: World, shot: Shot, *, deadline: float) -> Picture:
    """Take a picture; `deadline` is a time of the event loop's clock. The page is afterwards as it was before.

    Waits, 3 s each at most, for web fonts and for the pictures in view; a full page is scrolled through first. Raises
    ElementNotFound and ElementNotActionable for an element that is gone, hidden or without size, InvalidRequest for a
    selector in `hide` or a clip outside of the page, ContentTooLarge over 120 megapixels, PageCrashed, TimedOut, and
    WorldGone when the document is replaced meanwhile.
    """
    camera = _Camera(page, cdp, world, shot, deadline)
    try:
        async with asyncio.timeout_at(deadline):
            return await camera.take()
    except TimeoutError:
        raise camera.timed_out() from None
    except PlaywrightError as fault:
        if is_gone(fault):
            raise WorldGone(str(fault)) from fault
        if "crashed" in fault.message:
            raise page_crashed() from fault
        raise
    finally:
        await asyncio.shield(camera.put_back())


class _Camera:
    """One picture being taken."""

    def __init__(self, page: Page, cdp: CDPSession, world: World, shot: Shot, deadline: float) -> None:
        self._page = page
        self._cdp = cdp
        self._world = world
        self._shot = shot
        self._deadline = deadline
        self._touched = False
        self._transparent = False
        self._drawn = True

    async def take(self) -> Picture:
        shot = self._shot
        area = await self._show(shot.element) if shot.element is not None else shot.clip and Box(*shot.clip)
        seen = await self._prepare(area)
        box = await self._box(seen, area)
        made = plan(box, seen["ratio"], shot)
        warnings = [*_hung(seen["hung"]), *made.warnings]
        await self._emulate(seen)
        if shot.omit_background and made.format != "jpeg":
            self._transparent = True
            await self._background(color={"r": 0, "g": 0, "b": 0, "a": 0})
        tiles = [await self._expose(part, made, seen) for part in made.parts]
        first = tiles[0]
        return Picture(
            first.data,
            _MIME_TYPES[made.format],
            first.width,
            sum(each.height for each in tiles),
            warnings,
            tuple(tiles) if len(tiles) > 1 else (),
        )

    def timed_out(self) -> TimedOut:
        """Why there is no picture. Chromium draws nothing while a script or style sheet in the head is awaited."""
        if self._drawn:
            return TimedOut("The picture was not finished in time.", hint="Raise timeout_ms.")
        return TimedOut(
            "The page has drawn nothing yet, so there is no picture of it.",
            hint="Something in its head does not arrive, such as a script or a style sheet: wait, or block that.",
        )

    async def put_back(self) -> None:
        """Undo everything, within a limit of its own; a page that is gone needs nothing."""
        try:
            async with asyncio.timeout(RESTORE_LIMIT_S):
                if self._transparent:
                    await self._background()
                if self._touched:
                    await self._ask({"step": "restore"}, limit_s=RESTORE_LIMIT_S)
        except (TimeoutError, PlaywrightError, WorldGone, TabwrightError) as fault:
            _log.debug("the page could not be put back after a picture: %s", fault)

    async def _ask(self, what: dict[str, Any], limit_s: float | None = None) -> Any:
        left = limit_s or max(0.001, self._deadline - asyncio.get_running_loop().time())
        return await self._world(_CAMERA, what, timeout_s=left, patient=True)

    async def _show(self, element: Locator) -> Box:
        """Scroll the element into view, and give its box in the viewport."""
        self._touched = True
        await self._ask({"step": "remember"})
        try:
            found = await element.evaluate(_SHOW, timeout=self._left_ms())
        except PlaywrightTimeout:
            raise ElementNotFound("The element went away before its picture could be taken.") from None
        if found is None:
            return await self._where(element)
        return _visible(None if found.pop("hidden") else Box(**found))

    async def _where(self, element: Locator) -> Box:
        found = await element.bounding_box(timeout=self._left_ms())
        return _visible(found and Box(**found))

    async def _prepare(self, area: Box | None) -> dict[str, Any]:
        shot = self._shot
        self._touched = True
        wanted = {
            "step": "prepare",
            "still": shot.animations == "off",
            "hide": list(shot.hide),
            "style": shot.style or "",
            "full": shot.full_page and area is None,
            "area": area and vars(area),
            "inView": shot.element is not None,
        }
        seen: dict[str, Any] = await self._ask(wanted)
        if "unparsable" in seen:
            raise InvalidRequest(
                f"hide holds a selector that does not parse: {seen['unparsable']!r}.", hint="Give CSS selectors."
            )
        self._drawn = seen["drawn"]
        if shot.hide_scrollbars and seen["scrollbars"]:
            await _without_scrollbars(self._cdp)
            seen |= await self._ask({"step": "relayout"}) | {"moved": True}
        elif self._option("isMobile"):  # these lie over the page, and show for a while after it was scrolled
            await self._cdp.send("Emulation.setScrollbarsHidden", {"hidden": True})
        return seen

    async def _box(self, seen: dict[str, Any], area: Box | None) -> Box:
        """What the picture shows, in the page's coordinates."""
        view = Box(seen["x"], seen["y"], **seen["view"])
        page = Box(0, 0, max(seen["width"], view.width), max(seen["height"], view.height))
        if self._shot.element is not None and area is not None:
            now = await self._where(self._shot.element) if seen["moved"] else area
            return now.moved(seen["x"], seen["y"]).whole().cut_to(page)
        if area is not None:
            return area.whole().cut_to(page)
        return page if self._shot.full_page else view

    async def _emulate(self, seen: dict[str, Any]) -> None:
        """Give our DevTools session the screen that Playwright emulates in its own; a repetition changes nothing."""
        size = self._page.viewport_size
        if size is None:
            return
        mobile = self._option("isMobile")
        wide = not mobile or seen["screen"]["width"] > seen["screen"]["height"]
        await self._cdp.send(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": size["width"],
                "height": size["height"],
                "deviceScaleFactor": seen["ratio"],
                "mobile": mobile,
                "screenWidth": seen["screen"]["width"],
                "screenHeight": seen["screen"]["height"],
                "screenOrientation": {
                    "angle": 90 if mobile and wide else 0,
                    "type": "landscapePrimary" if wide else "portraitPrimary",
                },
            },
        )

    async def _background(self, **color: dict[str, int]) -> None:
        await self._cdp.send("Emulation.setDefaultBackgroundColorOverride", dict(color))

    def _option(self, name: str) -> bool:
        """What the context was made with; Playwright tells nobody."""
        return bool(self._page.context._impl_obj._options.get(name, False))  # noqa: SLF001

    async def _expose(self, box: Box, made: Plan, seen: dict[str, Any]) -> Tile:
        view = Box(seen["x"], seen["y"], **seen["view"])
        beyond = not box.within(view)
        options: dict[str, Any] = {"format": made.format}
        if made.format == "png":
            options["optimizeForSpeed"] = not self._shot.optimize
        else:
            options["quality"] = self._shot.quality or QUALITY
        if box != view or made.scale != 1:
            zoom = seen["zoom"] if box == view else 1
            options["clip"] = {**vars(box), "scale": made.scale * zoom}
        if beyond:
            options["captureBeyondViewport"] = True
        data = await self._ask_devtools(options)
        if beyond and self._option("hasTouch"):  # Chromium forgets it then
            await self._cdp.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        size = size_of(data)
        if size is None:
            data = await self._ask_playwright(box, made, view)
            size = size_of(data) or (0, 0)
        return Tile(data, *size)

    async def _ask_devtools(self, options: dict[str, Any]) -> bytes:
        """The picture; empty where Chromium refuses to take it."""
        try:
            answer = await self._cdp.send("Page.captureScreenshot", options)
        except PlaywrightError as fault:
            if is_gone(fault) or any(sign in fault.message for sign in _GONE_FOR_GOOD):
                raise
            _log.info("DevTools takes no picture, so Playwright is asked: %s", fault)
            return b""
        return base64.b64decode(answer["data"])

    async def _ask_playwright(self, box: Box, made: Plan, view: Box) -> bytes:
        beyond = not box.within(view)
        clip = box if beyond else box.moved(-view.x, -view.y)
        data = await self._page.screenshot(
            type=made.format,
            quality=None if made.format == "png" else self._shot.quality or QUALITY,
            full_page=beyond,
            clip={"x": clip.x, "y": clip.y, "width": clip.width, "height": clip.height},
            omit_background=self._shot.omit_background,
            caret="initial",
            timeout=self._left_ms(),
        )
        if made.scale == 1:
            return data
        return await asyncio.to_thread(_smaller, data, made, self._shot.quality or QUALITY)

    def _left_ms(self) -> float:
        return max(1.0, (self._deadline - asyncio.get_running_loop().time()) * 1000)


def _visible(box: Box | None) -> Box:
    if box is None:
        raise ElementNotActionable("The element is hidden, so there is nothing to take a picture of.")
    if box.width == 0 or box.height == 0:
        raise ElementNotActionable(
            f"The element has no size ({box.width:g} x {box.height:g}), so there is nothing to take a picture of.",
            hint="Choose an element around it.",
        )
    return box


def _smaller(data: bytes, made: Plan, quality: int) -> bytes:
    with Image.open(io.BytesIO(data)) as picture:
        size = (max(1, round(picture.width * made.scale)), max(1, round(picture.height * made.scale)))
        written = io.BytesIO()
        picture.resize(size, Image.Resampling.LANCZOS).save(written, made.format, quality=quality)
    return written.getvalue()


def _hung(hung: dict[str, int]) -> list[str]:
    return [
        f"{count} {kind} did not arrive in time and {'is' if count == 1 else 'are'} missing from the picture."
        for kind, count in (("web font(s)", hung["fonts"]), ("image(s)", hung["images"]))
        if count
    ]


async def _without_scrollbars(cdp: CDPSession) -> None:
    """Hide the scrollbars until the next document.

    Not only for the moment: the page would be laid out twice more, and whoever clicks at a place that they saw in the
    picture would miss it by the width of the bar.
    """

    async def navigated(event: dict[str, Any]) -> None:
        if "parentId" in event["frame"]:
            return
        cdp.remove_listener("Page.frameNavigated", navigated)
        with contextlib.suppress(PlaywrightError):
            await cdp.send("Emulation.setScrollbarsHidden", {"hidden": False})

    await cdp.send("Emulation.setScrollbarsHidden", {"hidden": True})
    cdp.on("Page.frameNavigated", navigated)
