"""Why a page is not ready to be read yet: each reason, and when it lapses if nothing more happens.

The times were found by measuring some forty kinds of pages, each against polling for a word of its text: the gaps of a
hydrating page, of an answer that is being rendered or of a chain of requests are below 0.2 s; an answer that brings the
article may take over four seconds.
"""

from collections.abc import Iterator
from typing import NamedTuple

from browser_service.tab.document import LOAD_S, PAUSE_S, Document, Seen
from browser_service.tab.network import Network, Pending

QUIET_S = 0.20  # after the last growth of the text, where it may go on in steps …
CALM_S = 0.10  # … and where nothing is known that would go on
STEPS = 3  # a page that has grown so often grows in steps: the next one is waited for, for a second at most
LAGS = 2.0  # longer by so many times as the page's tasks run late, as on a busy machine
LAG_LIMIT_S = 0.4
STREAM_QUIET_S = 0.40
STREAM_OPEN_S = 1.2
RENDER_S = 0.12  # from an answer to the text that is made of it, or to the next request of a chain
FRAME_RENDER_S = 0.30
DWELL_S = 0.10  # a document with scripts, after loading …
BLIND_DWELL_S = 0.30  # … when its timers are not known
PARSE_S = 4.0  # without any growth, while the document has not arrived
PARSE_LIMIT_S = 10.0
SHEET_S = 3.0
SCRIPT_S = 2.5
DATA_S = 6.0
HELD_S = 1.0  # a request that the server holds until it has something to say
SERVED_S = 2.5  # the same for a page that has got text by another one, and has an empty place for more
SENT_S = 3.0  # a POST of a page that has text already
FRAME_S = 2.5  # the same for a frame
BODY_S = 1.0  # an answer whose body does not end: that of one which nobody reads does not
SHORT_BODY_S = 0.3
DATA_LIMIT_S = 10.0  # requests that follow each other
RICH_SCRIPT_S = 1.5  # a script that a page with text does not need to be read
LOAD_LIMIT_S = 3.0
BLIND_S = 2.5  # a page that says "loading", or is empty, or has put something off
RICH_S = 1.0  # the same when it has text
CHANGE_S = 1.0  # other words, but no more
RICH_CHANGE_S = 0.5
GROWTH_S = 3.0  # a page that grows and grows by itself …
FED_GROWTH_S = 10.0  # … or out of what it loads
REFRESH_S = 1.5
THIN = 200  # characters that are not links
RICH = 600


class Reason(NamedTuple):
    """Why to wait, and until when (loop time). `open`: what was waited for goes on after that."""

    what: str
    until: float
    open: bool = False


def reasons(document: Document, network: Network) -> Iterator[Reason]:
    """All reasons to wait, lapsed ones whose cause goes on included."""
    yield from _loading(document, network)
    still = document.seen is not None and document.seen.still
    for pending in network.pending.values():
        if not still or pending.kind == "frame":
            yield _request(pending, document, network)
    if still:
        return
    yield from _after_network(document, network)
    yield from _text(document, network)
    if document.seen is not None:
        yield from _said(document, document.seen)


def _loading(document: Document, network: Network) -> Iterator[Reason]:
    if document.refresh is not None:
        yield Reason("the page to move on", document.refresh + REFRESH_S)
    if document.cut or document.loaded is not None:
        return
    if document.parsed is None and document.written:
        yield Reason("", max(document.grown, document.committed) + LOAD_S)
    elif document.parsed is None:
        until = min(max(document.grown, document.committed) + PARSE_S, document.committed + PARSE_LIMIT_S)
        yield Reason("the rest of the document", until, open=True)
    else:
        until = min(max(document.parsed, network.heard) + LOAD_S, document.parsed + LOAD_LIMIT_S)
        yield Reason("the load event", until, open=True)


def _request(pending: Pending, document: Document, network: Network) -> Reason:
    if pending.held:
        return Reason("", pending.started + HELD_S)
    until = min(pending.started + _patience(pending, document.seen or Seen()), document.base + DATA_LIMIT_S)
    if pending.kind == "data" and _served(document, network):
        more = document.seen is None or document.seen.empty or pending.started > document.grown
        until = min(until, pending.started + SERVED_S if more else document.grown + CALM_S)
    if pending.answered is not None:
        body = SHORT_BODY_S if pending.small else BODY_S
        until = min(until, max(pending.answered, document.grown) + body)
    return Reason(f"an answer from {pending.url[:200]}", until, open=not pending.small)


def _patience(pending: Pending, seen: Seen) -> float:
    """For how long a request is waited for."""
    if pending.kind == "sheet":
        return SHEET_S
    if pending.kind == "script":
        return RICH_SCRIPT_S if seen.prose >= RICH else SCRIPT_S
    if pending.kind == "frame" and (seen.prose >= THIN or seen.still):
        return FRAME_S
    return SENT_S if seen.prose >= THIN and pending.method == "POST" else DATA_S


def _served(document: Document, network: Network) -> bool:
    """Whether the page has got text out of what it asked for, and does not say that more is to come."""
    seen = document.seen
    if seen is None or network.fed is None:
        return False
    return seen.prose >= THIN and not seen.busy and document.grown >= network.fed - RENDER_S


def _after_network(document: Document, network: Network) -> Iterator[Reason]:
    limit = document.base + DATA_LIMIT_S
    yield Reason("", min(network.ended + RENDER_S, limit))
    yield Reason("", min(network.frame_ended + FRAME_RENDER_S, limit))
    if network.stream is not None:
        fresh = max(document.grown, document.changed)
        yield Reason("", fresh + STREAM_QUIET_S if fresh > network.stream else network.stream + STREAM_OPEN_S)


def _text(document: Document, network: Network) -> Iterator[Reason]:
    seen = document.seen
    quiet = CALM_S if seen is not None and seen.timers and not seen.step else QUIET_S
    if seen is not None:
        quiet += min(LAGS * seen.lag, LAG_LIMIT_S)
    fed = max(network.ended, network.frame_ended) > document.grown - 1.0
    limit = document.growing + (FED_GROWTH_S if fed else GROWTH_S)
    until = document.grown + quiet
    if seen is not None and document.steps >= STEPS:
        until = max(until, min(seen.step, document.grown + PAUSE_S))
    yield Reason("text that keeps growing", min(until, limit), open=until > limit)
    rich = seen is not None and seen.prose >= RICH
    yield Reason("", min(document.changed + quiet, document.base + (RICH_CHANGE_S if rich else CHANGE_S)))


def _said(document: Document, seen: Seen) -> Iterator[Reason]:
    base = document.base
    yield Reason("", base + (DWELL_S if seen.timers else BLIND_DWELL_S))
    patience = RICH_S if seen.prose >= RICH else BLIND_S
    if seen.timers:
        yield Reason("", min(seen.due, base + patience))
    if seen.busy:
        known = seen.timers and not document.workers
        yield Reason("what the page says it is loading", base + (RICH_S if known else BLIND_S), open=True)
    if seen.blank:
        yield Reason("", base + BLIND_S)
    elif seen.prose < THIN and max(document.grown, document.changed) < base:
        known = seen.timers and not document.workers
        yield Reason("", base + (BLIND_DWELL_S if known else BLIND_S))
