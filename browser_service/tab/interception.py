"""Requests of one tab that are not made, and headers that go to one host alone.

By DevTools' Fetch domain with a pattern for each resource type, so that only what is refused takes the way through the
driver; Playwright's routes stop every request and switch the HTTP cache off.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.tab.events import guarded

_log = logging.getLogger(__name__)

Kind = Literal["image", "media", "font"]
_TYPES: Mapping[Kind, str] = {"image": "Image", "media": "Media", "font": "Font"}


class Interception:
    """Refuses requests of the kinds in `block`, and adds `headers` to those for the host of `url`.

    The host's name with and without `www.` counts as the same; a redirect to another host leaves the headers behind.
    """

    def __init__(self, cdp: CDPSession, *, block: Collection[Kind], headers: Mapping[str, str], url: str) -> None:
        self._cdp = cdp
        self._refused = frozenset(_TYPES[each] for each in block)
        self._headers = dict(headers)
        self._host = _host(url)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin; nothing is done where nothing is asked for."""
        patterns: list[dict[str, str]] = [{"resourceType": each} for each in sorted(self._refused)]
        if self._headers:
            patterns = [{"urlPattern": "*"}]
        if patterns:
            self._cdp.on("Fetch.requestPaused", guarded(self._paused))
            await self._cdp.send("Fetch.enable", {"patterns": patterns})

    def _paused(self, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._answer(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        request = {"requestId": event["requestId"]}
        try:
            if event["resourceType"] in self._refused:
                await self._cdp.send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})
            else:
                await self._cdp.send("Fetch.continueRequest", {**request, "headers": self._dressed(event["request"])})
        except PlaywrightError as fault:
            _log.debug("an intercepted request went away: %s", fault)

    def _dressed(self, request: dict[str, Any]) -> list[dict[str, str]]:
        """The headers of a request. Those of ours are given anew each time: a redirect would keep them."""
        ours = {name.lower() for name in self._headers}
        given = {name: value for name, value in request["headers"].items() if name.lower() not in ours}
        if _host(request["url"]) == self._host:
            given |= self._headers
        return [{"name": name, "value": value} for name, value in given.items()]


def _host(url: str) -> str:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www.") + (f":{parts.port}" if parts.port else "")
