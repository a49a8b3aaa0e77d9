"""Pictures: of a session's tab, and of an address or a piece of HTML in a context made for it."""

import asyncio
import base64
import hashlib
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, model_validator

from browser_service.errors import Blocked, BrowserCrashed, UpstreamStatus
from browser_service.operations.interact import Click, Scroll, Type, Wait, look_up
from browser_service.operations.interact import look as find_steadily
from browser_service.operations.open import Open, Opened
from browser_service.operations.operation import Action, Call, Operation, Result
from browser_service.operations.read import Evaluate
from browser_service.operations.target import Referable, Selector
from browser_service.session import Session
from browser_service.settings import Scope
from browser_service.tab.capture import Shot, capture
from browser_service.tab.options import ContextOptions, Part
from browser_service.tab.tab import Tab
from fetch.page import Outcome
from fetch.untrusted import Untrusted
from fetch.web_fetch import WALLS


class Clip(Part):
    """A rectangle of the page, in CSS pixels from its top left corner."""

    x: float = Field(ge=0, le=100_000)
    y: float = Field(ge=0, le=100_000)
    width: float = Field(gt=0, le=100_000)
    height: float = Field(gt=0, le=100_000)

    def corners(self) -> tuple[float, float, float, float]:
        """x, y, width, height."""
        return self.x, self.y, self.width, self.height


class Failed(Result):
    """A resource of the page that did not load."""

    url: Untrusted
    error: Untrusted


class Receipt(Result):
    """What the picture shows, and how complete it is."""

    url: Untrusted
    title: Untrusted
    taken_at: datetime
    status: int | None = None
    settled: Literal["quiet", "ceiling", "timeout"] | None = None
    failed_resources: list[Failed] = Field(description="at most 50")
    outcome: Outcome | None = Field(None, description="of a one-shot capture: what kind of answer the address gave")
    evidence: list[Untrusted] = Field(default_factory=list, description="what the outcome rests on")


class Picture(Result):
    """A picture. With `Accept: image/*` the answer is the picture's bytes themselves."""

    image_base64: str
    mime_type: str
    width: int = Field(description="pixels of the picture")
    height: int = Field(description="pixels of the picture")
    sha256: str = Field(description="of the bytes, in hexadecimal")
    receipt: Receipt
    warnings: list[Untrusted]


class Look(BaseModel):
    """How a picture is taken."""

    selector: Selector | None = Field(None, description="only this element")
    full_page: bool = Field(False, description="the whole page; else what the viewport shows")
    format: Literal["png", "jpeg", "webp"] = Field("png", description="of the picture")
    quality: int | None = Field(None, ge=1, le=100, description="for jpeg and webp; default 80")
    max_width: int | None = Field(None, ge=16, le=16_384, description="scale the picture down to this width")
    max_side: int | None = Field(
        None, ge=16, le=65_000, description="scale the picture down so that no side has more pixels"
    )
    clip: Clip | None = Field(None, description="only this rectangle of the page")
    hide: list[Selector] = Field(default_factory=list, max_length=100, description="elements that are left out")
    style: str | None = Field(None, max_length=200_000, description="CSS for the moment of the picture")
    omit_background: bool = Field(False, description="transparent where the page paints nothing (png, webp)")
    animations: Literal["off", "on"] = Field("off", description="off: shown at their end")
    timeout_ms: int = Field(30_000, ge=1, le=60_000, description="time limit in milliseconds")

    @model_validator(mode="after")
    def _one_area(self) -> Self:
        if sum((self.selector is not None, self.full_page, self.clip is not None)) > 1:
            raise ValueError("give at most one of selector, full_page and clip")
        if self.quality is not None and self.format == "png":
            raise ValueError("quality goes with format jpeg or webp")
        if self.omit_background and self.format == "jpeg":
            raise ValueError("jpeg has no transparency: use png or webp with omit_background")
        return self


class Screenshot(Look, Referable, Action[Picture]):
    """Take a picture of the viewport, of an element, or of the whole page."""

    name: ClassVar[str] = "screenshot"
    scope: ClassVar[Scope] = "act"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"full_page": True, "format": "webp"},
        {"selector": "#chart", "max_width": 800},
        {"ref": "e12"},
    )

    @model_validator(mode="after")
    def _one_of_all(self) -> Self:
        if self.ref is not None and (self.full_page or self.clip is not None):
            raise ValueError("give at most one of ref, full_page and clip")
        return self

    async def act(self, session: Session, tab: Tab) -> Picture:
        """Take it."""
        tab.check()
        return await take(self, session, tab, self.frame, self.ref)


