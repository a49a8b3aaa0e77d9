"""The document of a tab as it stands, as HTML of its own: what a reader needs to read it without a browser.

document_html.js walks it in our own world. What no script can reach is added by DevTools: closed shadow roots, and
frames of other origins, which may live in processes of their own.
"""

import asyncio
import functools
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.errors import ScriptFailed, TimedOut
from browser_service.tab.block import is_ad
from browser_service.tab.tab import Tab
from browser_service.tab.world import NAME, WorldGone, script, unwrap

_log = logging.getLogger(__name__)

MAX_NODES = 300_000
MAX_CHARS = 10 * 1024 * 1024  # Chromium's pipe carries 40 MB in 4 s, and fails at 100 MB
FRAME_CHARS = 1024 * 1024
WALK_S = 1.5
STYLE_S = 1.0  # … of which styles are looked at
ANSWER_S = 4.0  # the page may be busy
LAST_ANSWER_S = 2.0  # … and after its script was ended
EXTRAS_S = 1.0  # for all closed shadow roots, and for all frames of other origins
FRAMES = 10
LOCAL_FRAMES = 30  # frames in the page's own process are cheap to ask
ROUNDS = 3  # closed roots within closed roots, frames within frames
_HTML = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True)
class Copy:
    """A document. `html` is None where it is not HTML but something that Chromium has a viewer for."""

    html: str | None
    title: str
    url: str
    warnings: tuple[str, ...] = ()


async def copy_document(tab: Tab, deadline: float) -> Copy:
    """Copy the present document, within some seconds and until `deadline` (loop time).

    Raises TimedOut when the page answers nothing, also after its running script was ended.
    """
    answer = await _main(tab, deadline)
    if answer["type"] not in _HTML:
        return Copy(None, answer["title"], answer["url"])
    for _ in range(ROUNDS):
        if not answer["hosts"] or not await _open_closed(tab):
            break
        answer = await _main(tab, deadline)
    documents: dict[str, Mapping[str, Any]] = {"": answer}
    if answer["frames"]:
        await _ask_frames(tab, documents)
    return Copy("".join(_joined(documents)), answer["title"], answer["url"], tuple(_warnings(answer)))


def _warnings(answer: Mapping[str, Any]) -> Iterator[str]:
    stopped = {
        "nodes": f"The page has more than {MAX_NODES} nodes; the rest was left out.",
        "size": f"The page holds more than {MAX_CHARS} characters; the rest was left out.",
        "time": "The page is too large to be read within its time; the rest was left out.",
    }
    if answer["stopped"]:
        yield stopped[answer["stopped"]]
    elif answer["unstyled"]:
        yield "The page is so large that hidden text was not told from visible text everywhere."


@functools.cache
def _source() -> str:
    return f"(options) => ({script('document_html.js')})(options, ({script('hidden.js')})())"


def _options(*, styles: bool = True, wanted: list[str] | None = None) -> dict[str, object]:
    return {
        "maxNodes": MAX_NODES,
        "maxChars": MAX_CHARS if wanted is None else FRAME_CHARS,
        "styleMs": STYLE_S * 1000 if styles else 0,
        "deadlineMs": WALK_S * 1000,
        "wanted": wanted,
    }


async def _main(tab: Tab, deadline: float) -> dict[str, Any]:
    """The main document. Where its scripts do not let go they are ended, and it is asked once more, for less."""
    loop = asyncio.get_running_loop()

    async def ask(limit_s: float, *, styles: bool) -> dict[str, Any]:
        left_s = max(0.1, min(limit_s, deadline - loop.time()))
        answer: dict[str, Any] = await tab.steady(
            lambda: tab.world(_source(), _options(styles=styles), timeout_s=left_s), loop.time() + left_s
        )
        return answer

    try:
        return await ask(ANSWER_S, styles=True)
    except TimedOut:
        return await ask(LAST_ANSWER_S, styles=False)


# --- closed shadow roots ------------------------------------------------------------------------------------------


async def _open_closed(tab: Tab) -> bool:
    """Make the closed shadow roots known of the elements that may have one. Tells whether any has."""
    try:
        async with asyncio.timeout(EXTRAS_S):
            context = await _realm(tab.cdp, tab.world.frame)
            hosts = await tab.cdp.send("Runtime.evaluate", {"expression": "copying.hosts", "contextId": context})
            listed = await tab.cdp.send(
                "Runtime.getProperties", {"objectId": hosts["result"]["objectId"], "ownProperties": True}
            )
            found = [each["value"]["objectId"] for each in listed["result"] if "objectId" in each.get("value", {})]
            return any(await asyncio.gather(*(_open_one(tab.cdp, context, each) for each in found)))
    except (TimeoutError, PlaywrightError, KeyError) as fault:
        _log.debug("closed shadow roots were not looked for: %s", fault)
        return False


