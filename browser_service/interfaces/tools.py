"""Tools made of operations, for agents: over MCP, and over REST for those that have no MCP.

A tool is an operation with a name, a description (the docstring), a schema of its arguments and of its result, hints
for the client, and other defaults where an agent needs them. Nothing of it is declared twice.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from typing import Any, Final, Literal, get_args

from pydantic import ValidationError

from browser_service.errors import InvalidRequest
from browser_service.interfaces.problems import from_validation
from browser_service.operations.fetch import Fetch, OpenWebPage
from browser_service.operations.interact import Click, Scroll, Type, Wait
from browser_service.operations.open import Open
from browser_service.operations.operation import Operation
from browser_service.operations.read import Evaluate, Extract
from browser_service.operations.screenshot import Capture, Screenshot
from browser_service.operations.search import Search
from browser_service.operations.sessions import Close, CreateSession, DeleteSession, GetSession, ListSessions
from browser_service.operations.settings import ChangeSettings, GetSettings, TrySearxng
from browser_service.operations.snapshot import Find, TakeSnapshot

Group = Literal["pages", "actions", "sessions", "settings"]
Style = Literal["plain", "openai", "anthropic"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)

MOST_CHARS: Final = 20_000
"""Text of one result, unless the call asks for more: what a model can take in at once."""

MOST_PIXELS: Final = 1_568
"""Of a picture's longer side, unless the call asks for more: models scale larger ones down to this."""

_SESSION: Final = {
    "type": "string",
    "maxLength": 100,
    "description": "id of a session; default: your own, which is made when it is first used",
}
_SUMMARY: Final = {"type": "string", "description": "what was done, in one line for a person"}
_DEFAULTS: Final[Mapping[str, Any]] = {"max_chars": MOST_CHARS, "max_side": MOST_PIXELS}


@dataclass(frozen=True)
class Tool:
    """An operation as a tool.

    `reads`: changes nothing. `destroys`: may undo or send what cannot be taken back. `repeatable`: the second time
    changes nothing more. `outside`: touches the open web.
    """

    name: str
    operation: type[Operation[Any]]
    group: Group
    reads: bool = False
    destroys: bool = False
    repeatable: bool = False
    outside: bool = True
    usual: bool = False

    @property
    def description(self) -> str:
        """What it does."""
        return cleandoc(self.operation.__doc__ or "")

    @property
    def in_session(self) -> bool:
        """Whether it works in a session."""
        return "{session_id}" in self.operation.path

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.name.replace("_", " ").capitalize()

    def defaults(self) -> dict[str, Any]:
        """Defaults that differ from the operation's own."""
        return {name: value for name, value in _DEFAULTS.items() if name in self.operation.model_fields}

    def prepare(self, arguments: Mapping[str, Any]) -> tuple[Operation[Any], str]:
        """The operation with these arguments, and the session they name. Raises InvalidRequest."""
        given = {name: value for name, value in arguments.items() if value is not None or self._may_be_null(name)}
        session = given.pop("session", "") if self.in_session else ""
        if not isinstance(session, str) or len(session) > 100:
            raise InvalidRequest("session: must be the id of a session.", hint=_HINT)
        sized = "max_width" in given
        defaults = {name: value for name, value in self.defaults().items() if not (sized and name == "max_side")}
        try:
            return self.operation.model_validate(defaults | given), session
        except ValidationError as fault:
            wrong = from_validation(fault.errors())
            wrong.hint = _HINT
            raise wrong from None

    def _may_be_null(self, name: str) -> bool:
        """Whether null says something: models send it for what they leave out, too."""
        field = self.operation.model_fields.get(name)
        return field is not None and (field.is_required() or field.default is None)


_HINT: Final = "The schema of the tool describes its arguments."

TOOLS: Final[tuple[Tool, ...]] = (
    Tool("web_search", Search, "pages", reads=True, usual=True),
    Tool("web_fetch", Fetch, "pages", reads=True, usual=True),
    Tool("open_web_page", OpenWebPage, "pages", reads=True),
    Tool("capture_screenshot", Capture, "pages"),
    Tool("browser_open", Open, "actions", repeatable=True, usual=True),
    Tool("browser_extract", Extract, "actions", reads=True, usual=True),
    Tool("browser_snapshot", TakeSnapshot, "actions", reads=True, usual=True),
    Tool("browser_find", Find, "actions", reads=True),
    Tool("browser_click", Click, "actions", destroys=True, usual=True),
    Tool("browser_type", Type, "actions", destroys=True, usual=True),
    Tool("browser_scroll", Scroll, "actions", usual=True),
    Tool("browser_wait", Wait, "actions", usual=True),
    Tool("browser_screenshot", Screenshot, "actions", reads=True, usual=True),
    Tool("browser_evaluate", Evaluate, "actions", destroys=True),
    Tool("browser_close", Close, "actions", repeatable=True, outside=False, usual=True),
    Tool("browser_new_session", CreateSession, "sessions", outside=False),
    Tool("browser_list_sessions", ListSessions, "sessions", reads=True, outside=False),
    Tool("browser_show_session", GetSession, "sessions", reads=True, outside=False),
    Tool("get_settings", GetSettings, "settings", reads=True, outside=False),
    Tool("change_settings", ChangeSettings, "settings", destroys=True, repeatable=True, outside=False),
    Tool("test_searxng", TrySearxng, "settings", reads=True),
)

