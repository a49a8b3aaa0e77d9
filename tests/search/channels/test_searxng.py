"""SearXNG: asking it, telling its engines apart, and what its failures mean."""

import asyncio
import base64
from typing import Any

import pytest

from search.channels.searxng import SearXNG, SearXNGConfig
from search.engine import Answer, Found
from search.query import Query
from tests.search.channels.scripted import Line, Scripted, only, send

QUERY = Query("rust async")


def result(url: str, *engines: str, at: tuple[int, ...] = (), **more: object) -> dict[str, Any]:
    """One result as SearXNG gives it."""
    where = {"positions": list(at)} if at else {}
    return {"url": url, "title": f"T {url}", "content": "c", "engine": engines[0], "engines": [*engines]} | where | more


def listing(*results: object, failed: object = ()) -> dict[str, Any]:
    """A whole answer."""
    return {
        "query": "rust async", "results": list(results), "answers": [], "corrections": [], "infoboxes": [],
        "suggestions": [], "unresponsive_engines": failed,
    }  # fmt: skip


async def ask(stage: Scripted, query: Query = QUERY, **settings: Any) -> Found:
    """What the channel makes of it."""
    return await SearXNG(SearXNGConfig(**{"url": stage.url, **settings})).search(query, send)


def urls(answer: Answer) -> list[str]:
    """The paths of its hits."""
    return [hit.url.removeprefix("https://e.com/") for hit in answer.hits]


def of(found: Found, engine: str) -> Answer:
    """The answer of one engine."""
    return next(answer for answer in found.answers if answer.engine == engine)


async def test_the_request(stage: Scripted) -> None:
    """Settings become parameters, no header is sent without a key, and the limiter's headers are there."""
    stage.says(listing(result("https://e.com/a", "bing")))
    await ask(stage, engines="bing, google", language="zh-CN", safesearch=2, time_range="week")
    asked = stage.asked[0]
    assert (asked.method, asked.path) == ("GET", "/search")
    assert asked.query == {
        "q": "rust async", "format": "json", "engines": "bing,google", "language": "zh-CN", "safesearch": "2",
        "time_range": "week",
    }  # fmt: skip
    assert "authorization" not in asked.headers
    assert "text/html" in asked.headers["accept"]
    assert asked.headers["accept-language"]


async def test_the_call_outranks_the_settings(stage: Scripted) -> None:
    """The caller's time range, language and safe search win."""
    stage.says(listing())
    await ask(stage, Query("x", time_range="day", language="en-US", safesearch=0), time_range="year", safesearch=2)
    query = stage.asked[0].query
    assert (query["time_range"], query["language"], query["safesearch"]) == ("day", "en-US", "0")


@pytest.mark.parametrize(("setting", "sent"), [("", None), ("auto", "auto"), ("zh-Hant-TW", "zh-TW"), ("en", "en")])
async def test_languages(stage: Scripted, setting: str, sent: str | None) -> None:
    """No language is left to the instance, `auto` is passed on, tags are cut to what it accepts."""
    stage.says(listing())
    await ask(stage, Query("中文 搜索"), language=setting)
    assert stage.asked[0].query.get("language") == sent
    assert stage.asked[0].headers["accept-language"].startswith("zh" if sent in {None, "auto"} else "en")


@pytest.mark.parametrize("tail", ["", "/", "/search", "/search/", "/?q=1"])
async def test_the_address_is_trimmed(stage: Scripted, tail: str) -> None:
    """A `/search`, slashes and a query at the end are taken off; a sub-path stays."""
    stage.says(listing())
    await ask(stage, url=f"{stage.url}/sub{tail}")
    assert stage.asked[0].path == "/sub/search"


