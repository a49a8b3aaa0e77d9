"""Tools over REST, for agents without MCP: their list, and one route to call them."""

import json
import re
from inspect import cleandoc
from typing import Annotated, Any, Final

from fastapi import Body, FastAPI, Query, Request, Response

from browser_service.errors import InvalidRequest, NotFound
from browser_service.interfaces.gate import identify
from browser_service.interfaces.own_sessions import Visitor
from browser_service.interfaces.presence import unless_gone
from browser_service.interfaces.toolbox import Toolbox
from browser_service.interfaces.tools import BY_NAME, Style, chosen, described
from browser_service.settings import Settings

AGENT_HEADER: Final = "Tabwright-Agent"
"""Names one of several agents behind a key: each has an own session."""

_AGENT = re.compile(r"[A-Za-z0-9._:@\-]{1,128}")


def visitor_of(settings: Settings, request: Request) -> Visitor:
    """Who calls, by key and by the agent that the request names. Raises Unauthorized, InvalidRequest."""
    caller = identify(settings, request.headers.get("authorization", ""))
    agent = request.headers.get(AGENT_HEADER, "")
    if agent and not _AGENT.fullmatch(agent):
        raise InvalidRequest(f"{AGENT_HEADER} must be 1 to 128 letters, digits and . _ : @ -")
    return Visitor(caller, f"agent {agent}" if agent else "")


def add_tools(app: FastAPI, toolbox: Toolbox) -> None:
    """Add both routes."""
    settings = toolbox.service.settings

    async def list_tools(
        request: Request,
        tools: Annotated[str, Query(max_length=2_000, description="default, all, groups or names")] = "default",
        style: Annotated[Style, Query(description="as this API wants them; plain: with all there is")] = "plain",
    ) -> Response:
        """List the tools that agents have, with JSON Schemas.

        Groups are pages, actions, sessions and settings. Only what the caller's key may do is listed.
        """
        caller = visitor_of(settings, request).caller
        listed = [described(each, style) for each in chosen(tools) if each.operation.scope in caller.scopes]
        return Response(json.dumps({"tools": listed}, ensure_ascii=False), media_type="application/json")

    async def call_tool(
        request: Request,
        name: str,
        arguments: Annotated[dict[str, Any] | None, Body(openapi_examples={"search": {"value": {"query": "asyncio"}}})],
    ) -> Response:
        """Call a tool: arguments in, the operation's result out, with `summary`, one line for a person.

        Actions take `session`; without it, the caller's own default session is used, and made when it is first used.
        """
        visitor = visitor_of(settings, request)
        tool = BY_NAME.get(name)
        if tool is None:
            raise NotFound(f"There is no tool {name[:100]!r}.", hint="GET /v1/tools?tools=all lists them.")
        done = await unless_gone(request, toolbox.call(tool, arguments or {}, visitor))
        document = done.document(pictures=True) | ({"note": done.said} if done.said else {})
        return Response(json.dumps(document, ensure_ascii=False), media_type="application/json")

    for path, method, endpoint in (("/v1/tools", "GET", list_tools), ("/v1/tools/{name}", "POST", call_tool)):
        words = cleandoc(endpoint.__doc__ or "")
        app.add_api_route(
            path,
            endpoint,
            methods=[method],
            summary=words.split("\n", 1)[0],
            description=words,
            response_model=None,
            tags=["tools"],
        )
