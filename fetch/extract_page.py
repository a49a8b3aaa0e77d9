"""What kind of page it is, as far as it says so itself: OpenGraph, JSON-LD, generator, address."""

import re

from selectolax.lexbor import LexborHTMLParser

_LD_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')
_LD_KINDS = {
    "article": re.compile(r"Article|BlogPosting|Report|Recipe|Review$"),
    "product": re.compile(r"Product|Offer|Vehicle|Hotel|Apartment|House"),
    "forum": re.compile(r"DiscussionForumPosting|QAPage|Question$|Conversation"),
    "list": re.compile(r"ItemList|CollectionPage|SearchResultsPage|ListItem$"),
    "service": re.compile(r"Service|Organization$|LocalBusiness|SoftwareApplication|Corporation"),
    "docs": re.compile(r"TechArticle|APIReference|HowTo"),
}
_OG_KINDS = {"article": "article", "product": "product", "og:product": "product", "blog": "list", "website": "site", "video.other": "other"}
_PATH_KINDS = {
    "article": re.compile(r"/(?:blogs?|news|articles?|story|stories|posts?)/|/20\d\d/[01]?\d/|(?:-[^/-]+){4,}/?(?:\.\w+)?$"),
    "product": re.compile(r"/(?:products?|item|itm|dp|pd|pdp|p|sku|buy)/"),
    "forum": re.compile(r"/(?:forums?|threads?|topics?|t|questions?|discussions?|comments|viewtopic|showthread|community)\b"),
    "docs": re.compile(r"/(?:docs?|documentation|guides?|reference|api|wiki|help|manual|tutorials?|learn|support)\b|\bdocs?\."),
    "list": re.compile(r"/(?:category|categories|tags?|search|collections?|browse|shop|store|catalog|c|s|w|archive|events?|jobs?)\b"),
    "root": re.compile(r"^https?://[^/]+/?$"),
}
_GENERATORS = {
    "forum": re.compile(r"discourse|phpbb|vbulletin|xenforo|mybb|invision|flarum|nodebb|smf|vanilla", re.I),
    "shop": re.compile(r"woocommerce|shopify|magento|prestashop|opencart", re.I),
    "docs": re.compile(r"sphinx|docusaurus|mkdocs|mediawiki|gitbook|hugo|doxygen|vitepress|starlight|nextra", re.I),
    "blog": re.compile(r"wordpress|ghost|blogger|drupal|joomla|typepad|medium|substack", re.I),
}
SIGNALS = (
    *(f"ld.{k}" for k in _LD_KINDS), "og.article", "og.product", "og.site", "og.none",
    *(f"path.{k}" for k in _PATH_KINDS), *(f"gen.{k}" for k in _GENERATORS), "h.feed", "published",
)


def signals(tree: LexborHTMLParser, html: str, url: str) -> list[float]:
    types = set(_LD_TYPE.findall(html))
    row = [1.0 if any(p.search(t) for t in types) else 0.0 for p in _LD_KINDS.values()]
    og = gen = canonical = ""
    published = False
    head = tree.head
    if head is not None:
        for meta in head.css("meta"):
            a = meta.attributes
            name = (a.get("property") or a.get("name") or "").lower()
            value = a.get("content") or ""
            if name == "og:type":
                og = value.lower()
            elif name == "generator":
                gen += value + " "
            elif name == "og:url" and not canonical:
                canonical = value
            elif name in ("article:published_time", "datepublished", "date", "pubdate"):
                published = True
        link = head.css_first("link[rel=canonical]")
        if link is not None:
            canonical = link.attributes.get("href") or canonical
    kind = _OG_KINDS.get(og, "other" if og else "none")
    row += [1.0 if kind == k else 0.0 for k in ("article", "product", "site", "none")]
    path = canonical if canonical.startswith("http") else url
    path = path.split("?")[0].lower()
    row += [1.0 if p.search(path) else 0.0 for p in _PATH_KINDS.values()]
    body = tree.body
    classes = (body.attributes.get("class") or "") if body is not None else ""
    gen += " " + classes[:300]
    row += [1.0 if p.search(gen) else 0.0 for p in _GENERATORS.values()]
    row += [1.0 if "hfeed" in classes or "archive" in classes else 0.0, 1.0 if published else 0.0]
    return row
