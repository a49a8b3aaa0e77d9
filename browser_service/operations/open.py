"""Opening an address."""

import asyncio
import logging
from dataclasses import replace
from typing import Any, ClassVar, Literal

from playwright.async_api import Error as PlaywrightError
from pydantic import Field

from browser_service.errors import TabwrightError
from browser_service.operations.operation import Action, Result
from browser_service.operations.target import OnTab, Selector
from browser_service.session import Session
from browser_service.tab import waiting
from browser_service.tab.changes import Changes
from browser_service.tab.navigate import Arrival, HeldBack, WaitUntil, navigate
from browser_service.tab.tab import Tab
from browser_service.tab.world import WorldGone, script
from fetch.address import parse_address
from fetch.page import Outcome, Page
from fetch.untrusted import Untrusted

_log = logging.getLogger(__name__)

SELECTOR_LIMIT_MS = 10_000

VERDICT_LIMIT_S = 2.0  # to look at the page and judge it; a page that takes longer is not judged
GLANCED = 1_000_000  # characters of it
_HTML = frozenset({"text/html", "application/xhtml+xml"})


class Redirect(Result):
    """One redirect on the way."""

    url: Untrusted
    status: int


class Opened(Result):
    """Where the tab is now. Every status is a success of `open`: look at `status`."""

    url: Untrusted = Field(description="the real one, after redirects")
    title: Untrusted
    status: int | None = Field(description="null where there was no HTTP answer, as for a cut one")
    content_type: Untrusted | None
    redirects: list[Redirect]
    settled: Literal["quiet", "ceiling", "timeout"] | None = Field(
        description="quiet: the page came to rest; ceiling: something was not waited for any longer; "
        "timeout: the time limit ended the waiting; null: not waited for"
    )
    partial: bool = Field(description="the page never finished loading; what is there can be read")
    outcome: Outcome | None = Field(
        description="what kind of answer it is; a wall is never `ok`; null where the page could not be judged in time"
    )
    evidence: list[Untrusted] = Field(description="what the outcome rests on")
    elapsed_ms: int
    changes: Changes
    warnings: list[Untrusted]


class Open(OnTab, Action[Opened]):
    """Open an address in a tab and wait until the page has come to rest.

    A page that never finishes loading is opened all the same, with `partial` and a warning. Downloads, empty answers
    and password prompts are reported with their real status; the tab then stays where it was.
    """

    name: ClassVar[str] = "open"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"url": "https://example.com/"},
        {"url": "https://example.com/app", "wait_selector": "#results", "timeout_ms": 45_000},
    )

    url: str = Field(max_length=8_192, description="http or https address", examples=["https://example.com/"])
    wait_selector: Selector | None = Field(None, description="then wait, at most 10 s, until this is visible")
    wait_until: WaitUntil = Field("settled", description="settled: content has arrived and come to rest")
    timeout_ms: int = Field(30_000, ge=1, le=300_000, description="time limit in milliseconds")
    referer: str | None = Field(None, max_length=8_192, description="the address that the visit comes from")
    new_tab: bool = Field(False, description="open in a new tab, which becomes the active one")
    fresh: bool = Field(False, description="replace the tab: its history is dropped, cookies stay")

    def limit_ms(self) -> float:
        """Loading, then the selector."""
        return self.timeout_ms + (SELECTOR_LIMIT_MS if self.wait_selector else 0)

    async def act(self, session: Session, tab: Tab) -> Opened:
        """Open it."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        address = parse_address(self.url)
        session.rule.check(address.host, address.port)
        referer = parse_address(self.referer).url if self.referer else None
        if self.new_tab:
            tab = await session.tabs.new()
            session.tabs.activate(tab)
        elif self.fresh:
            tab = await session.tabs.replace(tab)
        deadline = began + self.timeout_ms / 1000
        way_out, until = session.seat.exit, self.wait_until
        try:
            arrival = await navigate(tab, address, exit_=way_out, wait_until=until, deadline=deadline, referer=referer)
        except HeldBack:
            tab = await session.tabs.replace(tab)
            arrival = await navigate(tab, address, exit_=way_out, wait_until=until, deadline=deadline, referer=referer)
            arrival.warnings.append("The page before did not let go; its tab was replaced, and its history is lost.")
        if self.wait_selector is not None:
            await waiting.for_selector(tab.page, self.wait_selector, None, "visible", SELECTOR_LIMIT_MS)
        await session.tabs.settle_adoptions()
        title, (outcome, evidence) = await asyncio.gather(tab.title(), _verdict(session, tab, arrival))
        tab.known_title = title
        return Opened(
            url=arrival.url or tab.page.url,
            title=title,
            status=arrival.status,
            content_type=arrival.content_type,
            redirects=[Redirect(url=url, status=status) for url, status in arrival.redirects],
            settled=arrival.settled,
            partial=arrival.partial,
            outcome=outcome,
            evidence=evidence,
            elapsed_ms=round((loop.time() - began) * 1000),
            changes=session.tabs.journal.report(),
            warnings=arrival.warnings,
        )


async def _verdict(session: Session, tab: Tab, arrival: Arrival) -> tuple[Outcome | None, list[str]]:
    """What kind of answer it is, by what the page shows."""
    if arrival.stayed:
        return _by_status(arrival)
    try:
        async with asyncio.timeout(VERDICT_LIMIT_S):
            seen = await tab.world(script("shown.js"), GLANCED, timeout_s=VERDICT_LIMIT_S, patient=True)
            if seen is None or seen["type"] not in _HTML:
                return _by_status(arrival)
            answer = tab.watch.navigation
            page = Page(tab.page.url, "browser", arrival.status, "text/html", headers=dict(answer.headers))
            verdict = await session.judge(replace(page, html=seen["html"]))
    except (TimeoutError, TabwrightError, PlaywrightError, WorldGone) as fault:
        _log.debug("what was opened could not be judged: %s", fault)
        return _by_status(arrival)
    return verdict.outcome, list(verdict.evidence)


def _by_status(arrival: Arrival) -> tuple[Outcome | None, list[str]]:
    """What the answer was, by its status alone; nothing where that proves nothing (a wall may be a 200)."""
    status = arrival.status
    if status in {404, 410}:
        return "not_found", [f"status {status}"]
    if status == 401 and arrival.stayed:
        return "login_wall", ["status 401: the site asks for a user name and a password"]
    if status in {204, 205} or (arrival.stayed and status is not None and status >= 400):
        return "empty", [f"status {status} without a body"]
    return None, []