async def take(look: Look, session: Session, tab: Tab, frame: str | None, ref: str | None = None) -> Picture:
    """Take the picture and write its receipt."""
    deadline = asyncio.get_running_loop().time() + look.timeout_ms / 1000
    element = None
    warnings: list[str] = []
    if ref is not None:
        element = (await look_up(tab, ref, look.timeout_ms)).locator
    elif look.selector is not None:
        found = await find_steadily(tab, look.selector, frame, look.timeout_ms)
        element, warnings = found.locator, found.warnings
    shot = Shot(
        element=element,
        full_page=look.full_page,
        clip=look.clip.corners() if look.clip is not None else None,
        format=look.format,
        quality=look.quality,
        max_width=look.max_width,
        max_side=look.max_side,
        hide=tuple(look.hide),
        style=look.style,
        omit_background=look.omit_background,
        animations=look.animations,
    )
    seen = await tab.steady(lambda: capture(tab.page, tab.cdp, tab.world, shot, deadline=deadline), deadline)
    return Picture(
        image_base64=base64.b64encode(seen.data).decode("ascii"),
        mime_type=seen.mime_type,
        width=seen.width,
        height=seen.height,
        sha256=hashlib.sha256(seen.data).hexdigest(),
        receipt=Receipt(
            url=tab.page.url,
            title=await tab.title(),
            taken_at=datetime.now(UTC),
            status=tab.watch.navigation.status,
            settled=tab.settled and tab.settled.how,
            failed_resources=[Failed(url=url, error=error) for url, error in tab.watch.failed[:50]],
        ),
        warnings=[*warnings, *seen.warnings],
    )


class Step(Part):
    """One action before the picture: exactly one of these."""

    open: Open | None = None
    click: Click | None = None
    type: Type | None = None
    scroll: Scroll | None = None
    wait: Wait | None = None
    evaluate: Evaluate | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(getattr(self, name) is not None for name in type(self).model_fields) != 1:
            raise ValueError(f"a step is exactly one of {', '.join(type(self).model_fields)}")
        return self

    def action(self) -> Action[Any]:
        """The action that was given."""
        return next(action for name in type(self).model_fields if (action := getattr(self, name)) is not None)


class Capture(Look, ContextOptions, Operation[Picture]):
    """Take a picture of an address, or of a piece of HTML, in a fresh context that is gone afterwards."""

    name: ClassVar[str] = "capture_screenshot"
    path: ClassVar[str] = "/v1/screenshot"
    scope: ClassVar[Scope] = "read"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"url": "https://example.com/", "full_page": True},
        {"html": "<h1>Hello</h1>", "viewport": {"width": 600, "height": 300}},
    )

    url: str | None = Field(
        None, max_length=8_192, description="http or https address", examples=["https://example.com/"]
    )
    html: str | None = Field(None, max_length=9_000_000, description="a document of your own; its origin is opaque")
    wait_selector: Selector | None = Field(None, description="wait, at most 10 s, until this is visible")
    wait_ms: int = Field(0, ge=0, le=60_000, description="a further wait before the picture")
    steps: list[Step] = Field(default_factory=list, max_length=50, description="actions before the picture")
    fail_on: list[Literal["blocked", "status"]] = Field(
        default_factory=list,
        description="what makes it a failure; blocked: a wall instead of the page; status: an answer of 400 or more",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.url is None) == (self.html is None):
            raise ValueError("give exactly one of url and html")
        return self

    def scope_needed(self) -> Scope:
        """Steps act; scripts in them need more."""
        needed = {step.action().scope_needed() for step in self.steps}
        return "eval" if "eval" in needed else "act" if needed else "read"

    async def run(self, call: Call) -> Picture:
        """Take it; once more on another browser where one dies."""
        try:
            return await self._once(call)
        except BrowserCrashed:
            return await self._once(call)

    async def _once(self, call: Call) -> Picture:
        options = ContextOptions.model_validate({name: getattr(self, name) for name in ContextOptions.model_fields})
        async with call.service.borrow(options, call.caller.name, self.timeout_ms / 1000) as session:
            answer: dict[str, Any] = {}
            if self.url is not None:
                opening = Open(url=self.url, wait_selector=self.wait_selector, timeout_ms=self.timeout_ms)
                opened: Opened = await session.run(
                    lambda tab: opening.act(session, tab), None, opening.limit_ms() / 1000
                )
                self._refuse(opened)
                answer = {"outcome": opened.outcome, "evidence": opened.evidence}
            else:
                await session.run(self._show, None, self.timeout_ms / 1000)
            for step in self.steps:
                await self._step(session, step.action())
            if self.wait_ms:
                await asyncio.sleep(self.wait_ms / 1000)  # what the caller asked for
            picture = await session.run(lambda tab: take(self, session, tab, None), None, self.timeout_ms / 1000)
            return picture.model_copy(update={"receipt": picture.receipt.model_copy(update=answer)})

    def _refuse(self, opened: Opened) -> None:
        """Raise Blocked or UpstreamStatus where the caller wants no picture of what was opened."""
        about: dict[str, object] = {"final_url": opened.url, "upstream_status": opened.status}
        if "blocked" in self.fail_on and opened.outcome in WALLS:
            about |= {"outcome": opened.outcome, "evidence": opened.evidence}
            raise Blocked(f"The site shows a wall ({opened.outcome}) instead of the page.", about=about)
        if "status" in self.fail_on and (opened.status or 0) >= 400:
            raise UpstreamStatus(f"The site answered with status {opened.status}.", about=about)

    async def _show(self, tab: Tab) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timeout_ms / 1000
        if self.mobile:  # touch comes with the next document
            await tab.page.goto("about:blank")
        tab.watch.mark()
        await tab.page.set_content(self.html or "", wait_until="commit", timeout=self.timeout_ms)
        tab.opened = True
        tab.settled = await tab.watch.settle(deadline)

    async def _step(self, session: Session, action: Action[Any]) -> None:
        await session.run(lambda tab: action.act(session, tab), action.tab_name(), action.limit_ms() / 1000)
