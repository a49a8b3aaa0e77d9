"""What is the same for every API: what it may answer instead of results."""

import asyncio
from datetime import UTC, datetime

import httpx
import pytest

from search.channels.anthropic import Anthropic
from search.channels.brave import Brave
from search.channels.keyed import Keyed
from search.channels.tavily import Tavily
from search.engine import Answer, Channel
from search.query import Query
from tests.search.channels.scripted import Line, Scripted, only, send

NOW = datetime(2026, 5, 1, tzinfo=UTC)
LEGAL = {"ok", "empty", "blocked", "unreadable", "timeout", "error"}


@pytest.fixture(params=["tavily", "brave", "brave context", "anthropic"])
def channel(request: pytest.FixtureRequest, stage: Scripted) -> Channel:
    """Every API with a key, in turn."""
    channels: dict[str, Channel] = {
        "tavily": Tavily("k-secret", base_url=stage.url),
        "brave": Brave("k-secret", base_url=stage.url),
        "brave context": Brave("k-secret", base_url=stage.url, mode="llm_context"),
        "anthropic": Anthropic("k-secret", base_url=stage.url),
    }
    return channels[request.param]


async def asked(channel: Channel) -> Answer:
    """Its answer."""
    return only(await channel.search(Query("q", 5), send))


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b"null", b"[]", b'"x"', b"[" * 100_000, b"\xff\xff", b'{"results": {}, "web": [], "content": 1}',
        b'{"results": [1], "web": {"results": [null]}, "grounding": {"generic": ["x"]}, "content": ["x"]}',
    ],
)  # fmt: skip
async def test_unreadable_bodies(channel: Channel, stage: Scripted, body: bytes) -> None:
    """Broken, foreign and misshapen JSON is `unreadable`, with a sentence."""
    stage.says(body)
    answer = await asked(channel)
    assert (answer.state, bool(answer.error)) == ("unreadable", True)


async def test_wrong_types_in_results(channel: Channel, stage: Scripted) -> None:
    """Fields of the wrong types lose themselves, not the result, and never raise."""
    odd = {
        "url": "https://e.com/a", "title": 1, "content": ["c"], "description": {}, "score": "x", "page_age": 7,
        "extra_snippets": "s", "snippets": {"a": 1}, "published_date": [], "type": "web_search_result",
    }  # fmt: skip
    block = {"type": "web_search_tool_result", "content": [odd, 1, {"url": []}]}
    text = {"type": "text", "text": 5, "citations": [{"url": "https://e.com/a", "cited_text": 5}, 1]}
    body = {
        "results": [odd, 5], "web": {"results": [odd, None]}, "query": [], "sources": [], "stop_reason": {},
        "grounding": {"generic": [odd, "x"]}, "content": [block, text, 5, {"type": []}],
    }  # fmt: skip
    stage.says(body)
    answer = await asked(channel)
    assert [(hit.url, hit.title, hit.snippet) for hit in answer.hits] == [("https://e.com/a", "https://e.com/a", "")]


async def test_a_page_where_json_was_due(channel: Channel, stage: Scripted) -> None:
    """A web page is said to be one, with the setting to look at."""
    answer = await asked_page(channel, stage)
    assert answer.state == "unreadable"
    assert "web page" in str(answer.error)


async def asked_page(channel: Channel, stage: Scripted) -> Answer:
    """Its answer to a portal's page."""
    stage.says("<!doctype html><title>Portal</title>")
    return await asked(channel)


async def test_a_login_in_front(channel: Channel, stage: Scripted) -> None:
    """A redirect to a login is not followed; where it leads is said, and that it looks like one."""
    stage.says("", 302, location="https://sso.example.com/login?token=abc")
    answer = await asked(channel)
    assert "login" in str(answer.error)
    assert "abc" not in str(answer.error)
    assert len(stage.asked) == 1


@pytest.mark.parametrize("status", [401, 402, 403, 404, 418, 422, 429, 500, 503, 529])
async def test_error_statuses_are_explained(channel: Channel, stage: Scripted, status: int) -> None:
    """Every error status is an answer with a sentence that names it, and its pause."""
    stage.says({"error": {"message": "no, k-secret"}}, status, retry_after="30")
    answer = await asked(channel)
    assert answer.state in {"blocked", "error"}
    assert (answer.state == "blocked") == (status == 429) or status == 402
    assert f"HTTP {status}" in str(answer.error)
    assert ": " in str(answer.error)
    assert "k-secret" not in str(answer.error)
    assert answer.retry_after_s == 30


async def test_a_cut_connection(channel: Channel, stage: Scripted) -> None:
    """A body that ends too early is a failure."""
    stage.lines.append(Line(body=b'{"results": [', cut=True))
    assert (await asked(channel)).state == "error"


async def test_nobody_there(channel: Channel) -> None:
    """What the service's network policy or the network refuses is an answer."""

    async def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    assert only(await channel.search(Query("q"), refuse)).state == "error"


async def test_cancellation_comes_through(channel: Channel, stage: Scripted) -> None:
    """The caller's time limit ends the call."""
    stage.lines.append(Line(silent=True))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await asked(channel)


async def test_an_empty_query(channel: Channel, stage: Scripted) -> None:
    """No words, no request."""
    assert "empty" in str(only(await channel.search(Query(" \n"), send)).error)
    assert not stage.asked


async def test_plain_http_warns() -> None:
    """A key that could be read on the way is a warning; on this machine it is none."""
    api = Keyed("Brave", "BASE", ("KEY",), "k")
    assert api.at("http://127.0.0.1:9/x/") == ("http://127.0.0.1:9/x", [])
    assert "https" in api.at("http://api.example.com")[1][0]
    assert "'k'" not in repr(api)
