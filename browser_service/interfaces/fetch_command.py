"""The command `fetch`: one address to the terminal or a pipe, or many into a file, without a service or on one."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import click
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from browser_service.errors import InvalidRequest, TabwrightError
from browser_service.interfaces import show
from browser_service.interfaces.commands import CONNECTION, OperationCommand, ask, checked, report, with_scheme
from browser_service.interfaces.local import local_call, run_alone, run_locally, run_to_end
from browser_service.interfaces.options import example, given, parameters
from browser_service.interfaces.problems import from_validation, problem
from browser_service.interfaces.remote import Failed, Remote
from browser_service.operations.fetch import Fetch, OpenWebPage

JOBS: Final = 8
_SHOWN: Final = ("title", "final_url", "status", "outcome", "method", "language", "from_cache", "elapsed_ms")
_One = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def fetch_command() -> click.Command:
    """The command with the operation's options."""
    further: list[click.Parameter] = [
        click.Option(
            ["-i", "--input"],
            type=click.File("r", encoding="utf-8", errors="replace"),
            help="file with an address on each line (- for stdin; # begins a comment)",
        ),
        click.Option(
            ["-o", "--output"],
            type=click.Path(path_type=Path, dir_okay=False, writable=True),
            help="file for the results: one JSON object a line, in the order in which they come",
        ),
        click.Option(
            ["--jobs"], type=click.IntRange(1, 64), default=JOBS, show_default=True, help="addresses at a time"
        ),
    ]
    options = [each for each in parameters(Fetch, ("url",)) if each.name != "url"]
    urls = [
        click.Argument(["url"], required=False, metavar="[URL]"),
        click.Argument(["more"], nargs=-1, metavar="[URL]..."),
    ]
    lines = [example("fetch", Fetch, ("url",), values) for values in Fetch.examples]
    lines.append("tabwright fetch -i urls.txt -o pages.ndjson --format markdown")
    command = OperationCommand(
        "fetch",
        callback=_fetch,
        params=[*urls, *further, *options, *CONNECTION],
        help="Fetch addresses as clean text, Markdown, HTML or a list of links.\n\nOne address: its content goes to "
        "stdout. Several (or -i, or -o): one JSON object a line for each, a problem document for those that failed, "
        "each with the url that was asked for; the exit status is 1 when one failed.\n\nWithout --server, it is done "
        "in this process, and a browser is started for it.",
        short_help="Fetch addresses as clean text, Markdown, HTML or links",
        epilog="\b\nExamples:\n" + "\n".join("  " + line for line in lines),
    )
    command.operations = (Fetch, OpenWebPage)  # the second is the first with fixed options
    return command


def _fetch(
    *, output: Path | None, jobs: int, server: str | None, api_key: str | None, as_json: bool, **values: Any
) -> None:
    file: IO[str] | None = values.pop("input")
    url, more = values.pop("url"), values.pop("more")
    wanted = [*((url, *more) if url is not None else ()), *(_lines(file) if file is not None else ())]
    if not wanted:
        raise click.UsageError("Name an address, or a file with addresses: -i FILE.")
    values = given(values)
    remote = Remote(server, api_key) if server is not None else None
    if len(wanted) == 1 and file is None and output is None:
        body, operation = checked(Fetch, values | {"url": wanted[0]})

        def work() -> dict[str, Any] | None:
            document = ask(remote, Fetch, body) if remote else run_to_end(run_alone(operation), "fetching")
            if as_json:
                return document
            _show(document)
            return None

        report(as_json, work)
        return
    checked(Fetch, values | {"url": "https://example.com/"})  # the options are wrong for all or for none
    report(as_json, lambda: run_to_end(_many([with_scheme(each) for each in wanted], values, output, jobs, remote)))


def _lines(file: IO[str]) -> Iterator[str]:
    for line in file:
        address = line.strip()
        if address and not address.startswith("#"):
            yield address


async def _many(urls: list[str], values: dict[str, Any], output: Path | None, jobs: int, remote: Remote | None) -> None:
    """Fetch all; one that fails is a line like the others."""
    failed = 0
    places = asyncio.Semaphore(jobs)
    with _opened(output) as file, _progress() as progress:
        task = progress.add_task("fetching", total=len(urls))
        async with _fetcher(remote) as one:

            async def each(url: str) -> dict[str, Any]:
                async with places:
                    return await _document(one, values | {"url": url})

            running = [asyncio.ensure_future(each(url)) for url in urls]
            try:
                for done in asyncio.as_completed(running):
                    document = await done
                    failed += "code" in document
                    file.write(json.dumps(document, ensure_ascii=False) + "\n")
                    file.flush()
                    progress.advance(task)
            finally:  # nobody takes the rest where the file is full or the pipe closed
                for work in running:
                    work.cancel()
    Console(stderr=True).print(f"{len(urls) - failed} of {len(urls)} fetched" + (f", {failed} failed" * bool(failed)))
    if failed:
        sys.exit(1)


async def _document(one: _One, body: dict[str, Any]) -> dict[str, Any]:
    try:
        return await one(body)
    except Failed as fault:
        document = fault.document
    except TabwrightError as fault:
        document = problem(fault, "-")
    except ValidationError as fault:
        document = problem(from_validation(fault.errors()), "-")
    return document | {"url": body["url"]}


@contextlib.asynccontextmanager
async def _fetcher(remote: Remote | None) -> AsyncIterator[_One]:
    """What fetches one address: in this process, or on the service."""
    if remote is not None:

        async def there(body: dict[str, Any]) -> dict[str, Any]:
            return await asyncio.to_thread(remote.call, Fetch.method, Fetch.path, body)

        yield there
        return
    async with local_call() as call:

        async def here(body: dict[str, Any]) -> dict[str, Any]:
            return await run_locally(Fetch.model_validate(body), call)

        yield here


@contextlib.contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    try:
        with output.open("w", encoding="utf-8") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise InvalidRequest(f"{output} cannot be written: {fault.strerror}.") from fault


def _progress() -> Progress:
    """A bar on stderr, where a person looks."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def _show(document: dict[str, Any]) -> None:
    """The content; for a person with what it is, before it."""
    terminal = sys.stdout.isatty()
    if terminal:
        show.record(Console(), {name: document.get(name) for name in _SHOWN})
        sys.stdout.write("\n")
    content = str(document["content"])
    sys.stdout.write((show.visible(content) if terminal else content) + "\n")
    sys.stdout.flush()
    show.notes(document)