LEFT_OUT: Final[Mapping[type[Operation[Any]], str]] = {DeleteSession: "browser_close does the same"}
"""Operations that are no tools, and why."""

BY_NAME: Final[Mapping[str, Tool]] = {tool.name: tool for tool in TOOLS}


def chosen(wanted: str) -> tuple[Tool, ...]:
    """The tools that a list names, separated by commas: `default`, `all`, groups, tools. Raises InvalidRequest."""
    names = {name for part in wanted.split(",") if (name := part.strip())} or {"default"}
    unknown = sorted(names - {"default", "all", *GROUPS, *BY_NAME})
    if unknown:
        raise InvalidRequest(
            f"tools: there is no group and no tool {unknown[0][:60]!r}.",
            hint=f"Give default, all, the name of a tool, or of a group: {', '.join(GROUPS)}.",
        )
    every = "all" in names
    return tuple(
        tool
        for tool in TOOLS
        if every or tool.group in names or tool.name in names or (tool.usual and "default" in names)
    )


@cache
def input_schema(tool: Tool) -> dict[str, Any]:
    """JSON Schema of the arguments, with all definitions in their places."""
    whole = tool.operation.model_json_schema()
    schema: dict[str, Any] = _plain(whole, whole.get("$defs", {}))
    properties = schema.setdefault("properties", {})
    for name, value in tool.defaults().items():
        properties[name]["default"] = value
    if "max_side" in properties:
        properties["max_side"]["description"] += "; null: full size, as with max_width"
    if tool.in_session:
        properties["session"] = dict(_SESSION)
    return {"type": "object", "properties": properties, "additionalProperties": False} | {
        name: value for name, value in schema.items() if name == "required"
    }


@cache
def output_schema(tool: Tool, *, pictures: bool) -> dict[str, Any]:
    """JSON Schema of the result; without the bytes of pictures where these go another way."""
    schema = tool.operation.result_class().model_json_schema(mode="serialization")
    left_out = () if pictures else ("image_base64",)
    properties = {name: value for name, value in schema.get("properties", {}).items() if name not in left_out}
    further: dict[str, Any] = {"summary": _SUMMARY}
    if tool.in_session:
        further["session"] = {"type": "string", "description": "id of the session; empty where there was none"}
    required = [name for name in schema.get("required", ()) if name not in left_out]
    whole = {"type": "object", "properties": further | properties, "required": [*further, *required]}
    return whole | ({"$defs": schema["$defs"]} if "$defs" in schema else {})


@cache
def has_page_text(tool: Tool) -> bool:
    """Whether its result may hold text that came from a page."""
    return "x-untrusted" in json.dumps(output_schema(tool, pictures=True))


def described(tool: Tool, style: Style) -> dict[str, Any]:
    """The tool as an API for function calls wants it: OpenAI's (chat completions), Anthropic's, or all there is."""
    parameters = input_schema(tool)
    if style == "openai":
        function = {"name": tool.name, "description": tool.description, "parameters": parameters}
        return {"type": "function", "function": function}
    about: dict[str, Any] = {"name": tool.name, "description": tool.description, "input_schema": parameters}
    if style == "anthropic":
        return about
    return about | {
        "title": tool.title,
        "group": tool.group,
        "default": tool.usual,
        "scope": tool.operation.scope,
        "read_only": tool.reads,
        "destructive": tool.destroys,
        "output_schema": output_schema(tool, pictures=True),
    }


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema that small readers understand: no references, no titles; what is optional is left out, not null.

    No model of an operation holds itself, so this ends.
    """
    if isinstance(schema, list):
        return [_plain(each, definitions) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        own = {name: value for name, value in schema.items() if name != "$ref"}
        return _plain({**target, **own}, definitions)
    kept = {
        name: {field: _plain(value, definitions) for field, value in each.items()}
        if name == "properties"
        else each
        if name in {"default", "examples", "enum", "const", "required"}
        else _plain(each, definitions)
        for name, each in schema.items()
        if name not in {"title", "$defs"}
    }
    return _without_null(kept)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    options: Sequence[Any] = schema.get("anyOf", ())
    if {"type": "null"} not in options:
        return schema
    rest = [each for each in options if each != {"type": "null"}]
    kept = {name: each for name, each in schema.items() if name != "anyOf" and not (name == "default" and each is None)}
    return {**rest[0], **kept} if len(rest) == 1 else {"anyOf": rest, **kept}
