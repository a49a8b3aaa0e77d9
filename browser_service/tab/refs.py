"""Refs: names for elements that snapshots hand out, and the way from a ref back to the very same element.

Snapshots are taken by an engine of ours (ax_*.js) in the isolated world that Playwright keeps in every frame, which
the page's scripts cannot see. There it remembers which node each ref means, and what that was, so that Playwright's
locators find it by identity and all their waiting, scrolling and checking works on it. Each time one is resolved the
engine compares the node with what it was. Numbers are never used twice in a session.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FrameLocator, Locator, Page

from browser_service.errors import StaleRef
from browser_service.tab.world import script

ENGINE = "ref"
VERDICT_LIMIT_MS = 1000
Manner = Literal["", "?", "!"]
REF = re.compile(r"(?:f(\d{1,6}))?e(\d{1,9})")
_STALE = re.compile(r"stale ref: ([a-z ,]{1,120}\.)")  # the engine's own words, not a page's
_HINT = "Take a new snapshot, and use a ref from it."
_MARKS = {"DOM": "dom", "ROLES": "roles", "NAMES": "names", "REFS": "refs", "WALK": "walk"}


def engine() -> str:
    """The source of the engine, for `selectors.register(ENGINE, …, content_script=True)`."""
    return re.sub(
        rf"\(({'|'.join(_MARKS)})\)", lambda mark: f"({script(f'ax_{_MARKS[mark[1]]}.js')})", script("ax_engine.js")
    )


@dataclass
class Numbers:
    """What the refs of one session are numbered from; frames are numbered apart."""

    next: int = 1
    frames: int = 0


@dataclass
class Frames:
    """The frames of one tab that snapshots have numbered: number -> ref of the iframe element, and back."""

    owners: dict[int, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, owner: str, numbers: Numbers) -> int:
        """The number of the frame in this iframe element."""
        if owner not in self.numbers:
            numbers.frames += 1
            self.numbers[owner] = numbers.frames
            self.owners[numbers.frames] = owner
        return self.numbers[owner]


def locate(page: Page, frames: Frames, ref: str, manner: Manner = "") -> Locator:
    """The locator of a ref; where its element is not the same, whatever is done with it fails as `stale` tells.

    `?`: it matches nothing then. `!`: for a press, which does nothing when the element becomes another before it comes;
    `refused` tells that afterwards.
    """
    frame, number = _parts(ref)
    return place(page, frames, frame).locator(f"{ENGINE}={number}{manner}")


async def refused(page: Page, frames: Frames, ref: str) -> StaleRef | None:
    """Why the press that came last did nothing, where it was kept from another element."""
    try:
        sheet = place(page, frames, frame_of(ref)).locator(f"{ENGINE}=!")
        why = await sheet.text_content(timeout=VERDICT_LIMIT_MS)
    except (PlaywrightError, StaleRef):  # the page went on by the press
        return None
    return gone(f"{why}, just before it was to be used.") if why else None


def place(page: Page, frames: Frames, frame: int) -> Page | FrameLocator:
    """The frame with this number; 0 is the page itself."""
    if not frame:
        return page
    if frame not in frames.owners:
        raise StaleRef(f"There is no frame f{frame} in this tab.", hint=_HINT)
    return locate(page, frames, frames.owners[frame]).content_frame


def _parts(ref: str) -> tuple[int, int]:
    match = REF.fullmatch(ref)
    if match is None:
        raise StaleRef(f"{ref!r} is not a ref.", hint=_HINT)
    return int(match[1] or 0), int(match[2])


def given(ref: str, numbers: Numbers) -> bool:
    """Whether this session has given this number."""
    return _parts(ref)[1] < numbers.next


def frame_of(ref: str) -> int:
    """The number of the frame that a ref lies in; 0 for the page itself."""
    return _parts(ref)[0]


def stale(fault: PlaywrightError) -> StaleRef | None:
    """What Playwright's error means, where a ref is the cause."""
    found = _STALE.search(fault.message)
    return found and gone(found[1])


def gone(why: str) -> StaleRef:
    """The failure for a ref that means nothing any more."""
    return StaleRef(f"The ref is stale: {why}", hint=_HINT)
