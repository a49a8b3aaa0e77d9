"""Brave's API: paging, languages, goggles, limits, and LLM Context."""

import json
from typing import Any

import pytest

from search.channels.brave import Brave
from search.channels.brave_request import parameters
from search.engine import Found
from search.query import Query
from tests.search.channels.scripted import Scripted, only, send


def page(first: int, count: int, *, more: bool = True) -> dict[str, Any]:
    """One page of results."""
    results = [{"title": f"T{n}", "url": f"https://e.com/{n}", "description": "d"} for n in range(first, first + count)]
    return {"type": "search", "query": {"more_results_available": more}, "web": {"type": "search", "results": results}}


async def ask(stage: Scripted, query: Query, **options: Any) -> Found:
    """What the channel makes of it."""
    return await Brave("bsa-1", base_url=stage.url, **options).search(query, send)


async def test_the_request(stage: Scripted) -> None:
    """Key in its header, options in Brave's words, no decorations."""
    stage.says(page(0, 5))
    await ask(stage, Query("q", 5, "month", "zh-TW", 2, blocked_domains=("b.com", "c.com")), extra_snippets=True)
    asked = stage.asked[0]
    assert (asked.method, asked.path, asked.headers["x-subscription-token"]) == ("GET", "/res/v1/web/search", "bsa-1")
    assert asked.query == {
        "q": "q", "count": "5", "search_lang": "zh-hant", "country": "TW", "freshness": "pm", "safesearch": "strict",
        "text_decorations": "false", "result_filter": "web,query", "extra_snippets": "true",
        "goggles": "$discard,site=b.com\n$discard,site=c.com",
    }  # fmt: skip


async def test_pages_are_counted_by_index(stage: Scripted) -> None:
    """More than 20 results are asked for in pages whose offset is their index, no more than are needed."""
    stage.says(page(0, 20)).says(page(20, 20)).says(page(40, 20))
    found = await ask(stage, Query("q", 30))
    assert [asked.query.get("offset") for asked in stage.asked] == [None, "1"]
    assert [asked.query["count"] for asked in stage.asked] == ["20", "20"]
    assert len(only(found).hits) == 30


async def test_paging_ends_where_results_end(stage: Scripted) -> None:
    """No further page is asked for when there is none, or when one brings nothing new."""
    stage.says(page(0, 20, more=False))
    assert len(only(await ask(stage, Query("q", 60))).hits) == 20
    stage.lines[:] = []
    stage.says(page(0, 20))
    assert len(only(await ask(stage, Query("q", 60))).hits) == 20
    assert len(stage.asked) == 3


async def test_a_failing_page_keeps_the_others(stage: Scripted) -> None:
    """What came before a rate limit stays, with a warning."""
    stage.says(page(0, 20)).says({"error": {"code": "RATE_LIMITED", "detail": "Too fast"}}, 429)
    found = await ask(stage, Query("q", 40))
    assert (only(found).state, len(only(found).hits)) == ("ok", 20)
    assert "Too fast" in found.warnings[0]


