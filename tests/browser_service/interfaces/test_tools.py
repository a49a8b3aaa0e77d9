"""Tools: made of operations, listed for function calls, and called over REST."""

import asyncio
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from browser_service.errors import InvalidRequest, TabwrightError
from browser_service.interfaces.tools import (
    BY_NAME,
    LEFT_OUT,
    TOOLS,
    Tool,
    chosen,
    described,
    input_schema,
    output_schema,
)
from browser_service.operations import OPERATIONS
from browser_service.service import Service
from tests.conftest import Api
from tests.site import Site

ROOT = Path(__file__).resolve().parents[3]


def test_every_operation_is_a_tool_or_left_out_with_a_reason() -> None:
    """Nothing is forgotten, nothing is there twice."""
    made = [tool.operation for tool in TOOLS]
    assert len(set(made)) == len(made) == len(BY_NAME)
    assert set(made) | set(LEFT_OUT) == set(OPERATIONS)
    assert not set(made) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_schemas(tool: Tool) -> None:
    """Valid JSON Schema; arguments without references, and every field of the operation among them."""
    schema = input_schema(tool)
    for each in (schema, output_schema(tool, pictures=True)):
        jsonschema.Draft202012Validator.check_schema(each)
    assert "$ref" not in str(schema)
    further = {"session"} if tool.in_session else set()
    assert schema["properties"].keys() == tool.operation.model_fields.keys() | further
    for example in tool.operation.examples:
        jsonschema.validate(example, schema)
        tool.prepare(example)


def test_the_default_set_is_small() -> None:
    """What a model reads of it before it begins is bounded, too."""
    usual = chosen("")
    assert len(usual) == 11
    assert sum(len(str(described(tool, "anthropic"))) for tool in usual) < 25_000
    assert chosen("all") == TOOLS
    assert [tool.name for tool in chosen("settings, web_fetch")] == [
        *("web_fetch", "get_settings", "change_settings", "test_searxng")
    ]
    with pytest.raises(InvalidRequest, match="nosuch"):
        chosen("nosuch")


@pytest.mark.parametrize(
    ("name", "arguments", "field", "value"),
    [
        ("browser_extract", {}, "max_chars", 20_000),
        ("browser_extract", {"max_chars": None, "selector": None}, "max_chars", 20_000),
        ("browser_extract", {"max_chars": 0}, "max_chars", 0),
        ("web_search", {"query": "q"}, "max_chars", 20_000),
        ("browser_screenshot", {}, "max_side", 1_568),
        ("browser_screenshot", {"max_width": 2_000}, "max_side", None),
        ("browser_screenshot", {"max_side": None}, "max_side", None),
        ("change_settings", {"ranking": None}, "ranking", None),
    ],
)
def test_defaults_are_those_of_agents(name: str, arguments: dict[str, Any], field: str, value: object) -> None:
    """Unless the call asks for something else; null is as good as left out."""
    operation, _ = BY_NAME[name].prepare(arguments)
    assert getattr(operation, field) == value


@pytest.mark.parametrize("arguments", [{"session": 5}, {"session": "x" * 101}, {"nosuch": 1}, {"timeout_ms": "soon"}])
def test_wrong_arguments_are_named(arguments: dict[str, Any]) -> None:
    """With a hint that speaks of tools."""
    with pytest.raises(TabwrightError, match=next(iter(arguments))) as caught:
        BY_NAME["browser_extract"].prepare(arguments)
    assert caught.value.hint == "The schema of the tool describes its arguments."


async def test_tools_are_listed_for_function_calls(api: Api) -> None:
    """In the forms that the APIs want."""

    async def listed(**query: str) -> list[Any]:
        tools: list[Any] = (await api.http.get("/v1/tools", params=query)).json()["tools"]
        return tools

    assert [each["name"] for each in await listed()] == [tool.name for tool in chosen("")]
    assert len(await listed(tools="all")) == len(TOOLS)
    plain = (await listed(tools="web_fetch"))[0]
    assert (plain["read_only"], plain["group"], plain["scope"]) == (True, "pages", "read")
    openai = (await listed(tools="web_fetch", style="openai"))[0]
    assert openai["type"] == "function"
    assert openai["function"]["parameters"] == plain["input_schema"]
    anthropic = (await listed(tools="web_fetch", style="anthropic"))[0]
    assert anthropic.keys() == {"name", "description", "input_schema"}
    assert (await api.http.get("/v1/tools", params={"style": "nosuch"})).status_code == 422


async def test_a_tool_is_called_over_rest(api: Api, site: Site) -> None:
    """The operation's result with a summary, in the caller's own session, one for each agent that is named."""
    names = {agent: {"Tabwright-Agent": agent} for agent in ("one", "two")}

    async def call(agent: str, name: str, **arguments: Any) -> dict[str, Any]:
        answer = await api.http.post(f"/v1/tools/{name}", json=arguments, headers=names[agent])
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    await asyncio.gather(*(call(agent, "browser_open", url=site.page(f"<p>for {agent}</p>")) for agent in names))
    read = {agent: await call(agent, "browser_extract") for agent in names}
    assert [each["content"].strip() for each in read.values()] == ["for one", "for two"]
    assert read["one"]["summary"].startswith(f"Read {site.base}")
    named = await call("two", "browser_extract", session=read["one"]["session"])
    assert named["content"] == read["one"]["content"]
    taken = await call("one", "browser_screenshot")
    jsonschema.validate(taken, output_schema(BY_NAME["browser_screenshot"], pictures=True))
    assert taken["image_base64"]
    for agent in names:
        assert await call(agent, "browser_close") == {"summary": "Session closed", "session": read[agent]["session"]}
    assert (await call("one", "browser_close"))["session"] == ""


async def test_what_a_script_gives_is_cut(api: Api, site: Site) -> None:
    """To what a model can take in."""
    await api.post("/v1/tools/browser_open", {"url": site.page("x")})
    given = await api.post("/v1/tools/browser_evaluate", {"js": "'word '.repeat(10000)"})
    assert given["truncated"]
    assert len(given["result"]) <= 20_000
    assert given["value"] is None
    await api.post("/v1/tools/browser_close")


async def test_failures_of_tools_are_problem_documents(api: Api) -> None:
    """Unknown tools, wrong arguments, pages that are not there."""
    await api.fails("/v1/tools/nosuch", {}, "not_found")
    await api.fails("/v1/tools/web_fetch", {}, "invalid_request")
    missing = await api.fails("/v1/tools/browser_extract", {}, "no_page")
    assert missing["hint"] == "Call browser_open first."
    answer = await api.http.get("/v1/tools", headers={"Tabwright-Agent": "two words"})
    assert answer.json()["code"] == "invalid_request"
    await api.post("/v1/tools/browser_close")


async def test_first_calls_at_once_share_a_session(api: Api, service: Service) -> None:
    """One is made, whoever is cancelled."""
    before = len(service.sessions)
    waits = [api.post("/v1/tools/browser_wait", {"time_ms": 1}) for _ in range(5)]
    assert len({each["session"] for each in await asyncio.gather(*waits)}) == 1
    assert len(service.sessions) == before + 1
    await api.post("/v1/tools/browser_close")


def test_the_page_about_tools_names_them_all() -> None:
    """docs/mcp.md has a line for each tool, in its group, with a mark where it is in the default set."""
    text = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    expected = [
        f"| `{tool.name}` | {tool.group} | {'yes' if tool.usual else ''} | {tool.description.splitlines()[0]} |"
        for tool in TOOLS
    ]
    assert rows == [row.replace("|  |", "| |") for row in expected]
