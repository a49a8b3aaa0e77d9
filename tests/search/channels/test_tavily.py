"""Tavily's API: the request, the results, and what its errors mean."""

from typing import Any

import pytest

from search.channels.keyed import missing_key
from search.channels.tavily import KEY_VARIABLES, Tavily
from search.engine import Found
from search.query import Query
from tests.search.channels.scripted import Scripted, only, send

KEY = "tvly-secret-1"
GOOD = {
    "query": "q", "answer": None, "images": [], "response_time": 0.9, "request_id": "r",
    "results": [
        {"title": "B", "url": "https://e.com/b", "content": "low", "score": 0.2, "raw_content": None},
        {"title": "A", "url": "https://e.com/a", "content": " high\n one ", "score": 0.9,
         "published_date": "Tue, 03 Mar 2026 10:00:00 GMT"},
        {"title": "no address", "content": "x", "score": 1},
    ],
}  # fmt: skip


async def ask(stage: Scripted, query: Query, **options: Any) -> Found:
    """What the channel makes of it."""
    return await Tavily(KEY, base_url=stage.url, **options).search(query, send)


async def test_the_request(stage: Scripted) -> None:
    """The key is a bearer token and not in the body; only what is asked for is sent."""
    stage.says(GOOD)
    query = Query("q", 7, "week", "zh-CN", allowed_domains=("a.com",), blocked_domains=("b.com",), depth="advanced")
    await ask(stage, query)
    asked = stage.asked[0]
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("POST", "/search", f"Bearer {KEY}")
    assert asked.json == {
        "query": "q", "search_depth": "advanced", "max_results": 7, "time_range": "week", "country": "china",
        "include_domains": ["a.com"], "exclude_domains": ["b.com"],
    }  # fmt: skip


@pytest.mark.parametrize("tail", ["", "/", "/search", "/search/"])
async def test_older_gateways(stage: Scripted, tail: str) -> None:
    """A gateway at a sub-path is asked there, with the key in the body where that is wanted."""
    stage.says(GOOD)
    await Tavily(KEY, base_url=f"{stage.url}/gw{tail}", key_in_body=True).search(Query("q"), send)
    assert (stage.asked[0].path, stage.asked[0].json["api_key"]) == ("/gw/search", KEY)


async def test_results_come_best_first(stage: Scripted) -> None:
    """By score, in one line, and without those that have no address."""
    answer = only(await ask(stage.says(GOOD), Query("q")))
    assert [(hit.title, hit.snippet) for hit in answer.hits] == [("A", "high one"), ("B", "low")]
    assert answer.hits[0].published == "2026-03-03T10:00:00+00:00"


async def test_what_it_cannot_do_is_said(stage: Scripted) -> None:
    """Clamped results, a cut query and left out options are warnings."""
    found = await ask(stage.says(GOOD), Query("word " * 200, 30, safesearch=2))
    assert stage.asked[0].json["max_results"] == 20
    assert len(stage.asked[0].json["query"]) <= 400
    assert len(found.warnings) == 3


@pytest.mark.parametrize(
    ("status", "state", "words"),
    [
        (400, "error", "shorten"), (401, "error", "TAVILY_API_KEY"), (403, "error", "plan"), (429, "blocked", "wait"),
        (432, "blocked", "plan's limit"), (433, "blocked", "pay-as-you-go"), (500, "error", "later"),
        (404, "error", "TAVILY_BASE_URL"), (302, "error", "TAVILY_BASE_URL"),
    ],
)  # fmt: skip
async def test_error_statuses(stage: Scripted, status: int, state: str, words: str) -> None:
    """Every status has a state and says what to change, in Tavily's words too, but without the key."""
    stage.says({"detail": {"error": f"It is {KEY}"}}, status, location="https://sso.example.com/login?next=1")
    answer = only(await ask(stage, Query("q")))
    assert answer.state == state
    assert words in str(answer.error)
    assert KEY not in str(answer.error)
    assert status == 302 or "It is ***" in str(answer.error)


async def test_the_newer_error_envelope(stage: Scripted) -> None:
    """Its message and pause are read."""
    stage.says({"error": {"code": "limit", "message": "Slow down", "retry_after_seconds": 9}}, 429)
    answer = only(await ask(stage, Query("q")))
    assert ("Slow down" in str(answer.error), answer.retry_after_s) == (True, 9)


async def test_a_missing_key_names_its_variable(stage: Scripted) -> None:
    """Nothing is asked without a key, nor with one that no header can carry."""
    answer = only(await Tavily(" ", base_url=stage.url).search(Query("q"), send))
    assert answer.error == missing_key("Tavily", KEY_VARIABLES)
    assert "TAVILY_API_KEY" in answer.error
    odd = only(await Tavily("ключ\n", base_url=stage.url).search(Query("q"), send))
    assert "TAVILY_API_KEY" in str(odd.error)
    assert not stage.asked


async def test_a_query_of_odd_characters(stage: Scripted) -> None:
    """Halves of surrogate pairs and controls reach the API as something that it can read."""
    await ask(stage.says(GOOD), Query("a\ud800\0b"))
    assert stage.asked[0].json["query"] == "a? b"
