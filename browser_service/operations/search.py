"""Searching the web."""

import re
import unicodedata
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from browser_service.operations.operation import Call, Operation, Result
from browser_service.searcher import Choice, config_of
from browser_service.searching import Searching, search
from browser_service.settings import Scope
from fetch.errors import InvalidRequest
from fetch.untrusted import Untrusted
from search.domains import Domains
from search.progress import Event
from search.query import Query, TimeRange, time_range_of
from search.rank import Ranking
from search.relevance import Order
from search.settings import GivenAdapter, SearchSettings
from search.told import stats
from search.web_search import Searched, Wanted

MOST: int = 30
LEAST_READ, MOST_READ = 3, 8
# Not those that say how letters join, which scripts and emoji need
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _time_range(given: Any) -> Any:
    return time_range_of(given) or given if isinstance(given, str) else given


def _names(given: Any) -> Any:
    """A list; the command line and older callers write names with commas."""
    parts = [given] if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(each, str) for each in parts):
        return given
    return [name for each in parts for part in each.split(",") if (name := part.strip())]


Names = Annotated[list[Annotated[str, Field(max_length=300)]], BeforeValidator(_names)]


class Found(Result):
    """One result."""

    title: Untrusted
    url: Untrusted
    snippet: Untrusted
    engine: Untrusted = Field(description="the engine that has it highest")
    engines: list[Untrusted] = Field(description="all engines that found it")
    weight: int = Field(description="of the engine with the greatest, of 100")
    reachable: bool | None = Field(description="whether the page answers; null where that is not known")
    score: float = Field(serialization_alias="_score")
    score_parts: dict[Untrusted, float] = Field(
        serialization_alias="_score_parts", description="what the score is made of"
    )
    enhanced: bool = Field(serialization_alias="_enhanced", description="the snippet is the beginning of the page")
    published: Untrusted | None = Field(description="date, where one is known")


class FetchedPage(Result):
    """A page that was read."""

    url: Untrusted
    title: Untrusted
    content: Untrusted = Field(description="main content as Markdown")
    content_length: int = Field(description="characters of the whole content")
    truncated: bool


class EngineStats(Result):
    """What became of one engine."""

    state: Literal["ok", "empty", "blocked", "low_quality", "unreadable", "timeout", "error", "resting"]
    hits: int
    elapsed_ms: int
    error: Untrusted | None = Field(description="one sentence that says what went wrong")
    resting_until: str | None = Field(description="when it is asked again")


class SearchResult(Result):
    """What a search found."""

    success: bool
    query: str
    results: list[Found] = Field(description="best first")
    total: int = Field(description="results given")
    total_results: int = Field(description="results before the limit")
    search_time: float = Field(description="seconds")
    formatted: Untrusted = Field(description="the results as a Markdown list of links")
    from_cache: bool
    engine_stats: dict[Untrusted, EngineStats]
    mode: str = Field(serialization_alias="_mode", description="builtin, searxng, tavily, brave …")
    fetched: list[FetchedPage] = Field(serialization_alias="_fetched", description="the best pages, read")
    fetched_count: int = Field(serialization_alias="_fetched_count")
    warnings: list[Untrusted]


