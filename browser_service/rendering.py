"""The browser's way to a page: opened, brought to rest, and copied as it stands.

In a context of its own that is gone afterwards, or in a session, in a tab beside its own. What has arrived is better
than nothing: a page that never comes to rest is read as it is, with a warning that says what it was still doing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playwright.async_api import Error as PlaywrightError

from browser_service.errors import BrowserCrashed, InvalidRequest, TabwrightError, TimedOut
from browser_service.service import Service
from browser_service.session import GRACE_S, Judge, Session, expired
from browser_service.tab import waiting
from browser_service.tab.answer import Answer
from browser_service.tab.faults import page_crashed, translate
from browser_service.tab.interception import Interception, Kind
from browser_service.tab.navigate import navigate
from browser_service.tab.options import ContextOptions, Proxy, StorageState
from browser_service.tab.tab import Tab
from browser_service.tab.world import WorldGone, script
from fetch.address import parse_address
from fetch.page import Cookie, Page

_log = logging.getLogger(__name__)

SELECTOR_LIMIT_S = 10.0
LIFT_LIMIT_S = 15.0  # a challenge that goes away by itself does so by then
READ_SHARE, READ_LIMIT_S = 0.2, 4.0  # of the time, for reading what has arrived
STEP_LIMIT_S = 3.0  # a question to the browser alone
_UNSEEN: frozenset[Kind] = frozenset({"image", "media", "font"})


@dataclass(frozen=True)
class RenderWish:
    """What is to be rendered, and how.

    `headers` go to the host of `url` alone. `block`: kinds of requests that are not made; None: pictures, media and
    fonts for a light browser, nothing for a full one or in a session, where their absence would be noticed. `light`:
    the headless shell, where there is one. In a session, `cookies`, `storage_state`, `proxy`, `mobile`, `user_agent`
    and `light` do not count: they are the session's.
    """

    url: str
    wait_selector: str | None = None
    light: bool = True
    mobile: bool = False
    user_agent: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: tuple[Cookie, ...] = ()
    storage_state: StorageState | None = None
    proxy: Proxy | None = None
    block: frozenset[Kind] | None = None

    def context_options(self) -> ContextOptions:
        """The context for it. A plain one where possible, which is there already."""
        return ContextOptions(
            browser="light" if self.light else "full",
            mobile=self.mobile,
            user_agent=self.user_agent,
            proxy=self.proxy,
            storage_state=self.storage_state,
        )

    def blocked(self) -> frozenset[Kind]:
        """The kinds of requests that are not made."""
        if self.block is not None:
            return self.block
        return _UNSEEN if self.light else frozenset()


async def render(service: Service, wish: RenderWish, *, owner: str, limit_s: float, judge: Judge) -> Page:
    """Render in a fresh context, gone afterwards; once more on another browser where one dies.

    `judge` says whether what came is a challenge that may lift by itself; then it is waited for. Raises Overloaded,
    AddressForbidden, NavigationFailed, TimedOut (nothing came at all), PageCrashed, BrowserCrashed.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limit_s
    try:
        return await _render_once(service, wish, owner, deadline, judge)
    except BrowserCrashed as fault:
        if loop.time() >= deadline:
            raise
        _log.info("rendering on another browser: %s", fault)
        return await _render_once(service, wish, owner, deadline, judge)


async def _render_once(service: Service, wish: RenderWish, owner: str, deadline: float, judge: Judge) -> Page:
    loop = asyncio.get_running_loop()
    left_s = max(0.0, deadline - loop.time())
    async with service.borrow(wish.context_options(), owner, left_s) as session:
        left_s = max(0.0, deadline - loop.time())
        return await session.run(lambda tab: _Visit(session, tab, wish, judge, deadline).own(), None, left_s)


async def render_in_session(session: Session, wish: RenderWish, *, limit_s: float, judge: Judge) -> Page:
    """Render with a session's cookies and login, in a tab of its own that is closed afterwards.

    The session's tabs and its turn are left alone: another action may run meanwhile. Raises as `render` does, and
    SessionExpired when the session ends.
    """
    deadline = asyncio.get_running_loop().time() + limit_s
    session.touch()
    wish = replace(wish, block=wish.block or frozenset())
    tab: Tab | None = None
    try:
        async with asyncio.timeout(limit_s + GRACE_S), session.tabs.aside() as tab:
            return await _unless_crashed(tab, _Visit(session, tab, wish, judge, deadline).page())
    except TimeoutError:
        raise TimedOut("The page did not answer in time.", hint="Raise timeout_ms, or try again later.") from None
    except (PlaywrightError, TabwrightError) as fault:
        if session.ended is not None and session.ended != "browser_crashed":
            raise expired(session.ended) from fault
        if isinstance(fault, TabwrightError):
            raise
        dead = session.seat.browser.dead.is_set()
        raise translate(fault, crashed=tab is not None and tab.crash.done(), browser_dead=dead) from fault
    finally:
        session.touch()