@pytest.mark.parametrize(
    ("kind", "key", "header"),
    [
        ("bearer", "abc", "Bearer abc"),
        ("bearer", "Bearer abc", "Bearer abc"),
        ("basic", "u:p:w", f"Basic {base64.b64encode(b'u:p:w').decode()}"),
        ("basic", "Basic dTpw", "Basic dTpw"),
        ("bearer", " basic dTpw ", "Basic dTpw"),
        ("basic", "ü:ß", f"Basic {base64.b64encode('ü:ß'.encode()).decode()}"),
    ],
)
async def test_authentication(stage: Scripted, kind: str, key: str, header: str) -> None:
    """Bearer as it is, basic encoded, and a scheme that the key brings is not doubled."""
    stage.says(listing())
    found = await ask(stage, auth_type=kind, auth_key=key)
    assert stage.asked[0].headers["authorization"] == header
    assert not found.warnings


async def test_basic_over_plain_http_is_refused(stage: Scripted) -> None:
    """A password is not sent where it can be read, and nothing is asked; a token is, with a warning."""
    refused = only(await ask(stage, url="http://searx.example.com", auth_key="u:secret", auth_type="basic"))
    assert refused.state == "error"
    assert "https" in str(refused.error)
    assert "secret" not in str(refused.error)
    config = SearXNGConfig("http://192.0.2.1:1/", auth_key="token")

    async def nobody(_: object) -> Any:
        raise AssertionError

    with pytest.raises(AssertionError):  # it does ask
        await SearXNG(config).search(QUERY, nobody)


async def test_bearer_over_plain_http_warns(stage: Scripted) -> None:
    """A token over plain http beyond this machine is sent, with a warning."""
    stage.says(listing())
    elsewhere = stage.url

    async def there(request: Any) -> Any:
        request.url = request.url.copy_with(host="127.0.0.1", port=int(elsewhere.rsplit(":", 1)[1]))
        return await send(request)

    found = await SearXNG(SearXNGConfig("http://searx.example.com", auth_key="token")).search(QUERY, there)
    assert "plain http" in found.warnings[0]


async def test_each_engine_gets_its_own_order(stage: Scripted) -> None:
    """Results are split by engine and put into that engine's order by its positions, whatever the list's order."""
    stage.says(
        listing(
            result("https://e.com/c", "bing", at=(3,), score=0.3),
            result("https://e.com/a", "bing", "google", at=(2, 1), score=2.0),
            result("https://e.com/b", "google", at=(2,), score=0.5),
            result("https://e.com/d", "bing", at=(1,), score=1.0),
        )
    )
    found = await ask(stage)
    assert urls(of(found, "bing")) == ["d", "a", "c"]
    assert urls(of(found, "google")) == ["a", "b"]


async def test_positions_of_later_engines_are_told_apart(stage: Scripted) -> None:
    """`engines` is a set: only the first position is known to be the first engine's; taken places decide the rest."""
    stage.says(
        listing(
            result("https://e.com/x", "bing", "duck", "google", at=(5, 1, 9)),
            result("https://e.com/y", "duck", at=(1,)),
            result("https://e.com/z", "google", at=(3,)),
        )
    )
    found = await ask(stage)
    assert urls(of(found, "duck")) == ["y", "x"]
    assert urls(of(found, "google")) == ["x", "z"]


async def test_without_positions_the_score_decides(stage: Scripted) -> None:
    """Where there are no positions the order is by score, and that of the list where there is none."""
    rows = [result("https://e.com/low", "bing", score=0.1), result("https://e.com/high", "bing", score=9)]
    stage.says(listing(*rows)).says(listing(*(row | {"score": None} for row in rows)))
    assert urls(only(await ask(stage))) == ["high", "low"]
    assert urls(only(await ask(stage))) == ["low", "high"]


