"""What searches share, and where each gets its results: the built-in engines, SearXNG or an API."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from browser_service.errors import AddressForbidden, InvalidRequest
from browser_service.sending import reaching
from browser_service.settings import NetworkSettings
from browser_service.web import Web
from fetch.cache import Cache
from search.channels.anthropic import KEY_VARIABLES as ANTHROPIC_KEYS
from search.channels.anthropic import MODEL as ANTHROPIC_MODEL
from search.channels.anthropic import Anthropic
from search.channels.brave import KEY_VARIABLES as BRAVE_KEYS
from search.channels.brave import Brave
from search.channels.ddgs import Ddgs
from search.channels.keyed import missing_key
from search.channels.searxng import SearXNG, SearXNGConfig
from search.channels.tavily import KEY_VARIABLES as TAVILY_KEYS
from search.channels.tavily import Tavily
from search.engine import Answer, Channel, Found, Send
from search.engines import engines
from search.health import EngineHealth, Health
from search.panel import ENGINE_S, Panel
from search.progress import Tell
from search.query import Query
from search.settings import Adapter, SearchSettings
from search.told import Sourced, Told
from search.web_search import Searched, Source

_log = logging.getLogger(__name__)

CACHED: Final = 200
CACHED_S: Final = 300.0
CHANNEL_S: Final = 30.0
MOST_ENGINES: Final = 200  # behind one instance; the largest ones have about as many
NO_INSTANCE: Final = "SearXNG needs the address of an instance: set searxng_url."
_SLOW: Final = {"anthropic": 60.0}  # a model reads before it answers


@dataclass(frozen=True)
class Choice:
    """What a call says about where to search; None and empty: nothing."""

    adapter: Adapter = ""
    engines: tuple[str, ...] = ()
    timeout_s: float | None = None
    max_results: int | None = None


class Searcher:
    """`version`: of the Chromium as which engines are visited."""

    def __init__(self, web: Web, network: NetworkSettings, version: str) -> None:
        self.panel = Panel(engines(version))
        self.cache: Cache[Searched] = Cache(CACHED, CACHED_S)
        self._behind = Health(rests=False)  # of engines that channels ask
        self._web = web
        self._network = network

    def sources(self, now: SearchSettings, choice: Choice) -> list[Source]:
        """Where to search, in order: the second and later ones are for when those before fail, where that is allowed.

        Raises InvalidRequest for engines that there are none of.
        """
        first, *others = _modes(now, choice)
        if not now.failover or choice.adapter:
            others = []
        spare = replace(choice, engines=())  # names of engines are those of the first
        return [self._source(first, now, choice), *(self._source(mode, now, spare) for mode in others)]

    def engines(self) -> dict[str, EngineHealth]:
        """How all engines are that have answered; those behind a channel as `searxng/google`."""
        return self.panel.health.snapshot() | self._behind.snapshot()

    def first(self, now: SearchSettings, choice: Choice) -> str:
        """The mode that is tried first."""
        return _modes(now, choice)[0]

    def _source(self, mode: str, now: SearchSettings, choice: Choice) -> Source:
        if mode in {"builtin", "bing"}:
            return self._builtin(mode, now, choice)
        if mode == "searxng":
            return self._searxng(now, choice)
        if mode == "tavily":
            key, base = now.tavily_api_key.get_secret_value(), now.tavily_base_url
            return self._keyed(Tavily(key, base_url=base), key, TAVILY_KEYS, choice, base)
        if mode == "brave":
            key = now.brave_api_key.get_secret_value()
            return self._keyed(Brave(key, mode=now.brave_mode), key, BRAVE_KEYS, choice)
        if mode == "anthropic":
            key, base = now.anthropic_api_key.get_secret_value(), now.anthropic_base_url
            anthropic = Anthropic(key, base_url=base, model=now.anthropic_model or ANTHROPIC_MODEL)
            return self._keyed(anthropic, key, ANTHROPIC_KEYS, choice, base)
        return self._ddgs(choice)

    def _searxng(self, now: SearchSettings, choice: Choice) -> Source:
        if not now.searxng_url:
            return _unusable("searxng", NO_INSTANCE)
        config = config_of(now)
        if choice.engines:
            config = replace(config, engines=",".join(choice.engines))
        return self._channel(SearXNG(config), choice, now.searxng_url, config.engine_names)

    def _builtin(self, mode: str, now: SearchSettings, choice: Choice) -> Source:
        set_up = tuple(filter(None, now.engines.split(",")))
        names = ("bing",) if mode == "bing" else self.panel.named(choice.engines or set_up)

        async def ask(query: Query, tell: Tell, limit_s: float) -> Sourced:
            async with self._web.sending() as send:
                return await self.panel.ask(query, names, send, min(choice.timeout_s or ENGINE_S, limit_s), tell)

        return Source(mode, ask, names)

    def _keyed(self, channel: Channel, key: str, variables: Sequence[str], choice: Choice, address: str = "") -> Source:
        if not key:
            return _unusable(channel.name, missing_key(channel.name.capitalize(), variables))
        return self._channel(channel, choice, address)

    def _channel(self, channel: Channel, choice: Choice, address: str, names: tuple[str, ...] | None = None) -> Source:
        """One that asks at an address that the operator chose, which may be private; at its own where there is none."""

        async def ask(query: Query, tell: Tell, limit_s: float) -> Sourced:
            try:
                rule = reaching(self._network, address) if address else None
            except (InvalidRequest, AddressForbidden) as fault:
                return Sourced(unusable=fault.detail)
            async with self._web.sending(rule) as send:
                return self._noted(channel, await _by_channel(channel, query, send, choice, tell, limit_s))

        return Source(channel.name, ask, (channel.name,) if names is None else names)

    def _noted(self, channel: Channel, sourced: Sourced) -> Sourced:
        for each in sourced.told:
            name = each.answer.engine
            label = name if name == channel.name else f"{channel.name}/{name}"
            self._behind.note(replace(each.answer, engine=label))
        return sourced

    def _ddgs(self, choice: Choice) -> Source:
        async def ask(query: Query, tell: Tell, limit_s: float) -> Sourced:
            async with self._web.route(None) as route, self._web.sending() as send:
                ddgs = Ddgs(proxy=route.server)
                return self._noted(ddgs, await _by_channel(ddgs, query, send, choice, tell, limit_s))

        return Source("ddgs", ask, ("ddgs",))


def _unusable(mode: str, why: str) -> Source:
    """One that is not set up."""

    async def ask(_query: Query, _tell: Tell, _limit_s: float) -> Sourced:
        return Sourced(unusable=why)

    return Source(mode, ask)


def _modes(now: SearchSettings, choice: Choice) -> list[str]:
    """What is set up, the first that counts first."""
    ready = [
        *(["searxng"] if now.searxng_enabled else []),
        *(["tavily"] if now.tavily_api_key.get_secret_value() else []),
        *(["brave"] if now.brave_api_key.get_secret_value() else []),
        "builtin",
    ]
    first = choice.adapter or now.adapter
    return [first, *(mode for mode in ready if mode != first)] if first else ready


async def _by_channel(channel: Channel, query: Query, send: Send, choice: Choice, tell: Tell, most_s: float) -> Sourced:
    limit_s = min(choice.timeout_s or _SLOW.get(channel.name, CHANNEL_S), most_s)
    warnings = []
    if query.count > channel.most:
        if choice.max_results:
            warnings.append(f"{channel.name} gives at most {channel.most} results; {query.count} were asked for.")
        query = replace(query, count=channel.most)
    if choice.engines and channel.name != "searxng":
        warnings.append(f"{channel.name} asks no engines by name: engines was left out.")
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit_s):
            found = await channel.search(query, send)
    except TimeoutError:
        late = f"{channel.name} did not answer within {limit_s:g} s."
        found = Found((Answer(channel.name, "timeout", error=late),))
    except Exception as fault:  # noqa: BLE001 - the next source may do better
        _log.exception("%s: the search failed", channel.name)
        broken = f"{channel.name} cannot be asked: {type(fault).__name__}."
        found = Found((Answer(channel.name, "error", error=broken),))
    elapsed_ms = round((time.monotonic() - began) * 1000)
    told = [Told(each, elapsed_ms) for each in found.answers[:MOST_ENGINES]]
    for each in told:
        tell(each.event())
    return Sourced(told, [*warnings, *found.warnings], found.formatted)


def config_of(now: SearchSettings) -> SearXNGConfig:
    """How the SearXNG instance is asked."""
    return SearXNGConfig(
        url=now.searxng_url,
        engines=now.searxng_engines,
        language=now.searxng_language,
        safesearch=now.searxng_safesearch,
        time_range=now.searxng_time_range,
        max_results=now.searxng_max_results,
        auth_key=now.searxng_auth_key.get_secret_value(),
        auth_type=now.searxng_auth_type,
        format=now.searxng_format,
    )
