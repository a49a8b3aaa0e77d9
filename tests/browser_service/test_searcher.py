"""Where a search gets its results, in which order, within which limits, and what makes two searches the same."""

import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from browser_service.egress import Egress, Rotation
from browser_service.errors import AddressForbidden, InvalidRequest
from browser_service.searcher import Choice, Searcher
from browser_service.searching import Searching
from browser_service.sending import sending
from browser_service.settings import FetchSettings, NetworkSettings
from browser_service.web import Web
from fetch.address import Rule
from search.channels.searxng import SearXNG
from search.domains import Domains
from search.engines import DEFAULT
from search.panel import Panel
from search.progress import Event, tell_nobody
from search.query import Query
from search.settings import Adapter, SearchSettings
from search.told import Sourced
from search.web_search import Source, Wanted
from tests.fetch.http_server import raw_site
from tests.search.channels.scripted import Line, Scripted, scripted
from tests.search.small_web import BLOCKED, HOLD, SmallEngine, listing

SEARXNG = {"searxng_enabled": True, "searxng_url": "http://127.0.0.1:9/"}
TAVILY, BRAVE = {"tavily_api_key": "tvly-1"}, {"brave_api_key": "b-1"}
ROW = {"url": "http://a.example/", "title": "Harbour boats", "content": "Boats.", "engine": "bing", "engines": ["bing"]}
FOUND = {"query": "q", "results": [ROW], "unresponsive_engines": []}
LIMIT_S = 20.0
NOTHING = Choice()


@contextlib.asynccontextmanager
async def searching(*allow: str) -> AsyncIterator[tuple[Searcher, Web]]:
    """A searcher of a service that may visit these beside public addresses."""
    rule = Rule(allow=allow)
    async with Egress(rule) as egress, Web(FetchSettings(workers=1), egress, rule, Rotation([])) as web:
        yield Searcher(web, NetworkSettings(allow=allow), "156.0"), web


@pytest.fixture(scope="module")
async def searcher() -> AsyncIterator[Searcher]:
    """One that may visit public addresses alone."""
    async with searching() as (searcher, _):
        yield searcher


@pytest.fixture
async def stage() -> AsyncIterator[Scripted]:
    """A SearXNG instance or an API on this machine."""
    async with scripted() as stage:
        yield stage


def settings(**given: Any) -> SearchSettings:
    """Settings with these values."""
    return SearchSettings.model_validate(given)


def instance(stage: Scripted) -> SearchSettings:
    """Settings with this SearXNG instance."""
    return settings(**SEARXNG | {"searxng_url": stage.url})


def modes(searcher: Searcher, now: dict[str, Any], **choice: Any) -> list[str]:
    """Where a search looks, one after the other."""
    sources = searcher.sources(settings(**now), Choice(**choice))
    assert sources[0].mode == searcher.first(settings(**now), Choice(**choice))
    return [source.mode for source in sources]


async def ask(source: Source, query: Query | None = None, limit_s: float = LIMIT_S) -> Sourced:
    """What it gives."""
    return await source.ask(query or Query("harbour boats"), tell_nobody, limit_s)


async def only(searcher: Searcher, now: SearchSettings, choice: Choice = NOTHING, limit_s: float = LIMIT_S) -> Sourced:
    """What the first source gives."""
    return await ask(searcher.sources(now, choice)[0], limit_s=limit_s)


def said(sourced: Sourced) -> tuple[str, str]:
    """State and error of the one engine."""
    (told,) = sourced.told
    return told.answer.state, told.answer.error or ""


# The choice


@pytest.mark.parametrize(
    ("now", "mode"),
    [
        ({}, "builtin"),
        (BRAVE, "brave"),
        (BRAVE | TAVILY, "tavily"),
        (BRAVE | TAVILY | SEARXNG, "searxng"),
        (BRAVE | TAVILY | SEARXNG | {"searxng_enabled": False}, "tavily"),
        (SEARXNG | {"adapter": "brave"}, "brave"),
        (SEARXNG | {"adapter": "builtin"}, "builtin"),
        (SEARXNG | {"adapter": "api"}, "anthropic"),
        ({"anthropic_api_key": "a-1"}, "builtin"),
    ],
)
async def test_the_settings_choose(searcher: Searcher, now: dict[str, Any], mode: str) -> None:
    """The adapter, else SearXNG, else Tavily, else Brave, where they are set up; Anthropic by name alone."""
    assert modes(searcher, now) == [mode]