async def _open_one(cdp: CDPSession, context: int, host: str) -> bool:
    described = await cdp.send("DOM.describeNode", {"objectId": host})
    for root in described["node"].get("shadowRoots", ()):
        if root["shadowRootType"] == "closed":
            node = {"backendNodeId": root["backendNodeId"], "executionContextId": context}
            resolved = await cdp.send("DOM.resolveNode", node)
            keep = {
                "objectId": resolved["object"]["objectId"],
                "functionDeclaration": "function () { copying.roots.set(this.host, this); }",
            }
            await cdp.send("Runtime.callFunctionOn", keep)
            return True
    return False


async def _realm(cdp: CDPSession, frame: str) -> int:
    """Our world in a frame of this session; made where it is not there, as in other processes."""
    made = await cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": NAME})
    return int(made["executionContextId"])


# --- frames of other origins --------------------------------------------------------------------------------------


async def _ask_frames(tab: Tab, documents: dict[str, Mapping[str, Any]]) -> None:
    """Add the documents of the frames that are missing, by their paths."""
    try:
        async with asyncio.timeout(EXTRAS_S):
            for _ in range(ROUNDS):
                missing = _missing(documents)
                if not missing or not await _ask_round(tab, documents, missing):
                    return
    except (TimeoutError, PlaywrightError) as fault:
        _log.debug("not all frames were read: %s", fault)


def _missing(documents: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The paths of frames that are still gaps."""
    gaps = (each for document in documents.values() for each in document["frames"])
    return [each["path"] for each in gaps if each["path"] not in documents and not is_ad(each["url"])][:FRAMES]


async def _ask_round(tab: Tab, documents: dict[str, Mapping[str, Any]], missing: list[str]) -> bool:
    async def ask(cdp: CDPSession, frame: str) -> None:
        try:
            answer = await _ask_frame(cdp, frame, missing)
        except (WorldGone, ScriptFailed, PlaywrightError) as fault:
            _log.debug("a frame was not read: %s", fault)
            return
        if "parts" in answer:
            documents[answer["path"]] = answer

    known = len(documents)
    await asyncio.gather(*(ask(tab.cdp, each) for each in await _local_frames(tab.cdp, own=False)))
    if all(path in documents for path in missing):
        return True
    for cdp in await _sessions(tab):
        await asyncio.gather(*(ask(cdp, each) for each in await _local_frames(cdp, own=True)))
    return len(documents) > known


async def _ask_frame(cdp: CDPSession, frame: str, wanted: list[str]) -> dict[str, Any]:
    call = {
        "functionDeclaration": _source(),
        "executionContextId": await _realm(cdp, frame),
        "arguments": [{"value": _options(wanted=wanted)}],
        "returnByValue": True,
    }
    answer: dict[str, Any] = unwrap(await cdp.send("Runtime.callFunctionOn", call))
    return answer


async def _local_frames(cdp: CDPSession, *, own: bool) -> list[str]:
    """The ids of the frames in a session's process, that of the session itself where `own`."""
    tree = (await cdp.send("Page.getFrameTree"))["frameTree"]
    waiting: list[dict[str, Any]] = [tree]
    found: list[str] = []
    while waiting and len(found) <= LOCAL_FRAMES:
        node = waiting.pop(0)
        found.append(node["frame"]["id"])
        waiting.extend(node.get("childFrames", ()))
    return found if own else found[1:]


async def _sessions(tab: Tab) -> list[CDPSession]:
    """Sessions of the frames that live in processes of their own."""

    async def session(frame: Any) -> CDPSession | None:
        try:
            return await tab.page.context.new_cdp_session(frame)
        except PlaywrightError:  # it is in its parent's process
            return None

    foreign = [each for each in tab.page.frames[1:] if each.url.startswith("http") and not is_ad(each.url)]
    opened = await asyncio.gather(*(session(each) for each in foreign[:FRAMES]))
    return [each for each in opened if each is not None]


def _joined(documents: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The text of the main document, each frame's in its place."""
    waiting: list[tuple[str, int]] = [("", 0)]
    while waiting:
        path, at = waiting.pop()
        document = documents[path]
        yield document["parts"][at]
        if at == len(document["frames"]):
            continue
        waiting.append((path, at + 1))
        inner = document["frames"][at]["path"]
        if inner in documents:
            waiting.append((inner, 0))
