"""The optional library: its options, its exceptions, and its absence."""

import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from search.channels.ddgs import Ddgs, region
from search.engine import Answer
from search.query import Query
from tests.search.channels.scripted import only, send


class DDGSException(Exception):
    """As the library has it."""


class RatelimitException(DDGSException):
    """As the library has it."""


class TimeoutException(DDGSException):
    """As the library has it."""


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], list[Any]]:
    """Puts a library in place whose search is the given function; what it was asked comes back."""

    def place(text: Callable[..., Any]) -> list[Any]:
        asked: list[Any] = []

        class DDGS:
            def __init__(self, **options: Any) -> None:
                asked.append(options)

            def text(self, query: str, **options: Any) -> Any:
                asked.append((query, options))
                return text()

        package, exceptions = ModuleType("ddgs"), ModuleType("ddgs.exceptions")
        package.DDGS = DDGS  # type: ignore[attr-defined]
        for kind in (DDGSException, RatelimitException, TimeoutException):
            setattr(exceptions, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, "ddgs", package)
        monkeypatch.setitem(sys.modules, "ddgs.exceptions", exceptions)
        return asked

    return place


async def ask(query: Query = Query("q", 5), **options: Any) -> Answer:  # noqa: B008 -- it is frozen
    """Its answer."""
    return only(await Ddgs(**{"proxy": "http://127.0.0.1:1", **options}).search(query, send))


async def test_options_and_results(library: Any) -> None:
    """The proxy is passed on, options are in the library's words, junk among the results is dropped."""
    good = {"title": "T", "href": "https://e.com/a", "body": "b"}
    asked = library(lambda: [good, {"href": "javascript:1"}, 5, {"href": "https://e.com/b", "title": None}])
    answer = await ask(Query("q", 5, "week", "en-GB", 2, allowed_domains=("a.com", "b.com")))
    assert asked[0]["proxy"] == "http://127.0.0.1:1"
    query, options = asked[1]
    assert query == "q (site:a.com OR site:b.com)"
    assert options == {
        "region": "uk-en", "safesearch": "on", "timelimit": "w", "max_results": 5, "backend": "auto",
    }  # fmt: skip
    assert [(hit.title, hit.url) for hit in answer.hits] == [
        ("T", "https://e.com/a"), ("https://e.com/b", "https://e.com/b"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (DDGSException("No results found."), "empty"),
        (RatelimitException("202"), "blocked"),
        (DDGSException(RatelimitException("202")), "blocked"),
        (TimeoutException("timed out"), "timeout"),
        (DDGSException("ConnectError"), "error"),
        (ValueError(), "error"),
    ],
)
async def test_exceptions(library: Any, error: Exception, state: str) -> None:
    """What it raises is its answer."""

    def fail() -> None:
        raise error

    library(fail)
    answer = await ask()
    assert answer.state == state
    assert bool(answer.error) == (state != "empty")


async def test_wrong_results(library: Any) -> None:
    """Something else than a list is nothing found."""
    library(lambda: "nonsense")
    assert (await ask()).state == "empty"


async def test_its_time_limit(library: Any) -> None:
    """A search that takes too long is given up."""
    over = threading.Event()
    library(lambda: over.wait(20))
    try:
        assert (await ask(limit_s=0.1)).state == "timeout"
    finally:
        over.set()


async def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """How to install it is said."""
    monkeypatch.setitem(sys.modules, "ddgs", None)
    assert 'pip install "tabwright[ddgs]"' in str((await ask()).error)


@pytest.mark.parametrize(
    ("tag", "name"),
    [(None, "us-en"), ("auto", "us-en"), ("zh-CN", "cn-zh"), ("zh-TW", "tw-zh"), ("ja", "jp-ja"), ("de", "de-de")],
)
def test_regions(tag: str | None, name: str) -> None:
    """Country first, then language."""
    assert region(tag) == name