@pytest.mark.parametrize("adapter", ["builtin", "searxng", "tavily", "brave", "anthropic", "bing", "ddgs"])
async def test_the_call_wins_over_the_settings(searcher: Searcher, adapter: Adapter) -> None:
    """And stands alone, though others may follow otherwise."""
    now = SEARXNG | TAVILY | {"adapter": "brave", "failover": True}
    assert modes(searcher, now, adapter=adapter) == [adapter]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({}, ["builtin"]),
        (SEARXNG, ["searxng", "builtin"]),
        (SEARXNG | TAVILY | BRAVE, ["searxng", "tavily", "brave", "builtin"]),
        (SEARXNG | TAVILY | {"adapter": "tavily"}, ["tavily", "searxng", "builtin"]),
        (SEARXNG | {"adapter": "builtin"}, ["builtin", "searxng"]),
    ],
)
async def test_failover_goes_through_all_that_are_set_up(
    searcher: Searcher, now: dict[str, Any], expected: list[str]
) -> None:
    """In their order, each once; without it there is one."""
    assert modes(searcher, now | {"failover": True}) == expected
    assert modes(searcher, now) == expected[:1]


@pytest.mark.parametrize(
    ("adapter", "variable"),
    [("tavily", "TAVILY_API_KEY"), ("brave", "BRAVE_SEARCH_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")],
)
async def test_a_missing_key_is_named(searcher: Searcher, adapter: Adapter, variable: str) -> None:
    """With the variable that it is read from; nothing is asked."""
    sourced = await only(searcher, settings(), Choice(adapter))
    assert (sourced.unusable or "").startswith(f"{adapter.capitalize()} needs a key: set ")
    assert variable in (sourced.unusable or "")


async def test_a_missing_instance_is_named(searcher: Searcher) -> None:
    """SearXNG by name, without an address."""
    sourced = await only(searcher, settings(), Choice("searxng"))
    assert sourced.unusable == "SearXNG needs the address of an instance: set searxng_url."


# Engines by name


@pytest.mark.parametrize(
    ("now", "choice", "names"),
    [
        ({}, {}, DEFAULT),
        ({"engines": "sogou, bing"}, {}, ("sogou", "bing")),
        ({"engines": "sogou"}, {"engines": ("duckduckgo", "bing")}, ("duckduckgo", "bing")),
        ({"engines": "sogou"}, {"adapter": "bing"}, ("bing",)),
        (SEARXNG | {"searxng_engines": "google,bing"}, {}, ("google", "bing")),
        (SEARXNG | {"searxng_engines": "google"}, {"engines": ("brave",)}, ("brave",)),
        (SEARXNG, {}, ()),
        (TAVILY, {}, ("tavily",)),
    ],
)
async def test_which_engines_are_asked(
    searcher: Searcher, now: dict[str, Any], choice: dict[str, Any], names: Sequence[str]
) -> None:
    """Those of the call, else of the settings, else all."""
    assert searcher.sources(settings(**now), Choice(**choice))[0].engines == names


async def test_unknown_engines_are_refused_where_they_are_meant(searcher: Searcher) -> None:
    """A SearXNG instance has others than the built-in ones, which follow with their own."""
    with pytest.raises(InvalidRequest, match="google"):
        searcher.sources(settings(), Choice(engines=("google",)))
    both = searcher.sources(settings(**SEARXNG, failover=True), Choice(engines=("google",)))
    assert [source.engines for source in both] == [("google",), DEFAULT]


async def test_engines_are_no_matter_of_an_api(searcher: Searcher, stage: Scripted) -> None:
    """They are left out, with a warning."""
    stage.says({"results": []})
    now = settings(**TAVILY, tavily_base_url=stage.url)
    sourced = await only(searcher, now, Choice(engines=("bing",)))
    assert any("asks no engines by name" in each for each in sourced.warnings)


