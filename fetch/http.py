"""Phase 1 of a fetch: one GET as a browser's navigation does it, in the right order, and again where that may help.

Through the egress proxy, which is the only way out; with the identity and languages that belong to the attempt; with
redirects, and cookies for as long as the call lasts. What it gives is a page or an error that says what happened.
"""

import asyncio
import contextlib
import random
import re
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

import httpx
from ada_url import join_url

from fetch.address import Address, parse_address
from fetch.errors import AddressForbidden, InvalidRequest, NavigationFailed, TabwrightError, TimedOut
from fetch.http_cookies import Jar
from fetch.http_dates import retry_after
from fetch.http_exchange import Answer, Fields, Question, asking
from fetch.http_faults import RETRIED_REASONS, ProxyRoute, failed
from fetch.http_routes import Routes
from fetch.page import Cookie, Page
from fetch.politeness import Politeness, Turn, host_key
from stealth.headers import navigation_headers
from stealth.identity import LANGUAGES, Identity

__all__ = ["MAX_BYTES", "RETRIED", "WAITS_S", "Errand", "HttpClient", "ProxyRoute", "retry_after"]

MAX_BYTES: Final = 10 * 2**20
MAX_REDIRECTS: Final = 20  # as browsers (Fetch standard, HTTP-redirect fetch)
SAME_TWICE: Final = 3  # the same address with the same cookies this often: it will not end
WAITS_S: Final = (2.0, 4.0, 6.0)
JITTER: Final = 0.6
RETRIED: Final = frozenset({500, 504, *range(520, 528), 530, 598, 599})
"""Statuses that may be gone in a few seconds; 520 and up are Cloudflare's for a site behind it that fails."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_MEDIA_TYPE = re.compile(r"\s*([^\s;,/]+/[^\s;,]+)")
_CHARSET = re.compile(r';\s*charset\s*=\s*(?:"([^"]*)"|([^\s;,]+))', re.IGNORECASE)
# The connection's own: they say where a request goes, how long it is, or what the hop before may do
_NOT_GIVEN = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_OF_THE_WAY = frozenset({"content-encoding", "content-length", "transfer-encoding"})  # what it took to bring a body


@dataclass(frozen=True)
class Errand:
    """What is to be got, and as whom. Attempts take the identities in turn.

    `headers` replace those of the identity; on the way to another site only such stay as every browser sends.
    `cookies` go where their domain and path say. `max_bytes` is of the body, its encodings undone; with `unread` it is
    not read at all. Raises InvalidRequest for headers that are not valid or not the caller's to set.
    """

    url: str
    route: ProxyRoute
    identities: Sequence[Identity]
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Sequence[Cookie] = ()
    max_bytes: int = MAX_BYTES
    unread: bool = False

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not _TOKEN.fullmatch(name) or _UNPRINTABLE.search(value):
                raise InvalidRequest(f"The header {name[:40]!r} is not valid.")
            if name.lower() in _NOT_GIVEN or name.lower().startswith("proxy-"):
                raise InvalidRequest(f"The header {name} cannot be set: it belongs to the connection.")
        for cookie in self.cookies:
            if _UNPRINTABLE.search(cookie.name + cookie.value) or ";" in cookie.name + cookie.value:
                raise InvalidRequest(f"The cookie {cookie.name[:40]!r} is not valid.")


class HttpClient:
    """`async with HttpClient(check) as http: page = await http.fetch(errand, deadline=…)`.

    `check` is asked about host and port before each request, redirects included, and raises AddressForbidden. `tls`
    replaces the certificates that are trusted. `waits_s` are the pauses before each retry, to which `chance` (0 to 1)
    adds up to 60 %. Connections are kept; cookies are not, beyond a call.
    """

    def __init__(
        self,
        check: Callable[[str, int], None],
        *,
        tls: ssl.SSLContext | None = None,
        waits_s: Sequence[float] = WAITS_S,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._check = check
        self._waits_s = waits_s
        self._chance = chance
        self._routes = Routes(tls)

    async def __aenter__(self) -> Self:
        await self._routes.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._routes.close()

    async def fetch(
        self, errand: Errand, *, deadline: float, retries: int = 3, turns: Politeness | None = None
    ) -> Page:
        """Get it, with retries on connection faults and on statuses that may be gone soon.

        A pause that does not fit before the deadline (loop time) is not begun. Spent retries give the last page there
        was, or raise the last fault. 403, 429, 502 and 503 are given back at once.
        """
        loop = asyncio.get_running_loop()
        last: Page | None = None
        for attempt in range(retries + 1):
            fault: TabwrightError | None = None
            try:
                last = await self.get(errand, deadline=deadline, attempt=attempt, turns=turns)
            except (NavigationFailed, TimedOut) as failure:
                fault = failure
            if fault is None and last is not None and last.status not in RETRIED:
                return last
            wait_s = self._wait(attempt)
            again = fault is None or fault.about.get("reason") in RETRIED_REASONS
            if not again or attempt == retries or loop.time() + wait_s >= deadline:
                break
            await asyncio.sleep(wait_s)
        if last is None:
            raise fault or TimedOut("There was no time for a request.")
        return last

    async def get(self, errand: Errand, *, deadline: float, attempt: int = 0, turns: Politeness | None = None) -> Page:
        """Get it once, along its redirects.

        Raises AddressForbidden, ContentTooLarge, TimedOut and NavigationFailed (`about["reason"]` says which kind, see
        `fetch.http_faults`); each with the `final_url` that it is about.
        """
        call = _Call(errand, attempt)
        address = parse_address(errand.url)
        try:
            while True:
                self._check(address.host, address.port)
                async with (
                    _turn(turns, address, deadline) as turn,
                    self._routes.transport(errand.route, address) as transport,
                    asking(transport, errand.route, Question(address, call.headers(address)), deadline) as answer,
                ):
                    _note(turn, answer)
                    after = await call.take(address, answer, deadline)
                if isinstance(after, Page):
                    return after
                address = after
        except TabwrightError as fault:
            fault.about.setdefault("final_url", address.url)
            raise

    async def send(
        self,
        request: httpx.Request,
        route: ProxyRoute,
        *,
        deadline: float,
        check: Callable[[str, int], None] | None = None,
    ) -> httpx.Response:
        """Send a request as it is, and read the whole answer, its encodings undone; redirects are not followed.

        `check` is asked in place of the client's own. Raises as `get` does.
        """
        address = parse_address(str(request.url))
        (check or self._check)(address.host, address.port)
        headers = [(_text(name), _text(value)) for name, value in request.headers.raw if _text(name).lower() != "host"]
        question = Question(address, headers, request.method, request.content or None)
        async with (
            self._routes.transport(route, address) as transport,
            asking(transport, route, question, deadline) as answer,
        ):
            body, cut = await answer.read(deadline, MAX_BYTES)
        if cut:
            raise failed(address.url, "cut", f"its answer was cut off: {cut}")
        fields = [(name.encode(), value.encode()) for name, value in answer.fields if name not in _OF_THE_WAY]
        return httpx.Response(answer.status, headers=fields, content=body, request=request)

    def _wait(self, attempt: int) -> float:
        pause_s = self._waits_s[min(attempt, len(self._waits_s) - 1)]
        return pause_s * (1 + JITTER * self._chance())


class _Call:
    """One attempt, from the first request to the page."""

    def __init__(self, errand: Errand, attempt: int) -> None:
        self._errand = errand
        self._identity = errand.identities[attempt % len(errand.identities)]
        self._languages = LANGUAGES[attempt % len(LANGUAGES)]
        self._first = self._identity is errand.identities[0]
        self._jar = Jar(errand.cookies)
        self._start: Address | None = None
        self._redirects: list[tuple[str, int]] = []
        self._asked: Counter[tuple[str, str | None]] = Counter()

    def headers(self, address: Address) -> Fields:
        """What to send to it. Raises NavigationFailed when that was sent too often."""
        self._start = self._start or address
        cookies = self._jar.header(address.url)
        self._asked[address.url, cookies] += 1
        if self._asked[address.url, cookies] > SAME_TWICE or len(self._redirects) > MAX_REDIRECTS:
            words = f"it redirects in a loop, or more than {MAX_REDIRECTS} times"
            raise failed(address.url, "redirect_loop", words)
        given = {name.lower(): (name, value) for name, value in self._errand.headers.items()}
        home = _is_home(self._start, address)
        _, own = given.pop("cookie", ("", ""))
        _, referer = given.pop("referer", ("", None))
        cookie = "; ".join(filter(None, (own if home else None, cookies))) or None
        language = self._identity.accept_language(self._languages)
        fields = navigation_headers(self._identity, language, address.url, referer, cookie)
        if "user-agent" in given:  # whose client hints nobody knows
            fields = [(name, value) for name, value in fields if not name.startswith("sec-ch-ua")]
        merged = [given.pop(name.lower(), (name, value)) for name, value in fields]
        if home:
            merged += given.values()
        return [("Connection", "keep-alive"), *merged] if address.scheme == "http" else merged

    async def take(self, address: Address, answer: Answer, deadline: float) -> Page | Address:
        """The page that an answer is, or where it sends us."""
        self._jar.store(answer.all("set-cookie"), address.url)
        location = answer.headers.get("location")
        if answer.status in _REDIRECTS and location is not None:
            self._redirects.append((address.url, answer.status))
            after = _target(address, answer.all("location")[0])
            await answer.drain()
            return after
        body, cut = (b"", "") if self._errand.unread else await answer.read(deadline, self._errand.max_bytes)
        kind = answer.all("content-type")[-1:]
        return Page(
            url=address.url,
            method="http",
            status=answer.status,
            content_type=_media_type(kind[0] if kind else ""),
            charset=_charset(kind[0] if kind else ""),
            headers=answer.headers,
            body=body,
            redirects=tuple(self._redirects),
            cookies=self._jar.set_by_servers if self._first else (),  # others would know us as somebody else
            cut=bool(cut),
            warnings=(f"The page was cut off after {len(body)} bytes: {cut}.",) if cut else (),
        )


@contextlib.asynccontextmanager
async def _turn(turns: Politeness | None, address: Address, deadline: float) -> AsyncIterator[Turn | None]:
    """The host's turn for one request; a request that fails is told as one without an answer."""
    if turns is None:
        yield None
        return
    loop = asyncio.get_running_loop()
    async with turns.turn(host_key(address.url), deadline) as turn:
        began = loop.time()
        try:
            yield turn
        except NavigationFailed as fault:
            if fault.about.get("reason") in RETRIED_REASONS:
                turn.note(None, loop.time() - began)
            raise