class Search(Operation[SearchResult]):
    """Search the web, and read the best pages.

    By the built-in engines, all at once, or by SearXNG or an API where one is set up. What each engine did is in
    `engine_stats`; when all of them fail, that is an error. Few and exact words find most.
    """

    name: ClassVar[str] = "web_search"
    path: ClassVar[str] = "/v1/search"
    scope: ClassVar[Scope] = "read"
    told: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"query": "python asyncio timeout"},
        {"query": "大模型 推理 优化", "time_range": "month", "fetch_top": 3, "max_chars": 20_000},
        {"query": "release notes", "allowed_domains": ["python.org"], "fetch_top": 0},
    )

    query: str = Field(min_length=1, max_length=2_000, description="what is looked for", examples=["python asyncio"])
    max_results: int | None = Field(None, ge=1, le=MOST, description=f"results at most; default {MOST}")
    time_range: Annotated[TimeRange, BeforeValidator(_time_range)] | None = Field(
        None, description="how old results may be; also 1d, 1w, 1m, 1y, d, w, m, y, 一天, 一周, 一月, 一年"
    )
    language: str | None = Field(
        None,
        max_length=35,
        pattern=r"^(auto|all|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$",
        description="such as en-US or zh-CN; auto: as the query is written",
    )
    safesearch: Literal[0, 1, 2] | None = Field(None, description="0 off, 1 moderate, 2 strict")
    enhance_snippets: bool = Field(True, description="give the first results without a snippet one from their pages")
    fetch_top: int | None = Field(
        None, ge=0, description=f"pages to read: 0, or {LEAST_READ} to {MOST_READ}; default 5"
    )
    fetch_mode: Order | None = Field(
        None, description="which pages are read: the most relevant ones, or any; default: as set up (sequential)"
    )
    allowed_domains: Names = Field(default_factory=list, max_length=300, description="only these, with subdomains")
    blocked_domains: Names = Field(default_factory=list, max_length=300, description="not these, with subdomains")
    engines: Names = Field(
        default_factory=list,
        max_length=50,
        description="engines to ask, of the built-in ones or of the SearXNG instance",
    )
    adapter: GivenAdapter = Field(
        "", description="where to search; default: as set up, else the built-in engines; api means anthropic"
    )
    search_depth: Literal["basic", "advanced"] = Field("basic", description="of Tavily")
    ranking: Ranking | None = Field(None, description="how results are put in order; default: as set up (rrf)")
    max_chars: int = Field(0, ge=0, description="limit of the pages that are read, together; 0: none")
    timeout_ms: int | None = Field(
        None, ge=1, le=300_000, description="limit for one engine (default 3000) or channel (default 30000)"
    )
    deadline_ms: int = Field(60_000, ge=100, le=600_000, description="limit for the whole call")

    @field_validator("query")
    @classmethod
    def _says_something(cls, given: str) -> str:
        text = " ".join(given.split())
        if _CONTROLS.search(text) or all(unicodedata.category(sign) in {"Cf", "Zs"} for sign in text):
            raise ValueError("must be text, without control characters")
        return text

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            Domains.parse(self.allowed_domains, self.blocked_domains)
        except InvalidRequest as fault:
            raise ValueError(fault.detail.removesuffix(".")) from None
        return self

    async def run(self, call: Call) -> SearchResult:
        """Search."""
        now = await call.service.saved.search_settings()
        warnings: list[str] = []
        choice = Choice(
            adapter=self.adapter,
            engines=tuple(self.engines),
            timeout_s=self.timeout_ms / 1000 if self.timeout_ms is not None else None,
            max_results=self.max_results,
        )
        by_searxng = call.service.searcher.first(now, choice) == "searxng"
        searching = Searching(
            wanted=self._wanted(now, warnings, by_searxng=by_searxng),
            choice=choice,
            now=now,
            caller=call.caller.name,
            owner=call.caller.owner,
        )

        def tell(event: Event) -> None:
            call.tell(event.name, event.data)

        found, from_cache = await search(call.service, searching, tell)
        return _result(self.query, found, warnings, from_cache=from_cache)

    def _wanted(self, now: SearchSettings, warnings: list[str], *, by_searxng: bool) -> Wanted:
        domains = Domains.parse(self.allowed_domains, self.blocked_domains)
        count = config_of(now).limit(self.max_results) if by_searxng else self.max_results or MOST
        query = Query(
            text=self.query,
            count=count,
            time_range=self.time_range,
            language=self.language,
            safesearch=self.safesearch,
            allowed_domains=domains.allowed,
            blocked_domains=domains.blocked,
            depth=self.search_depth,
        )
        return Wanted(
            query=query,
            max_results=count,
            domains=domains,
            ranking=self.ranking or now.ranking,
            enhance=self.enhance_snippets,
            fetch_top=self._fetch_top(now, warnings, by_searxng=by_searxng),
            order=self.fetch_mode or now.fetch_mode,
            max_chars=self.max_chars,
            deadline_s=self.deadline_ms / 1000,
        )

    def _fetch_top(self, now: SearchSettings, warnings: list[str], *, by_searxng: bool) -> int:
        if self.fetch_top is None:
            saved = now.fetch_count if by_searxng else 0
            return min(max(saved, LEAST_READ), MOST_READ) if saved else 5
        if self.fetch_top == 0:
            return 0
        count = min(max(self.fetch_top, LEAST_READ), MOST_READ)
        if count != self.fetch_top:
            warnings.append(f"fetch_top is 0 or {LEAST_READ} to {MOST_READ}: {count} was taken for {self.fetch_top}.")
        return count


def _result(query: str, found: Searched, warnings: list[str], *, from_cache: bool) -> SearchResult:
    return SearchResult(
        success=True,
        query=query,
        results=[
            Found(
                title=each.title,
                url=each.url,
                snippet=each.snippet,
                engine=each.engines[0],
                engines=list(each.engines),
                weight=each.weight,
                reachable=each.reachable,
                score=each.score,
                score_parts=dict(each.parts),
                enhanced=each.enhanced,
                published=each.published,
            )
            for each in found.results
        ],
        total=len(found.results),
        total_results=found.found,
        search_time=round(found.elapsed_s, 3),
        formatted=found.formatted,
        from_cache=from_cache,
        engine_stats={each.answer.engine: EngineStats.model_validate(stats(each)) for each in found.told},
        mode=found.mode,
        fetched=[
            FetchedPage(
                url=each.url,
                title=each.title,
                content=each.content,
                content_length=each.content_length,
                truncated=each.truncated,
            )
            for each in found.pages
        ],
        fetched_count=len(found.pages),
        warnings=[*warnings, *found.warnings],
    )
