"""SearXNG instances for tests: they answer as real ones do, and remember who asked for what."""

import itertools
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from browser_service.service import Service
from search.settings import SearchSettings
from tests.conftest import Api
from tests.site import Request, Site

PROSE = "".join(f"<p>Paragraph {number} tells of harbours, their boats and who mends nets.</p>" for number in range(9))


_numbers = itertools.count()


class Instance:
    """`url` is its address; `authorizations` are the headers it got, `paths` what was asked for."""

    def __init__(self, site: Site, prefix: str) -> None:
        self.authorizations: list[str | None] = []
        self.paths: list[str] = []
        self.url = site.route(self._answer, f"/{prefix}/search").removesuffix("/search")

    def _answer(self, request: Request) -> None:
        self.authorizations.append(request.headers["Authorization"])
        self.paths.append(request.path)
        found = {
            "url": "https://a.example/",
            "title": "A",
            "content": "About it.",
            "engine": "bing",
            "engines": ["bing"],
        }
        body = {"query": "test", "results": [found], "unresponsive_engines": []}
        request.answer(json.dumps(body), "application/json")


@pytest.fixture
def instance(site: Site) -> Instance:
    """One that is asked by its test alone."""
    return Instance(site, "searx")


class Searx:
    """An instance whose results are what its test says.

    `results` are its rows and `unresponsive` its silent engines; `answer`, where set, answers in its place. `asked` are
    the parameters of each search. While `hold` is not set, it says nothing: `begun` tells that it was asked.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.results: list[dict[str, Any]] = []
        self.unresponsive: list[list[str]] = []
        self.answer: Callable[[Request], None] | None = None
        self.asked: list[dict[str, str]] = []
        self.begun, self.hold = threading.Event(), threading.Event()
        self.hold.set()
        self._prefix = f"/searx{next(site._numbers)}"
        self.url = site.route(self._serve, f"{self._prefix}/search").removesuffix("/search")

    def add(self, url: str, title: str = "Harbours of the north", content: str = "", **given: Any) -> None:
        """One more result; its snippet is long enough to be kept as it is."""
        content = content or f"What {title} has to say of harbours and of boats."
        row = {"url": url, "title": title, "content": content, "engine": "bing", "engines": ["bing"]}
        self.results.append(row | given)

    def add_pages(self, count: int, words: str = "") -> list[str]:
        """So many results with pages that can be read."""
        urls = [self.site.page(f"<article><h1>Harbour {n}</h1>{words}{PROSE}</article>") for n in range(count)]
        for number, url in enumerate(urls):
            self.add(url, f"Harbour {number}")
        return urls

    def _serve(self, request: Request) -> None:
        self.asked.append(dict(parse_qsl(urlsplit(request.path).query)))
        self.begun.set()
        self.hold.wait(60)
        if self.answer is not None:
            self.answer(request)
            return
        body = {"query": "q", "results": self.results, "unresponsive_engines": self.unresponsive}
        request.answer(json.dumps(body), "application/json")


@pytest.fixture
async def searx(site: Site, service: Service) -> AsyncIterator[Searx]:
    """The instance by which the shared service searches during a test; then its settings are as they were."""
    searx = Searx(site)
    await service.saved.change({"searxng_enabled": True, "searxng_url": searx.url})
    yield searx
    searx.hold.set()
    await service.saved.change(dict.fromkeys(SearchSettings.model_fields))


async def search(api: Api, query: str = "", **given: Any) -> dict[str, Any]:
    """A search that must succeed; without a query of its own it is one that nobody asked before."""
    return await api.post("/v1/search", {"query": query or f"harbours {next(_numbers)}", **given})


async def refused(api: Api, code: str, **given: Any) -> dict[str, Any]:
    """The problem document of a search that must fail."""
    return await api.fails("/v1/search", {"query": f"harbours {next(_numbers)}", **given}, code)


async def change(api: Api, values: dict[str, Any]) -> None:
    """Save these settings."""
    answer = await api.http.patch("/v1/settings", json=values)
    assert answer.status_code == 200, answer.text
