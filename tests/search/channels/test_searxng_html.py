"""SearXNG's web pages: read where JSON is not to be had, and told from what stands in front of it."""

from typing import Any

import pytest

from search.channels.searxng import SearXNG, SearXNGConfig
from search.engine import Found
from search.query import Query
from tests.search.channels.scripted import Scripted, only, send

FORBIDDEN = "<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1><p>You don't have the permission</p>"
SIMPLE = """<!doctype html><html><head><meta name="generator" content="searxng/2026.8"><title>captcha - SearXNG</title>
<body class="results_endpoint"><main id="main_results"><div id="results"><div id="urls">
<article class="result result-default"><a class="url_header" href="https://e.com/a">e.com</a>
<h3><a href="https://e.com/a">One <span class="highlight">two</span></a></h3>
<time class="published_date" datetime="2026-03-04 00:00:00">Mar 4</time><p class="content">Three</p>
<div class="engines"><span>bing</span> <span>google</span><a href="https://web.archive.org/x">cached</a></div></article>
<article class="result"><h3><a href="https://e.com/b">B</a></h3><p class="content empty_element">This site did not</p>
<div class="engines"><span>google</span></div></article>
<article class="result"><h3><a href="/image_proxy?x">no</a></h3></article></div></div>
<table id="engines_msg-table"><tr><td class="engine-name"><a>duckduckgo</a></td><td class="response-error">timeout</td>
</tr><tr><td class="engine-name">bing</td><td class="response-time">0.4</td></tr></table></main>"""
OSCAR = """<html><head><meta name="generator" content="searx/1.0"><body><div id="main_results">
<div class="result result-default"><h4 class="result_header"><a href="https://e.com/old">Old</a></h4>
<p class="result-content">Text</p>
<div class="pull-right"><span class="label label-default">bing</span></div></div></div>"""
NOTHING = """<html><head><meta name="generator" content="searxng/2026"><body class="results_endpoint"><div id="results">
<div class="dialog-error-block" role="alert"><p><strong>Sorry!</strong></p></div></div>"""
CHALLENGE = "<html><title>Instance</title><body><h1>Verifying your request</h1><p>Please wait</p>"
LOGIN = "<html><title>Welcome</title><body><form>Name <input name=u> <input type=password name=p></form>"
FOREIGN = "<html><title>nginx</title><body><h1>Welcome to nginx!</h1><p>Thank you for using it.</p>"


async def ask(stage: Scripted, **settings: Any) -> Found:
    """What the channel makes of it."""
    return await SearXNG(SearXNGConfig(**{"url": stage.url, **settings})).search(Query("captcha"), send)


async def test_json_that_is_disabled(stage: Scripted) -> None:
    """403 in HTML to a JSON request: the setting is named and the web page read instead."""
    stage.says(FORBIDDEN, 403).says(SIMPLE)
    found = await ask(stage)
    assert [asked.query["format"] for asked in stage.asked] == ["json", "html"]
    assert "search.formats" in found.warnings[0]
    assert "settings.yml" in found.warnings[0]
    states = {answer.engine: (answer.state, len(answer.hits)) for answer in found.answers}
    assert states == {"bing": ("ok", 1), "google": ("ok", 2), "duckduckgo": ("timeout", 0)}


async def test_refused_in_both_formats(stage: Scripted) -> None:
    """403 for HTML too is no question of formats."""
    answer = only(await ask(stage.says(FORBIDDEN, 403)))
    assert answer.state == "error"
    assert "searxng_auth_key" in str(answer.error)


async def test_a_refusal_in_json_is_about_the_key(stage: Scripted) -> None:
    """403 in JSON does not mean that JSON is disabled."""
    stage.says({"error": "bad token k-secret"}, 403)
    answer = only(await ask(stage, auth_key="k-secret"))
    assert "searxng_auth_key" in str(answer.error)
    assert "k-secret" not in str(answer.error)
    assert len(stage.asked) == 1


async def test_the_simple_theme(stage: Scripted) -> None:
    """Title, snippet, date and engines of the current theme; links that are no results are left out."""
    found = await ask(stage.says(SIMPLE), format="html")
    assert [asked.query["format"] for asked in stage.asked] == ["html"]
    hit = found.answers[0].hits[0]
    assert (hit.title, hit.url, hit.snippet, hit.published) == ("One two", "https://e.com/a", "Three", "2026-03-04")
    assert [hit.snippet for hit in found.answers[1].hits] == ["Three", ""]
    assert found.formatted is None


async def test_the_older_theme(stage: Scripted) -> None:
    """The same of oscar."""
    answer = only(await ask(stage.says(OSCAR), format="html"))
    assert (answer.engine, answer.hits[0].title, answer.hits[0].snippet) == ("bing", "Old", "Text")


async def test_a_page_without_results(stage: Scripted) -> None:
    """SearXNG's page that it found nothing is an empty answer."""
    found = await ask(stage.says(NOTHING), format="html")
    assert (only(found).state, found.formatted) == ("empty", None)


async def test_a_page_that_cannot_be_read_is_given_as_text(stage: Scripted) -> None:
    """Where nothing parses, the text of the page is handed on."""
    found = await ask(stage.says("<html><body><div>First</div><script>x</script><div>Second</div>"), format="html")
    assert only(found).state == "unreadable"
    assert found.formatted == "First\nSecond"


@pytest.mark.parametrize("kind", ["json", "html"])
@pytest.mark.parametrize(
    ("page", "state", "words"),
    [(CHALLENGE, "blocked", "Verifying your request"), (LOGIN, "error", "login"), ("<html>", "error", "not SearXNG")],
)
async def test_what_stands_in_front(stage: Scripted, kind: str, page: str, state: str, words: str) -> None:
    """A challenge is `blocked`, a login and an empty page are errors, and none is given as results."""
    found = await ask(stage.says(page), format=kind)
    assert only(found).state == state
    assert words in str(only(found).error)
    assert found.formatted is None


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_challenge_with_an_error_status(stage: Scripted, status: int) -> None:
    """A challenge is one whatever its status; 403 is not taken for disabled JSON then."""
    answer = only(await ask(stage.says("<title>Just a moment...</title>", status)))
    assert (answer.state, "Just a moment" in str(answer.error)) == ("blocked", True)
    assert len(stage.asked) == 1


async def test_a_page_where_json_was_due(stage: Scripted) -> None:
    """SearXNG's page is read with a warning; another site's is none of its results."""
    found = await ask(stage.says(SIMPLE))
    assert "where JSON was asked for" in found.warnings[0]
    assert found.answers[0].state == "ok"
    stage.lines.clear()
    foreign = await ask(stage.says(FOREIGN))
    assert "not SearXNG" in str(only(foreign).error)
    assert foreign.formatted is None


async def test_a_deep_page_is_read_in_time(stage: Scripted) -> None:
    """100,000 nested elements neither hang nor raise."""
    assert (await ask(stage.says(f"{'<div>' * 100_000}x"), format="html")).formatted == "x"