# Asking


async def test_built_in_engines_are_asked_at_once() -> None:
    """Each has 3 seconds, or what the call says, and never more than the whole search has."""
    routes = {"/bing": BLOCKED, "/baidu": listing("http://a.example/"), "/sogou": HOLD}
    async with raw_site(routes) as site, searching("127.0.0.1") as (searcher, _):
        searcher.panel = Panel([SmallEngine(name, site) for name in ("bing", "baidu", "sogou")])
        for timeout_s, limit_s in ((0.3, LIMIT_S), (None, 0.3)):
            sourced = await only(searcher, settings(), Choice(timeout_s=timeout_s), limit_s)
            assert [told.answer.state for told in sourced.told][1:] == ["ok", "timeout"]
            assert sourced.told[2].answer.error == "sogou did not answer within 0.3 s."


@pytest.mark.parametrize(("timeout_s", "limit_s"), [(0.3, LIMIT_S), (None, 0.3), (200.0, 0.3)])
async def test_a_channel_that_hangs(
    searcher: Searcher, stage: Scripted, timeout_s: float | None, limit_s: float
) -> None:
    """It has the time that the call gives it, and never more than the whole search has."""
    stage.lines.append(Line(silent=True))
    began = time.monotonic()
    sourced = await only(searcher, instance(stage), Choice(timeout_s=timeout_s), limit_s)
    assert time.monotonic() - began < 5
    assert said(sourced) == ("timeout", "searxng did not answer within 0.3 s.")
    assert sourced.told[0].elapsed_ms >= 300


