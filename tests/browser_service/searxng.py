"""A SearXNG instance for tests: answers as a real one does, and remembers who asked."""

import json

import pytest

from tests.site import Request, Site


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
