"""The main frame's navigations, by the events of the page's DevTools session and Playwright's requests.

Chromium calls a navigation failed when there is nothing to show (204, attachment, login prompt, an error status with an
empty body); what the server answered is kept here all the same.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Request, Response

from browser_service.tab.events import Signal, guarded, loop_time

KEPT = 50
# A requested navigation that has not started within this time never will (refused by beforeunload, or by a content
# policy), and one that started has sent its request by then; the events come within a few ms on an idle machine.
START_LIMIT_S = 1.0
REQUEST_LIMIT_S = 5.0
# Chromium shows its error page for a failed request within some 100 ms.
ERROR_PAGE_LIMIT_S = 1.0

_LOADABLE = {"http", "https", "about", "blob", "data", "file", "filesystem"}
_OTHER_DOCUMENT = {
    "differentDocument",
    "reload",
    "reloadBypassingCache",
    "restore",
    "restoreWithPost",
    "historyDifferentDocument",
}


@dataclass
class Navigation:
    """Where the tab went since the last action began.

    `url` is the last document address asked for and `status` its answer, None where none came; `redirects` are the
    addresses before it with their statuses, those that scripts and refreshes led on from included. `error` is
    Chromium's name for what failed (`net::ERR_…`), `committed` tells whether a document came.
    """

    url: str = ""
    status: int | None = None
    content_type: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    redirects: list[tuple[str, int]] = field(default_factory=list)
    error: str | None = None
    committed: bool = False


class Navigator:
    """Follows the main frame; `frame()` is its id. Tells `committed` of each new document, with its address."""

    def __init__(self, signal: Signal, frame: Callable[[], str], committed: Callable[[str], None]) -> None:
        self.navigation = Navigation()
        self.commits = 0
        self.moves = 0  # to other addresses within a document
        self.windows = 0  # opened by the page
        self._signal = signal
        self._frame = frame
        self._committed = committed
        self._expires = 0.0
        self._request: Request | None = None
        self._arrived = Navigation()

    def attach(self, cdp: CDPSession) -> None:
        """Subscribe to the session's events."""
        cdp.on("Page.frameRequestedNavigation", guarded(self._requested))
        cdp.on("Page.frameStartedNavigating", guarded(self._started))
        cdp.on("Page.frameNavigated", guarded(self._navigated))
        cdp.on("Page.navigatedWithinDocument", guarded(self._moved))
        cdp.on("Page.windowOpen", guarded(self._opened))

    def begin(self) -> None:
        """A new action begins."""
        self.navigation = Navigation()

    def expect(self) -> None:
        """It is a navigation."""
        self._expect(START_LIMIT_S)

    @property
    def navigating(self) -> bool:
        """Whether a navigation to another document has begun and neither arrived nor ended."""
        return loop_time() < self._expires

    @property
    def expires(self) -> float:
        """When a navigation that nothing more is heard of counts as ended (loop time)."""
        return self._expires

    async def wait(self, deadline: float) -> bool:
        """Until no navigation is on its way, at most until then (loop time); tells whether a document came."""
        commits = self.commits
        while self.navigating and loop_time() < deadline:
            await self._signal.wait(min(self._expires, deadline))
        return self.commits > commits

    def request(self, request: Request) -> None:
        """A document of the main frame was asked for."""
        self._request = request
        self._expires = math.inf
        seen = self.navigation
        if seen.url and seen.status is not None and len(seen.redirects) < KEPT:
            seen.redirects.append((seen.url, seen.status))
        self.navigation = Navigation(request.url, redirects=seen.redirects)
        self._signal.fire()

    def response(self, response: Response) -> None:
        """It was answered."""
        if response.request is not self._request:
            return
        seen = self.navigation
        seen.status = response.status
        seen.headers = response.headers
        seen.content_type = seen.headers.get("content-type")

    def failed(self, request: Request, error: str) -> bool:
        """A document of the main frame did not come, or was cut off. Tells whether the present one was cut off."""
        if request is not self._request:
            return False
        self._request = None
        self.navigation.error = error
        self._signal.fire()
        if self.navigation.committed:
            return True
        if error == "net::ERR_ABORTED":
            self._expires = 0.0
        else:
            self._expect(ERROR_PAGE_LIMIT_S)
        return False

    def _expect(self, limit_s: float) -> None:
        self._expires = loop_time() + limit_s

    def _mine(self, event: dict[str, Any]) -> bool:
        return event.get("frameId") == self._frame()

    def _requested(self, event: dict[str, Any]) -> None:
        if not self._mine(event) or event.get("disposition") != "currentTab":
            return
        if urlsplit(event.get("url", "")).scheme in _LOADABLE and not self.navigating:
            self._expect(START_LIMIT_S)
            self._signal.fire()

    def _started(self, event: dict[str, Any]) -> None:
        if self._mine(event) and event.get("navigationType") in _OTHER_DOCUMENT:
            self._request = None  # the end of an earlier request is no longer this navigation's
            self._expect(REQUEST_LIMIT_S)
            self._signal.fire()

    def _navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if frame.get("parentId") is not None:
            return
        self.commits += 1
        self._expires = 0.0
        seen = self.navigation
        seen.committed = True
        seen.url = seen.url or frame["url"]
        self._arrived = seen
        if "unreachableUrl" in frame:
            seen.error = seen.error or "net::ERR_FAILED"
        self._committed(frame["url"])
        self._signal.fire()

    def _moved(self, event: dict[str, Any]) -> None:
        if self._mine(event):
            self.moves += 1
            if self._expires < math.inf:
                self._expires = 0.0
                if not self.navigation.url:  # an address within the document: it is still the one that came then
                    self.navigation = replace(self._arrived, redirects=[])
            self._signal.fire()

    def _opened(self, _event: dict[str, Any]) -> None:
        self.windows += 1
        self._signal.fire()
