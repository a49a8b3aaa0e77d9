"""From bytes to text, as browsers do it.

The order is that of https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding: byte-order
mark, `Content-Type` header, the first `<meta>` (or XML declaration), then strict UTF-8, a `<meta>` that comes late, and
detection. In one thing this differs from browsers, for the reader's good: a declaration that the bytes contradict is
not followed.
"""

import re

from fetch.charset_detection import detect
from fetch.charset_labels import UTF8, decode_as, name_of

PRESCAN = 4096
"""Bytes in which a `<meta>` is looked for first. The standard says 1024; servers that pad their heads need more."""

_LATE = 1 << 20  # bytes in which it is looked for when all else has failed
_MARKS = ((b"\xef\xbb\xbf", UTF8), (b"\xfe\xff", "UTF-16BE"), (b"\xff\xfe", "UTF-16LE"))
_UTF16_XML = ((b"<\0?\0x\0", "UTF-16LE"), (b"\0<\0?\0x", "UTF-16BE"))

_XML_ENCODING = re.compile(rb"""<\?xml[\s][^>]*?encoding\s*=\s*(?:"([^">]*)"|'([^'>]*)')""")
_TAG = re.compile(rb"<(?:!--|(meta)(?=[\s/])|/?[a-z]|[!/?])", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?""")
_IN_CONTENT = re.compile(rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"'][^\s;]*))""", re.IGNORECASE)
_HEAD_END = re.compile(rb"<body[\s>]|</head", re.IGNORECASE)

# What share of the characters beyond ASCII may be broken in a text that still is in that encoding. UTF-8 does not come
# about by chance; the others accept a good part of anything.
_BROKEN_UTF8 = 0.2
_BROKEN = 0.05
# So many bytes of UTF-8 sequences do not come about by chance in the text of another encoding. In windows-1252, which
# servers declare without being told, one is enough: nobody writes "Ã©".
_CONVINCING = 5


