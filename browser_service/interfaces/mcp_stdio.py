"""MCP over standard input and output: with a service of its own, or as a bridge to one that runs."""

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from mcp.types.version import LATEST_MODERN_VERSION

from browser_service.errors import BrowserCrashed
from browser_service.interfaces import mcp_content
from browser_service.interfaces.local import quiet_settings
from browser_service.interfaces.mcp import Context, Structured, Visit, build_server, new_server
from browser_service.interfaces.own_sessions import Visitor
from browser_service.interfaces.remote import Remote
from browser_service.interfaces.tool_routes import AGENT_HEADER
from browser_service.interfaces.toolbox import Toolbox
from browser_service.interfaces.tools import Tool
from browser_service.operations.operation import EVERYTHING
from browser_service.service import Service
from browser_service.settings import Settings

_CLOSE_LIMIT_S: Final = 2
_ANSWER_LIMIT_S: Final = 630  # longer than any operation's own limit, so that the answer is the service's


def serve_here(tools: tuple[Tool, ...], structured: Structured) -> None:
    """Serve until the input ends or a signal comes, with a service in this process."""
    settings = quiet_settings()
    size = settings.pool.size if "size" in settings.pool.model_fields_set else 1
    pool = settings.pool.model_copy(update={"size": size, "warm": min(settings.pool.warm, 1)})
    asyncio.run(_serve_here(tools, structured, settings.model_copy(update={"pool": pool})))


async def _serve_here(tools: tuple[Tool, ...], structured: Structured, settings: Settings) -> None:
    visitor = Visitor(EVERYTHING)
    async with _starting(settings) as box:

        def visit(_: object) -> Visit:
            return Visit(visitor, tools, structured, secrets.token_hex(8))

        stopped = await _serve(build_server(lambda: asyncio.shield(box), visit))
    if stopped:
        _leave(stopped)


@contextlib.asynccontextmanager
async def _starting(settings: Settings) -> "AsyncIterator[asyncio.Future[Toolbox]]":
    """A service that starts while the client is answered already: clients do not wait long for the first answer."""
    box: asyncio.Future[Toolbox] = asyncio.get_running_loop().create_future()
    ended = asyncio.Event()

    async def live() -> None:
        try:
            async with Service(settings) as service:
                box.set_result(Toolbox(service))
                await ended.wait()
        except Exception as fault:
            if box.done():
                raise
            box.set_exception(fault)
            box.exception()  # every call is told; where none comes, nobody asks

    living = asyncio.create_task(live())
    try:
        yield box
    finally:
        ended.set()
        if not box.done():
            living.cancel()
        await asyncio.gather(living, return_exceptions=True)


async def _serve(server: Server[Any]) -> int:
    """Serve until the input ends; the number of the signal where one came first."""
    came: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _note, came, number)

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    serving = asyncio.ensure_future(serve())
    waited: set[asyncio.Future[Any]] = {serving, came}
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
        return 0
    return came.result()


def _note(came: "asyncio.Future[int]", number: int) -> None:
    if not came.done():
        came.set_result(number)


def _leave(number: int) -> None:
    """End the process: a thread of the package reads from standard input, and nothing but a line ends that."""
    os._exit(128 + number)


def serve_bridge(remote: Remote, **asked: str) -> None:
    """Serve until the input ends or a signal comes, by a service that runs elsewhere.

    `asked` are `tools` and `structured`, as the service takes them.
    """
    asyncio.run(_serve_bridge(remote, asked))


async def _serve_bridge(remote: Remote, asked: dict[str, str]) -> None:
    headers = {AGENT_HEADER: f"bridge-{secrets.token_hex(8)}", **remote.headers}
    timeout = httpx2.Timeout(_ANSWER_LIMIT_S, connect=10)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=remote.through_proxies) as http:
        bridge = _Bridge(remote.address, str(httpx2.URL(f"{remote.address}/mcp", params=asked)), http)
        stopped = await _serve(new_server(bridge.list_tools, bridge.call_tool))
        await bridge.close()
    if stopped:
        _leave(stopped)


class _Bridge:
    """Passes on what it is asked.

    Each call is a request that stands for itself: the package's connection would not outlive a restart of the service.
    """

    def __init__(self, address: str, url: str, http: httpx2.AsyncClient) -> None:
        self._address = address
        self._url = url
        self._http = http

    async def list_tools(self, context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        """What the service lists."""
        try:
            async with self._client(context) as client:
                return ListToolsResult(tools=(await client.session.list_tools()).tools)
        except* httpx2.HTTPError as faults:
            raise MCPError(INTERNAL_ERROR, self._unanswered(faults).detail) from faults

    async def call_tool(self, context: Context, given: CallToolRequestParams) -> CallToolResult:
        """What the service answers."""
        result = CallToolResult(content=[], is_error=True)
        try:
            async with self._client(context) as client:
                tell = context.session.report_progress
                result = await client.session.call_tool(given.name, given.arguments, progress_callback=tell)
        except* httpx2.HTTPError as faults:
            document, content = mcp_content.failure(self._unanswered(faults), "-")
            result = CallToolResult(content=content, structured_content=document, is_error=True)
        return result

    async def close(self) -> None:
        """End the bridge's session, which would end by itself, only later."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_CLOSE_LIMIT_S), self._client() as client:
                await client.session.call_tool("browser_close", {})

    def _client(self, context: Context | None = None) -> Client:
        """A client that calls itself what ours does."""
        ours = context.session.client_params if context is not None else None
        transport = streamable_http_client(self._url, http_client=self._http)
        return Client(
            transport,
            mode=LATEST_MODERN_VERSION,
            cache=None,
            client_info=ours.client_info if ours is not None else None,
        )

    def _unanswered(self, faults: BaseException) -> BrowserCrashed:
        while isinstance(faults, BaseExceptionGroup):
            faults = faults.exceptions[0]
        return BrowserCrashed(
            f"The service at {self._address} does not answer: {faults}.",
            hint="Start it with tabwright serve, or correct --server.",
        )
