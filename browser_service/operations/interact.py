"""Click, type, scroll, wait: what a person does in a page."""

import asyncio
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from browser_service.operations.operation import Action, Result
from browser_service.operations.target import Referable, Selector, ShortTimeout, Targeted
from browser_service.session import Session
from browser_service.settings import Scope
from browser_service.tab import keyboard, pointer, refs, scrolling, waiting
from browser_service.tab.changes import Changes
from browser_service.tab.effects import Effects
from browser_service.tab.locate import Found, Intent, find, find_ref
from browser_service.tab.tab import Tab
from fetch.untrusted import Untrusted

Condition = Literal["selector", "ref", "text", "url", "js", "time"]


class Acted(Result):
    """What an action did."""

    changes: Changes
    warnings: list[Untrusted] = Field(default_factory=list)


class Typed(Acted):
    """What typing did."""

    value: Untrusted | None = Field(description="what the field now holds; null where it is gone")


class Scrolled(Result):
    """Where the page stands, in CSS pixels."""

    x: float
    y: float
    max_y: float
    at_end: bool


class Waited(Result):
    """The condition holds."""

    matched: Condition
    elapsed_ms: int


class Click(Targeted, Action[Acted]):
    """Click an element as a person would: scrolled into view, visible, enabled, still, not covered.

    The answer tells what the click did: a navigation (waited for), new tabs, dialogs, downloads, console errors.
    """

    name: ClassVar[str] = "click"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"selector": "text=Sign in"},
        {"ref": "e12"},
        {"selector": "#row-3 button", "button": "right"},
        {"x": 640, "y": 400},
    )

    button: pointer.Button = Field("left", description="of the mouse")
    count: int = Field(1, ge=1, le=3, description="2: a double click")
    modifiers: list[pointer.Modifier] = Field(default_factory=list, max_length=4, description="keys that are held")

    async def act(self, session: Session, tab: Tab) -> Acted:
        """Click."""
        tab.check()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timeout_ms / 1000
        before = Effects(session.tabs, tab, session.seat.exit)
        warnings: list[str] = []
        if self.x is not None:
            await pointer.click_at(
                tab.page, self.x, self.y or 0, button=self.button, count=self.count, modifiers=self.modifiers
            )
        else:
            found = await locate(self, tab, "click")
            warnings = found.warnings
            left_ms = max(1.0, (deadline - loop.time()) * 1000)
            await pointer.click(
                found,
                self.ref or self.selector or "",
                world=tab.world,
                button=self.button,
                count=self.count,
                modifiers=self.modifiers,
                timeout_ms=left_ms,
            )
            refused = self.ref and await refs.refused(tab.page, tab.frames, self.ref)
            if refused:
                raise refused
        return Acted(changes=await before.report(deadline), warnings=warnings)


class Type(Targeted, Action[Typed]):
    """Type into a field, an editor, a select (the option with this label or value), a date, a range, a colour."""

    name: ClassVar[str] = "type"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"selector": "input[name=q]", "text": "lighthouse", "submit": True},
        {"selector": "#country", "text": "Norway"},
    )

    text: str = Field(max_length=1_000_000, description="what to type")
    clear: bool = Field(True, description="replace what is there; false appends")
    submit: bool = Field(False, description="then submit the form as its button would; without a form, press Enter")
    slowly: bool = Field(False, description="key by key, for fields that listen to keys")

    async def act(self, session: Session, tab: Tab) -> Typed:
        """Type."""
        tab.check()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timeout_ms / 1000
        before = Effects(session.tabs, tab, session.seat.exit)
        if self.x is not None:
            await pointer.click_at(tab.page, self.x, self.y or 0, button="left", count=1, modifiers=())
            found = await look(tab, "*:focus", None, self.timeout_ms)
        else:
            at_once = self.clear and not self.slowly
            found = await locate(self, tab, "type" if at_once else None)
        name = self.ref or self.selector or "the focused element"
        left_ms = max(1.0, (deadline - loop.time()) * 1000)
        await keyboard.type_text(found, name, self.text, clear=self.clear, slowly=self.slowly, timeout_ms=left_ms)
        value, title = await keyboard.value_of(
            found, tab.world if self.frame is None and self.ref is None else None, min(left_ms, 1000)
        )
        if self.submit:
            title = None
            await keyboard.submit(found, tab.page, left_ms)
        changes = await before.report(deadline, asked=not self.submit and self.frame is None, title=title)
        return Typed(changes=changes, value=value, warnings=found.warnings)


