"""News feeds as lists: RSS 0.9, 1.0 and 2.0, Atom, JSON Feed."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from html.entities import html5

from lxml import etree

from fetch.extract import extract
from fetch.page import Format, Link, Wish
from fetch.tame import tame
from fetch.web_address import absolute

MAX_ENTRIES = 1000
"""Entries that are read; feeds rarely have more than a hundred."""

_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_PREDEFINED = {"amp", "lt", "gt", "quot", "apos"}
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SPACES = re.compile(r"\s+")
_MARKUP = re.compile(r"<[A-Za-z/!]|&[#\w]+;")
_BRACKETS = re.compile(r"([\[\]\\])")


@dataclass(frozen=True)
class Entry:
    """One piece of news. `summary` may hold HTML."""

    title: str = ""
    url: str = ""
    date: str = ""
    author: str = ""
    summary: str = ""


@dataclass(frozen=True)
class Feed:
    """What a feed holds, its newest entries first if it keeps them so."""

    title: str = ""
    url: str = ""
    about: str = ""
    entries: tuple[Entry, ...] = ()

    def links(self) -> tuple[Link, ...]:
        """The addresses of the entries."""
        return tuple(Link(entry.url, entry.title) for entry in self.entries if entry.url)


def parse_feed(text: str, url: str) -> Feed | None:
    """The feed in this document, relative addresses resolved against `url`; None if it is none.

    Entities are not expanded and nothing is loaded, so a hostile document costs no more than its length.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _json_feed(text, url)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, encoding="utf-8"
    )
    bare = _ENTITY.sub(_expanded, _FORBIDDEN.sub("", _XML_DECLARATION.sub("", text)))
    try:
        root = etree.fromstring(bare.encode(), parser)
    except etree.XMLSyntaxError:
        return None
    return None if root is None else _xml_feed(root, url)


def _expanded(match: "re.Match[str]") -> str:
    """A named character of HTML, which feeds use although XML has it not, as a number."""
    sign = html5.get(match[1] + ";")
    if sign is None or match[1] in _PREDEFINED:
        return match[0]
    return "".join(f"&#{ord(each)};" for each in sign)


def _xml_feed(root: etree._Element, url: str) -> Feed | None:
    kind, url = _name(root), _base(root, url)
    if kind == "feed":
        head, entries = root, _children(root, "entry")
    elif kind in {"rss", "rdf"}:
        channel = next(_children(root, "channel"), None)
        head = root if channel is None else channel
        entries = _children(root if kind == "rdf" else head, "item")
    else:
        return None
    return Feed(
        title=_plain(_first(head, "title")),
        url=_link(head, url),
        about=_plain(_first(head, "description", "subtitle", "tagline")),
        entries=tuple(_entry(entry, url) for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False)),
    )


def _entry(entry: etree._Element, url: str) -> Entry:
    return Entry(
        title=_plain(_first(entry, "title")),
        url=_link(entry, url),
        date=_date(_first(entry, "pubdate", "published", "date", "issued", "updated", "modified")),
        author=_plain(_author(entry)),
        summary=_first(entry, "description", "summary", "encoded", "content"),
    )


def _author(entry: etree._Element) -> str:
    author = next(_children(entry, "author"), None)
    if author is not None and len(author):
        return _first(author, "name", "email")
    return _first(entry, "creator", "author")


def _link(element: etree._Element, url: str) -> str:
    """The page that an entry or a feed is about: Atom has it in an attribute, RSS in the text, or in the `guid`."""
    base = _base(element, url)
    for link in _children(element, "link"):
        target = link.get("href") or (link.text or "")
        if link.get("rel", "alternate") == "alternate" and (found := absolute(target, base)):
            return found
    guid = next(_children(element, "guid"), None)
    if guid is not None and guid.get("isPermaLink", "true") == "true" and "://" in (guid.text or ""):
        return absolute(guid.text or "", base) or ""
    return ""


