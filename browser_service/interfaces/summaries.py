"""What was done, in one line for a person. Nothing that a page wrote stands in it, but for addresses."""

from collections.abc import Mapping, Sized
from functools import singledispatch
from typing import Any

from browser_service.operations.fetch import OpenedPage, WebPage
from browser_service.operations.interact import Acted, Click, Scrolled, Type, Typed, Waited
from browser_service.operations.open import Opened
from browser_service.operations.operation import Operation, Result
from browser_service.operations.read import Evaluated, Extracted
from browser_service.operations.screenshot import Picture
from browser_service.operations.search import SearchResult
from browser_service.operations.sessions import SessionInfo, SessionList
from browser_service.operations.settings import SearxngTried, SettingsList
from browser_service.operations.snapshot import Matches, Snapped
from browser_service.tab.changes import Changes

LONGEST = 200
_SEPARATOR = " · "


def summary(operation: Operation[Any], result: Result) -> str:
    """One line."""
    parts = _parts(result, operation)
    return _SEPARATOR.join(part for part in parts if part)


def address(url: str) -> str:
    """An address on one line, and not too long."""
    return clipped(url) or "a page without an address"


def clipped(text: str, longest: int = LONGEST) -> str:
    """On one line, without control characters, cut where it is long."""
    line = "".join(sign if sign.isprintable() else " " for sign in text[: longest + 1])
    line = " ".join(line.split())
    return line if len(text) <= longest else line[: longest - 1] + "…"


@singledispatch
def _parts(_result: Result, _operation: Operation[Any]) -> list[str]:
    return ["Session closed"]


@_parts.register
def _(result: Opened, _operation: Operation[Any]) -> list[str]:
    return [
        f"Opened {address(result.url)}",
        f"status {result.status}" if result.status is not None and result.status >= 300 else "",
        f"outcome {result.outcome}" if result.outcome not in {None, "ok"} else "",
        "not finished loading" if result.partial else "",
        *_happened(result.changes),
    ]


@_parts.register(Extracted)
@_parts.register(WebPage)
@_parts.register(OpenedPage)
def _(result: Extracted | WebPage | OpenedPage, _operation: Operation[Any]) -> list[str]:
    outcome = f"outcome {result.outcome}" if isinstance(result, WebPage) and result.outcome != "ok" else ""
    count, whole = len(result.content), result.content_length
    extent = _count(whole, "character") if count == whole else f"{count} of {whole} characters"
    return [f"Read {address(result.url)}", outcome, extent + (" (truncated)" if result.truncated else "")]


@_parts.register
def _(result: SearchResult, _operation: Operation[Any]) -> list[str]:
    read = f"{_count(result.fetched_count, 'page')} read" if result.fetched_count else ""
    return [f"Searched {clipped(result.query)!r} ({_count(result.total, 'result')})", read]


@_parts.register
def _(result: Picture, _operation: Operation[Any]) -> list[str]:
    return [f"Picture of {address(result.receipt.url)} ({result.width} x {result.height} pixels)"]


@_parts.register
def _(result: Snapped, _operation: Operation[Any]) -> list[str]:
    what = "Changes of" if result.diff else "Snapshot of"
    cut = "(truncated)" if result.truncated else ""
    return [f"{what} {address(result.url)}", _count(result.refs, "ref"), cut]


@_parts.register
def _(result: Matches, _operation: Operation[Any]) -> list[str]:
    return [f"{_count(result.count, 'line')} found in {address(result.url)}"]


@_parts.register
def _(result: Evaluated, _operation: Operation[Any]) -> list[str]:
    cut = "truncated" if result.truncated else ""
    return [f"Ran the script ({_count(len(result.result), 'character')})", cut, *_changes(result.changes)]


@_parts.register
def _(result: Typed, operation: Operation[Any]) -> list[str]:
    count = _count(len(operation.text), "character") if isinstance(operation, Type) else "text"
    return [f"Typed {count} into {_target(operation)}", *_changes(result.changes)]


@_parts.register
def _(result: Acted, operation: Operation[Any]) -> list[str]:
    return [f"Clicked {_target(operation)}", *_changes(result.changes)]


@_parts.register
def _(result: Scrolled, _operation: Operation[Any]) -> list[str]:
    return [f"Scrolled to {result.y:g} of {result.max_y:g} pixels", "the end" if result.at_end else ""]


@_parts.register
def _(result: Waited, _operation: Operation[Any]) -> list[str]:
    return [f"Waited {result.elapsed_ms} ms", "" if result.matched == "time" else f"{result.matched} matched"]


@_parts.register
def _(result: SessionInfo, _operation: Operation[Any]) -> list[str]:
    return [f"Session {result.id} ({_count(len(result.tabs), 'tab')})"]


@_parts.register
def _(result: SessionList, _operation: Operation[Any]) -> list[str]:
    return [_count(len(result.sessions), "session")]


@_parts.register
def _(result: SettingsList, _operation: Operation[Any]) -> list[str]:
    return [_count(len(result.settings), "setting")]


@_parts.register
def _(result: SearxngTried, _operation: Operation[Any]) -> list[str]:
    return ["SearXNG answers" if result.ok else "SearXNG cannot be used", _count(result.results, "result")]


def _changes(changes: Changes) -> list[str]:
    went = f"went to {address(changes.navigated.to)}" if changes.navigated is not None else ""
    return [went, *_happened(changes)]


def _happened(changes: Changes) -> list[str]:
    kinds: Mapping[str, Sized] = {
        "new tab": changes.new_tabs,
        "dialog": changes.dialogs,
        "download": changes.downloads,
        "console error": changes.console_errors,
    }
    said = [_count(len(each), kind) for kind, each in kinds.items() if len(each)]
    return said + (["a navigation failed"] if changes.navigation_error is not None else [])


def _target(operation: Operation[Any]) -> str:
    if isinstance(operation, Click | Type):
        if operation.ref is not None:
            return operation.ref
        return f"{operation.x:g}, {operation.y:g}" if operation.x is not None else clipped(operation.selector or "", 80)
    return "the page"


def _count(number: int, kind: str) -> str:
    return f"{number} {kind}" + ("" if number == 1 else "s")
