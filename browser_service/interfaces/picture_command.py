"""The command `screenshot`: of an address, without a service or on one, or of a session's page."""

import base64
import sys
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource
from rich.console import Console

from browser_service.errors import InvalidRequest
from browser_service.interfaces import show
from browser_service.interfaces.commands import CONNECTION, OperationCommand, arguments_of, ask, checked, report
from browser_service.interfaces.local import run_alone, run_to_end
from browser_service.interfaces.options import example, flag, given, parameters
from browser_service.interfaces.remote import Remote
from browser_service.operations.operation import Operation
from browser_service.operations.screenshot import Capture, Screenshot

STDOUT: Final = Path("-")
_FORMATS: Final = {".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp", ".png": "png"}


def screenshot_command() -> click.Command:
    """The command with the options of both operations."""
    only_in_session = [name for name in Screenshot.model_fields if name not in Capture.model_fields]
    further = [each for each in parameters(Screenshot, ()) if each.name in only_in_session]
    options: list[click.Parameter] = [
        click.Option(
            ["-o", "--output"],
            type=click.Path(path_type=Path, dir_okay=False, allow_dash=True, writable=True),
            help="file for the picture, - for stdout; its ending tells the format",
        ),
        click.Option(
            ["--session"],
            envvar="TABWRIGHT_SESSION",
            show_envvar=True,
            help="take the picture of this session's page as it is, in place of a URL",
        ),
    ]
    lines = [example("screenshot", Capture, ("url",), values) + " -o page.png" for values in Capture.examples]
    lines.append("tabwright screenshot --session ID --selector '#chart' -o chart.webp")
    command = OperationCommand(
        "screenshot",
        callback=_screenshot,
        params=[*parameters(Capture, arguments_of(Capture)), *further, *options, *CONNECTION],
        help="Take a picture of a page: of an address or a piece of HTML in a fresh browser context, or, with "
        "--session, of that session's page.\n\nWithout --session and --server a browser is started for it.",
        short_help="Take a picture of an address, of HTML, or of a session's page",
        epilog="\b\nExamples:\n" + "\n".join("  " + line for line in lines),
    )
    command.operations = (Capture, Screenshot)
    return command


@click.pass_context
def _screenshot(
    ctx: click.Context,
    /,
    server: str | None,
    api_key: str | None,
    as_json: bool,
    session: str | None,
    output: Path | None,
    **values: Any,
) -> None:
    values = given(values)
    source = ctx.get_parameter_source("session")
    if source is ParameterSource.ENVIRONMENT and ("url" in values or "html" in values):
        session = None  # what is written here counts more than the environment
    output = _destination(output, as_json)
    if output is not None and "format" not in values and output.suffix.lower() in _FORMATS:
        values["format"] = _FORMATS[output.suffix.lower()]
    operation: type[Operation[Any]] = Capture if session is None else Screenshot
    for name in values:
        if name not in operation.model_fields:
            named = name.upper() if name == "url" else flag(name)
            raise click.UsageError(f"{named} does not go {'without' if session is None else 'with'} --session.")
    body, checked_operation = checked(operation, values)
    remote = None if session is None and server is None else Remote(server, api_key)

    def work() -> dict[str, Any] | None:
        if remote is not None:
            document = ask(remote, operation, body, session or "")
        else:
            document = run_to_end(run_alone(checked_operation), "starting a browser, taking the picture")
        if output is not None:
            _write(document, output)
        if as_json:
            return document
        _tell(document, output or STDOUT)
        return None

    report(as_json, work)


def _destination(output: Path | None, as_json: bool) -> Path | None:
    """Where the picture goes, known before any work is done. None: nowhere but into the JSON."""
    if as_json:
        if output == STDOUT:
            raise click.UsageError("--json and -o - both want stdout.")
        return output
    if output is None and sys.stdout.isatty():
        raise click.UsageError("Name a file for the picture: -o FILE (or pipe it: -o -).")
    if output is not None and output != STDOUT and not output.parent.is_dir():
        raise click.UsageError(f"There is no folder {output.parent}.")
    return output or STDOUT


def _write(document: dict[str, Any], output: Path) -> None:
    picture = base64.b64decode(document["image_base64"])
    try:
        if output == STDOUT:
            sys.stdout.buffer.write(picture)
            sys.stdout.buffer.flush()
        else:
            output.write_bytes(picture)
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise InvalidRequest(f"{output} cannot be written: {fault.strerror}.") from fault


def _tell(document: dict[str, Any], output: Path) -> None:
    """What was taken; beside the picture, not into it."""
    console = Console(stderr=output == STDOUT)
    kilobytes = len(document["image_base64"]) * 3 / 4 / 1000
    name = "stdout" if output == STDOUT else str(output)
    kind = document["mime_type"].removeprefix("image/")
    size = f"{document['width']} x {document['height']} pixels, {kind}, {kilobytes:.1f} kB"
    receipt = document["receipt"]
    show.record(
        console, {name: size} | {key: receipt.get(key) for key in ("url", "title", "status", "failed_resources")}
    )
    show.notes(document)
