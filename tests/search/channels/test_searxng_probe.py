"""The connection test of the settings."""

from typing import Any

import pytest

from search.channels.searxng import Probe, SearXNGConfig, probe
from tests.search.channels.scripted import Line, Scripted, send
from tests.search.channels.test_searxng import listing, result
from tests.search.channels.test_searxng_html import CHALLENGE, FORBIDDEN, SIMPLE


async def tried(stage: Scripted, **settings: Any) -> Probe:
    """What the test says."""
    return await probe(SearXNGConfig(**{"url": stage.url, **settings}), send)


async def test_a_working_instance(stage: Scripted) -> None:
    """It asks for the word test in JSON with authentication, and counts results and engines."""
    stage.says(listing(result("https://e.com/a", "bing", "google"), failed=[["duckduckgo", "timeout"]]))
    found = await tried(stage, auth_key="k", engines="bing", language="ja")
    assert stage.asked[0].query == {"q": "test", "format": "json"}
    assert stage.asked[0].headers["authorization"] == "Bearer k"
    assert (found.ok, found.status, found.results, found.engines) == (True, 200, 1, ("bing", "google"))
    assert found.elapsed_ms >= 0
    assert "duckduckgo" in found.message


async def test_json_is_disabled(stage: Scripted) -> None:
    """What to change at the instance is said; the format html does without."""
    stage.says(FORBIDDEN, 403).says(SIMPLE)
    found = await tried(stage)
    assert (found.ok, found.status) == (False, 403)
    assert "search.formats" in found.advice
    stage.lines.insert(0, stage.lines[-1])
    stage.lines[0] = Line(403, FORBIDDEN.encode(), {"content-type": "text/html"})
    assert (await tried(stage, format="html")).ok


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("", 401, "set searxng_auth_key"), ("", 404, "searxng_url"), (CHALLENGE, 200, "without it"),
        (listing(failed=[["google", "CAPTCHA"]]), 200, "engines"), ({"a": 1}, 200, "searxng_url"),
    ],
)  # fmt: skip
async def test_what_is_wrong(stage: Scripted, body: object, status: int, words: str) -> None:
    """Every failure has a message and says what to change."""
    found = await tried(stage.says(body, status))
    assert (found.ok, found.status, bool(found.message)) == (False, status, True)
    assert words in found.advice.lower() or words in found.advice


async def test_nobody_is_there() -> None:
    """A closed port is a result, not an exception."""
    found = await probe(SearXNGConfig("http://127.0.0.1:9"), send)
    assert (found.ok, found.status) == (False, None)
    assert "runs" in found.advice
