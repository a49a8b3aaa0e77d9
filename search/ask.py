"""Asking one scraping engine: its redirects, its cookies, its second way, and an end to waiting."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

import httpx

from fetch.errors import TabwrightError, TimedOut
from fetch.http_cookies import Jar
from search.cookies import Cookies
from search.engine import Answer, Engine, Send
from search.query import Query
from search.redirects import web_address
from search.selectors import Selectors
from stealth.headers import is_trustworthy

_log = logging.getLogger(__name__)

REDIRECTS: Final = 5
LARGEST: Final = 10 << 20
"""Bytes of an answer at most."""

INLINE: Final = 256 << 10
"""Bytes beyond which an answer is read in a thread, so that others are served meanwhile."""

_ONCE_MORE = frozenset({"blocked", "unreadable"})
_BEST = ("ok", "empty", "blocked")  # of two answers the one with the state that comes first
_MADE_ANEW = frozenset({b"host", b"cookie", b"content-length", b"transfer-encoding"})


async def ask(
    engine: Engine, query: Query, send: Send, *, selectors: Selectors, timeout_s: float, cookies: Cookies | None = None
) -> Answer:
    """What the engine answers, at most `query.count` hits, within `timeout_s` seconds.

    Where the first way is blocked or cannot be read, the engine's other way is tried in the time that is left. Raises
    nothing but cancellation: every failure is an answer with its state and a sentence.
    """
    visit = _Visit(engine, send, selectors, (cookies or Cookies()).jar(engine.name))
    answers: list[Answer] = []
    try:
        async with asyncio.timeout(timeout_s):
            async for answer in visit.answers(query):
                answers.append(answer)  # noqa: PERF401 - what came before the end of the time is kept
    except TimeoutError:
        late = f"{engine.name} did not answer within {timeout_s:g} s."
        answers = answers or [Answer(engine.name, "timeout", error=late)]
    best = min(answers, key=lambda each: _BEST.index(each.state) if each.state in _BEST else len(_BEST))
    return replace(best, hits=best.hits[: query.count])


class _Visit:
    """One search at one engine."""

    def __init__(self, engine: Engine, send: Send, selectors: Selectors, jar: Jar) -> None:
        self._engine = engine
        self._send = send
        self._selectors = selectors
        self._jar = jar

    async def answers(self, query: Query) -> AsyncIterator[Answer]:
        """What the ways to ask give, until one is good."""
        request = self._engine.request(query)
        stranger = self._engine.cookie_first and self._jar.header(str(request.url)) is None
        answer = await self._exchange(request)
        if stranger and answer.state in _ONCE_MORE and self._jar.header(str(request.url)) is not None:
            answer = await self._exchange(request)
        yield answer
        other = self._engine.fallback(query) if answer.state in _ONCE_MORE else None
        if other is not None:
            yield await self._exchange(other)

    async def _exchange(self, request: httpx.Request) -> Answer:
        """The answer at the end of the redirects, or why there is none."""
        try:
            for _ in range(REDIRECTS + 1):
                url = str(request.url)
                response = await self._send(_with_cookie(request, self._jar.header(url)))
                self._jar.store(response.headers.get_list("set-cookie"), url)
                if len(response.content) > LARGEST:
                    return self._error(f"The answer of {self._engine.name} is larger than {LARGEST >> 20} MiB.")
                answer = await self._read(response)
                target = self._onward(response, url)
                if answer.state == "blocked" or target is None:
                    return answer
                request = _followed(request, response, target)
        except TimedOut as fault:
            return Answer(self._engine.name, "timeout", error=fault.detail)
        except TabwrightError as fault:
            return self._error(fault.detail)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as fault:
            return self._error(f"{self._engine.name} cannot be reached: {fault or type(fault).__name__}.")
        return self._error(f"{self._engine.name} redirects more than {REDIRECTS} times.")

    def _onward(self, response: httpx.Response, url: str) -> str | None:
        """Where the answer sends us, if it does and that is the engine's own."""
        target = web_address(response.headers["location"], url) if response.has_redirect_location else None
        host = (urlsplit(target).hostname or "") if target is not None else ""
        return target if any(f".{host}".endswith(f".{own}") for own in self._engine.hosts) else None

    async def _read(self, response: httpx.Response) -> Answer:
        parse, selectors = self._engine.parse, self._selectors
        try:
            if len(response.content) > INLINE:
                return await asyncio.to_thread(parse, response, selectors)
            return parse(response, selectors)
        except Exception as fault:  # noqa: BLE001 - one engine's mistake must not end the search of all
            _log.exception("%s: reading the answer failed", self._engine.name)
            what = f"The answer of {self._engine.name} cannot be read: {type(fault).__name__}."
            return Answer(self._engine.name, "unreadable", error=what)

    def _error(self, sentence: str) -> Answer:
        return Answer(self._engine.name, "error", error=sentence)


def _with_cookie(request: httpx.Request, cookie: str | None) -> httpx.Request:
    """The request with these cookies, where browsers have them: before `Priority`."""
    headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _MADE_ANEW]
    if cookie is not None:
        last = bool(headers) and headers[-1][0].lower() == b"priority"
        headers.insert(len(headers) - last, (b"Cookie", cookie.encode("latin-1", "replace")))
    return httpx.Request(request.method, request.url, headers=headers, content=request.content or None)


def _followed(request: httpx.Request, response: httpx.Response, target: str) -> httpx.Request:
    """The request for where a redirect leads, as browsers make it (Fetch standard, HTTP-redirect fetch)."""
    code, method = response.status_code, request.method
    as_get = code == httpx.codes.SEE_OTHER or (code in {301, 302} and method == "POST")
    open_ears = () if is_trustworthy(urlsplit(target)) else (b"sec-", b"priority")
    dropped = (*open_ears, *((b"content-", b"origin") if as_get else ()))
    headers = [(name, value) for name, value in request.headers.raw if not name.lower().startswith(dropped)]
    headers = [(name, value) for name, value in headers if name.lower() not in _MADE_ANEW]
    content = None if as_get else request.content or None
    return httpx.Request("GET" if as_get else method, target, headers=headers, content=content)
