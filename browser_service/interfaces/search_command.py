"""The command `search`: results as a list to read, with the engines at work while it runs."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from browser_service.interfaces import show
from browser_service.interfaces.commands import CONNECTION, OperationCommand, checked, report
from browser_service.interfaces.local import local_call, run_locally, run_to_end
from browser_service.interfaces.options import example, parameters
from browser_service.interfaces.remote import Remote
from browser_service.operations.operation import Operation
from browser_service.operations.search import Search

_Tell = Callable[[str, Mapping[str, Any]], None]
_STYLES: Final = {"ok": "green", "empty": "yellow", "low_quality": "yellow", "resting": "yellow"}
_WIDTH: Final = 100  # of snippets; longer lines are hard to read


def search_command() -> click.Command:
    """The command with the operation's options."""
    further: list[click.Parameter] = [
        click.Option(["--pages/--no-pages"], default=True, help="print the pages that were read, after the results"),
    ]
    options = [each for each in parameters(Search, ("query",)) if each.name != "query"]
    words = click.Argument(["query"], nargs=-1, required=True, metavar="QUERY...", callback=_joined)
    command = OperationCommand(
        "search",
        callback=_search,
        params=[words, *options, *further, *CONNECTION],
        help="Search the web: results best first, then the best pages as Markdown.\n\nBy the built-in engines, all at "
        "once, or by SearXNG or an API where one is set up (tabwright settings). In a terminal it shows how the "
        "engines get on. Without --server, it is done in this process, and a browser is started for it.",
        short_help="Search the web, and read the best pages",
        epilog="\b\nExamples:\n"
        + "\n".join(f"  {example('search', Search, ('query',), values)}" for values in Search.examples),
    )
    command.operations = (Search,)
    return command


def _search(*, pages: bool, query: str, server: str | None, api_key: str | None, as_json: bool, **values: Any) -> None:
    remote = Remote(server, api_key) if server is not None else None
    body, operation = checked(Search, values | {"query": query})

    def work() -> dict[str, Any] | None:
        with _Progress() as progress:
            if remote is not None:
                document = remote.stream(Search.method, Search.path, body, progress.tell)
            else:
                document = run_to_end(_here(operation, progress.tell))
        if as_json:
            return document
        _show(document, pages=pages)
        return None

    report(as_json, work)


def _joined(_context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> str:
    """Words that were not quoted are one query."""
    return " ".join(words)


async def _here(operation: Operation[Any], tell: _Tell) -> dict[str, Any]:
    async with local_call(tell) as call:
        return await run_locally(operation, call)


class _Progress:
    """How the search gets on, on stderr, for a person alone."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._began = time.monotonic()
        self._mode = ""
        self._engines: dict[str, Mapping[str, Any] | None] = {}
        self._found = 0
        self._pages: list[Mapping[str, Any]] = []
        self._spinner = Spinner("dots")
        self._live = Live(get_renderable=self._picture, console=self._console, transient=True, refresh_per_second=8)

    def __enter__(self) -> "_Progress":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def tell(self, name: str, data: Mapping[str, Any]) -> None:
        """Take news."""
        if name == "query_update":
            self._mode = str(data["mode"])
            self._engines = dict.fromkeys(data["engines"])
        elif name == "engine_done":
            self._engines[str(data["engine"])] = data
        elif name == "search_results_received":
            self._found = int(data["total_results"])
        elif name == "page_fetched":
            self._pages.append(data)

    def _picture(self) -> RenderableType:
        seconds = time.monotonic() - self._began
        said = f"{self._found} results, reading pages" if self._found else f"searching {self._mode}".rstrip()
        self._spinner.update(text=f" {said} … {seconds:.0f} s")
        table = Table.grid(padding=(0, 2))
        for name, data in self._engines.items():
            table.add_row(Text(f"  {show.visible(name)}"), *_cells(data))
        for page in self._pages[-8:]:
            failed = page.get("error")
            words = str(failed) if failed else f"{page['characters']} characters"
            read = Text(show.visible(words)[:80], style="red" if failed else "green")
            table.add_row(Text("  read"), Text(show.visible(_host(str(page["url"])))), read)
        return Group(self._spinner, table)


def _host(url: str) -> str:
    """Who is read: names that end a line are cut, as the line has to hold what came of it."""
    try:
        return (urlsplit(url).hostname or "")[:40]
    except ValueError:
        return ""


def _cells(data: Mapping[str, Any] | None) -> tuple[Text, Text]:
    if data is None:
        return Text("…", style="dim"), Text("")
    state = str(data["state"])
    words = f"{data['hits']} results" if state == "ok" else show.visible(str(data.get("error") or ""))[:80]
    return Text(state.replace("_", " "), style=_STYLES.get(state, "red")), Text(f"{words}  {data['elapsed_ms']} ms")


def _show(document: dict[str, Any], *, pages: bool) -> None:
    """Results and pages. In a pipe they are Markdown; in a terminal the same, set for people."""
    if not sys.stdout.isatty():
        parts = [str(document["formatted"])]
        parts += [f"---\n{each['url']}\n\n{each['content']}" for each in document["_fetched"]] if pages else []
        sys.stdout.write("\n\n".join(part for part in parts if part) + "\n")
    else:
        console = Console()
        for number, each in enumerate(document["results"], 1):
            _show_result(console, number, each)
        for each in document["_fetched"] if pages else ():
            console.rule(Text(show.visible(str(each["title"] or each["url"]))[:_WIDTH]), style="dim")
            console.print(Text(show.visible(str(each["url"])), style="blue"), soft_wrap=True)
            sys.stdout.write("\n" + show.visible(str(each["content"])) + "\n\n")
    sys.stdout.flush()
    if not document["results"]:
        Console(stderr=True).print("Nothing was found.")
    _show_engines(document)
    show.notes(document)


def _show_result(console: Console, number: int, each: Mapping[str, Any]) -> None:
    title = Text(f"{number}. ", style="dim") + Text(show.visible(str(each["title"])), style="bold")
    console.print(title, soft_wrap=True)
    console.print(Text(f"   {show.visible(str(each['url']))}", style="blue"), soft_wrap=True)
    about = " · ".join(filter(None, (str(each["published"] or ""), ", ".join(each["engines"]))))
    gone = "" if each["reachable"] is not False else " · does not answer"
    console.print(Text(f"   {show.visible(about)}{gone}", style="dim"), soft_wrap=True)
    if each["snippet"]:
        snippet = Padding(Text(show.visible(str(each["snippet"]))), (0, 0, 0, 3))
        console.print(snippet, width=min(_WIDTH, console.width))
    console.print()


def _show_engines(document: Mapping[str, Any]) -> None:
    """Engines that gave nothing, and why, on stderr."""
    console = Console(stderr=True)
    for name, each in document["engine_stats"].items():
        if each["state"] not in {"ok", "empty"}:
            line = f"{name}: {each['state'].replace('_', ' ')}"
            error = f" ({each['error']})" if each["error"] else ""
            console.print(Text(show.visible(line + error), style="yellow"), soft_wrap=True)