async def test_the_rate_limit_headers(stage: Scripted) -> None:
    """Of several windows the longest that is used up says how long to wait."""
    limits = {"X_RateLimit_Remaining": "0, 1000", "X_RateLimit_Reset": "1, 1419704"}
    stage.says({"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "detail": "x"}}, 429, **limits)
    assert only(await ask(stage, Query("q"))).retry_after_s == 1
    stage.lines[:] = []
    stage.says({}, 429, **limits | {"X_RateLimit_Remaining": "0, 0"})
    assert only(await ask(stage, Query("q"))).retry_after_s == 1419704


async def test_a_wrong_key_is_a_422(stage: Scripted) -> None:
    """Brave answers 422 to a wrong token; the variables are named."""
    stage.says({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is invalid"}}, 422)
    answer = only(await ask(stage, Query("q")))
    assert answer.state == "error"
    assert "BRAVE_SEARCH_API_KEY or BRAVE_API_KEY" in str(answer.error)
    assert "The token is invalid" in str(answer.error)


async def test_no_key() -> None:
    """Both variables are named."""
    assert only(await Brave("").search(Query("q"), send)).error == (
        "Brave needs a key: set BRAVE_SEARCH_API_KEY or BRAVE_API_KEY."
    )


async def test_nothing_found(stage: Scripted) -> None:
    """`web` is absent where there is nothing."""
    assert only(await ask(stage.says({"type": "search", "query": {}}), Query("q"))).state == "empty"


async def test_results_are_text(stage: Scripted) -> None:
    """Entities and marks are undone, excerpts joined, the date is the page's."""
    result = {
        "title": "<strong>A</strong> &amp; B", "url": "https://e.com/a", "description": "One &lt;T&gt;",
        "extra_snippets": ["Two", "One &lt;T&gt;"], "age": "2 days ago", "page_age": "2026-04-12T14:22:41",
    }  # fmt: skip
    hit = only(await ask(stage.says({"web": {"results": [result]}}), Query("q", 5))).hits[0]
    assert (hit.title, hit.snippet, hit.published) == ("A & B", "One <T> … Two", "2026-04-12T14:22:41")


@pytest.mark.parametrize(
    ("tag", "language", "country"),
    [
        ("zh-CN", "zh-hans", "CN"), ("zh", "zh-hans", None), ("zh-Hant", "zh-hant", None), ("zh-HK", "zh-hant", "HK"),
        ("ja-JP", "jp", "JP"), ("pt-BR", "pt-br", "BR"), ("pt-PT", "pt-pt", "PT"), ("en-GB", "en-gb", "GB"),
        ("en-US", "en", "US"), ("nn-NO", "nb", "NO"), ("en-XX", "en", None), ("sw", None, None), ("auto", None, None),
    ],
)  # fmt: skip
def test_languages(tag: str, language: str | None, country: str | None) -> None:
    """Tags become Brave's own names; what it has none for is left out."""
    asked, _ = parameters(Query("q", language=tag))
    assert (asked.get("search_lang"), asked.get("country")) == (language, country)


def test_limits_of_the_query() -> None:
    """Both limits of length are kept, with a warning; domains become a goggle, while that is short."""
    for text in ("word " * 60, "longer-words " * 45, "x" * 500):
        asked, warnings = parameters(Query(text))
        assert len(asked["q"]) <= 400
        assert len(asked["q"].split()) <= 50
        assert warnings
    assert parameters(Query("q", allowed_domains=("a.com",)))[0]["goggles"] == "$discard\n$site=a.com"
    asked, warnings = parameters(Query("q", blocked_domains=tuple(f"site{n}.example.com" for n in range(200))))
    assert ("goggles" in asked, len(warnings)) == (False, 1)


async def test_llm_context(stage: Scripted) -> None:
    """Passages become the snippet, tables in JSON become text, dates come from the sources."""
    url = "https://e.com/a"
    stage.says(
        {
            "grounding": {
                "generic": [{"url": url, "title": "", "snippets": ["One", json.dumps({"rows": [["a", 1], ["b", 2]]})]}],
                "map": [],
            },
            "sources": {url: {"title": "A", "age": ["Wednesday, January 15, 2025", "2025-01-15", "392 days ago"]}},
        }
    )
    found = await ask(stage, Query("q", 60, allowed_domains=("e.com",)), mode="llm_context")
    asked = stage.asked[0]
    assert (asked.path, asked.query["count"], asked.query["maximum_number_of_urls"]) == (
        "/res/v1/llm/context",
        "50",
        "50",
    )
    hit = only(found).hits[0]
    assert (hit.title, hit.snippet, hit.published) == ("A", "One … a · 1 · b · 2", "2025-01-15")
    assert "50" in found.warnings[0]


@pytest.mark.parametrize("tail", ["/", "/res/v1", "/res/v1/web/search"])
async def test_the_address_is_trimmed(stage: Scripted, tail: str) -> None:
    """A base with the path in it is taken for the one without."""
    stage.says(page(0, 1))
    await Brave("bsa-1", base_url=f"{stage.url}/gw{tail}").search(Query("q", 5), send)
    assert stage.asked[0].path == "/gw/res/v1/web/search"