def _base(element: etree._Element, url: str) -> str:
    base = element.get("{http://www.w3.org/XML/1998/namespace}base")
    return (absolute(base, url) or url) if base else url


def _first(element: etree._Element, *names: str) -> str:
    """The text of the first child that has one, names in order of preference; HTML for content of that type."""
    for name in names:
        for child in _children(element, name):
            if len(child) and (child.get("type") == "xhtml" or name in {"content", "summary"}):
                text = "".join(etree.tostring(each, encoding="unicode") for each in child)
            else:
                text = "".join(map(str, child.itertext(etree.Element))) if len(child) else child.text or ""
                text = html.escape(text, quote=False) if child.get("type") == "text" else text
            if text.strip():
                return text.strip()
    return ""


def _children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Children of this name; those of media extensions, which repeat titles and descriptions, are passed over."""
    for child in element:
        if _name(child) == name and "/mrss" not in str(child.tag):
            yield child


def _name(element: etree._Element) -> str:
    """The name without its namespace, in lower case; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _json_feed(text: str, url: str) -> Feed | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(items := found.get("items"), list):
        return None
    entries = tuple(_json_entry(item, url) for item in items[:MAX_ENTRIES] if isinstance(item, dict))
    home = absolute(_text(found, "home_page_url"), url) or ""
    return Feed(_text(found, "title"), home, _text(found, "description"), entries)


def _json_entry(item: dict[str, object], url: str) -> Entry:
    authors = item.get("authors")
    author = authors[0] if isinstance(authors, list) and authors else item.get("author")
    plain = _text(item, "summary", "content_text")
    return Entry(
        title=_text(item, "title"),
        url=absolute(_text(item, "url", "external_url"), url) or "",
        date=_date(_text(item, "date_published", "date_modified")),
        author=_text(author, "name") if isinstance(author, dict) else "",
        summary=html.escape(plain, quote=False) if plain else _text(item, "content_html"),
    )


def _text(item: dict[str, object], *names: str) -> str:
    values = (item.get(name) for name in names)
    text = next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")
    return _FORBIDDEN.sub("", text)


def _date(text: str) -> str:
    """A date as ISO 8601 where it can be read, else as it is."""
    text = _plain(text)[:100]
    try:
        return (parsedate_to_datetime(text) if "," in text[:12] else datetime.fromisoformat(text)).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return text


def _plain(text: str) -> str:
    """One line of text, markup removed."""
    text = re.sub(r"<[A-Za-z/!][^<>]*>", "", html.unescape(text)) if _MARKUP.search(text) else text
    return _SPACES.sub(" ", text).strip()


def as_text(feed: Feed, url: str, form: Format) -> str:
    """The feed as a list: Markdown if that is wanted, plain text otherwise."""
    markdown = form == "markdown"
    head = (f"# {_escaped(feed.title)}" if markdown and feed.title else feed.title), feed.url, feed.about
    blocks = ["\n\n".join(each for each in head if each) if markdown else "\n".join(each for each in head if each)]
    blocks += [_entry_text(entry, url, markdown=markdown) for entry in feed.entries]
    return "\n\n".join(block for block in blocks if block)


def _entry_text(entry: Entry, url: str, *, markdown: bool) -> str:
    said = " · ".join(each for each in (entry.date, entry.author) if each)
    summary = _summary(entry.summary, entry.url or url, "markdown" if markdown else "text")
    if not markdown:
        return "\n".join(each for each in (entry.title, entry.url, said, summary) if each)
    title = _escaped(entry.title or entry.url)
    title = f"[{title}](<{entry.url}>)" if entry.url else title
    return "\n\n".join(each for each in (f"## {title}" if title else "", said, summary) if each)


def _summary(summary: str, url: str, form: Format) -> str:
    if not _MARKUP.search(summary):
        return summary
    return extract(tame(summary), url, Wish(format=form, extract_mode="full")).content.strip()


def _escaped(text: str) -> str:
    return _BRACKETS.sub(r"\\\1", text)
