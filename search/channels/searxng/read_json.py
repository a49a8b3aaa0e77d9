"""SearXNG's JSON (docs.searxng.org/dev/search_api.html; fields as in searx/result_types)."""

from collections.abc import Mapping
from typing import Final

import httpx

from search.channels.exchange import Fault, items_of, json_of, said
from search.channels.searxng.listing import NAME, Listing, Row
from search.channels.values import TITLE, items, line, mapping, moment, number, web_address
from search.engine import Hit

MOST_ROWS: Final = 500
MOST_ENGINES: Final = 50  # of one row
LONGEST_NAME: Final = 60  # characters


def read_json(response: httpx.Response, shown: str) -> Listing:
    """The results and failures of an answer. Raises Fault when it is not SearXNG's."""
    try:
        body = json_of(response)
    except ValueError as error:
        what = f"SearXNG at {shown} answered with JSON that is broken or cut off"
        raise Fault("unreadable", what, "try again; look into its log") from error
    if not isinstance(body, dict) or "results" not in body:
        what = f"What answers at {shown} is not SearXNG, as its JSON has no results{said(mapping(body))}"
        raise Fault("error", what, "correct searxng_url")
    listing = Listing(shown)
    for each in items_of(body, "results", f"SearXNG at {shown}", "searxng_url")[:MOST_ROWS]:
        if row := _row(mapping(each)):
            listing.rows.append(row)
    for each in items(body.get("unresponsive_engines"), 300):
        pair = items(each) or [each]
        if engine := line(pair[0], LONGEST_NAME):
            listing.failed(engine, line(pair[1] if len(pair) > 1 else "", 200))
    return listing


def _row(result: Mapping[str, object]) -> Row | None:
    """One result; None where it has no address, as answers and key-value boxes."""
    url = web_address(result.get("url"))
    if not url:
        return None
    published = moment(result.get("publishedDate")) or moment(result.get("pubdate"))
    hit = Hit(line(result.get("title"), TITLE) or url, url, line(result.get("content")), published)
    return Row(hit, _engines(result), _positions(result.get("positions")), number(result.get("score")))


def _engines(result: Mapping[str, object]) -> tuple[str, ...]:
    """Who has the result; `engine` is who had it first."""
    first = line(result.get("engine"), LONGEST_NAME)
    all_of_them = (line(each, LONGEST_NAME) for each in items(result.get("engines"), MOST_ENGINES))
    return tuple(dict.fromkeys(filter(None, (first, *all_of_them)))) or (NAME,)


def _positions(value: object) -> tuple[int, ...]:
    """None at all where one is not a place in a list."""
    places = items(value, MOST_ENGINES)
    read = tuple(place for place in places if isinstance(place, int) and not isinstance(place, bool) and place > 0)
    return read if len(read) == len(places) else ()
