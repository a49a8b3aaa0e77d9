"""Guessing the encoding of bytes that say nothing about it.

Resiliparse's port of uchardet does most of it; it gives up on short texts and confuses the Latin alphabets. For those
there are two more looks: at where in the tables of the East Asian encodings the characters lie (the common ones were
put together there), and at whether the language that comes out is one that is written in the encoding.
"""

import re
from dataclasses import dataclass

from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.lang import detect_fast

from fetch.charset_labels import decode_as, name_of

WESTERN = "windows-1252"
"""What browsers take for pages of the greater part of the world that declare nothing."""

_SAMPLE = 1 << 17  # bytes
_TEXT = re.compile(rb"[^<>]+")
_LANGUAGE = re.compile(rb"""<html\s[^>]{0,500}?lang\s*=\s*["']?([a-z]{2}(?:[-_][a-z]{2,4})?)""", re.IGNORECASE)
_PAIR = re.compile(rb"([\x81-\xfe])([\x40-\x7e\x80-\xfe])|[\x80-\xff]")
_ENOUGH = 0.85  # share of the pairs that must lie where the common characters are
_LATIN: tuple[str, ...] = (
    "ISO-8859-1",
    "ISO-8859-2",
    "ISO-8859-3",
    "ISO-8859-4",
    "ISO-8859-10",
    "ISO-8859-13",
    "ISO-8859-14",
)
_LATIN += ("ISO-8859-15", "ISO-8859-16", "windows-1250", "windows-1252", "windows-1254", "windows-1257")
_LATIN += ("windows-1258", "macintosh")

# What is written in the Latin encodings other than the Western one (languages as Resiliparse names them).
_WRITTEN = {
    "windows-1250": "cs pl hu hr bs sr sh sk sl ro sq",
    "ISO-8859-2": "cs pl hu hr bs sr sh sk sl ro sq",
    "ISO-8859-16": "ro sq hu",
    "windows-1254": "tr az",
    "ISO-8859-3": "eo mt",
    "ISO-8859-4": "lt lv et",
    "ISO-8859-10": "lt lv et se is",
    "ISO-8859-13": "lt lv et",
    "windows-1257": "lt lv et",
    "windows-1258": "vi",
    "ISO-8859-14": "cy ga gd br",
}
_WESTERN = "en de fr es it pt nl sv da no nn fi ca gl is eu oc"
_DECLARED_ASIAN = {"ko": "EUC-KR", "zh-tw": "Big5", "zh-hk": "Big5", "zh-hant": "Big5", "zh": "gb18030"}


@dataclass(frozen=True)
class _Zone:
    """Where an encoding has its common characters: ranges of first bytes, and of second ones."""

    name: str
    leads: tuple[tuple[int, int], ...]
    trails: tuple[tuple[int, int], ...]
    languages: tuple[str, ...]

    def holds(self, lead: int, trail: int) -> bool:
        return any(a <= lead <= b for a, b in self.leads) and any(a <= trail <= b for a, b in self.trails)


# KS X 1001: syllables from B0, GB 2312: level 1 by sound from B0, Big5: level 1 from A4, JIS: kana and level 1; each
# with the row of its punctuation.
_ZONES = (
    _Zone("Shift_JIS", ((0x81, 0x83), (0x88, 0x97)), ((0x40, 0x7E), (0x80, 0xFC)), ("ja",)),
    _Zone("EUC-JP", ((0xA1, 0xA1), (0xA4, 0xA5), (0xB0, 0xCF)), ((0xA1, 0xFE),), ("ja",)),
    _Zone("EUC-KR", ((0xA1, 0xA1), (0xB0, 0xC8)), ((0xA1, 0xFE),), ("ko",)),
    _Zone("gb18030", ((0xA1, 0xA1), (0xA3, 0xA3), (0xB0, 0xD7)), ((0xA1, 0xFE),), ("zh",)),
    _Zone("Big5", ((0xA1, 0xA1), (0xA4, 0xC6)), ((0x40, 0x7E), (0xA1, 0xFE)), ("zh",)),
)


