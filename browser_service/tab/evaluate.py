"""Running a caller's script in a page: bounded in time and size, and leaving nothing behind that the page could see.

The script's text goes to the browser as a program of its own, not through the page's `eval`: that works under any
content security policy, and a page that replaced `eval` does not notice. Everything that the script throws is caught in
the page, so that an exception out of the browser means that the text does not parse, and nothing of it ran.
"""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import CDPSession, Frame
from playwright.async_api import Error as PlaywrightError

from browser_service.errors import ScriptFailed, TimedOut
from browser_service.tab.script_forms import Form, forms
from browser_service.tab.world import World, is_gone, script, terminate, unwrap

LIMIT_BYTES = 2 * 2**20
MARGIN_S = 0.2
_RUNNER = script("evaluate.js")
_FIRST_LINE = _RUNNER.count("\n") + 2  # of the caller's function in the program
_PIECE = """function (from) {
  let to = Math.min(from + 1048576, this.whole.length);
  if (/[\\udc00-\\udfff]/.test(this.whole.charAt(to))) to++;
  return [this.whole.slice(from, to), to < this.whole.length ? to : null];
}"""
_WORLD = "caller"
_GROUP = "evaluated"
_FRAME_OF_SCRIPT = re.compile(r"^\s+at .*?<anonymous>:(\d+):\d+\)?$", re.MULTILINE)
_PARSER_AT_END = re.compile(r"Unexpected token '[)}]'|missing \) after|Unexpected end of input")


@dataclass(frozen=True)
class Evaluated:
    """What a script gave.

    `result` is text: a string as it is, anything else as indented JSON; what JSON cannot hold is described (`<a#id>`,
    `10n`, `undefined`). `value` is the JSON itself, the described text likewise, None for undefined. Where `truncated`,
    `result` was cut, and `value` is None unless it is text; `whole` is then the text up to `keep_bytes`, if asked for.
    """

    value: Any
    result: str
    truncated: bool = False
    whole: str | None = None


@dataclass(frozen=True)
class _Limits:
    deadline: float
    limit_bytes: int
    keep_bytes: int


async def evaluate(
    cdp: CDPSession,
    js: str,
    *,
    world: Literal["main", "isolated"],
    isolated: World,
    timeout_s: float,
    limit_bytes: int = LIMIT_BYTES,
    keep_bytes: int = 0,
) -> Evaluated:
    """Run `js` in the main frame: an expression, statements, or a function body; promises are awaited.

    Statements without `return` give their last expression. A function is called. A value over `limit_bytes` of UTF-8 is
    cut; up to `keep_bytes` of it are brought along. Raises ScriptFailed for what the script throws, for a script that
    does not parse, and when the page moves on meanwhile; TimedOut after `timeout_s`, with the script ended.
    """
    limits = _limits(timeout_s, limit_bytes, keep_bytes)
    try:
        async with asyncio.timeout_at(limits.deadline):
            context = None if world == "main" else await _context(cdp, isolated)
            return await _first_that_parses(cdp, js, context, limits)
    except TimeoutError:
        await terminate(cdp)
        raise _timed_out(timeout_s) from None
    except PlaywrightError as fault:
        raise _translated(fault) from fault


async def evaluate_in_frame(
    frame: Frame, cdp: CDPSession, js: str, *, timeout_s: float, limit_bytes: int = LIMIT_BYTES
) -> Evaluated:
    """Run `js` in the main world of an iframe; `cdp` is the session of its page. Otherwise as `evaluate`.

    A frame in a process of its own gets a DevTools session for the call, since the page's session cannot end a script
    that runs there.
    """
    limits = _limits(timeout_s, limit_bytes, 0)
    own: CDPSession | None = None
    try:
        async with asyncio.timeout_at(limits.deadline):
            own = await _session_of(frame)
            if own is not None:
                return await _first_that_parses(own, js, None, limits)
            return await _through_playwright(frame, js, limits)
    except TimeoutError:
        await terminate(own or cdp)
        raise _timed_out(timeout_s) from None
    except PlaywrightError as fault:
        raise _translated(fault) from fault
    finally:
        if own is not None:
            await _detach(own)


def _limits(timeout_s: float, limit_bytes: int, keep_bytes: int) -> _Limits:
    return _Limits(asyncio.get_running_loop().time() + timeout_s, limit_bytes, max(limit_bytes, keep_bytes))


def _timed_out(timeout_s: float) -> TimedOut:
    return TimedOut(
        f"The script did not finish within {timeout_s:g} s.",
        hint="Raise timeout_ms, or let the script start the work and wait for its effect. The page can still be used.",
    )


async def _context(cdp: CDPSession, isolated: World) -> int:
    """The callers' own isolated world in the main frame; asked for again, the same one."""
    answer = await cdp.send("Page.createIsolatedWorld", {"frameId": isolated.frame, "worldName": _WORLD})
    return int(answer["executionContextId"])


