"""The `ddgs` package: a metasearch library that needs no key (an optional extra; it does its own networking)."""

import asyncio
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Final

from search.channels.exchange import Fault, quoted, words_of
from search.channels.languages import language_of
from search.channels.sites import with_sites
from search.channels.values import TITLE, items, line, mapping, web_address
from search.engine import Answer, Found, Hit, Send
from search.query import Query, TimeRange

MISSING: Final = 'The ddgs package is not installed: pip install "tabwright[ddgs]".'
MOST: Final = 50
REQUEST_S: Final = 5  # for each of its requests
LIMIT_S: Final = 20.0  # for one search: it asks several engines, in turns

_SAFESEARCH: Final = ("off", "moderate", "on")
_TIMELIMIT: Final[Mapping[TimeRange, str]] = {"day": "d", "week": "w", "month": "m", "year": "y"}
_HOMES: Final[Mapping[str, str]] = {"en": "us", "zh": "cn", "ja": "jp", "ko": "kr", "pt": "br", "sv": "se", "uk": "ua"}


class Ddgs:
    """Results of several engines, which the library mixes without saying whose they are.

    `proxy`: the address of the service's way out, which the library uses instead of the `send` of the other channels;
    `backend`: its engines, names separated by commas.
    """

    name = "ddgs"
    most = MOST

    def __init__(self, *, proxy: str | None, backend: str = "auto", limit_s: float = LIMIT_S) -> None:
        self._proxy = proxy
        self._backend = backend
        self._limit_s = limit_s

    async def search(self, query: Query, send: Send) -> Found:
        """Ask it. Failures are answers, with state and error; only cancellation is raised."""
        try:
            text = with_sites(words_of(query), query)
            async with asyncio.timeout(self._limit_s):
                results = await asyncio.to_thread(self._ask, text, query)
        except TimeoutError:
            return Fault("timeout", f"ddgs found nothing within {self._limit_s:g} s", "try again").found(self.name)
        except Fault as fault:
            return fault.found(self.name)
        hits = tuple(hit for each in items(results) if (hit := _hit(mapping(each))))
        return Found((Answer(self.name, "ok" if hits else "empty", hits[: max(1, min(query.count, MOST))]),))

    def _ask(self, text: str, query: Query) -> object:
        """The library's own list. Runs in a thread; it ends by itself, as every request in it has a time limit."""
        try:
            package = importlib.import_module("ddgs")
        except ImportError as error:
            raise Fault("error", MISSING.rstrip(".")) from error
        options = {
            "region": region(query.language),
            "safesearch": _SAFESEARCH[1 if query.safesearch is None else query.safesearch],
            "timelimit": _TIMELIMIT[query.time_range] if query.time_range else None,
            "max_results": max(1, min(query.count, MOST)),
            "backend": self._backend,
        }
        try:
            return package.DDGS(proxy=self._proxy, timeout=REQUEST_S).text(text, **options)
        except Exception as error:  # noqa: BLE001 -- a foreign library: whatever it raises is its answer
            return _meant(package, error)


def region(tag: str | None) -> str:
    """Country and language as the library takes them: `us-en`, `cn-zh`, `uk-en`."""
    language = language_of(tag)
    if language is None:
        return "us-en"
    country = language.region.lower() or _HOMES.get(language.code, language.code)
    return f"{'uk' if country == 'gb' else country}-{language.code}"


def _meant(package: ModuleType, error: Exception) -> list[object]:
    """What an exception of the library means: nothing found, or the Fault that is raised.

    It says "No results found." also where its engines refused it: it does not tell these apart.
    """
    kinds = importlib.import_module(f"{package.__name__}.exceptions")
    causes = (error, *error.args)
    if any(isinstance(each, kinds.RatelimitException) for each in causes):
        raise Fault("blocked", "The engines that ddgs asks limit this address", "wait") from error
    if any(isinstance(each, kinds.TimeoutException) for each in causes):
        raise Fault("timeout", "The engines that ddgs asks did not answer in time", "try again") from error
    if str(error).strip().startswith("No results found"):
        return []
    raise Fault("error", f"ddgs failed ({quoted(str(error)) or type(error).__name__})", "try again later") from error


def _hit(result: Mapping[str, object]) -> Hit | None:
    url = web_address(result.get("href"))
    return Hit(line(result.get("title"), TITLE) or url, url, line(result.get("body"))) if url else None
