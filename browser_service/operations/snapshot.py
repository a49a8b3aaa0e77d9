"""Snapshot and find: a page as an accessibility tree, with refs to act on."""

import asyncio
from typing import Any, ClassVar, Self

from playwright.async_api import Locator
from pydantic import Field, model_validator

from browser_service.operations.interact import look
from browser_service.operations.operation import Action, Result
from browser_service.operations.target import Referable, Selector, ShortTimeout
from browser_service.session import Session
from browser_service.tab import refs
from browser_service.tab.difference import Baseline, difference
from browser_service.tab.snapshot import Snapshot, View, number_of_frame, take
from browser_service.tab.tab import Tab
from fetch.budget import Cut, cut
from fetch.untrusted import Untrusted


class Snapped(Result):
    """The tree, a line for each element: role, "name", [ref=…], [states], = "value", → target."""

    url: Untrusted
    title: Untrusted
    content: Untrusted
    content_length: int = Field(description="characters of the whole content")
    truncated: bool
    next_offset: int | None = Field(description="offset to go on from; null at the end")
    refs: int = Field(description="elements with a ref, in the whole tree")
    diff: bool = Field(description="the content is what changed: + new, - gone, the rest says where")
    warnings: list[Untrusted]


class Match(Result):
    """A line of the tree."""

    ref: str = Field(description="of the element, or of the one that holds the text")
    line: Untrusted


class Matches(Result):
    """The lines that match."""

    url: Untrusted
    title: Untrusted
    matches: list[Match]
    count: int = Field(description="of all lines that match")
    warnings: list[Untrusted]


class Scoped(Referable):
    """Looks at a page or at a part of it."""

    interactive_only: bool = Field(False, description="only what can be used, with the landmarks around it")
    selector: Selector | None = Field(None, description="only below this element")
    timeout_ms: ShortTimeout = 10_000

    async def look_at(self, session: Session, tab: Tab, view: View) -> Snapshot:
        """The tree."""
        tab.check()
        deadline = asyncio.get_running_loop().time() + self.timeout_ms / 1000
        return await tab.steady(lambda: self._take(session, tab, view, deadline), deadline)

    async def _take(self, session: Session, tab: Tab, view: View, deadline: float) -> Snapshot:
        numbers = session.tabs.numbers
        root: Locator | None = None
        number = 0
        if self.ref is not None:
            root, number = refs.locate(tab.page, tab.frames, self.ref), refs.frame_of(self.ref)
        elif self.selector is not None or self.frame is not None:
            root = (await look(tab, self.selector or "html", self.frame, self.timeout_ms)).locator
            if self.frame is not None:
                number = await number_of_frame(tab, numbers, self.frame, deadline=deadline)
        return await take(tab, numbers, view, root, number, deadline=deadline)


class TakeSnapshot(Scoped, Action[Snapped]):
    """Take a snapshot: the page as an accessibility tree with refs to act on, frames and shadow roots included.

    A ref stays good while its element is the same; else the action that names it fails with stale_ref.
    """

    name: ClassVar[str] = "snapshot"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"interactive_only": True, "max_chars": 20_000},
        {"selector": "#results", "depth": 3},
        {"diff": True},
    )

    depth: int = Field(0, ge=0, le=1000, description="levels of the tree; 0: all")
    diff: bool = Field(False, description="only what changed since the last snapshot of this tab with the same options")
    max_chars: int = Field(0, ge=0, le=50_000_000, description="0: all")
    offset: int = Field(0, ge=0, description="where to go on: next_offset of the call before")

    async def act(self, session: Session, tab: Tab) -> Snapped:
        """Take it."""
        seen = await self.look_at(session, tab, View(interactive_only=self.interactive_only, depth=self.depth))
        asked = (self.interactive_only, self.depth, self.selector, self.ref, self.frame)
        before = tab.baseline
        compared = self.diff and before is not None and (before.asked, before.document) == (asked, seen.document)
        warnings = list(seen.warnings)
        if self.diff and not compared:
            warnings.append("There is no snapshot of this document with these options to compare with: this is all.")
        if not (self.diff and self.offset):  # a further piece is of the same comparison
            tab.baseline = Baseline(asked, seen.document, seen.lines)
        part = await asyncio.to_thread(self._part, before if compared else None, seen)
        count = sum(1 for each in seen.lines if each.ref)
        return Snapped(url=seen.url, title=seen.title, **vars(part), refs=count, diff=bool(compared), warnings=warnings)

    def _part(self, before: Baseline | None, seen: Snapshot) -> Cut:
        lines = [str(each) for each in seen.lines] if before is None else difference(before.lines, seen.lines)
        return cut("\n".join(lines), max_chars=self.max_chars, offset=self.offset)


class Find(Scoped, Action[Matches]):
    """Find what a page shows by text or regular expression: the matching lines of its snapshot, with refs."""

    name: ClassVar[str] = "find"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"text": "Add to cart"}, {"regex": r"€ ?\d+", "limit": 10})

    text: str | None = Field(None, min_length=1, max_length=1000, description="part of a line, in any letter case")
    regex: str | None = Field(
        None, min_length=1, max_length=1000, description="JavaScript regular expression, flags iu"
    )
    limit: int = Field(50, ge=1, le=1000, description="lines at most")

    @model_validator(mode="after")
    def _one_pattern(self) -> Self:
        if (self.text is None) == (self.regex is None):
            raise ValueError("give exactly one of text and regex")
        return self

    async def act(self, session: Session, tab: Tab) -> Matches:
        """Find."""
        view = View(interactive_only=self.interactive_only, text=self.text or "", regex=self.regex or "")
        seen = await self.look_at(session, tab, view)
        matches = [Match(ref=each.ref, line=each.said) for each in seen.lines]
        return Matches(
            url=seen.url, title=seen.title, matches=matches[: self.limit], count=len(matches), warnings=seen.warnings
        )