async def test_a_channel_that_breaks_is_one_that_fails(
    searcher: Searcher, stage: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of ours does not keep the next source from being asked."""

    async def breaks(*_: object) -> None:
        raise LookupError("ours")

    monkeypatch.setattr(SearXNG, "search", breaks)
    sourced = await only(searcher, instance(stage))
    assert said(sourced) == ("error", "searxng cannot be asked: LookupError.")
    assert not sourced.good


async def test_more_results_than_a_channel_gives(searcher: Searcher, stage: Scripted) -> None:
    """It is asked for what it has; that is said where the call wanted more."""
    stage.says({"results": []})
    source, quiet = (
        searcher.sources(settings(**TAVILY, tavily_base_url=stage.url), Choice(max_results=count))[0]
        for count in (30, None)
    )
    warned = await ask(source, Query("harbour boats", 30))
    assert warned.warnings[0] == "tavily gives at most 20 results; 30 were asked for."
    assert not any("at most" in each for each in (await ask(quiet, Query("harbour boats", 30))).warnings)
    assert [asked.json["max_results"] for asked in stage.asked] == [20, 20]


async def test_each_engine_of_an_instance_is_told(searcher: Searcher, stage: Scripted) -> None:
    """As news, when the instance has answered."""
    stage.says(FOUND | {"unresponsive_engines": [["google", "timeout"]]})
    events: list[Event] = []
    source = searcher.sources(instance(stage), Choice())[0]
    await source.ask(Query("harbour boats"), events.append, LIMIT_S)
    assert {each.data["engine"]: each.data["state"] for each in events} == {"bing": "ok", "google": "timeout"}


# Private addresses


async def test_only_the_operators_own_address_is_let_through(stage: Scripted) -> None:
    """The instance, though private; neither another port of its host, nor itself for pages that are visited."""
    stage.says(FOUND)
    async with scripted() as other, searching() as (searcher, web):
        other.says("secret")
        sourced = await only(searcher, instance(stage))
        assert [hit.url for hit in sourced.told[0].answer.hits] == ["http://a.example/"]
        async with web.sending() as send:
            for url in (stage.url, other.url):
                with pytest.raises(AddressForbidden):
                    await send(httpx.Request("GET", url))
        assert (len(stage.asked), other.asked) == (1, [])


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_an_instance_cannot_send_us_elsewhere_inside(stage: Scripted, status: int) -> None:
    """A redirect to another private port is not followed."""
    async with scripted() as other, searching() as (searcher, _):
        other.says(FOUND)
        stage.says("", status, location=f"{other.url}/search?q=1")
        sourced = await only(searcher, instance(stage))
        assert said(sourced)[0] == "error"
        assert other.asked == []


async def test_what_is_denied_stays_denied(stage: Scripted) -> None:
    """Whoever runs the service may have shut an address; the setting does not open it."""
    stage.says(FOUND)
    rule, network = Rule(), NetworkSettings(deny=("127.0.0.0/8",))
    async with Egress(rule) as egress, Web(FetchSettings(workers=1), egress, rule, Rotation([])) as web:
        searcher = Searcher(web, network, "156.0")
        sourced = await only(searcher, instance(stage))
    assert said(sourced)[0] == "error"
    assert stage.asked == []


async def test_no_way_out_is_left_open(stage: Scripted) -> None:
    """Each call to an address of the operator's has one of its own, which goes with it."""
    stage.says(FOUND)
    async with searching() as (searcher, web):
        before = set(web._egress._exits)
        await only(searcher, instance(stage))
        assert set(web._egress._exits) == before


async def test_an_instance_can_be_asked_where_no_service_runs(stage: Scripted) -> None:
    """Through an egress of its own, which lets that address pass alone."""
    stage.says(FOUND)
    async with scripted() as other, sending(NetworkSettings(), stage.url) as send:
        assert (await send(httpx.Request("GET", stage.url))).json() == FOUND
        with pytest.raises(AddressForbidden):
            await send(httpx.Request("GET", other.url))
        assert other.asked == []


# What is the same search

QUERIES = {
    "text": "boats",
    "count": 7,
    "time_range": "day",
    "language": "de",
    "safesearch": 2,
    "allowed_domains": ("a.example",),
    "blocked_domains": ("b.example",),
    "depth": "advanced",
}
WANTED = {
    "query": Query("boats"),
    "max_results": 7,
    "domains": Domains(allowed=("a.example",)),
    "ranking": "weighted",
    "enhance": False,
    "fetch_top": 3,
    "order": "random",
    "max_chars": 500,
    "deadline_s": 7.0,
}
CHOICES = {"adapter": "bing", "engines": ("bing",), "timeout_s": 1.0, "max_results": 7}


def key(query: dict[str, Any], wanted: dict[str, Any], choice: dict[str, Any], **now: Any) -> Any:
    """The key of a search with these in place of the usual."""
    asked = Wanted(**{"query": Query(**{"text": "harbours", **query}), **wanted})
    return Searching(asked, Choice(**choice), settings(**now), "me", None).key()


@pytest.mark.parametrize(
    ("kind", "values"), [(Query, QUERIES), (Wanted, WANTED), (Choice, CHOICES)], ids=lambda given: str(given)[:30]
)
def test_every_option_is_part_of_the_key(kind: type[Any], values: dict[str, Any]) -> None:
    """A search with any other option is another one; there is no option that is not listed here."""
    assert values.keys() == {field.name for field in dataclasses.fields(kind)}
    for name, value in values.items():
        given = [{name: value} if kind is each else {} for each in (Query, Wanted, Choice)]
        assert key(*given) != key({}, {}, {}), name
        assert hash(key(*given)) == hash(key(*given))


def test_every_setting_is_part_of_the_key() -> None:
    """Secrets, too: what one account finds is not what another does."""
    for given in (SEARXNG, TAVILY, BRAVE, {"ranking": "weighted"}, {"searxng_auth_key": "x"}, {"engines": "bing"}):
        assert key({}, {}, {}, **given) != key({}, {}, {}), given


def test_case_and_spaces_do_not_make_another_search() -> None:
    """Nor who asks."""
    assert key({"text": "  HARBOURS \t of  Straße"}, {}, {}) == key({"text": "harbours of strasse"}, {}, {})
    one, two = (Searching(Wanted(Query("a")), Choice(), settings(), name, name).key() for name in ("me", "you"))
    assert one == two
