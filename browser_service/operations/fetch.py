"""Fetching an address as text: web_fetch, and its older short form."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from browser_service.fetching import Wanted, fetch
from browser_service.operations.operation import Call, Operation, Result
from browser_service.operations.target import Selector
from browser_service.settings import Scope
from browser_service.tab.options import HeaderName, HeaderValue, Part, Proxy, refuse_own_headers
from fetch.address import parse_address
from fetch.budget import cut
from fetch.page import Cookie, ExtractMode, Format, Method, Outcome, Wish
from fetch.passages import passages
from fetch.untrusted import Untrusted
from fetch.web_fetch import Ask, Fetched, Render

OLD_LIMIT = 500_000
LINKS = 500
QUERY_LIMIT_S = 15.0


class GivenCookie(Part):
    """A cookie that goes with the request."""

    name: str = Field(min_length=1, max_length=4096, pattern=r"^[^\s;=,\x00-\x1f\x7f]+$")
    value: str = Field(max_length=4096, pattern=r"^[^;\x00-\x1f\x7f]*$")
    domain: str | None = Field(None, max_length=253, description="default: the host of url")
    path: str = Field("/", max_length=4096, pattern=r"^/[^;\x00-\x1f\x7f]*$")


class PhaseInfo(Result):
    """What one phase did, and why it was not the last."""

    phase: Literal["http", "upgrade", "browser"]
    outcome: str = Field(description="outcome of the page, or the code of the failure")
    why: Untrusted = Field(description="why the fetch went on, or what failed")
    status: int | None
    elapsed_ms: int
    bytes: int


@dataclass(frozen=True, slots=True)  # hundreds a page: models would take a third of the time of a whole answer
class WebLink:
    """A link of the page."""

    url: Untrusted
    text: Untrusted


class PageMetadata(Result):
    """What the page says about itself."""

    description: Untrusted | None
    author: Untrusted | None
    published: Untrusted | None
    site: Untrusted | None
    canonical: Untrusted | None
    image: Untrusted | None
    json_ld: list[Any] = Field(description="as it is in the page; untrusted")
    open_graph: dict[Untrusted, Untrusted]


class WebPage(Result):
    """A page as text."""

    url: Untrusted = Field(description="as it was asked for")
    final_url: Untrusted = Field(description="after redirects")
    title: Untrusted
    content: Untrusted
    content_length: int = Field(description="characters of the whole content")
    truncated: bool
    next_offset: int | None = Field(description="offset to go on from; null at the end")
    format: Format
    method: Method = Field(description="how the content was got")
    status: int | None
    content_type: Untrusted | None
    charset: Untrusted | None = Field(description="the encoding that was used to read it; null from a browser")
    language: Untrusted | None
    metadata: PageMetadata
    links: list[WebLink] = Field(description=f"at most {LINKS}")
    outcome: Outcome = Field(description="what kind of answer it was; blocked, challenge and login_wall are failures")
    evidence: list[Untrusted] = Field(description="what the outcome rests on")
    extractor: str = Field(description="what chose the content")
    words_kept: float = Field(description="share of the page's words that are in the content")
    from_cache: bool
    phases: list[PhaseInfo]
    elapsed_ms: int
    warnings: list[Untrusted]


class Fetch(Operation[WebPage]):
    """Fetch an address as clean text, Markdown, HTML or a list of links.

    Plain HTTP first, a browser where the page needs its scripts or refuses plain HTTP. JSON, XML, feeds, CSV and PDF
    are read, too. A wall (captcha, login, block) is a failure with code `blocked`, never a result.
    """

    name: ClassVar[str] = "fetch"
    path: ClassVar[str] = "/v1/fetch"
    scope: ClassVar[Scope] = "read"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"url": "https://example.com/"},
        {"url": "https://example.com/article", "format": "markdown", "extract_mode": "article", "max_chars": 20_000},
        {"url": "https://example.com/app", "render": "always", "wait_selector": "#results"},
    )

    url: str = Field(max_length=8_192, description="http or https address", examples=["https://example.com/"])
    format: Format = Field("text", description="of the content; links: a list of the page's links")
    extract_mode: ExtractMode = Field(
        "auto", description="auto: the article where the page is one; article; full: everything, navigation too"
    )
    selector: Selector | None = Field(None, description="only the elements that match this CSS selector")
    max_chars: int = Field(0, ge=0, le=50_000_000, description="0: all")
    offset: int = Field(0, ge=0, description="where to go on: next_offset of the call before")
    query: str | None = Field(
        None, min_length=1, max_length=1_000, description="give the passages that matter to this first"
    )
    render: Render = Field("auto", description="whether a browser may be used: where needed, never, always")
    wait_selector: Selector | None = Field(None, description="render, and wait at most 10 s until this is visible")
    mobile_ua: bool = Field(False, description="visit as a phone")
    retry: bool = Field(True, description="try again after connection faults and 5xx answers")
    headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict, max_length=50, description="sent with the request"
    )
    cookies: dict[str, str] | list[GivenCookie] = Field(
        default_factory=list, max_length=300, description="sent with the request: names with values, or a list"
    )
    proxy: Proxy | None = Field(None, description="a proxy that this call takes")
    session: str | None = Field(
        None, max_length=100, description="read with this session's login and proxy, in a tab of its own"
    )
    cache: Literal["use", "refresh", "off"] = Field(
        "use", description="results are kept for 10 minutes; refresh: fetch anew; off: neither read nor kept"
    )
    respect_robots: bool = Field(False, description="refuse what the site's robots.txt does not allow")
    timeout_ms: int | None = Field(
        None, ge=1, le=600_000, description="bounds the whole call; default: 20 s for HTTP and 30 s for the browser"
    )

    @field_validator("cookies")
    @classmethod
    def _as_list(cls, given: dict[str, str] | list[GivenCookie]) -> list[GivenCookie]:
        if isinstance(given, dict):
            return [GivenCookie(name=name, value=value) for name, value in given.items()]
        return given

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse_own_headers(self.headers, "headers")
        if self.render == "never" and (self.wait_selector is not None or self.session is not None):
            raise ValueError("render: never goes neither with wait_selector nor with session: these need a browser")
        if self.session is not None and (self.proxy is not None or self.headers or self.mobile_ua or self.cookies):
            raise ValueError("a session has its own proxy, headers, cookies and user agent: leave them out")
        return self

    async def run(self, call: Call) -> WebPage:
        """Fetch it."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        address = parse_address(self.url)
        call.service.rule.check(address.host, address.port)
        wanted = Wanted(
            ask=self._ask(address.url, address.host),
            caller=call.caller.name,
            owner=call.caller.owner,
            proxy=self.proxy,
            session=self.session,
            cache=self.cache,
            robots=self.respect_robots,
        )
        found, from_cache = await fetch(call.service, wanted)
        content = found.reading.content
        if self.query is not None:
            content = await call.service.web.workers.run(passages, content, self.query, limit_s=QUERY_LIMIT_S)
        elapsed_ms = round((loop.time() - began) * 1000)
        return self._page(found, content, from_cache=from_cache, elapsed_ms=elapsed_ms)

    def _ask(self, url: str, host: str) -> Ask:
        given = self.cookies if isinstance(self.cookies, list) else []
        return Ask(
            url=url,
            host=host,
            wish=Wish(self.format, self.extract_mode, self.selector),
            render=self.render,
            retry=self.retry,
            mobile=self.mobile_ua,
            wait_selector=self.wait_selector,
            headers=dict(self.headers),
            cookies=tuple(Cookie(each.name, each.value, each.domain or host, each.path) for each in given),
            limit_s=self.timeout_ms / 1000 if self.timeout_ms is not None else None,
            browser_only=self.session is not None,
        )

    def _page(self, found: Fetched, content: str, *, from_cache: bool, elapsed_ms: int) -> WebPage:
        page, reading = found.page, found.reading
        part = cut(content, max_chars=self.max_chars, offset=self.offset)
        return WebPage(
            url=self.url,
            final_url=page.url,
            title=reading.title,
            **vars(part),
            format=self.format,
            method=page.method,
            status=page.status,
            content_type=page.content_type or None,
            charset=reading.charset,
            language=reading.language,
            metadata=_metadata(vars(reading.metadata)),
            links=[WebLink(each.url, each.text) for each in reading.links[:LINKS]],
            outcome=reading.verdict.outcome,
            evidence=list(reading.verdict.evidence),
            extractor=reading.extractor,
            words_kept=reading.words_kept,
            from_cache=from_cache,
            phases=[PhaseInfo(**vars(each)) for each in found.phases],
            elapsed_ms=elapsed_ms,
            warnings=list(reading.warnings),
        )


def _metadata(given: Mapping[str, Any]) -> PageMetadata:
    return PageMetadata(
        **{**given, "json_ld": list(given["json_ld"]), "open_graph": dict(given["open_graph"])},
    )


class OpenedPage(Result):
    """A page as Markdown."""

    url: Untrusted = Field(description="after redirects")
    title: Untrusted
    content: Untrusted
    content_length: int = Field(description="characters of the whole content")
    truncated: bool


class OpenWebPage(Operation[OpenedPage]):
    """Read a web page: its main content as Markdown, at most 500,000 characters."""

    name: ClassVar[str] = "open_web_page"
    path: ClassVar[str] = "/v1/open_web_page"
    scope: ClassVar[Scope] = "read"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"url": "https://example.com/article"},)

    url: str = Field(max_length=8_192, description="http or https address", examples=["https://example.com/"])

    async def run(self, call: Call) -> OpenedPage:
        """Read it."""
        page = await Fetch(url=self.url, format="markdown", extract_mode="article", max_chars=OLD_LIMIT).run(call)
        return OpenedPage(
            url=page.final_url,
            title=page.title,
            content=page.content,
            content_length=page.content_length,
            truncated=page.truncated,
        )
