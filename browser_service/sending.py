"""Requests that are sent as they are, to search engines and to addresses that the operator chose."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final

import httpx

from browser_service.egress import Egress, Exit
from browser_service.settings import NetworkSettings
from browser_service.tab.verdict import refusal
from fetch.address import Rule, parse_address
from fetch.errors import TabwrightError
from fetch.http import HttpClient, ProxyRoute
from search.engine import Send

LIMIT_S: Final = 300.0
"""For one request, where who sends it has no limit of his own."""


def route_of(way_out: Exit) -> ProxyRoute:
    """An exit of the egress proxy, as the HTTP client takes it."""

    def why(url: str, since: float) -> TabwrightError | None:
        return refusal(way_out, url, since)

    return ProxyRoute(way_out.server, why)


def sender(http: HttpClient, route: ProxyRoute, check: Callable[[str, int], None] | None = None) -> Send:
    """What sends requests by this way; `check` judges addresses in place of the client's own."""

    async def send(request: httpx.Request) -> httpx.Response:
        deadline = asyncio.get_running_loop().time() + LIMIT_S
        return await http.send(request, route, deadline=deadline, check=check)

    return send


def reaching(network: NetworkSettings, address: str) -> Rule:
    """The network's rule with this address let through, though private: the operator chose it.

    Raises InvalidRequest or AddressForbidden for an address that is none.
    """
    there = parse_address(address)
    host = f"[{there.host}]" if ":" in there.host else there.host
    return Rule(allow=[*network.allow, f"{host}:{there.port}"], deny=network.deny)


@contextlib.asynccontextmanager
async def sending(network: NetworkSettings, address: str) -> AsyncIterator[Send]:
    """What sends requests to this address, where no service runs: through an egress of its own. Raises as
    `reaching` does.
    """
    rule = reaching(network, address)
    upstream = network.proxy_url.get_secret_value() if network.proxy_url else None
    async with (
        Egress(rule, upstream=upstream, remote_dns=network.remote_dns) as egress,
        HttpClient(rule.check) as http,
    ):
        yield sender(http, route_of(await egress.open_exit()))