def decode(body: bytes, declared: str | None, *, markup: bool = True) -> tuple[str, str, tuple[str, ...]]:
    """The text of a body, the encoding it was read in (by its name in the WHATWG standard), and warnings.

    `declared` is the label that the server gave, if any; with `markup` the document may declare one too. A character
    that the end of the body cuts in two is dropped; whatever else cannot be decoded becomes U+FFFD. Never fails.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            text, faults = decode_as(body[len(mark) :], name)
            return text, name, _broken(name, faults)
    if declared and name_of(declared) == UTF8 and not (read := decode_as(body, UTF8))[1]:
        return read[0], UTF8, ()  # the usual case, in which nothing else has to be looked at
    warnings: list[str] = []
    names = _declared(body, declared, warnings, markup)
    chosen = _as_declared(body, names) or _as_utf8(body) or _as_guessed(body, names, markup)
    text, name, faults = chosen
    if names and names[0] != name:
        warnings.append(f"The charset {names[0]} that was declared does not fit the bytes; they were read as {name}.")
    return text, name, (*warnings, *_broken(name, faults))


_Decoded = tuple[str, str, int]


def _declared(body: bytes, label: str | None, warnings: list[str], markup: bool) -> list[str]:
    """The encodings that header and document name, those first that count more."""
    names = []
    if label:
        name = name_of(label)
        if name is None:
            warnings.append(f"The charset {label[:40]!r} that was declared is not known and was passed over.")
        else:
            names.append(name)
    inside = prescan(body[:PRESCAN]) if markup else None
    if inside is not None and inside not in names:
        names.append(inside)
    return names


def _as_declared(body: bytes, names: list[str]) -> _Decoded | None:
    """The first encoding named that fits."""
    for name in names:
        if name != UTF8 and _is_rather_utf8(body, name):
            return (*_utf8(body), 0)
        text, faults = decode_as(body, name)
        if not faults:
            return text, name, 0
    return None


def _as_utf8(body: bytes) -> _Decoded | None:
    """As what nobody has to declare: UTF-8, or ISO-2022-JP, which is ASCII with escapes."""
    if b"\x1b$" in body:
        text, faults = decode_as(body, "ISO-2022-JP")
        if not faults:
            return text, "ISO-2022-JP", 0
    text, faults = decode_as(body, UTF8)
    # One letter that is not ASCII at the very end is no UTF-8 that was cut.
    return None if faults or (text.isascii() and not body.isascii()) or _has_zeros(body) else (text, UTF8, 0)


def _as_guessed(body: bytes, names: list[str], markup: bool) -> _Decoded:
    """What to do with bytes that are neither what was declared nor UTF-8: the first way that does, or the best."""
    best: _Decoded | None = None
    tried = set()
    first = names if _has_zeros(body) else [*names, UTF8]
    for find in (lambda: first, lambda: [_late(body) if markup else None], lambda: [detect(body)]):
        for name in find():
            if name is None or name in tried:
                continue
            tried.add(name)
            text, faults = decode_as(body, name)
            if _is_tolerable(text, faults, name):
                return text, name, faults
            if best is None or faults < best[2]:
                best = text, name, faults
    return best or (*_utf8(body), 0)


def _has_zeros(body: bytes) -> bool:
    return body[:PRESCAN].count(0) > len(body[:PRESCAN]) // 4  # UTF-16 without a mark


def _is_tolerable(text: str, faults: int, name: str) -> bool:
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return beyond_ascii > 0 and faults <= beyond_ascii * (_BROKEN_UTF8 if name == UTF8 else _BROKEN)


def _is_rather_utf8(body: bytes, name: str) -> bool:
    """Whether bytes that are said to be in another encoding are UTF-8 beyond doubt."""
    utf16 = name.startswith("UTF-16")
    if body.isascii():
        return utf16 and b"\0" not in body[:PRESCAN]
    try:
        text = body[: len(body) - _cut_at_end(body)].decode("utf-8")
    except UnicodeDecodeError:
        return False
    if utf16:
        return "\0" not in text[:PRESCAN]
    sequences = len(body) - len(text) - 2 * text.count("\ufffd")
    return sequences >= (1 if name == "windows-1252" else _CONVINCING)


def _cut_at_end(body: bytes) -> int:
    """How many bytes of a UTF-8 sequence that is not complete there are at the end."""
    for back in range(1, min(4, len(body)) + 1):
        byte = body[-back]
        if byte >= 0xC0:
            return back if back < 2 + (byte >= 0xE0) + (byte >= 0xF0) else 0
        if byte < 0x80:
            return 0
    return 0


def _utf8(body: bytes) -> tuple[str, str]:
    return decode_as(body, UTF8)[0], UTF8


def _broken(name: str, faults: int) -> tuple[str, ...]:
    return (f"{faults} places of the page are not valid {name}.",) if faults else ()


def prescan(start: bytes) -> str | None:
    """The encoding that the beginning of a document declares, None where it declares none that browsers know."""
    for mark, utf16 in _UTF16_XML:
        if start.startswith(mark):
            return utf16
    xml = _XML_ENCODING.match(start)
    if xml is not None and (name := _meant(xml[1] or xml[2] or b"")):
        return name
    at = 0
    while (tag := _TAG.search(start, at)) is not None:
        if tag[0] == b"<!--":
            end = start.find(b"-->", tag.start() + 2)  # `<!-->` is a whole comment
            if end < 0:
                return None
            at = end + 3
        elif tag[0][-1:].isalpha():
            attributes, at = _attributes(start, tag.end())
            if tag[1] and (name := _of_meta(attributes)):
                return name
        else:
            at = start.find(b">", tag.end()) + 1 or len(start)
    return None


def _attributes(start: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag whose name ends, or is within, here, names in lower case; and where they end."""
    found: dict[bytes, bytes] = {}
    while (match := _ATTRIBUTE.match(start, at)) is not None:
        value = next((value for value in match.groups()[1:] if value is not None), b"")
        found.setdefault(match[1].lower(), value)
        at = match.end()
    return found, at


def _of_meta(attributes: dict[bytes, bytes]) -> str | None:
    if b"charset" in attributes:
        return _meant(attributes[b"charset"])
    if attributes.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return None
    match = _IN_CONTENT.search(attributes.get(b"content", b""))
    return None if match is None else _meant(match[1] or match[2] or match[3] or b"")


def _meant(label: bytes) -> str | None:
    """What a label means inside a document: one that could be read was not in UTF-16."""
    name = name_of(label.decode("latin-1"))
    if name is None or not name.startswith("UTF-16"):
        return "windows-1252" if name == "x-user-defined" else name
    return UTF8


def _late(body: bytes) -> str | None:
    """The encoding that a `<meta>` far down in the head declares."""
    end = _HEAD_END.search(body, 0, _LATE)
    return prescan(body[: end.start() if end else _LATE])
