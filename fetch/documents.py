"""Reading what is not a web page: JSON, feeds, PDF, and all that is text already."""

from collections.abc import Callable

from fetch.charset import decode
from fetch.errors import UnsupportedContent
from fetch.feeds import as_text, parse_feed
from fetch.json_text import pretty
from fetch.kinds import Kind, file_name, kind_of, signature
from fetch.language import language_of
from fetch.page import Metadata, Page, Reading, Wish
from fetch.pdf import read_pdf

__all__ = ["kind_of", "read_document"]

_SAMPLE = 20_000  # characters that tell a text's language
_CUT = "The document ended before its declared end; what came is given."


def read_document(page: Page, wish: Wish) -> Reading:
    """What a page that is not HTML says; the form wished for matters for feeds only, the rest is given as it is.

    Raises UnsupportedContent for what has no text: pictures, archives, sound, office files, programs.
    """
    kind = kind_of(page)
    if kind == "binary":
        raise _unsupported(page)
    if kind == "pdf":
        return _pdf(page)
    text, charset, said = decode(page.body, page.charset, markup=kind in {"html", "xml", "feed"})
    reading = _READERS.get(kind, _verbatim)(page, wish, text)
    return Reading(
        content=reading.content,
        title=reading.title,
        characters=len(reading.content),
        charset=charset,
        language=_language(page, reading.content),
        metadata=reading.metadata,
        links=reading.links,
        extractor=reading.extractor,
        warnings=(*said, *reading.warnings, *((_CUT,) if page.cut else ())),
    )


def _verbatim(page: Page, wish: Wish, text: str) -> Reading:
    return Reading(text, title=file_name(page), extractor="verbatim")


def _json(page: Page, wish: Wish, text: str) -> Reading:
    content, warnings = pretty(text)
    return Reading(content, title=file_name(page), extractor="json", warnings=warnings)


def _feed(page: Page, wish: Wish, text: str) -> Reading:
    """A feed as a list; as it is where HTML was wished for, or where it cannot be read."""
    feed = parse_feed(text, page.url)
    if feed is None:
        warning = "The feed cannot be read as one; it is given as it is."
        return Reading(text, title=file_name(page), extractor="verbatim", warnings=(warning,))
    content = text if wish.format == "html" else as_text(feed, page.url, wish.format)
    metadata = Metadata(description=feed.about or None, canonical=feed.url or None)
    return Reading(content, title=feed.title, metadata=metadata, links=feed.links(), extractor="feed")


_READERS: dict[Kind, Callable[[Page, Wish, str], Reading]] = {"json": _json, "feed": _feed}


def _pdf(page: Page) -> Reading:
    content, title, metadata, warnings = read_pdf(page.body)
    return Reading(
        content,
        title=title or file_name(page),
        characters=len(content),
        language=_language(page, content),
        metadata=metadata,
        extractor="pdf",
        warnings=(*warnings, *((_CUT,) if page.cut else ())),
    )


def _language(page: Page, text: str) -> str | None:
    declared = page.headers.get("content-language", "").split(",")[0].strip()
    return language_of(text[:_SAMPLE], declared or None)


def _unsupported(page: Page) -> UnsupportedContent:
    """The refusal of a body without text. Its type is the declared one, unless that says nothing and the bytes do."""
    shown, declared = signature(page.body[:512]), page.content_type
    kind = shown if shown and (declared.endswith(("octet-stream", "plain")) or not declared) else declared
    kind = kind or "binary data"
    size = _size(len(page.body))
    return UnsupportedContent(
        f"The address holds {kind} ({size}), which has no text to read; open it in a session to download it.",
        hint="Downloads of a session are kept as artifacts, whose bytes can be had.",
        about={"content_type": kind, "bytes": len(page.body)},
    )


def _size(count: int) -> str:
    return (
        f"{count} bytes"
        if count < 1024
        else f"{count / 1024:.1f} KiB"
        if count < 1 << 20
        else f"{count / (1 << 20):.1f} MiB"
    )