class Scroll(Referable, Action[Scrolled]):
    """Scroll the page, a box in it, or an element into the middle of the view."""

    name: ClassVar[str] = "scroll"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"direction": "bottom"},
        {"direction": "bottom", "until": "no_growth", "timeout_ms": 20_000},
        {"selector": "#comments"},
        {"ref": "e12"},
    )

    direction: scrolling.Direction = Field("down", description="where to")
    amount: int | None = Field(None, ge=1, le=1_000_000, description="pixels for up and down; default 500")
    selector: Selector | None = Field(None, description="scroll this element to the middle")
    container: Selector | None = Field(None, description="scroll inside this element")
    until: Literal["no_growth"] | None = Field(None, description="keep on at the bottom until nothing more loads")
    timeout_ms: ShortTimeout = 10_000

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.selector or self.ref) and (self.container is not None or self.until is not None):
            raise ValueError("selector and ref scroll one element into view: leave out container and until")
        if self.until is not None and (self.direction not in {"down", "bottom"} or self.container is not None):
            raise ValueError("until goes with direction bottom, on the page itself")
        return self

    async def act(self, session: Session, tab: Tab) -> Scrolled:
        """Scroll."""
        tab.check()
        deadline = asyncio.get_running_loop().time() + self.timeout_ms / 1000
        seconds = self.timeout_ms / 1000
        if self.selector is not None or self.ref is not None:
            found = await (
                look_up(tab, self.ref, self.timeout_ms)
                if self.ref is not None
                else look(tab, self.selector or "", self.frame, self.timeout_ms)
            )
            await found.locator.evaluate(
                "(e) => e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'})",
                timeout=self.timeout_ms,
            )
            return Scrolled(**await scrolling.scroll(tab.world, "down", 0, seconds))
        if self.container is not None:
            found = await look(tab, self.container, self.frame, self.timeout_ms)
            return Scrolled(**await scrolling.scroll_box(found.locator, self.direction, self.amount, self.timeout_ms))
        if self.frame is not None:
            found = await look(tab, "html", self.frame, self.timeout_ms)
            return Scrolled(**await scrolling.scroll_box(found.locator, self.direction, self.amount, self.timeout_ms))
        if self.until is not None:
            return Scrolled(**await scrolling.scroll_until_still(tab, deadline))
        return Scrolled(
            **await tab.steady(lambda: scrolling.scroll(tab.world, self.direction, self.amount, seconds), deadline)
        )


class Wait(Referable, Action[Waited]):
    """Wait for an element, a text, an address, a condition, or a time."""

    name: ClassVar[str] = "wait"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"selector": "#results"},
        {"selector": ".spinner", "state": "hidden"},
        {"ref": "e7", "state": "detached"},
        {"text": "Thank you"},
        {"url": "**/done"},
        {"time_ms": 500},
    )

    state: waiting.State = Field("visible", description="of the element that is waited for")
    text: str | None = Field(None, min_length=1, max_length=10_000, description="until this is to be seen")
    url: str | None = Field(None, min_length=1, max_length=8_192, description="part of the address, or a glob with *")
    js: str | None = Field(None, min_length=1, max_length=1_000_000, description="until this is truthy")
    time_ms: int | None = Field(
        None, ge=0, le=300_000, description="wait so long; beside a condition, its time limit (older name)"
    )
    timeout_ms: ShortTimeout = 10_000

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        if sum(each is not None for each in (self.selector, self.ref, self.text, self.url, self.js)) > 1:
            raise ValueError("give one condition: selector, ref, text, url or js")
        return self

    def scope_needed(self) -> Scope:
        """A script of the caller's needs more."""
        return "eval" if self.js is not None else "act"

    def limit_ms(self) -> float:
        """The condition's limit, or the time itself."""
        if self.kind() == "time":
            return (1000 if self.time_ms is None else self.time_ms) + 1000
        return self.timeout_ms if self.time_ms is None else self.time_ms

    def kind(self) -> Condition:
        """Which condition was given."""
        named: tuple[tuple[Condition, str | None], ...] = (
            ("selector", self.selector),
            ("ref", self.ref),
            ("text", self.text),
            ("url", self.url),
            ("js", self.js),
        )
        return next((name for name, value in named if value is not None), "time")

    async def act(self, session: Session, tab: Tab) -> Waited:
        """Wait."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        limit_ms = self.limit_ms()
        match self.kind():
            case "time":
                await asyncio.sleep(1 if self.time_ms is None else self.time_ms / 1000)  # what the caller asked for
            case "selector":
                tab.check()
                await waiting.for_selector(tab.page, self.selector or "", self.frame, self.state, max(1, limit_ms))
            case "ref":
                tab.check()
                await waiting.for_ref(tab, session.tabs.numbers, self.ref or "", self.state, max(1, limit_ms))
            case "text":
                tab.check()
                await waiting.for_text(tab.page, self.text or "", self.frame, max(1, limit_ms))
            case "url":
                tab.check()
                await waiting.for_url(tab.page, self.url or "", max(1, limit_ms))
            case "js":
                tab.check()
                await waiting.for_condition(tab, self.js or "", began + limit_ms / 1000)
        return Waited(matched=self.kind(), elapsed_ms=round((loop.time() - began) * 1000))


async def locate(target: Targeted, tab: Tab, intent: Intent | None) -> Found:
    """The element that a targeted action means by selector or ref."""
    if target.ref is not None:
        return await look_up(tab, target.ref, target.timeout_ms, intent)
    wait_ms = target.timeout_ms if target.wait else 0
    return await look(
        tab,
        target.selector or "",
        target.frame,
        target.timeout_ms,
        strict=target.strict,
        wait_ms=wait_ms,
        intent=intent,
    )


async def look(
    tab: Tab,
    selector: str,
    frame: str | None,
    timeout_ms: float,
    *,
    strict: bool = False,
    wait_ms: float = 0,
    intent: Intent | None = None,
) -> Found:
    """The element that a selector means; looked for again when the page moves on meanwhile."""
    deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
    return await tab.steady(
        lambda: find(tab.page, tab.world, selector, frame, strict=strict, wait_ms=wait_ms, intent=intent), deadline
    )


async def look_up(tab: Tab, ref: str, timeout_ms: float, intent: Intent | None = None) -> Found:
    """The element that a ref means. Raises StaleRef where it is gone or another one now."""
    deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
    return await tab.steady(lambda: find_ref(tab.page, tab.frames, ref, timeout_ms / 1000, intent), deadline)
