"""web_fetch: what is behind an address, as text, by the cheapest way that gives it whole.

A ladder: plain HTTP; a browser where the page needs its scripts; a full browser where the cheaper ways were refused.
The ways themselves are passed in. A wall is never a result: it is climbed, and where it stands to the end, an error.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from fetch.errors import (
    AddressForbidden,
    Blocked,
    ContentTooLarge,
    InvalidRequest,
    NavigationFailed,
    TabwrightError,
    TimedOut,
    UnsupportedContent,
    UpstreamStatus,
)
from fetch.http import RETRIED
from fetch.page import BARE, Cookie, Page, Reading, Wish

Render = Literal["auto", "never", "always"]

HTTP_LIMIT_S = 20.0
BROWSER_LIMIT_S = 30.0
HTTP_SHARE = 0.7  # of a limit for the whole call; the browser gets the rest
BROWSER_LEAST_S = 10.0  # … and so much where the limit has it
READ_LIMIT_S = 15.0
EXCERPT = 2000
LEAST = 200  # characters that are content in spite of an error status
BUSY_LEAST = 1000  # … where the status says that the site cannot answer now
BUSY = frozenset({429, 502, 503, 504})
REFUSALS = frozenset({403, 429, 502, 503})
WALLS = frozenset({"blocked", "challenge", "login_wall"})
CLIMBED = WALLS | {"consent_wall"}
"""What another way may get past. A paywall is the same for everyone."""
_FINAL = (AddressForbidden, ContentTooLarge, InvalidRequest, UnsupportedContent)
_FINAL_REASONS = frozenset({"dns"})
NO_TIME_S = 0.3  # in which no browser shows anything


@dataclass(frozen=True)
class Ask:
    """What is asked for. `limit_s` bounds the whole call; None: each phase has its own limit.

    `browser_only`: there is no HTTP way, as within a session.
    """

    url: str
    host: str
    wish: Wish = field(default_factory=Wish)
    render: Render = "auto"
    retry: bool = True
    mobile: bool = False
    wait_selector: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: tuple[Cookie, ...] = ()
    limit_s: float | None = None
    browser_only: bool = False


@dataclass(frozen=True)
class Phase:
    """What one phase did, and why it was not the last."""

    phase: Literal["http", "upgrade", "browser"]
    outcome: str
    why: str
    status: int | None
    elapsed_ms: int
    bytes: int


@dataclass(frozen=True)
class Fetched:
    """How a page came (without its body, which is in the reading), what was read in it, and how it was got."""

    page: Page
    reading: Reading
    phases: tuple[Phase, ...]


class Ways(Protocol):
    """How pages are got and read. Each raises TabwrightError, and TimedOut at its deadline (loop time)."""

    async def http(self, ask: Ask, deadline: float) -> Page:
        """By HTTP, with retries."""
        ...

    async def browser(self, ask: Ask, cookies: tuple[Cookie, ...], deadline: float, *, light: bool) -> Page:
        """In a browser; a light one is cheaper and more often refused."""
        ...

    async def read(self, page: Page, wish: Wish, limit_s: float) -> Reading:
        """What the page says."""
        ...

    def pause(self, page: Page) -> float:
        """For how many seconds the host wants to be left alone after this answer."""
        ...


async def web_fetch(ask: Ask, ways: Ways) -> Fetched:
    """Fetch and read it.

    Raises Blocked for a wall that stands, UpstreamStatus for an error status without content, and what the last way
    raised where none gave anything; all carry `phases`.
    """
    climb = _Climb(ask, ways)
    try:
        if ask.render != "always" and not ask.browser_only:
            await climb.by_http()
        if climb.goes_on and ask.render != "never":
            await climb.by_browser(light=climb.light)
        if climb.goes_on and climb.light_was_refused:
            await climb.by_browser(light=False)
        return climb.result()
    except TabwrightError as fault:
        fault.about.setdefault("phases", [vars(each) for each in climb.phases])
        raise


class _Climb:
    """One fetch on its way up."""

    def __init__(self, ask: Ask, ways: Ways) -> None:
        self._ask = ask
        self._ways = ways
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + ask.limit_s if ask.limit_s else None
        self._best: tuple[Page, Reading] | None = None
        self._fault: TabwrightError | None = None
        self._refused = False
        self._pause_until = 0.0
        self._notes: list[str] = []
        self._cookies = ask.cookies
        self.goes_on = True
        self.light = True
        self.phases: list[Phase] = []

    @property
    def light_was_refused(self) -> bool:
        """Whether the light browser met a wall that the full one may not meet."""
        return self.light and self._refused

    async def by_http(self) -> None:
        """Phase 1, and phase 2: is that all of it?"""
        began = time.monotonic()
        deadline = self._deadline(HTTP_LIMIT_S, HTTP_SHARE)
        try:
            page = await self._ways.http(self._ask, deadline)
        except TabwrightError as fault:
            self._failed("http", began, fault)
            if self._is_final(fault):
                raise
            return
        reading = await self._read(page, began)
        self._cookies = (*self._ask.cookies, *page.cookies)
        self._consider(page, reading)
        outcome = reading.verdict.outcome
        failed = page.status in REFUSALS | RETRIED and not _is_content(page, reading)
        self._refused = outcome in CLIMBED or failed
        self.light = not self._refused
        self._pause_until = self._loop.time() + self._ways.pause(page) if page.status in {429, 503} else 0.0
        self.goes_on = self._refused or reading.render is not None or bool(self._ask.wait_selector)
        self._note("http", outcome, self._why(page, reading), page, began, len(page.body))
        if reading.render is not None and not self._refused:
            self._note("upgrade", "render", reading.render, page, time.monotonic(), 0)

    async def by_browser(self, *, light: bool) -> None:
        """Phase 3. What an earlier phase got is kept where this one gives less."""
        self.light = light
        began = time.monotonic()
        deadline = self._deadline(BROWSER_LIMIT_S)
        try:
            if deadline - self._loop.time() < NO_TIME_S:
                raise self._fault or TimedOut("There was no time left for a browser.", hint="Raise timeout_ms.")
            await self._respect_pause(deadline)
            page = await self._ways.browser(self._ask, self._cookies, deadline, light=light)
            reading = await self._read(page, began)
        except TabwrightError as fault:
            self._failed("browser", began, fault)
            self._refused = False
            if self._best is None and self._is_final(fault):
                raise
            return
        outcome = reading.verdict.outcome
        self._refused = self.goes_on = outcome in CLIMBED
        self._consider(page, reading)
        kind = "light browser" if light else "full browser"
        self._note("browser", outcome, self._why(page, reading) or kind, page, began, len(page.html or ""))

    async def _read(self, page: Page, began: float) -> Reading:
        """What the page says. Another way would bring the same page: where it cannot be read, that is all."""
        try:
            return await self._ways.read(page, self._ask.wish, self._read_limit())
        except TabwrightError as fault:
            if page.method == "http":
                self._failed("http", began, fault)
            fault.about |= {"url": self._ask.url, "final_url": page.url, "upstream_status": page.status}
            raise

    def result(self) -> Fetched:
        """What was got, or why nothing was."""
        if self._best is None:
            raise self._fault or TimedOut("Nothing came in time.", hint="Raise timeout_ms.")
        page, reading = self._best
        if self._fault is not None and reading.render is not None and len(reading.content.strip()) < BARE:
            raise self._fault  # the page was still to be built: there is nothing to show for it
        self._check(page, reading)
        notes = [*page.warnings, *self._notes]
        if self._fault is not None:
            notes.append(f"The browser phase failed ({self._fault.detail}); this is what plain HTTP gave.")
        reading = replace(reading, warnings=(*reading.warnings, *notes))
        return Fetched(replace(page, body=b"", html=None), reading, tuple(self.phases))

    def _check(self, page: Page, reading: Reading) -> None:
        """Raise the error that a page is which cannot be a result."""
        outcome = reading.verdict.outcome
        about: dict[str, object] = {
            "url": self._ask.url,
            "final_url": page.url,
            "upstream_status": page.status,
            "outcome": outcome,
            "evidence": list(reading.verdict.evidence),
            "content": reading.content[:EXCERPT],
        }
        pause = self._ways.pause(page) if page.status in {429, 503} else 0.0
        if outcome in WALLS:
            raise Blocked(
                f"{self._ask.host} did not give the page: {_WORDS[outcome]}.",
                hint=_HINTS[outcome],
                about=about,
                retry_after_s=pause or None,
            )
        if not _is_content(page, reading):
            status = page.status or 0
            raise UpstreamStatus(
                f"{self._ask.host} answered with status {status} and no content that says more.",
                hint="Try again later." if status in BUSY or status >= 500 else "Check the address.",
                about=about,
                retry_after_s=pause or None,
            )

    def _consider(self, page: Page, reading: Reading) -> None:
        """Keep the better of what there is."""
        self._fault = None
        if self._best is None or _is_better(reading, self._best[1]):
            self._best = (page, reading)
        elif page.method == "browser":
            self._notes.append(f"The browser showed less ({reading.verdict.outcome}); this is what plain HTTP gave.")

    async def _respect_pause(self, deadline: float) -> None:
        """Leave the host alone as long as it asked for."""
        wait_s = self._pause_until - self._loop.time()
        if wait_s <= 0:
            return
        if self._loop.time() + wait_s > deadline - 1:
            raise UpstreamStatus(
                f"{self._ask.host} asks to be left alone for {wait_s:.0f} s.",
                hint="Try again after that.",
                retry_after_s=wait_s,
                about={"url": self._ask.url, "upstream_status": self._best[0].status if self._best else None},
            )
        await asyncio.sleep(wait_s)  # as the host asked

    def _deadline(self, limit_s: float, share: float = 1.0) -> float:
        now = self._loop.time()
        if self._end is None:
            return now + limit_s
        left_s = max(0.0, self._end - now)
        if share == 1.0 or self._ask.render == "never":
            return self._end
        return now + min(limit_s, max(left_s * share, left_s - BROWSER_LEAST_S))

    def _read_limit(self) -> float:
        if self._end is None:
            return READ_LIMIT_S
        return max(0.1, min(READ_LIMIT_S, self._end - self._loop.time()))

    def _is_final(self, fault: TabwrightError) -> bool:
        if isinstance(fault, _FINAL) or self._ask.render == "never":
            return True
        return isinstance(fault, NavigationFailed) and fault.about.get("reason") in _FINAL_REASONS

    def _why(self, page: Page, reading: Reading) -> str:
        """Why what came is not the end."""
        verdict = reading.verdict
        if verdict.outcome in CLIMBED:
            return "; ".join(verdict.evidence) or verdict.outcome
        if page.method == "http" and self._refused:
            return f"status {page.status}"
        if page.method == "http" and self._ask.wait_selector:
            return "wait_selector needs a browser"
        return ""

    def _failed(self, phase: Literal["http", "browser"], began: float, fault: TabwrightError) -> None:
        self._fault = fault
        status = fault.about.get("upstream_status")
        elapsed = round((time.monotonic() - began) * 1000)
        known = status if isinstance(status, int) else None
        self.phases.append(Phase(phase, fault.code, fault.detail, known, elapsed, 0))

    def _note(
        self, phase: Literal["http", "upgrade", "browser"], outcome: str, why: str, page: Page, began: float, size: int
    ) -> None:
        elapsed = round((time.monotonic() - began) * 1000)
        self.phases.append(Phase(phase, outcome, why, page.status, elapsed, size))


_WORDS = {
    "blocked": "it refuses this visitor",
    "challenge": "it asks for a proof that the visitor is a person",
    "login_wall": "it wants a login",
}
_HINTS = {
    "blocked": "Try another proxy, or a session with a login; content holds what was seen.",
    "challenge": "Try later or by another proxy; captchas are not solved here.",
    "login_wall": "Log in within a session, then fetch with session.",
}


def _is_content(page: Page, reading: Reading) -> bool:
    """Whether the answer says something, whatever its status."""
    status = page.status or 0
    if status < 400 or (reading.verdict.outcome == "not_found" and reading.content.strip()):
        return True
    return reading.characters >= (BUSY_LEAST if status in BUSY else LEAST)


def _is_better(later: Reading, before: Reading) -> bool:
    """Whether what a browser shows is to be taken rather than what there was: unless it is a wall, or next to nothing.

    It may well be shorter: a view in place of the whole list.
    """
    if _rank(later) != _rank(before):
        return _rank(later) > _rank(before)
    return len(later.content.strip()) >= min(BARE, len(before.content.strip()))


def _rank(reading: Reading) -> tuple[bool, bool]:
    outcome = reading.verdict.outcome
    return (outcome not in WALLS, outcome not in {"empty", "consent_wall"})
