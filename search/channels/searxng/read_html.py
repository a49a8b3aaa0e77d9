"""SearXNG's web page of results: its theme `simple`, and `oscar` of older instances and of searx."""

from typing import Final

import httpx
from selectolax.lexbor import LexborNode

from search.channels.exchange import Fault
from search.channels.searxng.listing import NAME, Listing, Row
from search.channels.searxng.page import Page
from search.channels.values import TITLE, line, moment, web_address
from search.engine import Answer, Hit

MOST_ROWS: Final = 500

_LINK: Final = "h3 a[href], h4 a[href], .result_header a[href]"
_SNIPPET: Final = "p.content:not(.empty_element), .result-content, .content:not(.empty_element)"
_DATE: Final = "time[datetime]"
_ENGINES: Final = ".engines span, .pull-right .label, .result_engines .label"
_FAILURES: Final = "#engines_msg-table tr, .engine-stats tr"


def read_html(response: httpx.Response, shown: str, *, wanted_json: bool = False) -> Listing:
    """The results and failures of a page. Raises Fault when it is a login, a challenge, or no page of SearXNG's.

    A page that may be SearXNG's, but holds no results that could be read, is the listing's `text`; but not where
    `wanted_json`, as what answers with some page there is no SearXNG.
    """
    page, listing = Page(response), Listing(shown)
    for node in page.tree.css(".result")[:MOST_ROWS]:
        if row := _row(node):
            listing.rows.append(row)
    for node in page.tree.css(_FAILURES)[:300]:
        _note_failure(node, listing)
    if listing.rows or listing.failures or page.is_listing:
        return listing
    _refuse(page, shown, wanted_json=wanted_json)
    what = f"The page of {shown} holds no results that could be read: its text is given as it is."
    listing.failures.append(Answer(NAME, "unreadable", error=what))
    listing.text = page.text
    return listing


def _refuse(page: Page, shown: str, *, wanted_json: bool) -> None:
    if page.wants_password:
        what = f"SearXNG at {shown} answered with a login"
        raise Fault("error", what, "set searxng_auth_key and searxng_auth_type, or let this service pass without it")
    if page.challenge:
        what = f'SearXNG at {shown} is behind a challenge ("{page.challenge}")'
        raise Fault("blocked", what, "let this service pass without it")
    if wanted_json or not page.text.strip():
        what = f"What answers at {shown} is not SearXNG, but some other page"
        raise Fault("error", what, "correct searxng_url; a sub-path belongs in it")


def _row(node: LexborNode) -> Row | None:
    link = node.css_first(_LINK)
    url = web_address(link.attributes.get("href")) if link else ""
    if link is None or not url:
        return None
    engines = tuple(dict.fromkeys(filter(None, (line(each.text(), 60) for each in node.css(_ENGINES)))))
    date = node.css_first(_DATE)
    published = moment(date.attributes.get("datetime")) if date else None
    return Row(Hit(line(link.text(), TITLE) or url, url, _text(node, _SNIPPET), published), engines or (NAME,))


def _note_failure(row: LexborNode, listing: Listing) -> None:
    """Of the table of engines, those rows that hold an error instead of a time."""
    engine, error = _text(row, ".engine-name"), _text(row, ".response-error")
    if engine and error:
        listing.failed(engine, error)


def _text(node: LexborNode, selector: str) -> str:
    found = node.css_first(selector)
    return line(found.text()) if found else ""