async def _unless_crashed(tab: Tab, work: Awaitable[Page]) -> Page:
    running = asyncio.ensure_future(work)
    ends: set[asyncio.Future[Any]] = {running, tab.crash}
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise page_crashed()
        return running.result()
    finally:
        running.cancel()


class _Visit:
    """One page, from the empty tab to its copy."""

    def __init__(self, session: Session, tab: Tab, wish: RenderWish, judge: Judge, deadline: float) -> None:
        self._session = session
        self._tab = tab
        self._wish = wish
        self._judge = judge
        self._loop = asyncio.get_running_loop()
        self._deadline = deadline
        left_s = max(0.0, deadline - self._loop.time())
        self._rest_by = deadline - min(READ_LIMIT_S, left_s * READ_SHARE)
        self._answer = Answer(tab, session.seat.exit)

    async def own(self) -> Page:
        """In a context of our own, with the wish's cookies."""
        if self._wish.cookies:
            await self._set_cookies()
        return await self.page()

    async def page(self) -> Page:
        """Open it, wait, copy it."""
        wish, tab = self._wish, self._tab
        address = parse_address(wish.url)
        self._session.rule.check(address.host, address.port)
        await self._prepare()
        referer = next((value for name, value in wish.headers.items() if name.lower() == "referer"), None)
        arrival = await navigate(
            tab,
            address,
            exit_=self._session.seat.exit,
            wait_until="settled",
            deadline=self._rest_by,
            referer=referer,
        )
        if arrival.stayed:
            return await self._answer.nothing(arrival.url, self._deadline)
        await self._wait_for_selector()
        page = await self._answer.read(self._deadline)
        return page if page.html is None else await self._outlast(page)

    async def _outlast(self, page: Page) -> Page:
        """The page behind a challenge that goes away by itself; the one that came, where it is none or stays."""
        verdict = await self._judge(page)
        ends = min(self._loop.time() + LIFT_LIMIT_S, self._rest_by)
        while verdict.may_lift and self._loop.time() < ends:
            await self._other_words(ends)
            again = await self._answer.read(self._deadline)
            if again.html != page.html:
                verdict = await self._judge(again)
            page = again
        return page

    async def _prepare(self) -> None:
        wish, tab = self._wish, self._tab
        self._answer.watch()
        headers = {name: value for name, value in wish.headers.items() if name.lower() != "referer"}
        guard = Interception(tab.cdp, block=wish.blocked(), headers=headers, url=wish.url)
        try:
            async with asyncio.timeout(STEP_LIMIT_S):
                await guard.start()
        except TimeoutError:
            raise TimedOut("The browser did not answer in time.", hint="Try again.") from None

    async def _set_cookies(self) -> None:
        """Put the cookies of an earlier way in place; the browser refuses some, as with a wrong prefix."""
        context = self._session.tabs.context
        for cookies in [self._wish.cookies, *((each,) for each in self._wish.cookies)]:
            try:
                async with asyncio.timeout(STEP_LIMIT_S):
                    await context.add_cookies([_for_playwright(each) for each in cookies])
            except (TimeoutError, PlaywrightError) as fault:
                if len(cookies) == 1:
                    self._answer.notes.append(f"The browser does not take the cookie {cookies[0].name[:100]!r}.")
                _log.debug("cookies were refused: %s", fault)
            else:
                if cookies is self._wish.cookies:
                    return

    async def _wait_for_selector(self) -> None:
        selector = self._wish.wait_selector
        if selector is None:
            return
        limit_s = max(0.1, min(SELECTOR_LIMIT_S, self._rest_by - self._loop.time()))
        try:
            await waiting.for_selector(self._tab.page, selector, None, "visible", limit_s * 1000)
        except TimedOut as fault:
            self._answer.notes.append(fault.detail)
        except PlaywrightError as fault:
            ours = translate(fault, crashed=False, browser_dead=False)
            if isinstance(ours, InvalidRequest):
                raise ours from fault
            raise
        else:
            await self._settle()

    async def _settle(self) -> None:
        self._tab.settled = await self._tab.watch.settle(self._rest_by, sweep=False)

    async def _other_words(self, until: float) -> None:
        """Until the page says something else, or another one has come, and that has settled."""
        tab = self._tab
        try:
            if not tab.watch.navigating:
                await tab.world(script("other_words.js"), timeout_s=max(0.0, until - self._loop.time()), patient=True)
        except TimedOut:
            return
        except WorldGone:
            pass
        await self._settle()


def _for_playwright(cookie: Cookie) -> Any:
    return {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": -1 if cookie.expires is None else cookie.expires,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
    }
