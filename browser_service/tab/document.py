"""The present document of a page: what it has come to by events, and what it says when it is asked (settle.js)."""

import contextlib
import logging
from dataclasses import dataclass
from typing import Any, NamedTuple

from playwright.async_api import CDPSession, Page, Worker

from browser_service.errors import ScriptFailed, TimedOut
from browser_service.tab.events import Signal, guarded, loop_time
from browser_service.tab.timers import Timers
from browser_service.tab.world import World, WorldGone, script

_log = logging.getLogger(__name__)

SOURCE = script("settle.js")

NEXT_WORLD_S = 0.03  # until the next document's world may exist
SWEEP_LIMIT_S = 3.0
LATE_S = 0.01  # a timer fires so much after its time
PAUSE_S = 1.0
LOAD_S = 0.5  # the load event, after the last thing that arrived
REFRESH_LIMIT_S = 5.0  # a page that moves on later is read as it is
_REFRESHES = {"metaTagRefresh", "httpHeaderRefresh"}


@dataclass
class Seen:
    """What the document said when it was last asked."""

    still: bool = False  # it has nothing that could change it
    prose: int = 0  # characters that are not links
    empty: bool = True  # some place for content is
    blank: bool = False
    busy: bool = False  # it says that it is loading
    lag: float = 0.0  # seconds by which its tasks run late
    timers: bool = False  # whether they are known
    due: float = 0.0  # when the last one fires (loop time)
    step: float = 0.0  # when what repeats in short steps does so next (loop time); 0 for nothing
    lazy: bool = False  # something waits to be scrolled to


class Begun(NamedTuple):
    """What an input did in the page, in loop time."""

    changed: bool
    last_change: float
    due: float  # when a timer fires that was set to a few ms


@dataclass
class Document:
    """The state of a document. Times are the loop's, None for what has not happened."""

    committed: float
    parsed: float | None = None
    loaded: float | None = None
    refresh: float | None = None  # when it goes to another address by itself
    grown: float = 0.0
    growing: float = 0.0  # since when it grows without a longer pause …
    steps: int = 0  # … and how often it has
    changed: float = 0.0
    written: bool = False  # by a script, which may leave it open
    cut: bool = False  # its body broke off
    released: bool = False  # stylesheets that did not come were taken out
    swept: bool = False  # scrolled through
    error_page: bool = False  # Chromium's own
    workers: int = 0
    seen: Seen | None = None
    stale: bool = True  # something happened since it was asked

    @property
    def whole(self) -> bool:
        """Whether all of it has arrived."""
        return not self.cut and (self.loaded is not None or (self.written and self.parsed is None))

    @property
    def base(self) -> float:
        """From when on limits count: loading, or when it should have been over."""
        if self.loaded is not None:
            return self.loaded
        return (self.committed if self.parsed is None else self.parsed) + LOAD_S

    def note(self, kind: str, when: float) -> None:
        """What settle.js saw: growth, change or calm."""
        if kind == "growth":
            if when - self.grown > PAUSE_S:
                self.growing, self.steps = when, 0
            self.steps += 1
            self.grown = max(self.grown, when)
        elif kind == "change":
            self.changed = max(self.changed, when)
        elif kind == "calm" and self.seen is not None:
            self.seen.busy = False


