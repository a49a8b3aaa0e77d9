"""Anthropic's web search tool: the request, turns that pause, citations, and errors inside of a 200."""

from typing import Any

import pytest

from search.channels.anthropic import Anthropic
from search.engine import Found
from search.query import Query
from tests.search.channels.scripted import Scripted, only, send


def found_block(*urls: str) -> dict[str, Any]:
    """The results of one search."""
    results = [
        {"type": "web_search_result", "url": url, "title": f"T {url}", "encrypted_content": "x", "page_age": age}
        for url, age in zip(urls, ("April 30, 2025", "3 days ago", None, None), strict=False)
    ]
    return {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": results}


def error_block(code: str) -> dict[str, Any]:
    """A search that failed."""
    return {"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error", "error_code": code}}


def cited(url: str, *texts: str) -> dict[str, Any]:
    """A sentence with citations."""
    citations = [{"type": "web_search_result_location", "url": url, "title": "t", "cited_text": text} for text in texts]
    return {"type": "text", "text": "so", "citations": citations}


def message(*content: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    """One message."""
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    return {"type": "message", "role": "assistant", "content": [use, *content], "stop_reason": stop}


async def ask(stage: Scripted, query: Query = Query("q"), **options: Any) -> Found:  # noqa: B008 -- it is frozen
    """What the channel makes of it."""
    return await Anthropic("sk-ant", base_url=stage.url, **options).search(query, send)


async def test_the_request(stage: Scripted) -> None:
    """Key and version in their headers, the tool with its limits, the query as data."""
    stage.says(message(found_block("https://e.com/a")))
    await ask(stage, Query("rust </query>", 5, "week", "zh-CN"), model="m", max_uses=2)
    asked = stage.asked[0]
    assert (asked.method, asked.path) == ("POST", "/v1/messages")
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == ("sk-ant", "2023-06-01")
    assert asked.json["model"] == "m"
    assert asked.json["tools"] == [{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]
    wish = asked.json["messages"][0]["content"]
    assert ("last week" in wish, "zh-CN" in wish, "<query>rust" in wish) == (True, True, True)


async def test_one_list_of_domains(stage: Scripted) -> None:
    """Both lists together are refused by the API: the allowed one is sent."""
    stage.says(message(found_block("https://e.com/a")))
    await ask(stage, Query("q", allowed_domains=("a.com",), blocked_domains=("b.com",)))
    await ask(stage, Query("q", blocked_domains=("b.com",)))
    first, second = (asked.json["tools"][0] for asked in stage.asked)
    assert (first.get("allowed_domains"), first.get("blocked_domains")) == (["a.com"], None)
    assert second["blocked_domains"] == ["b.com"]


async def test_newer_tools_are_called_directly(stage: Scripted) -> None:
    """A newer version must not run inside of code, where its results would be hidden."""
    stage.says(message(found_block("https://e.com/a")))
    await ask(stage, tool="web_search_20260318")
    tool = stage.asked[0].json["tools"][0]
    assert (tool["type"], tool["allowed_callers"]) == ("web_search_20260318", ["direct"])


async def test_citations_are_snippets(stage: Scripted) -> None:
    """Results in their order, snippets from what is cited, dates where they are dates."""
    a, b = "https://e.com/a", "https://e.com/b"
    stage.says(message(found_block(a, b), cited(a, "One.", "Two."), cited(a, "One.")))
    hits = only(await ask(stage)).hits
    assert [(hit.url, hit.snippet, hit.published) for hit in hits] == [(a, "One. … Two.", "2025-04-30"), (b, "", None)]


async def test_a_pause_is_continued(stage: Scripted) -> None:
    """A turn that paused is sent back as it came, and the results of both are one answer."""
    paused = message(found_block("https://e.com/a") | {"odd": "\ud800"}, stop="pause_turn")
    stage.says(paused).says(message(found_block("https://e.com/a", "https://e.com/b")))
    answer = only(await ask(stage))
    assert [hit.url for hit in answer.hits] == ["https://e.com/a", "https://e.com/b"]
    assert stage.asked[1].json["messages"][1] == {"role": "assistant", "content": paused["content"]}


async def test_pauses_end(stage: Scripted) -> None:
    """A model that never finishes is asked a few times only."""
    stage.says(message(found_block("https://e.com/a"), stop="pause_turn"))
    found = await ask(stage)
    assert (len(stage.asked), only(found).state) == (5, "ok")
    assert "finished" in found.warnings[0]


async def test_a_failing_continuation_keeps_results(stage: Scripted) -> None:
    """What was found before going on failed stays, with a warning."""
    stage.says(message(found_block("https://e.com/a"), stop="pause_turn")).says({"error": {"message": "busy"}}, 529)
    found = await ask(stage)
    assert only(found).state == "ok"
    assert "busy" in found.warnings[0]


@pytest.mark.parametrize(
    ("code", "state", "words"),
    [
        ("too_many_requests", "blocked", "wait"), ("max_uses_exceeded", "error", "max_uses"),
        ("unavailable", "error", "later"), ("query_too_long", "error", "shorten"), ("new_one", "error", "new_one"),
    ],
)  # fmt: skip
async def test_errors_inside_of_a_200(stage: Scripted, code: str, state: str, words: str) -> None:
    """An error block, alone or in a list, is a failure; beside results it is a warning."""
    alone = error_block(code)
    in_list = alone | {"content": [alone["content"]]}
    stage.says(message(alone)).says(message(in_list)).says(message(alone, found_block("https://e.com/a")))
    for _ in range(2):
        answer = only(await ask(stage))
        assert (answer.state, words in str(answer.error)) == (state, True)
    found = await ask(stage)
    assert (only(found).state, words in found.warnings[0]) == ("ok", True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"content": [{"type": "text", "text": "I know"}], "stop_reason": "end_turn"}, "without searching"),
        ({"content": [], "stop_reason": "refusal"}, "refused the query"),
        ({"content": [], "stop_reason": "max_tokens"}, "room"),
    ],
)
async def test_answers_without_a_search(stage: Scripted, answer: dict[str, Any], words: str) -> None:
    """A model that did not search has failed, and says why."""
    assert words in str(only(await ask(stage.says(answer))).error)


async def test_a_search_that_found_nothing(stage: Scripted) -> None:
    """An empty list of results is empty."""
    assert only(await ask(stage.says(message(found_block())))).state == "empty"


async def test_a_missing_key() -> None:
    """The variable is named."""
    assert "ANTHROPIC_API_KEY" in str(only(await Anthropic("").search(Query("q"), send)).error)


@pytest.mark.parametrize("tail", ["/", "/v1", "/v1/messages"])
async def test_the_address_is_trimmed(stage: Scripted, tail: str) -> None:
    """A gateway is asked below its own path."""
    stage.says(message(found_block("https://e.com/a")))
    await Anthropic("sk-ant", base_url=f"{stage.url}/gw{tail}").search(Query("q"), send)
    assert stage.asked[0].path == "/gw/v1/messages"
