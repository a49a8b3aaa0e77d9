"""JSON-LD: what pages tell search engines (https://schema.org/). Written by anybody, so nothing about it is certain."""

import json
import math
import re
from collections.abc import Iterable, Iterator

MAX_CHARACTERS = 512 * 1024
"""Characters of JSON-LD that are read of a page."""

_DEEPEST = 24  # levels; what is below is left out, as few that pass it on would take it
_OPENING = re.compile(r"(?:<!--|//\s?<!\[CDATA\[|<!\[CDATA\[)\s*")  # older pages hide scripts from older browsers
_CLOSING = ("-->", "]]>", "//", ";")
_SURROGATES = re.compile("[\ud800-\udfff]")
_ARTICLES = ("article", "posting", "report", "review", "recipe", "product", "video", "event", "webpage")


def read_json_ld(scripts: Iterable[str]) -> tuple[object, ...]:
    """What the scripts hold, one after the other; broken ones and what goes beyond the limit are passed over."""
    found: list[object] = []
    left = MAX_CHARACTERS
    for script in scripts:
        left -= len(script)
        if left < 0:
            break
        try:
            found.append(_tamed(json.loads(_bare(script), strict=False), _DEEPEST))
        except (ValueError, RecursionError):
            continue
    return tuple(found)


def _bare(script: str) -> str:
    """A script without what may be around its JSON."""
    text = script.strip()
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening is not None else text
    for closing in _CLOSING:
        text = text.removesuffix(closing).rstrip()
    return text


def items(json_ld: Iterable[object]) -> Iterator[dict[str, object]]:
    """The things described, those in lists and `@graph` too; articles and the like before sites and lists."""
    found = [thing for each in json_ld for thing in _things(each)]
    return iter(sorted(found, key=_rank))


def texts(things: Iterable[dict[str, object]], *names: str) -> Iterator[str]:
    """The values of these properties as text: of a thing its name or address, of a list all, parted by commas."""
    for thing in things:
        for name in names:
            if text := _text(thing.get(name), _DEEPEST):
                yield text


def _things(value: object) -> Iterator[dict[str, object]]:
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, list):
            stack.extend(reversed(each))
        elif isinstance(each, dict):
            yield each
            stack.extend(each[name] for name in ("mainEntity", "@graph") if name in each)


def _rank(thing: dict[str, object]) -> int:
    kind = str(thing.get("@type")).lower()
    return next((place for place, name in enumerate(_ARTICLES) if name in kind), len(_ARTICLES))


def _text(value: object, depth: int) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and depth:
        return ", ".join(text for each in value[:20] if (text := _text(each, depth - 1)))
    if isinstance(value, dict) and depth:
        return _text(value.get("name") or value.get("url") or value.get("@value"), depth - 1)
    return ""


def _tamed(value: object, depth: int) -> object:
    """The value with what JSON cannot hold (infinity) and no encoding takes (lone surrogates) left out."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_tamed(each, depth - 1) for each in value] if depth else []
    if isinstance(value, dict):
        return {str(_tamed(name, depth)): _tamed(each, depth - 1) for name, each in value.items()} if depth else {}
    return value
