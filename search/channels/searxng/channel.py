"""Asking a SearXNG instance and telling its engines apart."""

import asyncio
from typing import Final

import httpx

from search.channels.exchange import Fault, is_html, words_of
from search.channels.searxng.asking import ask, check, forbids_json
from search.channels.searxng.config import MOST, Instance, SearXNGConfig, instance_of, parameters_of
from search.channels.searxng.listing import NAME, Listing
from search.channels.searxng.read_html import read_html
from search.channels.searxng.read_json import read_json
from search.engine import Found, Send
from search.query import Query

JSON_DISABLED: Final = (
    "JSON is disabled at this SearXNG: add json to search.formats in its settings.yml; its web page was read instead."
)
NO_JSON: Final = "This SearXNG answered with its web page where JSON was asked for; that was read instead."


class SearXNG:
    """The engines behind an instance, one `Answer` each. The caller's wishes go before the settings."""

    name = NAME
    most = MOST

    def __init__(self, config: SearXNGConfig) -> None:
        self._config = config

    async def search(self, query: Query, send: Send) -> Found:
        """Ask it. Failures are answers, with state and error; only cancellation is raised."""
        warnings: list[str] = []
        try:
            listing = await self._listing(query, send, warnings)
        except Fault as fault:
            return fault.found(NAME, warnings)
        return listing.found(self._config.engine_names, warnings)

    async def _listing(self, query: Query, send: Send, warnings: list[str]) -> Listing:
        text = words_of(query)
        instance = instance_of(self._config)
        parameters, left_out = parameters_of(self._config, text, query)
        warnings += (*instance.warnings, *left_out)
        if self._config.format.strip().lower() != "html":
            response = await ask(instance, parameters | {"format": "json"}, send)
            if not forbids_json(response):
                check(response, instance)
                return await asyncio.to_thread(_read, response, instance, warnings)
            warnings.append(JSON_DISABLED)
        response = await ask(instance, parameters | {"format": "html"}, send)
        check(response, instance)
        return await asyncio.to_thread(read_html, response, instance.shown)


def _read(response: httpx.Response, instance: Instance, warnings: list[str]) -> Listing:
    """An answer that should be JSON, but may be the page that an unknown format gets."""
    if not is_html(response):
        return read_json(response, instance.shown)
    listing = read_html(response, instance.shown, wanted_json=True)
    warnings.append(NO_JSON)
    return listing
