"""What a page says about itself, and where it leads."""

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetch.json_ld import items, read_json_ld, texts
from fetch.page import Link, Metadata
from fetch.web_address import absolute

MAX_LINKS = 5000
"""Links that are given of a page."""

_LONGEST = 5000  # characters of a value
_LINK_TEXT = 300  # characters of a link's words
_LINK_STEPS = 200  # nodes in which they are looked for
_MAX_PROPERTIES = 200
_SPACES = re.compile(r"\s+")
_SURROGATES = re.compile("[\ud800-\udfff]")

_PUBLISHED: tuple[str, ...] = (
    "article:published_time",
    "og:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
)
_PUBLISHED += (
    "dcterms.date",
    "dcterms.created",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "parsely-pub-date",
)
_PUBLISHED += ("citation_publication_date", "citation_date", "sailthru.date", "weibo:article:create_at", "published")
_AUTHOR: tuple[str, ...] = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
)
_AUTHOR += ("citation_author", "byl", "twitter:creator")


def read_title(tree: LexborHTMLParser) -> str:
    """The title as a browser shows it, else the one for sharing, else the first heading; in one line."""
    for node in tree.css("title"):
        if (node.parent is None or node.parent.tag != "svg") and (title := _line(node.text())):
            return title
    shared = _properties(tree)
    heading = tree.css_first("h1")
    words = _words(heading) if heading is not None else ""
    return _line(shared.get("og:title")) or _line(shared.get("twitter:title")) or words


def read_metadata(tree: LexborHTMLParser, url: str) -> Metadata:
    """Description, author, date and the rest, from where pages put them; those that machines are fed come first."""
    said = _properties(tree)
    json_ld = read_json_ld(node.text() for node in tree.css('script[type*="ld+json" i]'))
    known = list(items(json_ld))
    base = base_of(tree, url)

    def first(*candidates: Iterable[str | None]) -> str | None:
        return next((line for each in candidates for value in each if (line := _line(value))), None)

    def meta(*names: str) -> Iterator[str | None]:
        return (said.get(name) for name in names)

    return Metadata(
        description=first(
            meta("description", "og:description", "twitter:description", "dc.description"), texts(known, "description")
        ),
        author=first(_authors(meta(*_AUTHOR)), texts(known, "author", "creator"), _marked(tree, "author")),
        published=first(meta(*_PUBLISHED), texts(known, "datePublished", "dateCreated"), _times(tree)),
        site=first(meta("og:site_name", "application-name", "al:ios:app_name"), texts(known, "publisher")),
        canonical=_address(base, (*_canonical(tree), said.get("og:url"))),
        image=_address(
            base, (*meta("og:image:secure_url", "og:image", "og:image:url", "twitter:image"), *texts(known, "image"))
        ),
        json_ld=json_ld,
        open_graph={name: value for name, value in said.items() if name.startswith(("og:", "article:"))},
    )


def read_links(tree: LexborHTMLParser, url: str) -> tuple[Link, ...]:
    """The http(s) links of a page in its order, each address once, with the words on them; links within it left out.

    A link without words has those of its picture, or its label.
    """
    base = base_of(tree, url)
    found: dict[str, str] = {}
    for node in tree.css("a[href], area[href]"):
        href = (node.attributes.get("href") or "").strip()
        address = None if href.startswith("#") else absolute(href, base)
        if address is None or found.get(address):
            continue
        if address not in found and len(found) >= MAX_LINKS:
            break
        found[address] = _words(node)
    return tuple(Link(address, words) for address, words in found.items())


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """What relative addresses of the page are relative to: its first `<base href>`, else its own address."""
    node = tree.css_first("base[href]")
    href = (node.attributes.get("href") if node is not None else None) or ""
    return absolute(href, url) or url


def _properties(tree: LexborHTMLParser) -> dict[str, str]:
    """The `<meta>` elements by name in lower case; of several with the same name the first that says something."""
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        value = _clean(attributes.get("content"))
        if not value:
            continue
        for key in ("property", "name", "itemprop"):
            for name in (attributes.get(key) or "")[:_LINK_TEXT].lower().split():
                found.setdefault(_SURROGATES.sub("\ufffd", name), value)
        if len(found) > _MAX_PROPERTIES:
            break
    return found


def _authors(values: Iterable[str | None]) -> Iterator[str | None]:
    """Names; Facebook wants an address in `article:author`, which is none."""
    return (value for value in values if value and "://" not in value)


def _marked(tree: LexborHTMLParser, what: str) -> Iterator[str]:
    """The words of elements that are marked as the author of the page."""
    for node in tree.css(f'[rel~="{what}"], [itemprop~="{what}"]')[:5]:
        name = node.css_first('[itemprop~="name"]')
        yield _words(name if name is not None else node)


def _times(tree: LexborHTMLParser) -> Iterator[str | None]:
    """The dates of `<time>` elements: one that says it is the date, then one of an article, then any."""
    for selector in ('time[itemprop~="datePublished"]', "time[pubdate]", "article time[datetime]", "time[datetime]"):
        node = tree.css_first(selector)
        if node is not None:
            yield node.attributes.get("datetime") or _words(node)


def _canonical(tree: LexborHTMLParser) -> Iterator[str | None]:
    return (node.attributes.get("href") for node in tree.css('link[rel~="canonical" i]')[:5])


def _address(base: str, candidates: Iterable[str | None]) -> str | None:
    return next((address for each in candidates if each and (address := absolute(each.strip(), base))), None)


def _words(node: LexborNode) -> str:
    """The words in an element, else those that stand for its picture, else its label."""
    words: list[str] = []
    pictured = ""
    size = 0
    for step, each in enumerate(node.traverse(include_text=True)):
        if size > _LINK_TEXT or step > _LINK_STEPS:
            break
        if each.is_text_node:
            if each.parent is not None and each.parent.tag not in {"script", "style", "noscript", "template"}:
                words.append((each.text_content or "")[:_LONGEST])
                size += len(words[-1].strip())
        elif not pictured and each.tag in {"img", "svg"}:
            attributes = each.attributes
            pictured = attributes.get("alt") or attributes.get("aria-label") or ""
        elif each.tag in {"br", "p", "div", "li", "td"}:
            words.append(" ")
    label = node.attributes
    line = _line("".join(words)) or _line(pictured) or _line(label.get("aria-label")) or _line(label.get("title"))
    return (line or _line(label.get("alt")))[:_LINK_TEXT]


def _line(text: str | None) -> str:
    return _SPACES.sub(" ", _clean(text)).strip()


def _clean(text: str | None) -> str:
    return _SURROGATES.sub("\ufffd", (text or "")[:_LONGEST].replace("\0", "")).strip()
