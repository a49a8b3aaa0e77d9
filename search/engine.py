"""What a search engine is, and what it answers.

Two kinds are asked alike. A scraping engine (`Engine`) is one file with a pure `request` and `parse`, which
`search.ask` sends and reads. A channel (`Channel`) is an API or a metasearch instance that has its own way to ask.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import httpx

from search.query import Query
from search.selectors import Selectors

Send = Callable[[httpx.Request], Awaitable[httpx.Response]]
"""Sends one request through the service's way out and reads the whole answer, its encoding undone.

Redirects are not followed. Raises `fetch.errors.TabwrightError` (NavigationFailed, AddressForbidden, ContentTooLarge,
TimedOut) when there is no answer. It has no time limit of its own beyond a generous one: who calls sets it.
"""

State = Literal["ok", "empty", "blocked", "low_quality", "unreadable", "timeout", "error", "resting"]
"""How an engine answered.

`empty`: it says that it knows nothing; `blocked`: a captcha, a challenge, a rate limit; `low_quality`: results that
have nothing to do with the query, as engines give suspected robots; `unreadable`: an answer in which nothing was found,
so that its page has changed; `error`: anything else that failed; `resting`: it was not asked.
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result as an engine gives it, at its place in the list.

    `published` is a date (`2026-11-30`) or date and time in ISO 8601, where the engine names one. `opaque`: the address
    is the engine's own redirect, which only a request can resolve.
    """

    title: str
    url: str
    snippet: str = ""
    published: str | None = None
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What one engine answered: its hits, best first, or why there are none.

    `error` is one sentence that a person can act on; `retry_after_s` is what the engine asked for.
    """

    engine: str
    state: State
    hits: tuple[Hit, ...] = ()
    error: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a channel answered: one `Answer` for every engine behind it, itself where there is only one.

    `formatted` is set where the channel gave text that could not be read as results.
    """

    answers: tuple[Answer, ...]
    warnings: tuple[str, ...] = ()
    formatted: str | None = None


class Channel(Protocol):
    """An API or a metasearch instance. `most` results are what it gives at most for one query."""

    name: str
    most: int

    async def search(self, query: Query, send: Send) -> Found:
        """Ask it. Failures are answers, with state and error; only cancellation is raised."""
        ...


class Engine(Protocol):
    """A scraping engine: what to ask it, and how to read its page. Both are pure.

    `weight` is what its word counts, of 100; `index` names the collection of pages behind it, which several engines may
    share. Redirects are followed on `hosts` and below them. With `cookie_first` its first answer may only set a cookie
    that it wants to see.
    """

    name: str
    weight: int
    index: str
    hosts: tuple[str, ...]
    cookie_first: bool

    def request(self, query: Query) -> httpx.Request:
        """The request for one page of results, with the headers of a browser."""
        ...

    def fallback(self, query: Query) -> httpx.Request | None:
        """Another way to ask, for when the first was blocked or could not be read; None where there is none."""
        ...

    def parse(self, response: httpx.Response, selectors: Selectors) -> Answer:
        """Read an answer to either, of any status; of a redirect, whether it leads to a captcha. Raises nothing."""
        ...
