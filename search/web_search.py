"""web_search: ask all, judge, merge, rank, read the best, and say what became of every engine."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from search.domains import Domains
from search.engine import Answer
from search.formatted import formatted
from search.merge import Candidate, merge
from search.progress import Event, Tell
from search.query import Query
from search.rank import Ranked, Ranking, rank
from search.reading import Readings, ReadPage, Ways, shared_out
from search.relevance import Order
from search.snippets import excerpt, to_enhance
from search.told import Sourced, Told, failure

LAST_S: Final = 0.5
"""Of the whole time, kept for what comes after the reading."""

ASKING: Final = 0.75
"""Share of the whole time in which the sources have to answer."""

OTHERS: Final = 0.5
"""Share of the time that is left for asking, which a source may take when others come after it."""

GRACE: Final = 1.2
"""What sources, which keep their limits themselves, may take in proportion before they are cut off."""


@dataclass(frozen=True)
class Source:
    """Where results come from: the built-in engines, or a channel. `engines`: what it is known to ask.

    `ask` has this many seconds, and then gives what there is.
    """

    mode: str
    ask: Callable[[Query, Tell, float], Awaitable[Sourced]]
    engines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """A search as it is wanted; times in seconds, `max_chars` of all pages that are read together (0: any number)."""

    query: Query
    max_results: int = 30
    domains: Domains = field(default_factory=Domains)
    ranking: Ranking = "rrf"
    enhance: bool = True
    fetch_top: int = 5
    order: Order = "sequential"
    max_chars: int = 0
    deadline_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Result:
    """One result. `enhanced`: its snippet is the beginning of the page."""

    title: str
    url: str
    snippet: str
    engines: tuple[str, ...]
    published: str | None
    weight: int
    reachable: bool | None
    score: float
    parts: Mapping[str, float]
    enhanced: bool = False


@dataclass(frozen=True)
class Searched:
    """What a search gave. `found` counts the results before the limit."""

    mode: str
    results: tuple[Result, ...]
    found: int
    formatted: str
    told: tuple[Told, ...]
    pages: tuple[ReadPage, ...]
    warnings: tuple[str, ...]
    elapsed_s: float


async def web_search(
    wanted: Wanted, sources: Sequence[Source], ways: Ways, tell: Tell, chance: Random | None = None
) -> Searched:
    """Search by the first source; where all of its engines fail, by the next.

    Raises Blocked, TimedOut, UpstreamStatus or InvalidRequest when no engine of any source answered, saying why each
    did not. A search that found nothing is no failure.
    """
    loop = asyncio.get_running_loop()
    began, deadline = time.monotonic(), loop.time() + wanted.deadline_s
    source, sourced, warnings = await _asked(wanted, sources, tell)
    pages = merge(each.answer for each in sourced.told)
    admitted = [page for page in pages if _is_admitted(page, wanted.domains)]
    if len(admitted) < len(pages):
        warnings.append(f"{len(pages) - len(admitted)} results of other domains were left out.")
    ranked = rank(admitted, wanted.ranking)
    _tell_results(tell, ranked, wanted.max_results)
    readings = Readings(ways, tell, deadline - LAST_S)
    try:
        read = await readings.gather(
            wanted.query.text,
            ranked[: wanted.max_results],
            wanted.fetch_top,
            wanted.order,
            snippets=wanted.enhance,
            chance=chance or Random(),  # noqa: S311 - no secret
        )
        results = _results(rank(admitted, wanted.ranking, reached=readings.reached)[: wanted.max_results])
        if wanted.enhance:
            results = await _enhanced(results, readings)
    finally:
        await readings.close()
    if len(read) < min(wanted.fetch_top, len(results)):
        warnings.append(f"{len(read)} pages could be read, of {wanted.fetch_top} that were wanted.")
    return Searched(
        mode=source.mode,
        results=tuple(results),
        found=len(admitted),
        formatted=formatted(results) if results or sourced.formatted is None else sourced.formatted,
        told=tuple(sourced.told),
        pages=tuple(shared_out(read, wanted.max_chars)),
        warnings=tuple(warnings),
        elapsed_s=time.monotonic() - began,
    )


async def _asked(wanted: Wanted, sources: Sequence[Source], tell: Tell) -> tuple[Source, Sourced, list[str]]:
    """The first source that gives something to go on with, and what is to be said of it and of those before it."""
    tried: list[tuple[str, Sourced]] = []
    warnings: list[str] = []
    loop = asyncio.get_running_loop()
    until = loop.time() + wanted.deadline_s * ASKING
    for others, source in zip(reversed(range(len(sources))), sources, strict=True):
        about = {"query": wanted.query.text, "mode": source.mode, "engines": list(source.engines)}
        tell(Event("query_update", about))
        limit_s = max(0.0, until - loop.time()) * (OTHERS if others else 1)
        try:
            async with asyncio.timeout(limit_s * GRACE):
                sourced = await source.ask(wanted.query, tell, limit_s)
        except TimeoutError:
            late = f"{source.mode} did not answer within the time for the whole search."
            sourced = Sourced([Told(Answer(source.mode, "timeout", error=late), round(limit_s * GRACE * 1000))])
        warnings += sourced.warnings
        if sourced.good:
            return source, sourced, warnings
        tried.append((source.mode, sourced))
        warnings.append(f"{source.mode} failed: {failure([tried[-1]]).detail}")
    raise failure(tried)


def _is_admitted(page: Candidate, domains: Domains) -> bool:
    """An engine's own redirect tells nothing of where it leads: it is no page of a domain that was asked for."""
    return not domains.allowed if page.opaque else domains.admits(page.url)


def _tell_results(tell: Tell, ranked: Sequence[Ranked], most: int) -> None:
    shown = [{"title": each.page.title, "url": each.page.url} for each in ranked[:most]]
    tell(Event("search_results_received", {"total": len(shown), "total_results": len(ranked), "results": shown}))


def _results(ranked: Sequence[Ranked]) -> list[Result]:
    return [
        Result(
            title=each.page.title,
            url=each.page.url,
            snippet=each.page.snippet,
            engines=each.page.engines,
            published=each.page.published,
            weight=each.weight,
            reachable=each.reachable,
            score=each.score,
            parts=each.parts,
        )
        for each in ranked
    ]


async def _enhanced(results: list[Result], readings: Readings) -> list[Result]:
    """The results with snippets from their pages where those of the first ones say too little."""
    texts = await readings.text_of([result.url for result in to_enhance(results)])
    return [
        _with_snippet(result, excerpt(texts[result.url].content)) if result.url in texts else result
        for result in results
    ]


def _with_snippet(result: Result, snippet: str) -> Result:
    """The result with another snippet, unless that says no more."""
    if len(snippet) <= len(result.snippet.strip()):
        return result
    return replace(result, snippet=snippet, enhanced=True)
