"""The connections that are kept: a pool for each way out and site, with one TLS context for all of them.

A pool for each site, because httpcore looks at every connection of a pool with every request.
"""

import asyncio
import contextlib
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx

from fetch.address import Address
from fetch.http_faults import ProxyRoute

IDLE_KEPT = 32
IDLE_S = 15.0
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=8, keepalive_expiry=IDLE_S)

_Key = tuple[str, str, str, int]


@dataclass(slots=True, eq=False)
class _Pool:
    transport: httpx.AsyncHTTPTransport
    users: int = 0
    idle_since: float = 0.0


class Routes:
    """Lends pools. Those that nobody uses are closed in time, but for the latest few.

    Transports are used without httpx's client around them: it would keep cookies beyond a call.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._used: dict[_Key, _Pool] = {}
        self._idle: OrderedDict[_Key, _Pool] = OrderedDict()

    async def open(self) -> None:
        """Read the certificates that are trusted: certifi's, or those that SSL_CERT_FILE and SSL_CERT_DIR name."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(httpx.create_ssl_context)

    async def close(self) -> None:
        """Close all connections. Safe to repeat."""
        pools = [*self._used.values(), *self._idle.values()]
        self._used.clear()
        self._idle.clear()
        for pool in pools:
            await pool.transport.aclose()

    @contextlib.asynccontextmanager
    async def transport(self, route: ProxyRoute, address: Address) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """The pool of connections to this site by this way out."""
        key = (route.server, address.scheme, address.host, address.port)
        pool = self._take(key)
        try:
            yield pool.transport
        finally:
            for unused in self._give_back(key, pool):
                await unused.transport.aclose()

    def _take(self, key: _Key) -> _Pool:
        pool = self._used.get(key) or self._idle.pop(key, None) or self._new(key[0])
        self._used[key] = pool
        pool.users += 1
        return pool

    def _new(self, server: str) -> _Pool:
        if self._tls is None:
            raise RuntimeError("The HTTP client is not open.")
        return _Pool(
            httpx.AsyncHTTPTransport(
                verify=self._tls, trust_env=False, http2=True, limits=LIMITS, proxy=httpx.Proxy(server)
            )
        )

    def _give_back(self, key: _Key, pool: _Pool) -> list[_Pool]:
        """Pools that are no longer kept; they are to be closed."""
        pool.users -= 1
        if pool.users:
            return []
        if self._used.pop(key, None) is None:  # closed meanwhile
            return [pool]
        now = asyncio.get_running_loop().time()
        pool.idle_since = now
        self._idle[key] = pool
        unused = []
        while len(self._idle) > IDLE_KEPT or next(iter(self._idle.values())).idle_since < now - IDLE_S:
            unused.append(self._idle.popitem(last=False)[1])
        return unused
