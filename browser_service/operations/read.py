"""Evaluate and extract: reading a page."""

import asyncio
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from browser_service.operations.operation import Action, Result
from browser_service.operations.target import Format, InFrame, Referable, Selector
from browser_service.session import Session
from browser_service.settings import Scope
from browser_service.tab.changes import Changes
from browser_service.tab.evaluate import evaluate, evaluate_in_frame
from browser_service.tab.locate import find, find_ref, frame_of
from browser_service.tab.read import Reading, read, read_element
from browser_service.tab.tab import Tab
from browser_service.tab.world import gone_with_its_document
from fetch.budget import cut
from fetch.untrusted import Untrusted


class Evaluated(Result):
    """The value of a script."""

    result: Untrusted = Field(description="a string as it is, anything else as indented JSON")
    value: Any = Field(description="the value itself; what JSON cannot hold is described by a string")
    truncated: bool = Field(description="over 2 MiB, and cut")
    changes: Changes


class Link(Result):
    """A link with the text that a reader sees."""

    url: Untrusted
    text: Untrusted


class Extracted(Result):
    """What a page says."""

    title: Untrusted
    url: Untrusted
    format: Format
    content: Untrusted
    content_length: int = Field(description="characters of the whole content")
    truncated: bool
    next_offset: int | None = Field(description="offset to go on from; null at the end")
    links: list[Link] = Field(description="at most 50")
    warnings: list[Untrusted]


class Evaluate(InFrame, Action[Evaluated]):
    """Run JavaScript in the page: an expression, or a function body with `return`; promises are awaited."""

    name: ClassVar[str] = "evaluate"
    scope: ClassVar[Scope] = "eval"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"js": "document.title"},
        {"js": "const rows = document.querySelectorAll('tr'); return rows.length"},
    )

    js: str = Field(min_length=1, max_length=2_000_000, description="an expression, or statements with return")
    world: Literal["main", "isolated"] = Field(
        "main", description="isolated: sees the page's elements, not its variables, and is not seen by it"
    )
    timeout_ms: int = Field(8_000, ge=1, le=300_000, description="time limit in milliseconds")

    @model_validator(mode="after")
    def _world_of_a_frame(self) -> Self:
        if self.frame is not None and self.world != "main":
            raise ValueError("in a frame, scripts run in the main world: leave out world")
        return self

    async def act(self, session: Session, tab: Tab) -> Evaluated:
        """Run it."""
        tab.check()
        seconds = self.timeout_ms / 1000
        if self.frame is None:
            seen = await evaluate(tab.cdp, self.js, world=self.world, isolated=tab.world, timeout_s=seconds)
        else:
            frame = await frame_of(tab.page, self.frame, self.timeout_ms)
            seen = await evaluate_in_frame(frame, tab.cdp, self.js, timeout_s=seconds)
        await session.tabs.settle_adoptions()
        return Evaluated(
            result=seen.result, value=seen.value, truncated=seen.truncated, changes=session.tabs.journal.report()
        )


def _nothing_readable(tab: Tab, seen: Reading) -> list[str]:
    """What to say where a document that is no web page has no text."""
    kind = (tab.watch.navigation.content_type or "").split(";")[0]
    if seen.content.strip() or not kind or kind in {"text/html", "application/xhtml+xml"}:
        return []
    return [f"The document is {kind}: no text of it can be read here; a screenshot may show it."]


class Extract(Referable, Action[Extracted]):
    """Read what the page shows, as text, Markdown or clean HTML, with its links. Hidden text is left out."""

    name: ClassVar[str] = "extract"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"format": "markdown", "main_content": True},
        {"selector": "#results", "max_chars": 0},
    )

    selector: Selector | None = Field(None, description="only this element")
    max_chars: int = Field(15_000, ge=0, le=50_000_000, description="0: all")
    offset: int = Field(0, ge=0, description="where to go on: next_offset of the call before")
    format: Format = Field("text", description="of the content")
    main_content: bool = Field(False, description="only the main part: no navigation, header, footer, side bars")
    timeout_ms: int = Field(10_000, ge=1, le=300_000, description="time limit in milliseconds")

    async def act(self, session: Session, tab: Tab) -> Extracted:
        """Read."""
        tab.check()
        seen = await self._read(tab)
        part = cut(seen.content, max_chars=self.max_chars, offset=self.offset)
        return Extracted(
            title=seen.title,
            url=seen.url,
            format=self.format,
            **vars(part),
            links=[Link(url=link.url, text=link.text) for link in seen.links],
            warnings=[*seen.warnings, *_nothing_readable(tab, seen)],
        )

    async def _read(self, tab: Tab) -> Reading:
        deadline = asyncio.get_running_loop().time() + self.timeout_ms / 1000

        async def ask() -> Reading:
            left_s = max(0.05, deadline - asyncio.get_running_loop().time())
            if self.selector is None and self.frame is None and self.ref is None:
                return await read(
                    tab.world, selector=None, format=self.format, main_content=self.main_content, timeout_s=left_s
                )
            if self.ref is not None:
                found = await find_ref(tab.page, tab.frames, self.ref, left_s)
            else:
                found = await find(tab.page, tab.world, self.selector or "html", self.frame)
            with gone_with_its_document():
                handle = await found.locator.element_handle(timeout=left_s * 1000)
                return await read_element(handle, format=self.format, main_content=self.main_content, timeout_s=left_s)

        return await tab.steady(ask, deadline)