async def test_results_without_an_address_are_dropped(stage: Scripted) -> None:
    """Answers and key-value boxes are no results, nor are addresses that no page has."""
    boxes = [{"title": "42", "engine": "calc"}, result("javascript:x", "bing"), result("ftp://e.com", "bing")]
    stage.says(listing(*boxes, result("https://e.com/a", "bing", publishedDate="2026-01-02T00:00:00")))
    answer = only(await ask(stage))
    assert urls(answer) == ["a"]
    assert answer.hits[0].published == "2026-01-02"


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("timeout", "timeout"), ("too many requests", "blocked"), ("access denied", "blocked"), ("CAPTCHA", "blocked"),
        ("Suspended: access denied", "resting"), ("parsing error", "error"), ("HTTP error", "error"),
    ],
)  # fmt: skip
async def test_unresponsive_engines_are_failures(stage: Scripted, reason: str, state: str) -> None:
    """An engine that SearXNG got nothing from is an answer of that engine, its state by the reason."""
    stage.says(listing(result("https://e.com/a", "bing"), failed=[["google", reason], ["bing", "timeout"]]))
    found = await ask(stage)
    assert of(found, "google").state == state
    assert reason in str(of(found, "google").error)
    assert of(found, "bing").state == "ok"


async def test_all_engines_down_is_a_failure(stage: Scripted) -> None:
    """200 with an empty list and unresponsive engines is not "no results"."""
    stage.says(listing(failed=[["google", "timeout"], ["google", "timeout"], ["bing", "Suspended: CAPTCHA"]]))
    states = [(answer.engine, answer.state) for answer in (await ask(stage)).answers]
    assert states == [("google", "timeout"), ("bing", "resting")]


async def test_nothing_found_is_empty(stage: Scripted) -> None:
    """An empty list with every engine well is an empty answer; engines that were named and silent are empty too."""
    stage.says(listing()).says(listing(result("https://e.com/a", "bing")))
    assert only(await ask(stage)).state == "empty"
    assert of(await ask(stage, engines="bing,google"), "google").state == "empty"


async def test_engines_that_the_instance_does_not_know(stage: Scripted) -> None:
    """SearXNG ignores unknown engine names silently; that is said."""
    stage.says(listing(result("https://e.com/a", "bing")))
    found = await ask(stage, engines="gogle")
    assert "searxng_engines" in found.warnings[0]
    assert [answer.engine for answer in found.answers] == ["bing"]


@pytest.mark.parametrize(
    ("status", "settings", "state", "advice"),
    [
        (401, {}, "error", "set searxng_auth_key"),
        (401, {"auth_key": "k"}, "error", "check searxng_auth_key"),
        (404, {}, "error", "correct searxng_url"),
        (429, {}, "blocked", "limiter"),
        (500, {}, "error", "log"),
        (502, {}, "error", "start it"),
        (418, {}, "error", "change the query"),
    ],
)
async def test_error_statuses(stage: Scripted, status: int, settings: dict[str, Any], state: str, advice: str) -> None:
    """Every status has a state and says what to change."""
    stage.says("<h1>Nope</h1>", status, retry_after="120")
    answer = only(await ask(stage, **settings))
    assert answer.state == state
    assert advice in str(answer.error)
    assert f"HTTP {status}" in str(answer.error)
    assert answer.retry_after_s == 120


async def test_a_bad_request_is_quoted(stage: Scripted) -> None:
    """The words of a 400 are given on."""
    stage.says({"error": "Invalid value xx for parameter language"}, 400)
    assert "Invalid value xx for parameter language" in str(only(await ask(stage)).error)


async def test_an_empty_query_is_not_sent(stage: Scripted) -> None:
    """No words, no request."""
    assert "empty" in str(only(await ask(stage, Query(" \0 "))).error)
    assert not stage.asked


