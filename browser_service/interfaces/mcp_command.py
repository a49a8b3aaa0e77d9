"""The command `mcp`: the tools for an agent that starts its servers itself."""

from typing import Literal

import click

from browser_service.interfaces.commands import CONNECTION, report
from browser_service.interfaces.remote import Remote
from browser_service.interfaces.tools import GROUPS, chosen


def mcp_command() -> click.Command:
    """The command."""
    which = click.Option(
        ["--tools"],
        default="default",
        show_default=True,
        envvar="TABWRIGHT_TOOLS",
        show_envvar=True,
        help=f"tools that are offered: default, all, groups ({', '.join(GROUPS)}) or names, separated by commas",
    )
    form = click.Option(
        ["--structured"],
        default="auto",
        show_default=True,
        type=click.Choice(["auto", "always", "never"]),
        help="whether results have structured content; auto: not for clients that hide the text for it",
    )
    return click.Command(
        "mcp",
        callback=_serve,
        params=[which, form, *(each for each in CONNECTION if each.name != "as_json")],
        short_help="Serve the tools over MCP, on standard input and output",
        help="Serve the tools over MCP, on standard input and output, for a client that starts its servers itself.\n\n"
        "Without --server, everything is done in this process, and a browser is started for it; with it, a running "
        "service does the work. A running service also serves MCP itself, at /mcp.",
        epilog="\b\nExamples:\n"
        "  claude mcp add tabwright -- tabwright mcp\n"
        "  tabwright mcp --tools default,browser_evaluate\n"
        "  tabwright mcp --server http://127.0.0.1:8330 --tools all",
    )


def _serve(
    *, tools: str, structured: Literal["auto", "always", "never"], server: str | None, api_key: str | None
) -> None:
    # The package of the protocol takes half a second to import, and no other command needs it.
    from browser_service.interfaces import mcp_stdio  # noqa: PLC0415

    def work() -> None:
        offered = chosen(tools)
        if server is None:
            mcp_stdio.serve_here(offered, structured)
        else:
            mcp_stdio.serve_bridge(Remote(server, api_key), tools=tools, structured=structured)

    report(False, work)
