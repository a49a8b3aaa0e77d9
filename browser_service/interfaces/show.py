"""How the command line shows results: for people, the text itself and the rest in a few quiet lines; else as JSON."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_LEFT_OUT = {"image_base64", "warnings"}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# What to do, in words of the command line; the documents speak of REST.
_HINTS = {
    "unauthorized": "Give the key with --api-key or TABWRIGHT_API_KEY.",
    "session_not_found": "`tabwright sessions list` lists yours; `tabwright open URL` makes one.",
    "session_expired": "`tabwright open URL` without --session makes a new one.",
    "no_page": "`tabwright open URL` opens one.",
}


def as_json(document: Mapping[str, Any]) -> None:
    """Print the object itself. A picture's bytes are not for a terminal."""
    if sys.stdout.isatty() and "image_base64" in document:
        document = {**document, "image_base64": f"({len(document['image_base64'])} characters, not for a terminal)"}
    text = json.dumps(document, ensure_ascii=False, indent=2)
    # JSON leaves these alone, and some terminals obey them.
    sys.stdout.write(re.sub("[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


def result(document: Mapping[str, Any], main: str | None = None) -> None:
    """Print a result. Into a pipe goes its `main` field alone, where it has one; cuts and warnings go to stderr."""
    terminal = sys.stdout.isatty()
    if "sessions" in document:
        _sessions(document["sessions"])
    elif main is None or (terminal and main == "id"):
        record(Console(), document)
    else:
        if terminal:
            apart = {main, "value"} if main == "result" else {main}  # a script's value is its result once more
            record(Console(), {name: value for name, value in document.items() if name not in apart})
        text = str(document[main])
        sys.stdout.write((visible(text) if terminal else text) + "\n")
        sys.stdout.flush()
    notes(document)


def record(console: Console, document: Mapping[str, Any]) -> None:
    """Print a mapping, a line for every field that says something."""
    for name, value in document.items():
        if name not in _LEFT_OUT and not _empty(value):
            for depth, label, text in _lines(name, value, 0):
                line = Text("  " * depth) + Text(label, style="cyan") + Text(visible(text), style="default")
                console.print(line, soft_wrap=True)


def notes(document: Mapping[str, Any]) -> None:
    """What must not be overlooked, on stderr: warnings, and where a text was cut."""
    console = Console(stderr=True)
    said = [str(each) for each in document.get("warnings", ())]
    if document.get("next_offset") is not None:
        said.append(
            f"cut: the whole text has {document['content_length']} characters; "
            f"go on with --offset {document['next_offset']}, or read all with --max-chars 0"
        )
    for text in said:
        console.print(Text("warning: ", style="yellow") + Text(visible(text), style="default"), soft_wrap=True)


def failure(document: Mapping[str, Any]) -> None:
    """Print a failure, on stderr."""
    console = Console(stderr=True)
    detail = visible(str(document.get("detail", "")))
    console.print(Text("error: ", style="bold red") + Text(detail, style="default"), soft_wrap=True)
    hint = _HINTS.get(str(document.get("code")), document.get("hint") or "")
    if hint and not hint.startswith("GET /"):
        console.print(Text("hint:  ", style="yellow") + Text(visible(hint), style="default"), soft_wrap=True)


def visible(text: str) -> str:
    """A text from a page as it may be shown in a terminal: what would steer the terminal is written out."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))


def _empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_empty(each) or each == 0 for each in value.values())
    return value is None or value is False or value in ("", [], ())


def _lines(name: str, value: Any, depth: int) -> Iterator[tuple[int, str, str]]:
    """Depth, label and text of the lines that show a value."""
    if isinstance(value, Mapping):
        yield depth, f"{name}:", ""
        for key, each in value.items():
            if not _empty(each) and each != 0:
                yield from _lines(key, each, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield depth, f"{name}:", ""
        for each in value:
            yield depth + 1, "- ", _in_line(each)
    else:
        yield depth, f"{name}: ", _in_line(value)


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{name}: {_in_line(each)}" for name, each in value.items() if not _empty(each))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if "\n" not in text else json.dumps(text, ensure_ascii=False)


def _sessions(sessions: Sequence[Mapping[str, Any]]) -> None:
    if not sessions:
        Console(stderr=True).print("no sessions")
        return
    # In a pipe nothing is cut to a width.
    console = Console() if sys.stdout.isatty() else Console(width=100_000)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("id", "expires", "tabs"):
        table.add_column(name, no_wrap=True)
    for name in ("title", "url"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for each in sessions:
        cells = (each["id"], _from_now(each["expires_at"]), str(len(each["tabs"])), each["title"], each["url"])
        table.add_row(*(Text(visible(cell)) for cell in cells))
    console.print(table)


def _from_now(moment: str) -> str:
    seconds = max(0, round((datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()))
    minutes, seconds = divmod(seconds, 60)
    return f"in {minutes} min" if minutes > 9 else f"in {minutes} min {seconds} s"