def _note(turn: Turn | None, answer: Answer) -> None:
    if turn is not None:
        turn.note(answer.status, answer.seconds, retry_after(answer.headers))


def _is_home(start: Address, address: Address) -> bool:
    """Whether secrets meant for the first site may go to this one: the same host, and no less private."""
    if start.host != address.host:
        return False
    upgraded = (start.scheme, start.port, address.scheme, address.port) == ("http", 80, "https", 443)
    return upgraded or (start.scheme, start.port) == (address.scheme, address.port)


def _target(address: Address, location: str) -> Address:
    """Where a redirect leads. A fragment stays unless the redirect brings its own (RFC 9110, 10.2.2)."""
    try:
        url = join_url(address.url, location)
    except ValueError:
        raise failed(address.url, "bad_redirect", "it redirects to something that is no address") from None
    fragment = urlsplit(address.url).fragment
    if fragment and "#" not in url:
        url = f"{url}#{fragment}"
    try:
        return parse_address(url)
    except InvalidRequest:
        raise failed(address.url, "bad_redirect", "it redirects to something that is no address") from None
    except AddressForbidden as fault:
        raise AddressForbidden(f"{address.host} redirects elsewhere: {fault.detail}", hint=fault.hint) from None


def _text(data: bytes) -> str:
    """As it goes back to the same bytes where it is sent."""
    return data.decode("utf-8", "surrogateescape")


def _media_type(header: str) -> str:
    match = _MEDIA_TYPE.match(header)
    return match[1].lower() if match else ""


def _charset(header: str) -> str | None:
    match = _CHARSET.search(header)
    return (match[1] or match[2] or "").strip() or None if match else None