def detect(body: bytes) -> str:
    """The most likely encoding of a body that is not UTF-8, by its name in the WHATWG standard."""
    utf16 = _utf16(body[:4096])
    if utf16 is not None:
        return utf16
    sample = _sample(body)
    label = detect_encoding(sample, html5_compatible=False) or ""
    found = name_of(label.replace("_", "-").replace("cp949", "euc-kr"))
    if found is None or found in _LATIN:
        language = _language(body)
        return _east_asian(sample, language) or _latin(sample, found, language)
    return found


def _utf16(start: bytes) -> str | None:
    """UTF-16 without a mark shows by its zero bytes: those of the ASCII characters, in even or in odd places."""
    half = len(start) // 2
    even, odd = start[::2].count(0), start[1::2].count(0)
    if half and max(even, odd) > 0.3 * half and min(even, odd) < 0.05 * half:
        return "UTF-16LE" if odd > even else "UTF-16BE"
    return None


def _sample(body: bytes) -> bytes:
    """The pieces of text between tags that are not plain ASCII, of a long page the first."""
    pieces: list[bytes] = []
    size = 0
    for piece in _TEXT.finditer(body):
        if not piece[0].isascii():
            pieces.append(piece[0][:_SAMPLE])
            size += len(pieces[-1])
            if size > _SAMPLE:
                break
    return b"\n".join(pieces) or body[:_SAMPLE]


def _language(body: bytes) -> str:
    match = _LANGUAGE.search(body, 0, 4096)
    return match[1].decode("ascii").lower().replace("_", "-") if match else ""


def _east_asian(sample: bytes, language: str) -> str | None:
    """The East Asian encoding in which nearly all characters are common ones; None where none is such."""
    pairs = [(match[1], match[2]) for match in _PAIR.finditer(sample)]
    whole = [(lead[0], trail[0]) for lead, trail in pairs if lead]
    high = sum(trail >= 0x80 for _, trail in whole)
    dense = 2 * len(whole) >= 0.7 * len(sample)  # in Latin text letters follow on each other, here pairs do
    if len(whole) < 2 or len(whole) < _ENOUGH * len(pairs) or not (dense or high * 2 >= len(whole)):
        return None
    shares = {zone.name: sum(zone.holds(*pair) for pair in whole) / len(whole) for zone in _ZONES}
    fitting = [name for name, share in shares.items() if share >= _ENOUGH and not decode_as(sample, name)[1]]
    if not fitting:
        return None
    hinted = _DECLARED_ASIAN.get(language) or _DECLARED_ASIAN.get(language[:2])
    return hinted if hinted in fitting else max(fitting, key=lambda name: (_likeness(name, whole), shares[name]))


def _likeness(name: str, pairs: list[tuple[int, int]]) -> float:
    """What speaks for one of several encodings that all fit."""
    if name in {"Shift_JIS", "EUC-JP"}:
        kana = (0x82, 0x83) if name == "Shift_JIS" else (0xA4, 0xA5)
        return 2.0 * (sum(lead in kana for lead, _ in pairs) > 0.2 * len(pairs))
    if name == "EUC-KR":  # Korean has no syllables from C9 on; Chinese of some length does
        return 1.5 * (len(pairs) >= 6)
    if name == "Big5":  # two in five characters have a second byte that GB 2312 has not
        return 1.2 * any(trail < 0xA1 for _, trail in pairs)
    return 1.0


def _latin(sample: bytes, found: str | None, language: str) -> str:
    """The Latin encoding of the language that the page declares; else the one that was found, if its text is rather in
    one of its languages than in a Western one.
    """
    for name in (found or "", "windows-1250", "windows-1254", "windows-1257", "windows-1258"):
        if language[:2] in _WRITTEN.get(name, "").split():
            return name
    if found not in _WRITTEN:
        return WESTERN
    written = _WRITTEN[found].split()
    text, _ = decode_as(sample, found)
    nearest = detect_fast(text, 1 << 30, 1, [*written, *_WESTERN.split()])
    return found if nearest[0] in written else WESTERN
