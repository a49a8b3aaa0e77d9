"""Making a document harmless for parsers whose time grows with the square of its depth, or of an element's attributes.

100,000 nested elements take Lexbor 18 s, 200,000 attributes on one more than that; lxml gives up at 256 levels. Blink
itself puts elements beyond 512 levels beside each other; the same is done here, on the source, earlier.
"""

import re

DEPTH = 200  # of elements whose end tag is not optional; pages that people write stay below 100
TAGS = 4000  # a document with fewer is not looked at: at worst it takes 30 ms
ATTRIBUTES = 1000
LONG = 8192  # characters; shorter tags cannot have too many
_START = re.compile(r"<([a-zA-Z][^\s/<>]*+)")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)[^<>]*+>")
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_RAW = re.compile(r"<(script|style|textarea|title|xmp)\b[^<>]*+>", re.IGNORECASE)
# Never open for long: void, or closed by the next one of their kind (HTML standard, 13.1.2)
_UNCOUNTED = frozenset(
    re.findall(
        r"\w+",
        """area base br col embed hr img input link meta param source track wbr html head body p li dt dd tr td th thead
        tbody tfoot colgroup caption option optgroup rb rt rtc rp""",
    )
)
# Of pictures, where a slash at the end closes an element; elsewhere it means nothing
_CLOSABLE = frozenset(
    re.findall(
        r"\w+",
        """path circle rect line polyline polygon ellipse use stop image g defs text tspan animate animatetransform set
        lineargradient radialgradient clippath mask pattern symbol title desc view mpath fegaussianblur feoffset
        feblend fecolormatrix fecomposite feflood femergenode femorphology fetile feturbulence fefunca fefuncr
        fefuncg fefuncb""",
    )
)


def tame(html: str) -> str:
    """The document with its deepest elements, and elements of very many attributes, as plain ones. Text stays.

    Halves of surrogate pairs, which some parsers refuse, become question marks.
    """
    html = _without_long_tags(html.encode("utf-8", "replace").decode())
    return _flat(html) if html.count("<") > TAGS else html


def _without_long_tags(html: str) -> str:
    kept: list[str] = []
    copied = at = 0
    while at < len(html):
        end = html.find(">", at)
        end = len(html) if end < 0 else end
        if end - at > LONG:
            tag = _START.search(html, at, end)
            if tag is not None and len(_QUOTED.sub('""', html[tag.start() : end]).split(None, ATTRIBUTES)) > ATTRIBUTES:
                kept += (html[copied : tag.start()], f"<{tag[1]}")
                copied = end
        at = end + 1
    return "".join((*kept, html[copied:])) if kept else html


def _flat(html: str) -> str:
    """Without the tags of elements beyond DEPTH levels."""
    kept: list[str] = []
    copied = depth = dropped = 0
    raw = _spans(html)
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name in _UNCOUNTED or _is_in(raw, tag.start()) or (name in _CLOSABLE and tag[0][-2] == "/"):
            continue
        if not tag[1]:
            if depth < DEPTH:
                depth += 1
                continue
            dropped += 1
        elif dropped:
            dropped -= 1
        else:
            depth = max(0, depth - 1)
            continue
        kept.append(html[copied : tag.start()])
        copied = tag.end()
    if not copied:
        return html
    kept.append(html[copied:])
    return " ".join(kept)


def _spans(html: str) -> list[tuple[int, int]]:
    """Where tags are not tags: in scripts and the like; the last first. One without an end takes all that follows."""
    found: list[tuple[int, int]] = []
    lower = html.lower()
    if len(lower) != len(html):  # some letters grow: then ends are looked for as they are written
        lower = html
    at = 0
    while (start := _RAW.search(html, at)) is not None:
        end = lower.find(f"</{start[1].lower()}", start.end())
        at = len(html) if end < 0 else end
        found.append((start.start() + 1, at))
    return found[::-1]


def _is_in(spans: list[tuple[int, int]], at: int) -> bool:
    """Whether a place is in one of them; places are asked for in order, and spans before them forgotten."""
    while spans and spans[-1][1] <= at:
        spans.pop()
    return bool(spans) and spans[-1][0] <= at