async def _first_that_parses(cdp: CDPSession, js: str, context: int | None, limits: _Limits) -> Evaluated:
    where = {} if context is None else {"contextId": context}
    refused: dict[str, Any] = {}
    for form in forms(js):
        answer = await cdp.send(
            "Runtime.evaluate",
            {
                "expression": _program(form, limits),
                "awaitPromise": True,
                "userGesture": True,
                "silent": True,
                "objectGroup": _GROUP,
                **where,
            },
        )
        if "exceptionDetails" not in answer:
            return await _received(cdp, form, answer["result"], limits)
        refused = answer["exceptionDetails"]
        if refused.get("exception", {}).get("className") != "SyntaxError":
            raise ScriptFailed(_said(refused, "The script was ended from outside while it ran."))
    raise _unparsable(js, form, refused)


async def _through_playwright(frame: Frame, js: str, limits: _Limits) -> Evaluated:
    for form in forms(js):
        try:
            return _read(form, await frame.evaluate(_program(form, limits)))
        except PlaywrightError as fault:
            if "SyntaxError" not in fault.message:
                raise
            said = fault.message
    raise _unparsable(js, form, {"exception": {"description": said.removeprefix("Frame.evaluate: ")}})


def _program(form: Form, limits: _Limits) -> str:
    calls = "true" if form.calls else "false"
    return f"({_RUNNER})({limits.limit_bytes}, {limits.keep_bytes}, {calls},\n{form.source})"


async def _received(cdp: CDPSession, form: Form, result: dict[str, Any], limits: _Limits) -> Evaluated:
    if result["type"] == "string":
        return _read(form, result["value"])
    try:
        cut = _read(form, await _of(cdp, result["objectId"], "function () { return this.head; }"))
        whole = await _whole(cdp, result["objectId"], limits.deadline - MARGIN_S)
    finally:
        await cdp.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    return Evaluated(cut.value, cut.result, truncated=True, whole=whole)


async def _whole(cdp: CDPSession, handle: str, deadline: float) -> str | None:
    """The long text in pieces, each small enough not to hold up other calls; None when the time does not suffice."""
    loop = asyncio.get_running_loop()
    pieces = []
    at: int | None = 0
    while at is not None:
        if loop.time() > deadline:
            return None
        piece, at = await _of(cdp, handle, _PIECE, at)
        pieces.append(piece)
    return "".join(pieces)


async def _of(cdp: CDPSession, handle: str, function: str, *arguments: int) -> Any:
    answer = await cdp.send(
        "Runtime.callFunctionOn",
        {
            "objectId": handle,
            "functionDeclaration": function,
            "arguments": [{"value": each} for each in arguments],
            "returnByValue": True,
        },
    )
    return unwrap(answer)


def _read(form: Form, text: str) -> Evaluated:
    """What evaluate.js says in its text."""
    kind, rest = text[0], text[1:]
    match kind:
        case "e":
            raise _thrown(form, json.loads(rest))
        case "u":
            return Evaluated(None, "undefined")
        case "s" | "S":
            return Evaluated(rest, rest, truncated=kind == "S")
        case _:
            return Evaluated(json.loads(rest) if kind == "j" else None, rest, truncated=kind == "J")


def _thrown(form: Form, fault: dict[str, str]) -> ScriptFailed:
    """The error of a script, with the line of the caller's text."""
    for found in _FRAME_OF_SCRIPT.finditer(fault["stack"]):
        line = form.line(int(found[1]) - _FIRST_LINE + 1)
        if line >= 1:
            return ScriptFailed(f"{fault['said']} (line {line} of the script)")
    return ScriptFailed(fault["said"])


def _unparsable(js: str, form: Form, refused: dict[str, Any]) -> ScriptFailed:
    said = _said(refused, "SyntaxError")
    where = ""
    if "lineNumber" in refused:
        line = form.line(refused["lineNumber"] + 1 - _FIRST_LINE + 1)
        last = js.count("\n") + 1
        if line > last and _PARSER_AT_END.search(said):
            said = "SyntaxError: Unexpected end of the script"
        where = f" (line {min(line, last)} of the script)"
    return ScriptFailed(
        f"The script does not parse: {said}{where}",
        hint="Give one JavaScript expression, or statements with `return` for the value; `await` may be used.",
    )


def _said(refused: dict[str, Any], otherwise: str) -> str:
    return str(refused.get("exception", {}).get("description", otherwise)).splitlines()[0]


def _translated(fault: PlaywrightError) -> Exception:
    if is_gone(fault):
        return ScriptFailed(
            "The page moved on to another document while the script ran; its value is lost, its effects are not.",
            hint="Let the script end before the page navigates, or navigate with open, click or wait.",
        )
    return fault


async def _session_of(frame: Frame) -> CDPSession | None:
    """A session for a frame in a process of its own; None for one that shares its page's."""
    try:
        return await frame.page.context.new_cdp_session(frame)
    except PlaywrightError as fault:
        if "separate CDP session" not in fault.message:
            raise
        return None


async def _detach(session: CDPSession) -> None:
    try:
        async with asyncio.timeout(1):
            await session.detach()
    except (TimeoutError, PlaywrightError):
        return  # it goes with its frame
