"""The text of PDF documents, page by page."""

import io
import time
from datetime import datetime

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from fetch.page import Metadata

MAX_PAGES = 2000
MAX_CHARACTERS = 5_000_000
LIMIT_S = 20.0
"""How much of a document is read at most: pages, characters, seconds. The rest is left out with a warning."""

# Broken documents make pypdf raise these besides its own: it trusts what it reads.
_BROKEN: tuple[type[Exception], ...] = (PyPdfError, ValueError, TypeError, LookupError, AttributeError, OSError)
_BROKEN += (ArithmeticError, RecursionError, NotImplementedError, AssertionError)
_LOCKED = "The PDF is encrypted and needs a password; its text cannot be read."


def read_pdf(body: bytes) -> tuple[str, str, Metadata, tuple[str, ...]]:
    """Text with a mark before each page (`--- page 1 ---`), title, metadata, and warnings.

    Text is empty for encrypted, broken and scanned documents; a warning says which.
    """
    try:
        reader = _opened(body)
        if reader.is_encrypted and not reader.decrypt(""):
            return "", "", Metadata(), (_LOCKED,)
        count = len(reader.pages)
    except (DependencyError, FileNotDecryptedError):
        return "", "", Metadata(), (_LOCKED,)
    except _BROKEN as fault:
        return "", "", Metadata(), (f"The PDF is broken and cannot be read ({type(fault).__name__}).",)
    title, metadata = _about(reader)
    content, warnings = _text(reader, count)
    return content, title, metadata, warnings


def _opened(body: bytes) -> PdfReader:
    """The document, also if its end is missing: an index at 0 makes pypdf look for the objects themselves."""
    try:
        return PdfReader(io.BytesIO(body))
    except PyPdfError:
        if b"%%EOF" in body[-1024:]:
            raise
        return PdfReader(io.BytesIO(body + b"\nstartxref\n0\n%%EOF"))


def _text(reader: PdfReader, count: int) -> tuple[str, tuple[str, ...]]:
    deadline = time.monotonic() + LIMIT_S
    pages: list[str] = []
    broken: list[int] = []
    size = 0
    for number in range(1, min(count, MAX_PAGES) + 1):
        try:
            text = _clean(reader.pages[number - 1].extract_text())
        except _BROKEN:
            text = ""
            broken.append(number)
        pages.append(text)
        size += len(text)
        if size > MAX_CHARACTERS or time.monotonic() > deadline:
            break
    return _joined(pages), tuple(_warnings(pages, count, broken))


def _joined(pages: list[str]) -> str:
    marked = (f"--- page {number} ---\n\n{text}".rstrip() for number, text in enumerate(pages, 1))
    return "\n\n".join(marked) if any(pages) else ""


def _warnings(pages: list[str], count: int, broken: list[int]) -> list[str]:
    warnings = []
    if len(pages) < count:
        warnings.append(f"Only the first {len(pages)} of {count} pages of the PDF were read.")
    if broken:
        listed = ", ".join(map(str, broken[:10]))
        warnings.append(
            f"{len(broken)} pages of the PDF could not be read: {listed}{' …' if len(broken) > 10 else ''}."
        )
    if pages and not any(pages) and not broken:
        warnings.append(f"The {count} pages of the PDF hold no text: they are probably scanned pictures.")
    return warnings


def _about(reader: PdfReader) -> tuple[str, Metadata]:
    try:
        about = reader.metadata
        if about is None:
            return "", Metadata()
        title, author, subject = (
            _clean(str(each or "")).strip() for each in (about.title, about.author, about.subject)
        )
    except _BROKEN:
        return "", Metadata()
    return title[:1000], Metadata(
        description=subject[:5000] or None, author=author[:1000] or None, published=_created(reader)
    )


def _created(reader: PdfReader) -> str | None:
    try:
        created: datetime | None = reader.metadata.creation_date if reader.metadata is not None else None
    except _BROKEN:
        return None
    return created.isoformat() if created is not None else None


def _clean(text: str) -> str:
    """Without lone surrogates and zeros, which no encoding takes, and without spaces at the ends of lines."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
    return "\n".join(line.rstrip() for line in whole.splitlines()).strip("\n")
