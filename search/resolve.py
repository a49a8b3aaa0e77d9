"""Asking search engines where their opaque redirects lead. The places they lead to are not visited."""

import asyncio
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urljoin

import httpx

from fetch.charset import decode
from fetch.errors import TabwrightError
from search.cookies import Cookies
from search.engine import Hit, Send
from search.redirects import is_wrapper, unwrapped, web_address
from search.visitor import chrome
from stealth.headers import navigation_headers

_HOPS = 3  # from one redirect to another of the same engine: http to https, or to another of its hosts
_READ = 65_536  # bytes of a page in which its target is looked for; those of the engines have less than 2000
_WALLS = re.compile(r"//wappass\.|//verify\.baidu\.|/antispider|//qcaptcha\.|/captcha", re.IGNORECASE)
_STRING = r"""("(?:[^"\\\n]|\\.){1,8192}"|'(?:[^'\\\n]|\\.){1,8192}')"""
_SCRIPTS = (
    re.compile(rf"location\.(?:replace|assign)\(\s*{_STRING}"),
    re.compile(rf"location(?:\.href)?\s*=\s*{_STRING}"),
    re.compile(rf"\bvar\s+u\s*=\s*{_STRING}"),  # Bing
)
_PIECES = re.compile(rf"\burl\s*\+=\s*{_STRING}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_META = re.compile(r"<meta\b[^<>]{0,100}http-equiv\s*=\s*[\"']?refresh\b[^<>]{0,9000}>", re.IGNORECASE)
_REFRESH = re.compile(r"\burl\s*=\s*[\"']?([^\"'<>\s]+)", re.IGNORECASE)


async def resolve(
    hits: Sequence[Hit], send: Send, *, limit_s: float, at_once: int = 5, cookies: Cookies | None = None
) -> tuple[Hit, ...]:
    """The hits, in their order, with the redirects replaced by their targets that became known in time.

    Only opaque ones are asked about, each once, `at_once` of them at a time and for `limit_s` seconds in all. What is
    not resolved stays as it is, and `opaque`. `cookies` are those that the engines were asked with.
    """
    wrappers = list(dict.fromkeys(hit.url for hit in hits if hit.opaque))
    places = asyncio.Semaphore(max(1, at_once))
    tasks = {url: asyncio.create_task(_ask(url, send, places, cookies)) for url in wrappers}
    try:
        if tasks:
            await asyncio.wait(tasks.values(), timeout=limit_s)
    finally:
        await _end(tasks.values())
    targets = {url: task.result() for url, task in tasks.items() if not task.cancelled()}
    return tuple(_resolved(hit, targets.get(hit.url)) if hit.opaque else hit for hit in hits)


async def _end(tasks: Iterable[asyncio.Task[str | None]]) -> None:
    for task in (waiting := [task for task in tasks if not task.done()]):
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


def _resolved(hit: Hit, target: str | None) -> Hit:
    return hit if target is None else replace(hit, url=target, opaque=False)


async def _ask(url: str, send: Send, places: asyncio.Semaphore, cookies: Cookies | None) -> str | None:
    async with places:
        for _ in range(_HOPS):
            try:
                response = await send(_request(url, cookies))
            except (TabwrightError, httpx.HTTPError, httpx.InvalidURL):
                return None
            target = destination(response, url)
            if target is None or not is_wrapper(target):
                return target
            url = target
    return None


def _request(url: str, cookies: Cookies | None) -> httpx.Request:
    """As it is sent when somebody follows a link on a page of results."""
    visitor = chrome()
    language = visitor.accept_language(("zh-CN", "zh", "en-US", "en"))
    cookie = None if cookies is None else cookies.header(url)
    headers = navigation_headers(visitor, language, url, urljoin(url, "/"), cookie)
    return httpx.Request("GET", url, headers=headers)


def destination(response: httpx.Response, url: str) -> str | None:
    """Where a redirect sends its visitors: by `Location`, by script, or by a refresh; None when it does not say.

    `url` is the address that was asked. An engine's captcha is no destination.
    """
    said = response.headers.get("location") if response.is_redirect else _written(response)
    target = web_address(said, url)
    if target is None or target == url or _WALLS.search(target):
        return None
    return unwrapped(target)


def _written(response: httpx.Response) -> str | None:
    if response.status_code != httpx.codes.OK:
        return None
    text = decode(response.content[:_READ], None)[0]
    for script in _SCRIPTS:
        found = script.search(text)
        if found is not None:
            return _string(found[1])
    if pieces := _PIECES.findall(text):  # Sogou's way to articles of WeChat
        return "".join(map(_string, pieces)).replace("@", "")
    meta = _META.search(text)
    named = _REFRESH.search(html.unescape(meta[0])) if meta else None
    return named[1] if named else None


def _string(literal: str) -> str:
    """The text of a string in JavaScript. Addresses written into scripts are sometimes escaped for HTML as well."""
    text = _ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) > 1 else found[1], literal[1:-1])
    return text.replace("&amp;", "&")
