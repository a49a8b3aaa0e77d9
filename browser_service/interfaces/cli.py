"""The command line: the service itself, and every operation as a command."""

import io
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import click

from browser_service import finder
from browser_service.interfaces import doctor
from browser_service.interfaces.commands import action_command, report, session_command
from browser_service.interfaces.fetch_command import fetch_command
from browser_service.interfaces.mcp_command import mcp_command
from browser_service.interfaces.options import given
from browser_service.interfaces.picture_command import screenshot_command
from browser_service.interfaces.search_command import search_command
from browser_service.interfaces.settings_command import settings_commands
from browser_service.operations import OPERATIONS
from browser_service.operations.operation import Action, Operation
from browser_service.operations.screenshot import Screenshot
from browser_service.operations.sessions import CreateSession, DeleteSession, GetSession, ListSessions
from browser_service.settings import load_settings


class Sections(click.Group):
    """Commands in the order in which they were added, under headings."""

    def __init__(self, *args: object, **given: object) -> None:
        super().__init__(*args, **given)  # type: ignore[arg-type]
        self.sections: list[tuple[str, list[str]]] = []

    def add_section(self, title: str, commands: Sequence[click.Command]) -> None:
        """Add commands under a heading."""
        for command in commands:
            self.add_command(command)
        self.sections.append((title, [command.name or "" for command in commands]))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        for title, names in self.sections:
            with formatter.section(title):
                rows = [(name, self.commands[name].get_short_help_str(limit=200)) for name in names]
                formatter.write_dl(rows)


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version("tabwright"), prog_name="tabwright")
def main() -> None:
    """A self-hosted browser service for software agents and capture workflows.

    `tabwright serve` runs the service; `tabwright COMMAND --help` says more about each command.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a page may hold what the terminal's encoding has not


@click.command(short_help="Run the service")
@click.option("--host", help="address to listen on [env: TABWRIGHT_HOST; default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="port; 0: any [env: TABWRIGHT_PORT; default: 8330]")
def serve(host: str | None, port: int | None) -> None:
    """Run the service until it is stopped (Ctrl+C or SIGTERM; a second time: without waiting for running work).

    All settings are environment variables: TABWRIGHT_API_KEYS, TABWRIGHT_NETWORK__ALLOW and more.
    """
    # FastAPI takes as long to import as all the rest, and no other command needs it.
    from browser_service.interfaces import server  # noqa: PLC0415

    report(False, lambda: server.serve(load_settings(**given({"host": host, "port": port}))))


@click.command("doctor", short_help="Check this machine and say how to mend what is wrong")
@click.option("--json", "as_json", is_flag=True, help="print the checks as JSON")
def doctor_command(*, as_json: bool) -> None:
    """Check this machine: browser, sandbox, fonts, folders, port; and say how to mend what is wrong.

    The exit status is 1 when a check failed.
    """
    report(as_json, lambda: sys.exit(doctor.main(load_settings(), as_json=as_json)))


@click.command("install-browser", short_help="Install a Chromium")
def install_browser() -> None:
    """Install a Chromium: Playwright's own, else the system's package (as root on Debian and Ubuntu)."""

    def work() -> None:
        finder.install(lambda line: click.echo(line, err=True))
        found = finder.find("full", None)
        click.echo(f"{found.executable} ({found.version})")

    report(False, work)


@click.group(cls=Sections, short_help="Make, list, look at and close sessions")
def sessions() -> None:
    """Make, list, look at and close sessions."""


@click.group(cls=Sections, short_help="List, change and try the saved settings")
def settings() -> None:
    """List, change and try the settings that are saved: those of web search."""


_SESSIONS: dict[type[Operation[Any]], str] = {
    CreateSession: "new",
    ListSessions: "list",
    GetSession: "show",
    DeleteSession: "close",
}

sessions.add_section("Commands", [session_command(name, operation) for operation, name in _SESSIONS.items()])
settings.add_section("Commands", settings_commands())
main.add_section("Service", [serve, mcp_command(), settings, doctor_command, install_browser])
main.add_section("Pages", [fetch_command(), search_command(), screenshot_command(), sessions])
main.add_section(
    "Pages in a session (--session, TABWRIGHT_SESSION)",
    [
        action_command(operation)
        for operation in OPERATIONS
        if operation.path.startswith(Action.path) and operation not in {Screenshot, *_SESSIONS}
    ],
)
