"""What came of an address, as a page: the document as it stands, or the bytes of what is none."""

import asyncio
import logging
import re
import time
from dataclasses import replace

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Response

from browser_service.egress import Exit
from browser_service.errors import ContentTooLarge
from browser_service.tab.document_html import copy_document
from browser_service.tab.events import guarded
from browser_service.tab.navigate import clear, refusal_of_document
from browser_service.tab.resource import load_resource
from browser_service.tab.tab import Tab
from browser_service.tab.verdict import net_failure
from browser_service.tab.world import terminate
from fetch.page import Cookie, Page

_log = logging.getLogger(__name__)

BODY = 10 * 1024 * 1024
BODY_LIMIT_S = 5.0
STEP_LIMIT_S = 3.0  # a question to the browser alone
_PDF = "application/pdf"
_READABLE = re.compile(r"^text/(?!html)|^application/(pdf|json|xml|yaml|x-ndjson|.+\+(json|xml))$")
_TEXT = "() => document.documentElement ? document.documentElement.innerText : ''"


class Answer:
    """The answer in a tab. `notes` are warnings that its page will carry; to be made before the tab goes anywhere."""

    def __init__(self, tab: Tab, exit_: Exit) -> None:
        self.notes: list[str] = []
        self._tab = tab
        self._exit = exit_
        self._since = time.monotonic()
        self._response: Response | None = None

    def watch(self) -> None:
        """Begin to keep the last answer for the main frame."""
        self._tab.page.on("response", guarded(self._answered))

    def _answered(self, response: Response) -> None:
        if response.request.is_navigation_request() and response.frame.parent_frame is None:
            self._response = response

    async def read(self, deadline: float) -> Page:
        """The present document, by `deadline` (loop time).

        Raises AddressForbidden or NavigationFailed where the page led somewhere that does not load, TimedOut when it
        does not answer, ContentTooLarge.
        """
        tab, settled = self._tab, self._tab.settled
        await self._refuse_error_page()
        notes = list(self.notes)
        if settled is not None and settled.how != "quiet":
            notes.append(f"Not waited for any longer: {settled.waited_for}.")
            if not await tab.answers():
                await terminate(tab.cdp)  # a script that does not end: it has had its time
        copy = await copy_document(tab, deadline)
        page = replace(await self._page(copy.url), title=copy.title, warnings=(*notes, *copy.warnings))
        if copy.html is not None:
            return replace(page, html=copy.html)
        return await self._as_sent(page, deadline)

    async def nothing(self, url: str, deadline: float) -> Page:
        """An answer that cannot be shown: no content, a download, a prompt for a password. Of text, the bytes."""
        page = await self._page(url)
        if page.status == 200 and _READABLE.search(page.content_type):
            body = await self._load(url, deadline)
            if body is not None:
                return replace(page, body=body, warnings=tuple(self.notes))
        what = f" of type {page.content_type}" if page.content_type else ""
        warnings = (*self.notes, f"The browser shows nothing of this answer{what}.")
        shown = page.status != 200 or page.content_type in {"", "text/html"}
        return replace(page, html="" if shown else None, warnings=warnings)

    async def _page(self, url: str) -> Page:
        """All but the content."""
        seen = self._tab.watch.navigation
        media_type, charset = _content_type(seen.content_type or "")
        return Page(
            url=url,
            method="browser",
            status=seen.status,
            content_type=media_type,
            charset=charset,
            headers=dict(seen.headers),
            redirects=tuple(seen.redirects),
            cookies=await self._cookies(url),
        )

    async def _as_sent(self, page: Page, deadline: float) -> Page:
        """A document that is not HTML: the bytes that came, else the text that Chromium shows of it."""
        if page.content_type == _PDF:  # the answer that Playwright has is the viewer's
            return replace(page, body=await self._load(page.url, deadline) or b"")
        try:
            async with asyncio.timeout(BODY_LIMIT_S):
                body = await self._response.body() if self._response is not None else b""
            if body:
                return replace(page, body=_bounded(body))
        except (TimeoutError, PlaywrightError) as fault:
            _log.debug("the body of a document was not kept: %s", fault)
        limit_s = max(0.1, min(STEP_LIMIT_S, deadline - asyncio.get_running_loop().time()))
        text = str(await self._tab.steady(lambda: self._tab.world(_TEXT, timeout_s=limit_s), deadline))
        return replace(page, body=text.encode(errors="replace"), charset="utf-8")

    async def _load(self, url: str, deadline: float) -> bytes | None:
        left_s = max(0.1, deadline - asyncio.get_running_loop().time())
        body = await load_resource(self._tab, url, limit=BODY, timeout_s=left_s)
        return None if body is None else _bounded(body)

    async def _cookies(self, url: str) -> tuple[Cookie, ...]:
        try:
            async with asyncio.timeout(STEP_LIMIT_S):
                found = await self._tab.page.context.cookies(url)
        except (TimeoutError, PlaywrightError) as fault:
            _log.debug("cookies were not read: %s", fault)
            return ()
        return tuple(
            Cookie(
                name=each["name"],
                value=each["value"],
                domain=each["domain"],
                path=each["path"],
                expires=each["expires"] if each["expires"] >= 0 else None,
                secure=each["secure"],
                http_only=each["httpOnly"],
            )
            for each in found
        )

    async def _refuse_error_page(self) -> None:
        """A page of Chromium's or of the proxy's own is never content: a script may have led there."""
        tab = self._tab
        ours = refusal_of_document(tab, self._exit, self._since)
        seen = tab.watch.navigation
        if ours is None and seen.error is not None and tab.page.url.startswith("chrome-error:"):
            ours = net_failure(seen.error, seen.url)
        if ours is not None:
            await clear(tab)
            raise ours


def _bounded(body: bytes) -> bytes:
    if len(body) > BODY:
        raise ContentTooLarge(f"The body is larger than {BODY} bytes.", hint="Only smaller documents can be read.")
    return body


def _content_type(header: str) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type header."""
    media_type, _, rest = header.partition(";")
    for each in rest.split(";"):
        name, _, value = each.partition("=")
        if name.strip().lower() == "charset" and value.strip():
            return media_type.strip().lower(), value.strip().strip("\"'")
    return media_type.strip().lower(), None