async def test_its_own_redirects_are_followed(stage: Scripted) -> None:
    """A redirect within the instance is followed with the key and the parameters."""
    stage.says("", 301, location="/search/").says(listing(result("https://e.com/a", "bing")))
    assert only(await ask(stage, auth_key="k")).state == "ok"
    assert stage.asked[1].path == "/search/"
    assert stage.asked[1].query["q"] == "rust async"
    assert stage.asked[1].headers["authorization"] == "Bearer k"


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://new.example.org/search?q=1&token=t", "https://new.example.org/search"),
        ("https://sso.example.org/login?next=%2F", "login"),
        ("/login", "login"),
        ("//evil:80/search", "evil"),
        ("javascript:alert(1)", "no answer"),
    ],
)
async def test_other_redirects_are_not_followed(stage: Scripted, location: str, words: str) -> None:
    """Where it moved is said, without the query, and nothing is sent there."""
    stage.says("", 302, location=location)
    answer = only(await ask(stage, auth_key="k"))
    assert answer.state == "error"
    assert words in str(answer.error)
    assert "token" not in str(answer.error)
    assert len(stage.asked) == 1


async def test_a_circle_of_redirects_ends(stage: Scripted) -> None:
    """Redirects to itself are followed a few times only."""
    stage.says("", 302, location="/search?q=1")
    assert "circle" in str(only(await ask(stage)).error)
    assert len(stage.asked) == 4


@pytest.mark.parametrize(
    ("body", "state"),
    [
        (b'{"results": [{"url"', "unreadable"),
        (b"\xff\xfe\x00", "unreadable"),
        (b"[" * 100_000, "unreadable"),
        (b'{"hello": "world"}', "error"),
        (b"[]", "error"),
        (b'{"results": {"a": 1}}', "unreadable"),
        (b'{"results": [1, "two", null]}', "unreadable"),
    ],
)
async def test_what_is_no_answer(stage: Scripted, body: bytes, state: str) -> None:
    """Broken, foreign and misshapen JSON is explained, never raised."""
    answer = only(await ask(stage.says(body)))
    assert (answer.state, bool(answer.error)) == (state, True)


async def test_wrong_types_everywhere(stage: Scripted) -> None:
    """Fields of the wrong types lose themselves, not the result."""
    row = {
        "url": "https://e.com/a", "title": ["t"], "content": {"c": 1}, "engine": 7, "engines": "bing",
        "positions": "1", "score": "high", "publishedDate": [],
    }  # fmt: skip
    odd = row | {"url": "https://e.com/b", "positions": [None, -1], "score": float("nan"), "title": "a\ud800\0b"}
    stage.says(listing(row, odd, {"url": 5}, {"url": ["x"]}, failed={"google": "timeout"}))
    answer = only(await ask(stage))
    assert urls(answer) == ["a", "b"]
    assert [hit.title for hit in answer.hits] == ["https://e.com/a", "a? b"]


async def test_a_cut_connection_is_an_error(stage: Scripted) -> None:
    """A connection that ends in the middle is a failure with a sentence."""
    stage.lines.append(Line(body=b'{"results": [', cut=True))
    answer = only(await ask(stage))
    assert answer.state == "error"
    assert stage.url in str(answer.error)


async def test_cancellation_comes_through(stage: Scripted) -> None:
    """The caller's time limit ends the call."""
    stage.lines.append(Line(silent=True))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await ask(stage)


@pytest.mark.parametrize(
    ("asked", "setting", "limit"),
    [(None, 0, 30), (10, 0, 10), (None, 50, 50), (10, 50, 50), (20, 5, 20), (None, 999, 30)],
)
def test_the_result_limit(asked: int | None, setting: int, limit: int) -> None:
    """The larger valid one of call and setting counts; what is not given does not."""
    assert SearXNGConfig("http://x", max_results=setting).limit(asked) == limit


@pytest.mark.parametrize("url", ["", "searx.example.com", "ftp://x", "http://u:p@x", "http://[", "http://x:99999"])
async def test_addresses_that_are_none(stage: Scripted, url: str) -> None:
    """A wrong address is an answer that names the setting."""
    assert "searxng_url" in str(only(await ask(stage, url=url)).error)
