"""The connection test of the settings: does this instance answer, and if not, what is to be changed?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import httpx

from search.channels.exchange import Fault, is_html
from search.channels.searxng.asking import ask, check, forbids_json
from search.channels.searxng.config import SearXNGConfig, instance_of
from search.channels.searxng.listing import Listing
from search.channels.searxng.read_html import read_html
from search.channels.searxng.read_json import read_json
from search.engine import Send

QUERY: Final = {"q": "test"}
FORMATS: Final = "Add json to search.formats in its settings.yml and restart it, or choose the format html here."


@dataclass(frozen=True, slots=True)
class Probe:
    """What a connection test found.

    `status`: of the answer that decided, None where there was none; `advice`: what to change, "" where nothing is to
    be; `engines`: those that gave results.
    """

    ok: bool
    status: int | None
    elapsed_ms: int
    message: str
    advice: str = ""
    results: int = 0
    engines: tuple[str, ...] = ()


class _Outcome(NamedTuple):
    ok: bool
    message: str
    advice: str = ""
    listing: Listing | None = None
    status: int | None = None


async def probe(config: SearXNGConfig, send: Send) -> Probe:
    """Try the settings with one search. Failures are results; only cancellation is raised."""
    began = time.monotonic()
    statuses: list[int] = []

    async def noting(request: httpx.Request) -> httpx.Response:
        response = await send(request)
        statuses.append(response.status_code)
        return response

    try:
        outcome = await _tried(config, noting)
    except Fault as fault:
        advice = f"{fault.advice[:1].upper()}{fault.advice[1:]}." if fault.advice else ""
        outcome = _Outcome(False, f"{fault.what}.", advice)
    listing = outcome.listing or Listing(config.url)
    engines = tuple(answer.engine for answer in listing.found(()).answers if answer.state == "ok")
    elapsed_ms = round((time.monotonic() - began) * 1000)
    status = outcome.status or (statuses[-1] if statuses else None)
    return Probe(outcome.ok, status, elapsed_ms, outcome.message, outcome.advice, len(listing.rows), engines)


async def _tried(config: SearXNGConfig, send: Send) -> _Outcome:
    instance = instance_of(config)
    advice = " ".join(instance.warnings)
    response = await ask(instance, QUERY | {"format": "json"}, send)
    if forbids_json(response):
        response = await ask(instance, QUERY | {"format": "html"}, send)
        check(response, instance)  # refused as well: then it is not about JSON
        if config.format.strip().lower() != "html":
            return _Outcome(False, "It answers, but refuses JSON (HTTP 403).", FORMATS, status=403)
        return _judged(read_html(response, instance.shown), advice)
    check(response, instance)
    if is_html(response):
        listing = read_html(response, instance.shown, wanted_json=True)
        return _judged(listing, "It gives its web page where JSON is asked for: choose the format html.")
    return _judged(read_json(response, instance.shown), advice)


def _judged(listing: Listing, advice: str) -> _Outcome:
    failed = _names([failure.engine for failure in listing.failures])
    if listing.text is not None:
        return _Outcome(
            False, "It answers with a page in which no results could be read.", "Check the address.", listing
        )
    if listing.rows:
        silent = f"; no answer from {failed}" if failed else ""
        return _Outcome(True, f"It answers with {len(listing.rows)} results{silent}.", advice, listing)
    if failed:
        message = f"It answers, but none of its engines does: {failed}."
        return _Outcome(False, message, "Look at its engines and its log.", listing)
    return _Outcome(True, "It answers; it found nothing for the word test.", advice, listing)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
