"""What kind of page it is, as far as it says so itself: OpenGraph, JSON-LD, generator."""

import re
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
_ARTICLE = re.compile(r"(?:Article|BlogPosting|Report|Recipe)$")
_PRODUCT = re.compile(r"^(?:Product|Offer|Vehicle|Hotel|Apartment|House)")
_FORUM = re.compile(r"^(?:DiscussionForumPosting|QAPage|Question|Conversation)$")
_FORUM_SOFTWARE = re.compile(
    r"discourse|phpbb|vbulletin|xenforo|mybb|invision|flarum|nodebb|smf|vanilla", re.IGNORECASE
)
_PUBLISHED = frozenset({"article:published_time", "datepublished", "date", "pubdate"})


class Signals(NamedTuple):
    """What a page calls itself."""

    article: bool
    product: bool
    forum: bool


def signals_of(tree: LexborHTMLParser, html: str) -> Signals:
    """Read them; a page that calls itself several things is all of them."""
    types = set(_TYPE.findall(html))
    kind = software = ""
    published = False
    for meta in tree.css("meta"):
        given = meta.attributes
        name, value = (given.get("property") or given.get("name") or "").lower(), given.get("content") or ""
        if name == "og:type":
            kind = value.lower()
        elif name == "generator":
            software += value
        published = published or name in _PUBLISHED
    product = any(_PRODUCT.match(each) for each in types)
    article = kind == "article" or published or any(_ARTICLE.search(each) for each in types)
    return Signals(
        article=article and not product,
        product=product or kind in {"product", "og:product"},
        forum=bool(_FORUM_SOFTWARE.search(software)) or any(_FORUM.match(each) for each in types),
    )
