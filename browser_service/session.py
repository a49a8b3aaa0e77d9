"""One session: a browser context with its tabs that outlives the connection; one action at a time, each bounded."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from playwright.async_api import Error as PlaywrightError

from browser_service.errors import (
    BrowserCrashed,
    PageCrashed,
    SessionBusy,
    SessionExpired,
    TabwrightError,
    TimedOut,
)
from browser_service.pool import Seat
from browser_service.tab.faults import page_crashed, translate
from browser_service.tab.tab import Tab
from fetch.address import Rule
from fetch.page import Page, Verdict

_log = logging.getLogger(__name__)
_R = TypeVar("_R")

Judge = Callable[[Page], Awaitable[Verdict]]
"""Says what kind of answer a page is. Raises TabwrightError where it cannot."""

Reason = Literal["idle", "max_lifetime", "closed", "browser_crashed", "node_lost"]

GRACE_S = 0.8  # an action's own limit comes first; this one catches what does not keep it
REPLACE_LIMIT_S = 7.0
_WORDS: dict[Reason, str] = {
    "idle": "was not used for longer than its idle_timeout_ms",
    "max_lifetime": "reached its max_lifetime_ms",
    "closed": "was closed",
    "browser_crashed": "was lost when its browser died",
    "node_lost": "was lost with the machine it ran on",
}


def expired(reason: Reason) -> SessionExpired:
    """The error for a session that ended so."""
    return SessionExpired(
        f"This session {_WORDS[reason]}.", hint="Make a new one with POST /v1/sessions.", about={"reason": reason}
    )


@dataclass(frozen=True)
class Lifetime:
    """How long a session lives, in milliseconds."""

    idle_timeout_ms: int
    max_lifetime_ms: int


class Session:
    """One session. Actions go through `run`, which gives them their turn and bounds them.

    `judge` is for what is opened in it.
    """

    def __init__(self, owner: str, lifetime: Lifetime, seat: Seat, rule: Rule, *, judge: Judge, queue: int) -> None:
        self.id = secrets.token_hex(16)
        self.owner = owner
        self.lifetime = lifetime
        self.seat = seat
        self.rule = rule
        self.judge = judge
        self.tabs = seat.tabs
        self.created_at = time.time()
        self.ended: Reason | None = None
        self._queue = queue
        self._waiting = 0
        self._turn = asyncio.Lock()
        self._used = self._born = time.monotonic()
        self._end: asyncio.Future[Reason] = asyncio.get_running_loop().create_future()
        self._recovery: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Session {self.id[:6]}… {self.ended or 'open'} waiting={self._waiting} tabs={len(self.tabs)}>"

    @property
    def busy(self) -> bool:
        """Whether an action is running or waiting."""
        return self._turn.locked() or self._waiting > 0

    def expires_in(self) -> float:
        """Seconds until it ends if nobody uses it."""
        now = time.monotonic()
        idle = self._used + self.lifetime.idle_timeout_ms / 1000 - now
        return min(idle, self._born + self.lifetime.max_lifetime_ms / 1000 - now)

    def overdue(self) -> Reason | None:
        """Why it should end now, if it should. A running action counts as use."""
        now = time.monotonic()
        if now >= self._born + self.lifetime.max_lifetime_ms / 1000:
            return "max_lifetime"
        if not self.busy and now >= self._used + self.lifetime.idle_timeout_ms / 1000:
            return "idle"
        return None

    def touch(self) -> None:
        """It was used just now."""
        self._used = time.monotonic()

    def end(self, reason: Reason) -> None:
        """End it: a running action gets its error at once, and so do those that wait."""
        if self.ended is None:
            self.ended = reason
            self._end.set_result(reason)

    async def run(self, act: Callable[[Tab], Awaitable[_R]], tab: str | None, limit_s: float) -> _R:
        """Run `act` in a tab (by id; None: the active one) when its turn comes: all in `limit_s` and a short grace.

        Raises SessionBusy when too many wait already, SessionExpired when the session is over, BrowserCrashed or
        PageCrashed when that ends it, TimedOut. After a timeout the tab is freed behind the answer, before the next
        action has its turn.
        """
        self.touch()
        deadline = time.monotonic() + limit_s
        await self._take_turn(limit_s)
        try:
            left_s = max(0.0, deadline - time.monotonic())
            found = self.tabs.find(tab)
            if found.crash.done():  # while nobody was looking
                await self._free(found)
                found = self.tabs.find(tab)
            return await self._bounded(act, found, left_s)
        finally:
            self.touch()
            if self._recovery is None:
                self._turn.release()
            else:
                self._recovery.add_done_callback(lambda _: self._turn.release())

    async def _take_turn(self, limit_s: float) -> None:
        if self.ended is not None:
            raise expired(self.ended)
        if self._turn.locked() and self._waiting >= self._queue:
            raise SessionBusy(
                f"{self._waiting} calls wait for their turn in this session already.",
                hint="Send one action at a time, or use another session.",
                retry_after_s=1,
            )
        self._waiting += 1
        taking = asyncio.ensure_future(self._turn.acquire())
        try:
            await asyncio.wait((taking, self._end), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            got = taking.done() and self.ended is None
        except BaseException:
            got = False
            raise
        finally:
            self._waiting -= 1
            if not got:
                _give_up(taking, self._turn)
        if self.ended is not None:
            raise expired(self.ended)
        if not got:
            raise TimedOut(
                f"This call waited {limit_s:g} s for its turn behind another action of the session.",
                hint="Raise timeout_ms, or send one action at a time.",
            )

    async def _bounded(self, act: Callable[[Tab], Awaitable[_R]], tab: Tab, limit_s: float) -> _R:
        running = asyncio.ensure_future(act(tab))
        try:
            await asyncio.wait(
                (running, self._end, tab.crash), timeout=limit_s + GRACE_S, return_when=asyncio.FIRST_COMPLETED
            )
            if not running.done():
                raise self._interruption(tab)
            return running.result()
        except PlaywrightError as fault:
            dead = self.seat.browser.dead.is_set() or self.ended == "browser_crashed"
            ours = translate(fault, crashed=tab.crash.done(), browser_dead=dead)
            self._recover_after(ours, tab)
            raise ours from fault
        except (TimedOut, PageCrashed, asyncio.CancelledError) as fault:
            self._recover_after(fault, tab)
            raise
        finally:
            running.cancel()

    def _interruption(self, tab: Tab) -> TabwrightError:
        """Why a running action is ended from outside."""
        if self.ended == "browser_crashed" or self.seat.browser.dead.is_set():
            return BrowserCrashed("The browser died during this call.", hint="Make a new session.")
        if self.ended is not None:
            return expired(self.ended)
        if tab.crash.done():
            return page_crashed()
        return TimedOut("The page did not answer in time.", hint="Raise timeout_ms, or open it anew.")

    def _recover_after(self, fault: BaseException, tab: Tab) -> None:
        needed = isinstance(fault, TimedOut | PageCrashed | asyncio.CancelledError)
        if needed and self.ended is None and self._recovery is None and not self.seat.browser.dead.is_set():
            self._recovery = asyncio.ensure_future(self._free(tab))
            self._recovery.add_done_callback(self._recovered)

    def _recovered(self, task: "asyncio.Future[None]") -> None:
        self._recovery = None
        if not task.cancelled() and task.exception() is not None:
            _log.error("a tab could not be freed", exc_info=task.exception())

    async def _free(self, tab: Tab) -> None:
        """Make the tab usable again: end its scripts, else put in a new page, else have the browser checked."""
        if self.ended is not None:
            return
        try:
            if await tab.responsive():
                return
            async with asyncio.timeout(REPLACE_LIMIT_S):
                (await self.tabs.replace(tab)).replaces = "crashed" if tab.crash.done() else "stuck"
        except (TimeoutError, TabwrightError, PlaywrightError) as fault:
            if self.ended is not None:
                return
            _log.warning("a page does not answer and cannot be replaced: %s", str(fault) or "no answer in time")
            self.seat.suspect()


def _give_up(taking: "asyncio.Future[Literal[True]]", turn: asyncio.Lock) -> None:
    """Stop waiting for a turn; one that came at the same moment is passed on."""
    if taking.done() and not taking.cancelled():
        turn.release()
    else:
        taking.cancel()