class Observer:
    """Follows a page from document to document, and asks the present one."""

    def __init__(self, page: Page, cdp: CDPSession, world: World, signal: Signal, timers: Timers) -> None:
        self.document = Document(0.0, parsed=0.0, loaded=0.0)
        self._page = page
        self._cdp = cdp
        self._world = world
        self._signal = signal
        self._timers = timers

    def attach(self) -> None:
        """Subscribe to the page's events."""
        self._world.on_message = guarded(self._told)
        self._page.on("worker", guarded(self._worker_started))
        self._cdp.on("Page.documentOpened", guarded(self._opened))
        self._cdp.on("Page.domContentEventFired", guarded(self._parsed))
        self._cdp.on("Page.loadEventFired", guarded(self._loaded))
        self._cdp.on("Page.frameScheduledNavigation", guarded(self._scheduled))
        self._cdp.on("Page.frameClearedScheduledNavigation", guarded(self._cleared))

    def replaced(self, url: str) -> None:
        """Another document has come."""
        self.document = Document(loop_time(), error_page=url.startswith("chrome-error:"))

    def broke_off(self) -> None:
        """Its body was cut off."""
        self.document.cut = True

    async def catch_up(self, limit_s: float) -> None:
        """Find out how far a document is whose beginning was not seen: that of a tab which the page opened."""
        state = await self._ask("() => document.readyState", limit_s=limit_s)
        document, now = self.document, loop_time()
        if state in {"loading", "interactive"}:
            document.committed, document.loaded = now, None
            document.parsed = None if state == "loading" else now

    async def check(self, limit_s: float) -> None:
        """Ask how the document is. Raises TimedOut when its main thread is busy for longer."""
        document = self.document
        document.stale = False
        answer = await self._ask("(event) => settling.check(event)", self._timers.event, limit_s=limit_s)
        if answer is None or document is not self.document:
            return
        if answer.get("still"):
            document.seen = Seen(still=True)
            return
        now = loop_time()
        timers = self._timers.read(answer["timers"])
        seen = Seen(
            prose=answer["prose"],
            empty=answer["empty"],
            blank=answer["blank"],
            busy=answer["busy"],
            lag=answer["lag"] / 1000,
        )
        if timers is not None:
            seen.timers, seen.lazy = True, timers.lazy
            seen.due = now + timers.latest + LATE_S if timers.latest else 0.0
            seen.step = now + timers.next + LATE_S if timers.next else 0.0
        document.seen = seen
        document.note(answer["kind"], now - answer["ago"] / 1000)

    async def sweep(self, limit_s: float) -> None:
        """Scroll through the document and back."""
        self.document.swept = self.document.stale = True
        with contextlib.suppress(TimedOut):
            await self._ask("() => settling.sweep()", limit_s=min(limit_s, SWEEP_LIMIT_S))

    async def release(self, limit_s: float) -> None:
        """Take out the stylesheets that the parser waits for."""
        self.document.released = self.document.stale = True
        await self._ask("() => settling.release()", limit_s=limit_s)

    async def effects(self, since: float, limit_s: float) -> Begun | None:
        """What an input at `since` (loop time) did. None when its document is gone or does not answer in time."""
        try:
            ms = (loop_time() - since) * 1000
            answer = await self._ask(
                "(event, ms) => settling.effects(event, ms)", self._timers.event, ms, limit_s=limit_s
            )
        except TimedOut:
            return None
        if answer is None:
            return None
        now = loop_time()
        timers = self._timers.read(answer["timers"])
        return Begun(
            answer["changed"], now - answer["ago"] / 1000, now + timers.soon if timers and timers.soon else 0.0
        )

    async def _ask(self, function: str, *given: object, limit_s: float) -> Any:
        """The answer of the present document; None when it is replaced meanwhile. Raises TimedOut."""
        try:
            call = self._world(function, *given, timeout_s=max(0.0, limit_s), patient=True)
            return await self._signal.unless_ended(call)
        except ScriptFailed as fault:  # a document that is not a page, where settle.js does not run
            _log.debug("settling: %s", fault)
            self.document.seen = Seen(still=True)
            return None
        except WorldGone:
            self.document.stale = True
            await self._signal.wait(loop_time() + NEXT_WORLD_S)
            return None

    def _told(self, text: str) -> None:
        kind, ms, prose, empty = text.split(" ")
        self.document.note(kind, loop_time() - int(ms) / 1000)
        if self.document.seen is not None:
            self.document.seen.prose = int(prose)
            self.document.seen.empty = empty == "1"
            self.document.seen.blank = False
        self._signal.fire()

    def _opened(self, event: dict[str, Any]) -> None:
        if event["frame"]["id"] == self._world.frame:
            self.document = Document(loop_time(), written=True)
            self._signal.fire()

    def _parsed(self, _event: dict[str, Any]) -> None:
        if self.document.parsed is None:
            self.document.parsed = loop_time()
            self._signal.fire()

    def _loaded(self, _event: dict[str, Any]) -> None:
        if self.document.loaded is None:
            self.document.loaded = loop_time()
            self._signal.fire()

    def _scheduled(self, event: dict[str, Any]) -> None:
        if (
            event["frameId"] == self._world.frame
            and event["reason"] in _REFRESHES
            and event["delay"] <= REFRESH_LIMIT_S
        ):
            self.document.refresh = loop_time() + event["delay"]
            self._signal.fire()

    def _cleared(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._world.frame:
            self.document.refresh = None

    def _worker_started(self, _worker: Worker) -> None:
        self.document.workers += 1
