"""What kind of document a body is: by its declared type, and by its first bytes where that type cannot be trusted.

After https://mimesniff.spec.whatwg.org/: a body without a useful type is looked at, text that is declared as such stays
text whatever it contains, and nothing becomes HTML by accident. Servers that send downloads (`application/octet-stream`
and the like) are taken at their file names.
"""

import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import unquote, urlsplit

from fetch.page import Page

Kind = Literal["html", "json", "xml", "feed", "text", "csv", "pdf", "binary"]

_LOOK = 1445
"""Bytes that are looked at, as in the standard."""

_HTML_START = re.compile(
    rb"[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|!--)"
    rb"(?:(?<=--)|[\s>])",
    re.IGNORECASE,
)
_XML_START = re.compile(rb"[\t\n\f\r ]*<\?xml\s")
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)([^>]*)")
_PROLOG = re.compile(rb"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_JSON_START = re.compile(rb'[\t\n\r ]*(?:\{[\t\n\r ]*["}]|\[[\t\n\r ]*(?:[\[{"\]\d-]|true|false|null))')
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_FILE_NAME = re.compile(r"""filename\*?\s*=\s*(?:[\w-]+'[\w-]*')?(?:"([^"]*)"|([^;\s]*))""", re.IGNORECASE)
_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")

_UNKNOWN = {"", "unknown/unknown", "application/unknown", "*/*", "application/octet-stream", "binary/octet-stream"}
_UNKNOWN |= {"application/download", "application/force-download", "application/x-download", "application/save"}
_HTML = {"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"}
_CSV = {"text/csv", "application/csv", "text/x-csv", "text/comma-separated-values", "text/tab-separated-values"}
_JSON = {"application/json", "text/json", "text/x-json", "application/x-json", "application/x-ndjson"}
_JSON |= {"application/ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines"}
_TEXTS = {"javascript", "x-javascript", "ecmascript", "typescript", "yaml", "x-yaml", "toml", "sql", "x-sh", "x-tex"}
_TEXTS |= {
    "x-python",
    "x-httpd-php",
    "x-perl",
    "x-subrip",
    "graphql",
    "x-latex",
    "x-troff",
    "x-bibtex",
    "pgp-signature",
}
_NAMED: tuple[tuple[tuple[str, ...], Kind], ...] = (
    ((".csv", ".tsv"), "csv"),
    ((".txt", ".md", ".log"), "text"),
    ((".ndjson", ".jsonl", ".geojson"), "json"),
)

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\1\0", "image/x-icon"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS\0", "application/ogg"),
    (0, b"fLaC", "audio/flac"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/avi"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"PK\3\4", "application/zip"),
    (0, b"PK\5\6", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (257, b"ustar", "application/x-tar"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\x7fELF", "an executable"),
    (0, b"MZ", "an executable"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\xca\xfe\xba\xbe", "an executable"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
)
_PDF = b"%PDF-"


def kind_of(page: Page) -> Kind:
    """What kind of document the page is; a page that a browser rendered is HTML."""
    if page.html is not None:
        return "html"
    declared, start = page.content_type, page.body[:_LOOK]
    if declared in _HTML and not (start.startswith(_PDF) or (signature(start) and is_binary(page))):
        return _declared_html(page.body)
    if _is_pdf(declared, page.body):
        return "pdf"
    kind = _declared_text(declared, page.body)
    if kind is not None:
        return "binary" if is_binary(page) else _by_name(page, kind)
    if (declared == "image/svg+xml" or declared.endswith(("+xml", "/xml"))) and not signature(start):
        return _xml(page.body)
    return _sniffed(page)


def signature(start: bytes) -> str | None:
    """The type that the first bytes of a body show beyond doubt, None for what may be text."""
    return next((name for at, sign, name in _SIGNATURES if start[at : at + len(sign)] == sign), None)


def is_binary(page: Page) -> bool:
    """Whether a body cannot be text."""
    start = page.body[:_LOOK]
    if start.startswith(_MARKS):
        return False
    controls = len(_CONTROLS.findall(start))
    if signature(start) is not None and (controls or start[:3] in {b"GIF", b"ID3", b"BZh"}):
        return True
    if (page.charset or "").lower().startswith(("utf-16", "iso-2022")) or _is_utf16(start):
        return False
    return controls > len(start) // 20 or start.count(0) > len(start) // 50


def file_name(page: Page) -> str:
    """The name that the server gave the body, else the last part of the address; may be empty."""
    named = _FILE_NAME.search(page.headers.get("content-disposition", ""))
    if named is not None and (name := unquote(named[1] or named[2] or "")):
        return re.split(r"[/\\]", name)[-1][:200]
    try:
        return unquote(urlsplit(page.url).path).rsplit("/", 1)[-1][:200]
    except ValueError:
        return ""


def _declared_html(body: bytes) -> Kind:
    """HTML, unless a machine's answer was given the type that servers give by default."""
    start = body[:_LOOK].removeprefix(_MARKS[0])
    if _JSON_START.match(start) and body.rstrip()[-1:] in {b"}", b"]"} and b"<html" not in start.lower():
        return "json"
    root, rest = _root(body)
    return "feed" if _is_feed(root, rest) else "html"


def _is_pdf(declared: str, body: bytes) -> bool:
    """PDF says so itself, and readers look for it in the first 1024 bytes."""
    if declared in {"application/pdf", "application/x-pdf", "text/pdf"}:
        return _PDF in body[:1024]
    return body.startswith(_PDF) and declared != "text/plain"


def _declared_text(declared: str, body: bytes) -> Kind | None:
    if declared in _CSV:
        return "csv"
    if declared == "application/feed+json":
        return "feed"
    if declared in _JSON or declared.endswith("+json"):
        return "feed" if _is_json_feed(body) else "json"
    family, _, name = declared.partition("/")
    if (family == "text" and name != "xml") or (family == "application" and name in _TEXTS) or family == "message":
        return "text"
    return None


def _by_name(page: Page, kind: Kind) -> Kind:
    if kind == "text" and file_name(page).lower().endswith((".csv", ".tsv")):
        return "csv"
    return kind


def _sniffed(page: Page) -> Kind:
    """The kind of what has no type, a download's, or one that is not of a text."""
    declared, body = page.content_type, page.body
    if is_binary(page) or (not body and declared not in _UNKNOWN):
        return "binary"
    if declared == "application/vnd.ms-excel":
        return "csv"
    named = next((kind for ends, kind in _NAMED if file_name(page).lower().endswith(ends)), None)
    return named or _looked_at(body)


def _looked_at(body: bytes) -> Kind:
    """What the bytes of a text look like."""
    start = body[:_LOOK].removeprefix(_MARKS[0])
    if not body or _HTML_START.match(start):
        return "html"
    if _XML_START.match(start) or _is_feed(*_root(body)):
        return _xml(body)
    if _JSON_START.match(start):
        return "feed" if _is_json_feed(body) else "json"
    return "text"


def _xml(body: bytes) -> Kind:
    root, rest = _root(body)
    if root == "html":
        return "html"
    return "feed" if _is_feed(root, rest) else "xml"


def _root(body: bytes) -> tuple[str, bytes]:
    """The name of the first element, without its prefix, and its attributes; empty where there is none near."""
    start = body[:8192].removeprefix(_MARKS[0])
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_utf16(start):
        start = start.replace(b"\0", b"").lstrip(b"\xff\xfe")
    match = _ROOT.match(start, max(_after_prolog(start)))
    if match is None:
        return "", b""
    return match[1].decode("ascii", "replace").rpartition(":")[2].lower(), match[2]


def _after_prolog(start: bytes) -> Iterator[int]:
    at = 0
    while True:
        while start[at : at + 1].isspace():
            at += 1
        yield at
        match = _PROLOG.match(start, at)
        if match is None:
            return
        at = match.end()


def _is_feed(root: str, attributes: bytes) -> bool:
    if root == "rdf":
        return b"purl.org/rss/" in attributes or b"my.netscape.com/rdf/" in attributes or b"channel" in attributes
    return root == "rss" or (root == "feed" and (b"atom" in attributes.lower() or not attributes.strip()))


def _is_json_feed(body: bytes) -> bool:
    return b"://jsonfeed.org/version/" in body[:_LOOK].replace(b"\\/", b"/")


def _is_utf16(start: bytes) -> bool:
    even, odd = start[::2].count(0), start[1::2].count(0)
    return max(even, odd) > len(start) * 0.15 and min(even, odd) <= len(start) * 0.02
