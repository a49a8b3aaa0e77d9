"""The command of an operation: its options, its call, its output."""

import contextlib
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import click
from pydantic import ValidationError
from rich.console import Console

from browser_service.errors import TabwrightError
from browser_service.interfaces import show
from browser_service.interfaces.options import example, flag, given, in_words, parameters
from browser_service.interfaces.problems import from_validation, problem
from browser_service.interfaces.remote import DEFAULT, Failed, Remote
from browser_service.operations.open import Open
from browser_service.operations.operation import Operation
from browser_service.operations.sessions import CreateSession, DeleteSession

# Fields that are given by position; of other operations, all that are required.
ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "click": ("selector",),
    "type": ("selector", "text"),
    "wait": ("selector",),
    "find": ("text",),
    "capture_screenshot": ("url",),
}
# The field that goes into a pipe alone.
MAIN: Final = {"extract": "content", "snapshot": "content", "evaluate": "result", "create_session": "id"}
# Fields that hold an address to be opened (the `url` of wait is a pattern).
ADDRESSES: Final = {"open": ("url", "referer"), "capture_screenshot": ("url",)}

# A port may follow a bare host; what else stands before a colon is a scheme.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\d+(?:[/?#]|$))")


class OperationCommand(click.Command):
    """A command that calls an operation (or one of several, as its options say)."""

    operations: tuple[type[Operation[Any]], ...] = ()


def arguments_of(operation: type[Operation[Any]]) -> tuple[str, ...]:
    """The fields that are given by position."""
    required = (name for name, field in operation.model_fields.items() if field.is_required())
    return ARGUMENTS.get(operation.name) or tuple(required)


def with_scheme(address: str) -> str:
    """A bare host gets https."""
    if address.startswith("//"):
        return "https:" + address
    return address if not address or _SCHEME.match(address) else "https://" + address


def checked(operation: type[Operation[Any]], values: dict[str, Any]) -> tuple[dict[str, Any], Operation[Any]]:
    """What the user gave, as it goes over the wire, and the operation. Wrong values are wrong usage (status 2)."""
    values = given(values)
    for name in ADDRESSES.get(operation.name, ()):
        if name in values:
            values[name] = with_scheme(values[name])
    try:
        return values, operation.model_validate(values)
    except ValidationError as fault:
        errors = [{**error, "loc": _as_written(operation, error["loc"])} for error in fault.errors()]
        raise click.UsageError(from_validation(errors).detail) from None


def report(json_wanted: bool, work: Callable[[], dict[str, Any] | None], main: str | None = None) -> None:
    """Do it, print the result or the failure; exit status 1 on failure."""
    try:
        document = work()
    except (Failed, TabwrightError) as fault:
        document = fault.document if isinstance(fault, Failed) else problem(fault, "-")
        if json_wanted:
            show.as_json(document)
        else:
            show.failure(document)
        sys.exit(1)
    if document is None:
        return
    if json_wanted:
        show.as_json(document)
    else:
        show.result(document, main)


def ask(
    remote: Remote, operation: type[Operation[Any]], values: dict[str, Any], session_id: str = ""
) -> dict[str, Any]:
    """Call the service; people see that something goes on."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return remote.call(operation.method, operation.path, values, session_id)
    with console.status(f"{operation.name.replace('_', ' ')} …"):
        return remote.call(operation.method, operation.path, values, session_id)


SESSION = click.Option(["--session"], envvar="TABWRIGHT_SESSION", show_envvar=True, help="id of the session")
CONNECTION: Final[tuple[click.Option, ...]] = (
    click.Option(
        ["--server"], envvar="TABWRIGHT_SERVER", show_envvar=True, help=f"address of the service [default: {DEFAULT}]"
    ),
    click.Option(["--api-key"], envvar="TABWRIGHT_API_KEY", show_envvar=True, help="key for the service"),
    click.Option(["as_json", "--json"], is_flag=True, help="print the REST object, a problem document on failure"),
)


def action_command(operation: type[Operation[Any]]) -> click.Command:
    """The command of an action in a session."""
    arguments = arguments_of(operation)

    def callback(server: str | None, api_key: str | None, as_json: bool, session: str | None, **values: Any) -> None:
        if operation.name == "type" and values["text"] is None and (values["x"] is not None or values["ref"]):
            values["selector"], values["text"] = None, values["selector"]  # the one argument is the text
        if values.get("js") == "-" and "js" in arguments:
            values["js"] = sys.stdin.read()
        remote = Remote(server, api_key)
        body, _ = checked(operation, values)
        if session is None and operation is not Open:
            raise click.UsageError(
                "Name the session: --session ID, or TABWRIGHT_SESSION. `tabwright open URL` makes one."
            )

        def work() -> dict[str, Any]:
            if session is None:
                return _open_in_new(remote, body)
            return ask(remote, operation, body, session)

        report(as_json, work, MAIN.get(operation.name))

    return _command(operation.name, (operation,), arguments, callback, [SESSION, *CONNECTION])


def session_command(name: str, operation: type[Operation[Any]]) -> click.Command:
    """A command that makes, lists, shows or closes sessions."""
    named = "{session_id}" in operation.path

    def callback(server: str | None, api_key: str | None, as_json: bool, session_id: str = "", **values: Any) -> None:
        remote = Remote(server, api_key)
        body, _ = checked(operation, values)
        report(as_json, lambda: ask(remote, operation, body, session_id), MAIN.get(operation.name))

    command = _command(f"sessions {name}", (operation,), (), callback, list(CONNECTION))
    if named:
        command.params.insert(0, click.Argument(["session_id"], metavar="ID"))
        # An id may begin with a hyphen; so it must not be read as options.
        command.context_settings.update(ignore_unknown_options=True, help_option_names=["--help"])
    return command


def _open_in_new(remote: Remote, body: dict[str, Any]) -> dict[str, Any]:
    """Open in a session made for it, and name that session; it is closed again where opening fails."""
    session = str(ask(remote, CreateSession, {})["id"])
    try:
        return {"session": session, **ask(remote, Open, body, session)}
    except BaseException:
        with contextlib.suppress(Failed):  # the first failure is the one to tell
            remote.call(DeleteSession.method, DeleteSession.path, {}, session)
        raise


def _command(
    path: str,
    operations: tuple[type[Operation[Any]], ...],
    arguments: Sequence[str],
    callback: Callable[..., None],
    further: list[click.Parameter],
) -> OperationCommand:
    operation = operations[0]
    said = in_words(operation.__doc__ or "", operation)
    lines = [example(path, operation, arguments, values) for values in operation.examples]
    command = OperationCommand(
        path.rsplit(maxsplit=1)[-1],
        callback=callback,
        params=[*parameters(operation, arguments), *further],
        help=said,
        short_help=said.split("\n\n")[0].partition(". ")[0].partition(": ")[0].rstrip("."),
        epilog="\b\nExamples:\n" + "\n".join("  " + line for line in lines) if lines else None,
    )
    command.operations = operations
    return command


def _as_written(operation: type[Operation[Any]], place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where an error is, by the name that the user typed."""
    if not place:
        return place
    name = str(place[0])
    return (name.upper() if name in arguments_of(operation) else flag(name), *place[1:])
