"""The commands `settings …`: on a running service or, where none is named, on the data folder itself."""

import asyncio
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from browser_service.interfaces import show
from browser_service.interfaces.commands import CONNECTION, OperationCommand, ask, report
from browser_service.interfaces.local import quiet_settings, run_locally
from browser_service.interfaces.options import flag, given
from browser_service.interfaces.problems import from_validation
from browser_service.interfaces.remote import Remote
from browser_service.operations.operation import EVERYTHING, Call, Operation
from browser_service.operations.settings import ChangeSettings, GetSettings, TrySearxng
from browser_service.service import Service
from search.settings import SECRETS, SearchSettings

_HELP: Final = (
    "Without --server the saved settings of this machine are meant (TABWRIGHT_DATA_DIR); no service is needed."
)


def settings_commands() -> list[click.Command]:
    """The commands of the group."""
    test = click.Group("test", help="Try what is set.", short_help="Try what is set", commands=[_test()])
    return [_list(), _get(), _set(), _unset(), test]


def _list() -> click.Command:
    def callback(server: str | None, api_key: str | None, as_json: bool) -> None:
        def work() -> dict[str, Any] | None:
            document = _call(server, api_key, GetSettings, {})
            if as_json:
                return document
            _table(document)
            return None

        report(as_json, work)

    said = "List the settings that can be saved, with their values and where these come from."
    command = OperationCommand("list", callback=callback, params=list(CONNECTION), help=f"{said}\n\n{_HELP}")
    command.short_help = said.rstrip(".")
    command.operations = (GetSettings,)
    return command


def _get() -> click.Command:
    def callback(setting: str, server: str | None, api_key: str | None, as_json: bool) -> None:
        name = _named(setting)

        def work() -> dict[str, Any] | None:
            item: dict[str, Any] = _call(server, api_key, GetSettings, {})["settings"][name]
            if as_json:
                return item
            sys.stdout.write(show.visible(_shown(item)) + "\n")
            return None

        report(as_json, work)

    return click.Command(
        "get",
        callback=callback,
        params=[click.Argument(["setting"], metavar="NAME"), *CONNECTION],
        help=f"Print the value of one setting; of a secret only whether it is set.\n\n{_HELP}",
        short_help="Print the value of one setting",
    )


def _set() -> click.Command:
    def callback(
        words: tuple[str, ...], server: str | None, api_key: str | None, as_json: bool, **values: str | None
    ) -> None:
        wanted = _without_secrets(_pairs(words) | given(values))
        if not wanted:
            raise click.UsageError("Name a setting and its value: tabwright settings set NAME VALUE")
        _change(server, api_key, as_json, wanted)

    lines = [_example("set", values) for values in ChangeSettings.examples]
    lines += [
        "tabwright settings set ranking weighted",
        "tabwright settings set searxng_language=en fetch_count=3",
        "tabwright settings set tavily_api_key - < key.txt",
    ]
    words = click.Argument(["words"], nargs=-1, metavar="[NAME VALUE | NAME=VALUE...]")
    command = OperationCommand(
        "set",
        callback=callback,
        params=[words, *_options(ChangeSettings), *CONNECTION],
        help="Save settings: all that are given or, where one is wrong, none. They take effect at once.\n\nThe value "
        "of a secret is read from stdin (-) or asked for, since others may see a command line.\n\n" + _HELP,
        short_help="Save settings",
        epilog="\b\nExamples:\n" + "\n".join("  " + line for line in lines),
    )
    command.operations = (ChangeSettings,)
    return command


def _unset() -> click.Command:
    def callback(names: tuple[str, ...], server: str | None, api_key: str | None, as_json: bool) -> None:
        _change(server, api_key, as_json, {_named(name): None for name in names})

    return click.Command(
        "unset",
        callback=callback,
        params=[click.Argument(["names"], nargs=-1, required=True, metavar="NAME..."), *CONNECTION],
        help=f"Bring settings back to their defaults.\n\n{_HELP}",
        short_help="Bring settings back to their defaults",
    )


