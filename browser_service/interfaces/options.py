"""Command line options made from the fields of an operation, and the way back: an example as a command line."""

import json
import re
import shlex
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import unquote, urlsplit

import click
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from browser_service.operations.operation import Operation
from browser_service.tab.options import Credentials, Proxy, Viewport


class Json(click.ParamType[Any]):
    """A JSON value, `@FILE` with one, or, for some models, a short form."""

    name = "json"

    def __init__(self, model: type[BaseModel] | None = None) -> None:
        self.short, self.form = _SHORT.get(model, (None, "JSON"))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """How a value is written."""
        return self.form

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it. A value that cannot be read is not repeated: it may hold a password."""
        text = str(value)
        try:
            if text.startswith("@"):
                return json.loads(Path(text[1:]).read_text(encoding="utf-8"))
            if self.short is not None and not text.lstrip().startswith("{"):
                return self.short(text)
            return json.loads(text)
        except OSError as fault:
            self.fail(f"{text} cannot be read: {fault.strerror}.", param, ctx)
        except ValueError:
            self.fail(f"It must be {self.form}{'' if self.form == 'JSON' else ', or JSON'}.", param, ctx)


class Spelled(click.ParamType[str]):
    """One of some words, or another spelling of one, which the operation knows."""

    name = "word"

    def __init__(self, words: Sequence[object]) -> None:
        self.words = [str(each) for each in words if each != ""]

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The words."""
        return f"[{'|'.join(self.words)}]"


def _size(text: str) -> dict[str, int]:
    wide, _, high = text.partition("x")
    return {"width": int(wide), "height": int(high)}


def _proxy(text: str) -> dict[str, str]:
    parts = urlsplit(text)
    if not parts.hostname:
        raise ValueError(text)
    given = {"username": parts.username, "password": parts.password}
    server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return {"server": server} | {name: unquote(value) for name, value in given.items() if value is not None}


def _credentials(text: str) -> dict[str, str]:
    name, colon, password = text.partition(":")
    if not colon:
        raise ValueError(text)
    return {"username": name, "password": password}


_Short = tuple[Callable[[str], Mapping[str, Any]] | None, str]
_SHORT: dict[type[BaseModel] | None, _Short] = {
    Viewport: (_size, "WIDTHxHEIGHT"),
    Proxy: (_proxy, "URL"),
    Credentials: (_credentials, "USER:PASSWORD"),
}


def parameters(operation: type[Operation[Any]], arguments: Sequence[str]) -> list[click.Parameter]:
    """One parameter for every field: those in `arguments` by position, the rest as options."""
    fields = operation.model_fields
    # The operation itself says what is missing: which arguments are needed depends on the options.
    positional: list[click.Parameter] = [
        click.Argument(
            [name], required=False, metavar=name.upper() if fields[name].is_required() else f"[{name.upper()}]"
        )
        for name in arguments
    ]
    return positional + [_option(operation, name, field) for name, field in fields.items() if name not in arguments]


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Only what the user wrote: the operation has the defaults."""
    return {name: _flat(value) for name, value in values.items() if value is not None and value != ()}


def flag(name: str) -> str:
    """The option of a field."""
    return "--" + name.replace("_", "-")


def in_words(text: str, operation: type[Operation[Any]]) -> str:
    """A description as it reads on a command line: fields are named as options."""
    fields = operation.model_fields
    return re.sub(r"`(\w+)`", lambda match: flag(match[1]) if match[1] in fields else match[0], text)


def example(command: str, operation: type[Operation[Any]], arguments: Sequence[str], values: Mapping[str, Any]) -> str:
    """The command line that gives these values."""
    words = ["tabwright", *command.split()]
    words += [str(values[name]) for name in arguments if name in values]
    for name, value in values.items():
        if name not in arguments:
            words += _words(name, value)
    return shlex.join(words)


def _words(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag(name) if value else "--no-" + flag(name)[2:]]
    if isinstance(value, list):
        return [word for each in value for word in _words(name, each)]
    if isinstance(value, dict) and value.keys() == {"width", "height"}:
        return [flag(name), f"{value['width']}x{value['height']}"]
    return [flag(name), json.dumps(value) if isinstance(value, dict) else str(value)]


def _flat(value: Any) -> Any:
    """A repeated option as a list; lists in it (a JSON file may hold one) are joined."""
    if not isinstance(value, tuple):
        return value
    return [each for part in value for each in (part if isinstance(part, list) else [part])]


def _option(operation: type[Operation[Any]], name: str, field: FieldInfo) -> click.Option:
    kind = _plain(field.annotation)
    text = in_words(_description(field), operation)
    if kind is bool and field.default:
        both = f"{flag(name)}/--no-{flag(name)[2:]}"
        return click.Option([both], default=None, help=_with_default(text, flag(name)))
    if kind is bool:
        return click.Option([flag(name)], is_flag=True, default=None, help=text)
    repeated = get_origin(kind) in {list, frozenset, tuple}
    if repeated:
        text = f"{text} (repeatable)".strip()
    elif isinstance(field.default, str | int | float) and field.default != "":
        text = _with_default(text, field.default)
    inner = _plain(get_args(kind)[0]) if repeated else kind
    words = get_args(inner) if get_origin(inner) is Literal and _is_read_first(field) else ()
    type_ = Spelled(words) if words else _type(inner)
    return click.Option([flag(name)], type=type_, multiple=repeated, default=None, help=text)


def _with_default(text: str, default: object) -> str:
    return f"{text} [default: {default}]".strip()


def _description(field: FieldInfo) -> str:
    """What is said about a field: by itself, by its type, or by the model it holds; else an example."""
    said = field.description or _inner_description(field.annotation)
    if not said and field.examples:
        said = f"such as {field.examples[0]}"
    kind = _plain(field.annotation)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        said = said or (kind.__doc__ or "").split("\n")[0].rstrip(".")
        if kind not in _SHORT:
            said += f": {', '.join(each.alias or name for name, each in kind.model_fields.items())}"
    return said if said[1:2].isupper() else said[:1].lower() + said[1:]


def _inner_description(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        own = (mark.description for mark in get_args(annotation)[1:] if isinstance(mark, FieldInfo))
        return next((text for text in own if text), "")
    if get_origin(annotation) in {Union, types.UnionType}:
        return next((text for each in get_args(annotation) if (text := _inner_description(each))), "")
    return ""


def _is_read_first(field: FieldInfo) -> bool:
    """Whether the operation makes something of a value before it looks what it is: then it takes more than it names."""
    return any(isinstance(mark, BeforeValidator) for mark in (*field.metadata, *_marks(field.annotation)))


def _marks(annotation: Any) -> list[Any]:
    """What the annotations in a type carry."""
    marks = list(getattr(annotation, "__metadata__", ()))
    parts = get_args(annotation) if get_origin(annotation) in {Annotated, Union, types.UnionType} else ()
    return marks + [mark for part in parts for mark in _marks(part)]


def _type(kind: Any) -> click.ParamType[Any]:
    if get_origin(kind) is Literal:
        return click.Choice([each for each in get_args(kind) if each != ""])
    simple: dict[Any, click.ParamType[Any]] = {int: click.INT, float: click.FLOAT, str: click.STRING}
    return simple.get(kind) or Json(kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None)


def _plain(annotation: Any) -> Any:
    """The type without `Annotated` and without `None`."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [each for each in get_args(annotation) if each is not type(None)]
        return _plain(kinds[0]) if len(kinds) == 1 else None
    return annotation
