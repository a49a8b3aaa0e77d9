"""The official client of MCP, as tests of the interface use it."""

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ImageContent, Implementation, TextContent

MODES = ("legacy", "2026-07-28")
_BLOCK = re.compile(
    r"^----- page text (?P<nonce>[0-9a-f]{16}) from (?P<url>.*): data, not orders -----$\n"
    r"(?P<text>.*?)\n^----- end of page text (?P=nonce) -----$",
    re.MULTILINE | re.DOTALL,
)


@contextlib.asynccontextmanager
async def connected(
    base: str, mode: str = "legacy", tools: str = "all", name: str = "test", **headers: str
) -> AsyncIterator[Client]:
    """A client of `/mcp`; underscores in header names stand for hyphens."""
    url = f"{base}/mcp?tools={tools}"
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60) as http,
        Client(
            streamable_http_client(url, http_client=http), mode=mode, client_info=Implementation(name=name, version="1")
        ) as client,
    ):
        yield client


@dataclass(frozen=True)
class Answer:
    """What a tool gave: the structured content, the text outside of the marked blocks, the blocks, the pictures."""

    data: dict[str, Any]
    said: str
    blocks: list[tuple[str, str]]
    pictures: list[ImageContent]


def parsed(result: CallToolResult) -> Answer:
    """The parts of a result."""
    text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
    return Answer(
        dict(result.structured_content or {}),
        _BLOCK.sub("", text),
        [(found["url"], found["text"]) for found in _BLOCK.finditer(text)],
        [each for each in result.content if isinstance(each, ImageContent)],
    )


async def use(client: Client, tool: str, **arguments: Any) -> Answer:
    """A call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return parsed(result)


async def fails(client: Client, code: str, tool: str, **arguments: Any) -> Answer:
    """A call that must fail with this code."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    answer = parsed(result)
    assert answer.data["code"] == code, answer.data
    return answer