def _test() -> click.Command:
    def callback(server: str | None, api_key: str | None, as_json: bool, **values: str | None) -> None:
        wanted = _without_secrets(given(values))
        _checked(TrySearxng, wanted)

        def work() -> dict[str, Any]:
            return _call(server, api_key, TrySearxng, wanted)

        def tried() -> dict[str, Any] | None:
            document = work()
            if as_json:
                show.as_json(document)
            else:
                show.result(document)
            if not document["ok"]:
                sys.exit(1)
            return None

        report(as_json, tried)

    lines = [_example("test searxng", values) for values in TrySearxng.examples]
    command = OperationCommand(
        "searxng",
        callback=callback,
        params=[*_options(TrySearxng), *CONNECTION],
        help="Ask the SearXNG instance for `test` and say how it went, and what to change. Nothing is saved.\n\nWhat "
        "is given counts in place of what is set. The exit status is 1 when it fails.\n\n" + _HELP,
        short_help="Ask the SearXNG instance and say how it went",
        epilog="\b\nExamples:\n" + "\n".join("  " + line for line in lines),
    )
    command.operations = (TrySearxng,)
    return command


def _change(server: str | None, api_key: str | None, as_json: bool, wanted: dict[str, Any]) -> None:
    _checked(ChangeSettings, wanted)

    def work() -> dict[str, Any] | None:
        document = _call(server, api_key, ChangeSettings, wanted)
        if as_json:
            return document
        _table({"settings": {name: document["settings"][name] for name in wanted}})
        show.notes(document)
        return None

    report(as_json, work)


def _call(
    server: str | None, api_key: str | None, operation: type[Operation[Any]], wanted: dict[str, Any]
) -> dict[str, Any]:
    """Ask the service that was named; else do it here, without browsers."""
    if server is not None:
        return ask(Remote(server, api_key), operation, wanted)
    call = Call(Service(quiet_settings()), EVERYTHING)
    return asyncio.run(run_locally(operation.model_validate(wanted), call))


def _checked(operation: type[Operation[Any]], wanted: dict[str, Any]) -> None:
    try:
        operation.model_validate(wanted)
    except ValidationError as fault:
        raise click.UsageError(from_validation(fault.errors()).detail) from None


def _options(operation: type[Operation[Any]]) -> list[click.Parameter]:
    return [
        click.Option([flag(name)], metavar="-" if name in SECRETS else "VALUE", help=field.description)
        for name, field in operation.model_fields.items()
    ]


def _pairs(words: Sequence[str]) -> dict[str, str]:
    """What is meant by `NAME VALUE`, `NAME=VALUE …`, or the name of a secret alone."""
    if words and "=" not in words[0]:
        name = _named(words[0])
        if len(words) == 2:
            return {name: words[1]}
        if len(words) == 1 and name in SECRETS:
            return {name: "-"}
        raise click.UsageError(f"Give one value for {name}, or several settings as NAME=VALUE.")
    if wrong := next((word for word in words if "=" not in word), None):
        raise click.UsageError(f"{wrong!r} is not NAME=VALUE.")
    return {_named(name): value for name, _, value in (word.partition("=") for word in words)}


def _named(word: str) -> str:
    name = word.strip().replace("-", "_")
    if name not in SearchSettings.model_fields:
        _checked(ChangeSettings, {name: None})
    return name


def _without_secrets(wanted: dict[str, str]) -> dict[str, str]:
    """The same with secrets that were asked for, or read from stdin, in place of the hyphens."""
    secrets = [name for name in wanted if name in SECRETS and wanted[name]]
    for name in secrets:
        if wanted[name] != "-":
            raise click.UsageError(f"Others may see a command line: give - and the value of {name} on stdin.")
    if len(secrets) > 1 and not sys.stdin.isatty():
        raise click.UsageError("Only one secret at a time can be read from stdin.")
    return wanted | {name: _secret(name) for name in secrets}


def _secret(name: str) -> str:
    if sys.stdin.isatty():
        return str(click.prompt(name, hide_input=True, err=True))
    value = sys.stdin.read().strip()
    if not value:
        raise click.UsageError(f"There is no value for {name} on stdin.")
    return value


def _table(document: Mapping[str, Any]) -> None:
    """Name, value, source; in a pipe nothing is cut to a width."""
    console = Console() if sys.stdout.isatty() else Console(width=100_000)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True, style="cyan" if sys.stdout.isatty() else "")
    table.add_column("value", overflow="fold")
    table.add_column("source", no_wrap=True)
    for name, item in document["settings"].items():
        source = f"environment ({item['variable']})" if item["source"] == "environment" else item["source"]
        table.add_row(name, Text(show.visible(_shown(item))), source)
    console.print(table)
    show.notes(document)


def _shown(item: Mapping[str, Any]) -> str:
    if "set" in item:
        return "(set)" if item["set"] else "(not set)"
    value = item["value"]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _example(command: str, values: Mapping[str, Any]) -> str:
    words = [word for name, value in values.items() for word in (flag(name), _shown({"value": value}))]
    return shlex.join(["tabwright", "settings", *command.split(), *words])
