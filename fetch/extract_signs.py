"""What kind of page it is, as far as it says so itself: OpenGraph, JSON-LD, its address."""

import re

from selectolax.lexbor import LexborHTMLParser

_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
_TYPES = (
    re.compile(r"Article|BlogPosting|Report|Recipe|Review$"),
    re.compile(r"Product|Offer|Vehicle|Hotel|Apartment|House"),
    re.compile(r"DiscussionForumPosting|QAPage|Question$|Conversation"),
    re.compile(r"Service|Organization$|LocalBusiness|SoftwareApplication|Corporation"),
)
_PATHS = (
    re.compile(r"/(?:blogs?|news|articles?|story|stories|posts?)/|/20\d\d/[01]?\d/|(?:-[^/-]+){4,}/?(?:\.\w+)?$"),
    re.compile(
        r"/(?:categor(?:y|ies)|tags?|search|collections?|browse|shop|store|catalog|c|s|w|archive|events?|jobs?)\b"
    ),
    re.compile(r"^https?://[^/]+/?$"),
)
SIGNS = (
    "says article", "says product", "says forum", "says service",
    "graph article", "graph site", "graph nothing",
    "address of an article", "address of a list", "address of a site",
)  # fmt: skip


def signs_of(tree: LexborHTMLParser, html: str, url: str) -> list[float]:
    """The `SIGNS`, 1 or 0 each."""
    types = set(_TYPE.findall(html))
    kind = address = ""
    for meta in tree.css("meta[property='og:type'], meta[property='og:url']"):
        value = meta.attributes.get("content") or ""
        if meta.attributes.get("property") == "og:type":
            kind = value.lower()
        else:
            address = address or value
    link = tree.css_first("link[rel=canonical]")
    address = (link.attributes.get("href") if link is not None else None) or address
    path = (address if address.startswith("http") else url).partition("?")[0].lower()[:500]
    return [
        *(float(any(shape.search(each) for each in types)) for shape in _TYPES),
        *(float(kind == each) for each in ("article", "website", "")),
        *(float(shape.search(path) is not None) for shape in _PATHS),
    ]
