"""MCP over standard input and output: `tabwright mcp` as a process of its own, with the official client."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from browser_service.interfaces.tools import chosen
from tests.browser_service.interfaces.mcp_clients import MODES, fails, use
from tests.browser_service.running import COMMAND, all_gone, environment, run_folders, short_folder
from tests.site import Site


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short temporary folder."""
    with short_folder() as folder:
        yield folder


@contextlib.asynccontextmanager
async def running(folder: Path, site: Site, *arguments: str, mode: str = "legacy") -> AsyncIterator[Client]:
    """A client of a process of its own."""
    variables = environment(folder, TABWRIGHT_NETWORK__ALLOW=f'["{site.host}"]')
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp", *arguments], env=variables)
    async with Client(server, mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_a_service_of_its_own(folder: Path, site: Site, mode: str) -> None:
    """Lists tools before its browser is there, opens a page, and leaves nothing behind when the client goes."""
    async with running(folder, site, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in chosen("default")]
        opened = await use(client, "browser_open", url=site.page("<p>by stdio</p>"))
        read = await use(client, "browser_extract")
        assert read.data["content"].strip() == "by stdio"
        assert read.data["session"] == opened.data["session"]
        assert (await use(client, "browser_screenshot")).pictures
    await all_gone(folder)
    assert not run_folders(folder)


async def test_a_call_without_a_browser_says_so(folder: Path, site: Site) -> None:
    """The tools are listed all the same; a call fails with what to do."""
    variables = environment(folder, TABWRIGHT_POOL__BROWSER_PATH="/nowhere/chromium")
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=variables)
    async with Client(server, mode="legacy") as client:
        assert (await client.list_tools()).tools
        result = await client.call_tool("browser_open", {"url": site.base})
        assert result.is_error
        assert "/nowhere/chromium" in str(result.structured_content)


async def test_a_bridge_passes_on(folder: Path, site: Site, base: str) -> None:
    """With `--server`, a running service does the work, in a session of the bridge's own."""
    async with running(folder, site, "--server", base, "--tools", "actions") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [tool.name for tool in chosen("actions")]
        await use(client, "browser_open", url=site.page("<p>over the bridge</p>"))
        assert "over the bridge" in (await use(client, "browser_extract")).blocks[0][1]
        await fails(client, "invalid_request", "browser_click")


async def test_a_bridge_to_nowhere(folder: Path, site: Site) -> None:
    """Says that nothing answers."""
    async with running(folder, site, "--server", "http://127.0.0.1:9", mode="legacy") as client:
        failed = await fails(client, "browser_crashed", "browser_open", url=site.base)
        assert "tabwright serve" in failed.said


async def test_a_signal_ends_it(folder: Path) -> None:
    """Although its input stays open; its browser goes with it."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "mcp", stdin=asyncio.subprocess.PIPE, env=environment(folder), start_new_session=True
    )
    async with asyncio.timeout(30):
        while not run_folders(folder):
            await asyncio.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM
    await all_gone(folder)
