"""Requests to one address that the operator chose, such as a SearXNG instance in the same house."""

import contextlib
import time
from collections.abc import AsyncIterator
from typing import Final

import httpx

from browser_service.egress import Egress, Exit
from browser_service.settings import NetworkSettings
from browser_service.tab.verdict import refusal
from fetch.address import Rule, parse_address
from fetch.errors import ContentTooLarge, TimedOut
from fetch.http_faults import MARK, NETWORK, ProxyRoute, refused_by_proxy, translate
from search.engine import Send

MAX_BYTES: Final = 10 * 2**20
_LIMITS: Final = httpx.Timeout(30.0, connect=10.0)


@contextlib.asynccontextmanager
async def sending(network: NetworkSettings, address: str) -> AsyncIterator[Send]:
    """What sends requests to this address, through an egress of its own whose rule lets it through, though private.

    Raises InvalidRequest or AddressForbidden for an address that is none.
    """
    there = parse_address(address)
    host = f"[{there.host}]" if ":" in there.host else there.host
    rule = Rule(allow=[*network.allow, f"{host}:{there.port}"], deny=network.deny)
    upstream = network.proxy_url.get_secret_value() if network.proxy_url else None
    async with Egress(rule, upstream=upstream, remote_dns=network.remote_dns) as egress:
        way_out = await egress.open_exit()
        proxy = httpx.Proxy(way_out.server)
        async with httpx.AsyncClient(proxy=proxy, trust_env=False, timeout=_LIMITS) as client:

            async def send(request: httpx.Request) -> httpx.Response:
                return await _sent(client, way_out, request)

            yield send


async def _sent(client: httpx.AsyncClient, way_out: Exit, request: httpx.Request) -> httpx.Response:
    url, since = str(request.url), time.monotonic()
    route = ProxyRoute(way_out.server, lambda url, since: refusal(way_out, url, since))
    try:
        response = await client.send(request, stream=True)
        try:
            if verdict := response.headers.get(MARK, ""):
                raise refused_by_proxy(route, url, since, verdict)
            body = await _whole(response)
        finally:
            await response.aclose()
    except httpx.TimeoutException:
        raise TimedOut(f"{request.url.host} did not answer in time.") from None
    except NETWORK as fault:
        raise route.why(url, since) or translate(fault, url) from fault
    headers = {name: value for name, value in response.headers.multi_items() if name != "content-encoding"}
    return httpx.Response(response.status_code, headers=headers, content=body, request=request)


async def _whole(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BYTES:
            raise ContentTooLarge(f"The answer is larger than {MAX_BYTES} bytes.")
    return bytes(body)
