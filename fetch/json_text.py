"""JSON made readable without changing it: numbers, order, repeated keys and escapes that mean something stay."""

import json
import re
import sys
from typing import NoReturn

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_GUARD = re.compile(r"\s*(?:\)\]\}',?|while\s*\(1\);|for\s*\(;;\);|&&&START&&&)\s*")  # against inclusion as a script
_CALL = re.compile(
    r"\s*(?:/\*\*/)?\s*(?:typeof\s+[\w$.]+\s*===?\s*'function'\s*&&\s*)?[A-Za-z_$][\w$.\[\]'\"]{0,200}\s*\("
)
_DEEPEST = 40  # levels that are indented: a deep document would otherwise be mostly spaces
_GROWTH = 8  # how much longer than the document the result may be
_INVALID = "The JSON of this page is not valid ({}); it is given as it is."


def pretty(text: str) -> tuple[str, tuple[str, ...]]:
    """The document indented, or one record a line where it is lines of JSON, and warnings.

    A callback around it (JSONP) and prefixes that servers put before it are removed. What is no JSON stays.
    """
    fault = _fault(text)
    if fault is None:
        return _formatted(text)
    bare = _unwrapped(text)
    if bare is not None and _fault(bare) is None:
        content, warnings = _formatted(bare)
        return content, ("The JSON was wrapped for scripts; the wrapping was left out.", *warnings)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(_fault(line) is None for line in lines[:1000]):
        return "\n".join(_STRING.sub(lambda match: _readable(match[0]), line.strip()) for line in lines), ()
    return text, (_INVALID.format(fault),)


def _fault(text: str) -> str | None:
    """What is wrong with the JSON, None if nothing is. Numbers are not converted: long ones take long, or fail."""
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except RecursionError:
        return "too deeply nested"
    except ValueError as fault:
        return str(fault)[:100]
    return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _unwrapped(text: str) -> str | None:
    guard = _GUARD.match(text)
    if guard is not None:
        return text[guard.end() :]
    call = _CALL.match(text)
    end = text.rstrip().rstrip(";").rstrip()
    return text[call.end() : len(end) - 1] if call is not None and end.endswith(")") else None


def _formatted(text: str) -> tuple[str, tuple[str, ...]]:
    """A valid document with line ends and indentation between its tokens. One flat loop: there may be millions."""
    lines = ["\n" + "  " * min(depth, _DEEPEST) for depth in range(sys.getrecursionlimit() + 1)]
    parts: list[str] = []
    depth = indented = 0
    is_new = False  # a list or object was just opened; an empty one stays on its line
    for found in _TOKEN.findall(text):
        if found in "]}":
            depth -= 1
            parts.append(found if is_new else lines[depth] + found)
            is_new = False
            continue
        if is_new:
            parts.append(lines[depth])
        is_new = found in "[{"
        depth += is_new
        if found == ",":
            indented += depth
            parts.append("," + lines[depth])
        else:
            parts.append(": " if found == ":" else _readable(found) if "\\" in found else found)
    if 2 * indented > _GROWTH * len(text) + 100_000:
        return text, ("The JSON is too deeply nested to be indented; it is given as it is.",)
    return "".join(parts), ()


def _readable(piece: str) -> str:
    """A token with escaped letters written out, unless they are halves of pairs."""
    if "\\u" not in piece and "\\/" not in piece:
        return piece
    readable = json.dumps(json.loads(piece, strict=False), ensure_ascii=False)
    return piece if any("\ud800" <= sign <= "\udfff" for sign in readable) else readable
