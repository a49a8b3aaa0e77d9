"""The accessibility tree of a tab as lines of text with refs, its frames included, and what changed since the last."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FrameLocator, Locator, Page

from browser_service.errors import ElementNotFound, InvalidRequest, TimedOut
from browser_service.tab.difference import Line
from browser_service.tab.faults import is_closed
from browser_service.tab.locate import FRAME_SEPARATOR
from browser_service.tab.refs import ENGINE, Frames, Numbers, place
from browser_service.tab.tab import Tab

MAX_NODES = 300_000
MAX_ROWS = 20_000
MAX_FRAMES = 60
FRAME_DEPTH = 6
FRAME_LIMIT_S = 2.0
FRAME_SHARE = 0.6  # of the time left is for the frames of one level
PAGE_SHARE = 0.6  # of the time limit is for the walk; the rest is for its way back
UNMEANT = 2  # the row of a frame that is only on the way to what is in it


@dataclass(frozen=True)
class View:
    """What of the tree is wanted."""

    interactive_only: bool = False
    depth: int = 0
    text: str = ""
    regex: str = ""


@dataclass
class Snapshot:
    """The lines of a tab at one moment."""

    url: str = ""
    title: str = ""
    document: float = 0.0
    """when the document began, which tells it from the next"""
    lines: list[Line] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


async def take(
    tab: Tab, numbers: Numbers, view: View, root: Locator | None, frame: int, *, deadline: float
) -> Snapshot:
    """The tree of the page, or of what is below `root` (in the frame with this number).

    Raises TimedOut, and InvalidRequest for a regular expression that does not parse.
    """
    reader = _Reader(tab.page, tab.frames, numbers, view, deadline)
    try:
        async with asyncio.timeout_at(deadline):
            return await reader.read(root, frame)
    except TimeoutError:
        raise TimedOut(
            "The page did not answer in time.", hint="Raise timeout_ms, or name a part with selector."
        ) from None


async def number_of_frame(tab: Tab, numbers: Numbers, frame: str, *, deadline: float) -> int:
    """The number of the frame that a selector names (nested ones separated by ` >> `), for refs in it."""
    reader = _Reader(tab.page, tab.frames, numbers, View(depth=1), deadline)
    number = 0
    for part in frame.split(FRAME_SEPARATOR):
        number = await reader.number(place(tab.page, tab.frames, number).locator(part).first, number, frame)
    return number


class _Reader:
    """One snapshot being taken."""

    def __init__(self, page: Page, frames: Frames, numbers: Numbers, view: View, deadline: float) -> None:
        self._page = page
        self._frames = frames
        self._numbers = numbers
        self._view = view
        self._deadline = deadline
        self._seen = 0
        self._warnings: list[str] = []

    async def read(self, root: Locator | None, frame: int) -> Snapshot:
        left = max(0.05, self._deadline - asyncio.get_running_loop().time())
        answer = await self._ask(root or place(self._page, self._frames, frame), left)
        lines = await self._lines(answer, frame, 0, 0)
        return Snapshot(answer["url"], answer["title"], answer["document"], lines, self._warnings)

    async def number(self, owner: Locator, parent: int, named: str) -> int:
        """The number of the frame in this iframe element."""
        answer = await self._ask(owner, max(0.05, self._deadline - asyncio.get_running_loop().time()))
        number = next((each[2] for each in answer["rows"] if each[4]), 0)
        if not number:
            raise ElementNotFound(f"No visible iframe matches {named!r}.")
        return self._frames.number(f"f{parent}e{number}" if parent else f"e{number}", self._numbers)

    async def _ask(self, root: Page | FrameLocator | Locator, limit_s: float) -> dict[str, Any]:
        view = self._view
        options = {
            "interactive": view.interactive_only,
            "depth": view.depth,
            "text": view.text,
            "regex": view.regex,
            "next": self._numbers.next,
            "maxNodes": MAX_NODES,
            "maxRows": MAX_ROWS,
            "deadlineMs": limit_s * PAGE_SHARE * 1000,
        }
        paper = root.locator(f"{ENGINE}=*{quote(json.dumps(options), safe='')}")
        text = await paper.text_content(timeout=limit_s * 1000) or "{}"
        answer: dict[str, Any] = await asyncio.to_thread(json.loads, text)
        if "fault" in answer:
            if answer["pattern"]:
                raise InvalidRequest(f"regex does not parse: {answer['fault']}", hint="It is a JavaScript expression.")
            raise TimedOut(f"The page could not be read: {answer['fault'][:200]}.", hint="Try again.")
        self._numbers.next = max(self._numbers.next, answer["next"])
        if answer["stopped"]:
            self._warnings.append(_STOPPED[answer["stopped"]])
        if answer["modal"]:
            self._warnings.append("A modal dialog is open: only what is in it can be used, and is listed.")
        return answer

    async def _lines(self, answer: dict[str, Any], frame: int, depth: int, level: int) -> list[Line]:
        prefix = f"f{frame}" if frame else ""
        rows = [
            (Line(depth + below, head, f"{prefix}e{number}" if number else "", tail), kind)
            for below, head, number, tail, kind in answer["rows"]
        ]
        within = iter(await asyncio.gather(*(self._frame(line, level) for line, kind in rows if kind)))
        lines: list[Line] = []
        for line, kind in rows:
            lines += [] if kind == UNMEANT else [line]
            lines += next(within) if kind else []
        return lines

    async def _frame(self, line: Line, level: int) -> list[Line]:
        """What a frame holds. One that does not answer soon is left out."""
        if not line.ref or self._seen >= MAX_FRAMES or level >= FRAME_DEPTH:
            return []
        self._seen += 1
        number = self._frames.number(line.ref, self._numbers)
        left = min(FRAME_LIMIT_S, (self._deadline - asyncio.get_running_loop().time()) * FRAME_SHARE)
        try:
            answer = await self._ask(place(self._page, self._frames, number), max(0.05, left))
        except (PlaywrightError, TimedOut) as fault:
            if isinstance(fault, PlaywrightError) and is_closed(fault):
                raise
            self._warnings.append(f"The frame {line.ref} did not answer; what it shows is left out.")
            return []
        return await self._lines(answer, number, line.depth + 1, level + 1)


_STOPPED = {
    "nodes": f"The page has more than {MAX_NODES} nodes; the rest was left out.",
    "rows": f"The page has more than {MAX_ROWS} lines; the rest was left out: name a part with selector.",
    "depth": "Some elements are nested too deep and were left out: name a part with selector.",
    "time": "The page is too large to be read within the time limit; the rest was left out.",
}
