"""Reading a live page: what a person sees of it, as text, Markdown or cleaned HTML, with its links.

Nothing is read with `innerText`: it takes 16 s on a million nodes, keeps text that is clipped or out of reach, and
knows neither shadow roots nor frames. One bounded walk in the page (read.js) does all of it.
"""

import asyncio
import functools
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import ElementHandle

from browser_service.errors import ElementNotFound, InvalidRequest, TimedOut
from browser_service.tab.world import Call, WorldGone, script
from fetch.markdown import to_markdown

Format = Literal["text", "markdown", "html"]

MAX_NODES = 300_000
MAX_CHARS = 10 * 1024 * 1024  # Chromium's pipe carries 40 MB in 4 s, and fails at 100 MB
PAGE_SHARE = 0.6  # of the time limit is for the walk; the rest is for its way back and for Markdown


@dataclass(frozen=True)
class Link:
    """A link as it is seen: its text, folded and at most 200 characters, and its absolute http(s) address."""

    text: str
    url: str


@dataclass(frozen=True)
class Reading:
    """What was read. `title`, `url` and `content` are of the same document at the same moment."""

    title: str
    url: str
    content: str
    links: tuple[Link, ...]
    hidden: int
    """elements with text that no one sees, which were left out"""
    truncated_dom: bool
    """the page is larger than what is read of it"""
    warnings: tuple[str, ...]


async def read(call: Call, *, selector: str | None, format: Format, main_content: bool, timeout_s: float) -> Reading:  # noqa: A002
    """Read the document that `call` runs in, or the first element in it that matches the CSS `selector`.

    Open shadow roots are searched too. Raises ElementNotFound, InvalidRequest for what is no CSS selector, TimedOut;
    WorldGone passes through: the caller asks the next document.
    """
    deadline = asyncio.get_running_loop().time() + timeout_s
    answer = await call(_source(), None, _options(selector, format, main_content, timeout_s), timeout_s=timeout_s)
    return await _finish(answer, selector, format, deadline)


async def read_element(handle: ElementHandle, *, format: Format, main_content: bool, timeout_s: float) -> Reading:  # noqa: A002
    """Read one element, found by other means. Raises TimedOut, and Playwright's error when its document is gone."""
    deadline = asyncio.get_running_loop().time() + timeout_s
    try:
        async with asyncio.timeout(timeout_s):
            answer = await handle.evaluate(_source(), _options(None, format, main_content, timeout_s))
    except TimeoutError:
        raise TimedOut("The page did not answer in time.", hint="Raise timeout_ms, or open it anew.") from None
    return await _finish(answer, None, format, deadline)


@functools.cache
def _source() -> str:
    sinks = ", ".join(f"{name}Sink: {script(f'read_{name}.js')}" for name in ("text", "html", "main"))
    return f"(element, options) => ({script('read.js')})(element, options, {{{sinks}}})"


def _options(selector: str | None, format_: Format, main_content: bool, timeout_s: float) -> dict[str, object]:
    return {
        "selector": selector,
        "html": format_ != "text",
        "main": main_content,
        "maxNodes": MAX_NODES,
        "maxChars": MAX_CHARS,
        "deadlineMs": timeout_s * PAGE_SHARE * 1000,
    }


async def _finish(answer: dict[str, Any], selector: str | None, format_: Format, deadline: float) -> Reading:
    if answer.get("fault") == "selector":
        raise InvalidRequest(f"{selector!r} is not a CSS selector: {answer['detail']}")
    if answer.get("fault") == "missing":
        if answer["begun"]:
            raise WorldGone("a new document has only begun")
        raise ElementNotFound(f"Nothing on the page matches {selector!r}." if selector else "The page has no content.")
    content = str(answer["content"])
    if format_ == "markdown":
        try:
            async with asyncio.timeout_at(deadline):
                content = await asyncio.to_thread(to_markdown, content, str(answer["url"]))
        except TimeoutError:
            raise TimedOut("The page was read, but making Markdown of it took too long; text is faster.") from None
    return Reading(
        title=answer["title"],
        url=answer["url"],
        content=content,
        links=tuple(Link(text=each["text"], url=each["url"]) for each in answer["links"]),
        hidden=answer["hidden"],
        truncated_dom=bool(answer["stopped"]),
        warnings=tuple(_warnings(answer)),
    )


_STOPPED = {
    "nodes": f"The page has more than {MAX_NODES} nodes; the rest was left out.",
    "size": f"The page holds more than {MAX_CHARS} characters; the rest was left out.",
    "time": "The page is too large to be read within the time limit; the rest was left out.",
}


def _warnings(answer: dict[str, Any]) -> list[str]:
    warnings = []
    if answer["stopped"]:
        warnings.append(_STOPPED[answer["stopped"]])
    if answer["hidden"]:
        warnings.append(f"Hidden elements with text, left out: {answer['hidden']}.")
    if answer["unseen"]:
        warnings.append(f"Invisible characters, removed: {answer['unseen']}.")
    return warnings
