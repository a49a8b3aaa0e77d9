"""What a page is loading, in as much as whoever reads it must wait for that.

By Playwright's request events: DevTools' own cost three times the CPU a request, since its many events come a second
time through the driver. Images, fonts, media and pings bring no text and are only counted as signs of life.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response, WebSocket

from browser_service.tab.events import Signal, guarded, loop_time
from browser_service.tab.navigation import KEPT, Navigator

Kind = Literal["script", "sheet", "data", "frame"]

_KINDS: dict[str, Kind] = {
    "script": "script",
    "stylesheet": "sheet",
    "xhr": "data",
    "fetch": "data",
    "document": "frame",
}
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/stream+json", "application/grpc-web")
_REPEATS = 3  # the same asked so often, one after another, without any growth of the page is a poll
_APART_S = 0.25  # what is asked so often within this time is asked side by side
_SMALL = 65536  # a body that comes with its head

# Measuring the visitor, by host label or by the usual last part of a path …
_NOISE = re.compile(
    r"""//([^/?#]*\.)?(analytics|google-analytics|googletagmanager|doubleclick|telemetry|sentry|metrics|stats|rum
        |pixel|beacon|collect(or)?|track(ing|er)?|logs?|hm)\.[^/?#]*(/|$)
      | /(collect|beacon|telemetry|rum|pixel(\.gif)?|hm\.js|gtm\.js|gtag/js|analytics\.js|ga\.js|matomo\.(js|php))$""",
    re.VERBOSE | re.IGNORECASE,
)
# … and what is only so when something is sent there: a reader's content may well be called events or stats.
_SENT_NOISE = re.compile(
    r"/(events?|logs?|logging|metrics|stats|statistics|track(ing)?|report(s|ing)?|ping)/?$", re.IGNORECASE
)
_STAMP = re.compile(r"\d{10,}")
_HELD = re.compile(r"(^|[/._-])((long)?-?poll(ing)?|comet|socket\.io|sockjs|signalr)([/._-]|$)", re.IGNORECASE)


def is_noise(method: str, url: str) -> bool:
    """Whether a request only measures the visitor, so that no text comes of it."""
    address = url.split("?", 1)[0].split("#", 1)[0]
    return bool(_NOISE.search(address)) or (method == "POST" and bool(_SENT_NOISE.search(address)))


@dataclass(slots=True)
class Pending:
    """A request that has not ended."""

    kind: Kind
    method: str
    url: str
    started: float
    held: bool = False  # the server answers when it has something to say
    answered: float | None = None
    small: bool = False  # the answer's body is short


class Network:
    """The requests of a page. Times are the loop's.

    `grown` tells when the page's text last grew; `cut` is called when the present document's body broke off.
    """

    def __init__(
        self, page: Page, signal: Signal, navigator: Navigator, grown: Callable[[], float], cut: Callable[[], None]
    ) -> None:
        self.pending: dict[Request, Pending] = {}
        self.ended = 0.0  # when something that may bring text last ended
        self.fed: float | None = None  # when the first data came
        self.frame_ended = 0.0
        self.heard = 0.0  # when anything last ended, images too
        self.stream: float | None = None  # since when one is open
        self.failed: deque[tuple[str, str]] = deque(maxlen=KEPT)
        self.failures = 0
        self._page = page
        self._signal = signal
        self._navigator = navigator
        self._grown = grown
        self._cut = cut
        self._starts: dict[str, deque[float]] = {}
        self._sizes: deque[tuple[str, int]] = deque(maxlen=KEPT)

    def attach(self) -> None:
        """Subscribe to the page's events."""
        self._page.on("request", guarded(self._requested))
        self._page.on("response", guarded(self._answered))
        self._page.on("requestfinished", guarded(self._end))
        self._page.on("requestfailed", guarded(self._request_failed))
        self._page.on("websocket", guarded(self._websocket_opened))

    def reset(self) -> None:
        """A new document: what the old one asked for no longer counts."""
        self.pending.clear()
        self._starts.clear()
        self.ended = self.frame_ended = 0.0
        self.stream = self.fed = None

    def forget_failures(self) -> None:
        """A new action begins."""
        self.failed.clear()
        self.failures = 0

    def declared_size(self, url: str) -> int | None:
        """The length in bytes that the last answer for a document at this address declared."""
        return next((size for known, size in reversed(self._sizes) if known == url), None)

    def _requested(self, request: Request) -> None:
        kind = _KINDS.get(request.resource_type)
        if kind is None:
            if request.resource_type == "eventsource":
                self.stream = self.stream or loop_time()
            return
        if kind == "frame" and self._of_main_frame(request):
            self._navigator.request(request)
            return
        url, method = request.url, request.method
        if kind in {"data", "script"} and is_noise(method, url):
            return
        now = loop_time()
        pending = Pending(kind, method, url, now)
        if kind == "data":
            if self._repeats(request, now):
                return
            pending.held = bool(_HELD.search(url.split("?", 1)[0]))
        self.pending[request] = pending
        self._signal.fire()

    def _repeats(self, request: Request, now: float) -> bool:
        asked = f"{request.method} {_STAMP.sub('', request.url)} {hash(request.post_data_buffer)}"
        starts = self._starts.setdefault(asked, deque(maxlen=_REPEATS))
        starts.append(now)
        return len(starts) == _REPEATS and now - starts[0] > _APART_S and self._grown() < starts[0]

    def _answered(self, response: Response) -> None:
        kind = _KINDS.get(response.request.resource_type)
        if response.status >= 400 and not (kind == "frame" and self._of_main_frame(response.request)):
            self._failed(response.url, f"status {response.status}")
        if kind == "frame":
            self._document_answered(response)
            return
        pending = self.pending.get(response.request)
        if pending is None or kind != "data":
            return
        if response.headers.get("content-type", "").startswith(_STREAMS):
            del self.pending[response.request]
            self.stream = self.stream or loop_time()
        else:
            pending.answered = loop_time()
            size = response.headers.get("content-length", "")
            pending.small = size.isascii() and size.isdigit() and int(size) <= _SMALL
        self._signal.fire()

    def _document_answered(self, response: Response) -> None:
        self._navigator.response(response)
        size = response.headers.get("content-length", "")
        if size.isascii() and size.isdigit():
            self._sizes.append((response.url, int(size)))

    def _request_failed(self, request: Request) -> None:
        error = request.failure or "net::ERR_FAILED"
        main = request.resource_type == "document" and self._of_main_frame(request)
        if main and self._navigator.failed(request, error):
            self._cut()
        if error != "net::ERR_ABORTED" and not main:
            self._failed(request.url, error)
        self._end(request)

    def _failed(self, url: str, why: str) -> None:
        self.failures += 1
        self.failed.append((url, why))

    def _end(self, request: Request) -> None:
        self.heard = now = loop_time()
        pending = self.pending.pop(request, None)
        if pending is None:
            return
        if pending.kind == "frame":
            self.frame_ended = now
        elif pending.kind != "sheet" and not pending.held:
            self.ended = now
            if pending.kind == "data" and self.fed is None:
                self.fed = now
        self._signal.fire()

    def _websocket_opened(self, _socket: WebSocket) -> None:
        self.stream = self.stream or loop_time()
        self._signal.fire()

    def _of_main_frame(self, request: Request) -> bool:
        if not request.is_navigation_request():
            return False
        try:
            return request.frame.parent_frame is None
        except PlaywrightError:  # the first document of a new tab: its frame is not known yet
            return True
