"""The command `search`: a list to read or to pipe, on a service or without one."""

import asyncio
import functools
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.browser_service.interfaces.conftest import Run
from tests.browser_service.interfaces.test_cli import in_terminal
from tests.browser_service.running import COMMAND, environment, processes_in, run_folders, short_folder
from tests.browser_service.searxng import Searx, search, searx
from tests.conftest import Api
from tests.site import Request, Site

__all__ = ["searx"]

STEERS = re.compile(r"\x1b(?!\[[0-9;?]*[A-Za-z])|\x07|\x9b|\x1b\[(?:3;J|5n|6n)")


async def test_a_pipe_gets_markdown_alone(run: Run, searx: Searx) -> None:
    """The list of links, then the pages under their addresses; nothing of how it got on."""
    (url,) = searx.add_pages(1)
    done = await run("search", "harbours", "in", "a", "pipe")
    assert done.exit_code == 0
    assert searx.asked[0]["q"] == "harbours in a pipe"
    assert done.stdout.startswith(f"1. [Harbour 0]({url})\n")
    assert f"\n\n---\n{url}\n\n# Harbour 0\n" in done.stdout
    assert done.stderr == ""
    short = await run("search", "harbours in a pipe", "--no-pages")
    assert short.stdout == done.stdout.partition("\n\n---\n")[0] + "\n"


async def test_json_is_the_rest_object(run: Run, api: Api, searx: Searx) -> None:
    """Every field of it, and nothing else on stdout."""
    searx.add_pages(2)
    here = json.loads((await run("search", "harbours as json", "--json")).stdout)
    there = await search(api, "harbours as json")
    assert not here.pop("from_cache")
    assert there.pop("from_cache")
    assert here == there


async def test_options_are_those_of_the_operation(run: Run, searx: Searx) -> None:
    """With every spelling that REST takes; lists are repeated, or written with commas."""
    done = await run(
        "search", "harbours", "--time-range", "一天", "--safesearch", "2", "--language", "de", "--fetch-top", "0",
        "--engines", "bing,brave", "--engines", "mojeek", "--allowed-domains", "a.example", "--ranking", "weighted",
        "--no-enhance-snippets", "--max-results", "3", "--fetch-mode", "random", "--adapter", "searxng",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    asked = searx.asked[0]
    assert (asked["time_range"], asked["safesearch"], asked["language"]) == ("day", "2", "de")
    assert (asked["engines"], asked["q"]) == ("bing,brave,mojeek", "harbours site:a.example")
    done = await run("search", "harbours", "--adapter", "API")
    assert "ANTHROPIC_API_KEY" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Missing argument 'QUERY...'"),
        ((" ",), "QUERY: "),
        (("x", "--time-range", "decade"), "--time-range: should be 'day', 'week', 'month' or 'year'"),
        (("x", "--safesearch", "3"), "--safesearch"),
        (("x", "--max-results", "31"), "--max-results"),
        (("x", "--max-results", "many"), "--max-results"),
        (("x", "--adapter", "altavista"), "--adapter"),
        (("x", "--allowed-domains", "a.example", "--blocked-domains", "b.example"), "cannot be used together"),
        (("x", "--server", "ftp://x"), "--server"),
    ],
)
async def test_wrong_usage_says_what_to_write(run: Run, words: tuple[str, ...], says: str) -> None:
    """Exit status 2 and a sentence; nobody is asked."""
    done = await run("search", *words)
    assert done.exit_code == 2
    assert says in done.stderr


async def test_a_failure_says_what_to_do(run: Run, searx: Searx) -> None:
    """Exit status 1; with --json the problem document goes to stdout."""
    searx.answer = lambda request: request.answer("{}", "application/json", 401)
    done = await run("search", "harbours")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "error: No engine answered the search." in done.stderr
    assert "searxng_auth_key" in done.stderr
    assert "hint:  " in done.stderr
    done = await run("search", "harbours", "--json")
    assert (done.exit_code, json.loads(done.stdout)["code"], done.stderr) == (1, "upstream_status", "")


async def test_what_was_not_had_is_said_beside_the_results(run: Run, searx: Searx) -> None:
    """Engines that failed and warnings, on stderr; nothing found is no failure."""
    searx.add("http://10.0.0.1/")
    searx.unresponsive = [["google", "timeout"]]
    done = await run("search", "harbours", "--fetch-top", "2")
    assert done.exit_code == 0
    assert "google: timeout" in done.stderr
    assert "warning: fetch_top is 0 or 3 to 8" in done.stderr
    searx.results, searx.unresponsive = [], []
    done = await run("search", "harbours of nowhere")
    assert (done.exit_code, done.stdout.strip(), "Nothing was found." in done.stderr) == (0, "", True)


async def test_lines_inside_of_pages_are_no_lines_of_the_stream(run: Run, searx: Searx) -> None:
    """Pages may hold what Python takes for ends of lines."""
    text = "One\u2028two\u0085three\u2029four, of harbours and of boats. " * 9
    searx.add(searx.site.page(f"<article><h1>Lines</h1><pre>{text}</pre></article>"))
    done = await run("search", "harbours", "--json")
    assert done.exit_code == 0, done.output
    assert "three" in json.loads(done.stdout)["_fetched"][0]["content"]


async def test_what_is_no_service_is_told(run: Run, site: Site) -> None:
    """Streams of others, and one that breaks off."""
    for body in ("data: hello\n\n", "event: done\ndata: 5\n\n", "event: error\ndata: []\n\n", ""):
        site.route(functools.partial(Request.answer, body=body, kind="text/event-stream"), "/other/v1/search")
        done = await run("search", "x", "--server", f"{site.base}/other")
        assert done.exit_code == 1
        assert "is not this service" in done.stderr
    done = await run("search", "x", "--server", "http://127.0.0.1:9")
    assert "tabwright serve" in done.stderr


async def test_a_person_sees_how_it_gets_on(base: str, searx: Searx) -> None:
    """Engines and pages while they are at work, then results, numbered, and pages."""
    (url,) = searx.add_pages(1)
    searx.unresponsive = [["google", "timeout"]]
    searx.hold.clear()

    def see(received: bytes) -> None:
        if b"searching searxng" in received:
            searx.hold.set()

    seen = await asyncio.to_thread(in_terminal, "search", "harbours", see=see, TABWRIGHT_SERVER=base)
    assert searx.hold.is_set()
    assert "google: timeout" in seen
    assert seen.index("1. ") < seen.index(url) < seen.index("Paragraph 8")


async def test_titles_cannot_steer_the_terminal(base: str, searx: Searx) -> None:
    """Escape sequences and other controls in anything that others wrote are shown, not obeyed."""
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[6n\x9b31m\r"
    page = f"<title>{evil}</title><article><h1>T{evil}</h1><pre>Harbours {evil} {'and boats ' * 60}</pre></article>"
    searx.add(searx.site.page(page), f"Harbour{evil}", f"Snippet{evil}" * 3, engines=[f"bing{evil}"], engine="bing")
    searx.unresponsive = [[f"google{evil}", f"timeout{evil}"]]
    seen = await asyncio.to_thread(in_terminal, "search", "harbours", TABWRIGHT_SERVER=base)
    assert "Harbour" in seen
    assert r"Harbours \x1b]0;owned\x07" in seen
    assert STEERS.search(seen) is None
    assert "\x1b[2J" not in seen


def _alone(folder: Path, searx: Searx) -> dict[str, str]:
    given = {"URL": searx.url, "ENABLED": "true"}
    variables = {f"TABWRIGHT_SEARCH__SEARXNG_{name}": value for name, value in given.items()}
    return environment(folder, **variables, TABWRIGHT_NETWORK__ALLOW=json.dumps([searx.site.host]))


def _result(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    return document


async def test_it_works_without_a_service(searx: Searx) -> None:
    """A service of its own runs for as long as the command, and nothing is left of it."""
    searx.add_pages(1)
    with short_folder() as folder:
        done = await asyncio.to_thread(
            subprocess.run,
            [*COMMAND, "search", "harbours", "--json"],
            env=_alone(folder, searx),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        found = _result(done.stdout)
        assert (found["_mode"], found["total"], found["_fetched_count"]) == ("searxng", 1, 1)
        assert run_folders(folder) == []
        assert processes_in(folder) == []


def _heeds_interrupts() -> None:
    """Shells have what runs in the background ignore them, and so would all that this test run starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 1)])
async def test_a_signal_ends_it_and_what_it_began(searx: Searx, number: signal.Signals, status: int) -> None:
    """Without a service, too: no browser and no file is left, and no traceback is shown."""
    searx.hold.clear()
    with short_folder() as folder:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            "search",
            "harbours",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | _alone(folder, searx),
            preexec_fn=_heeds_interrupts,
        )
        assert await asyncio.to_thread(searx.begun.wait, 60)
        process.send_signal(number)
        async with asyncio.timeout(30):
            _, err = await process.communicate()
        assert process.returncode == status
        assert b"Traceback" not in err
        assert run_folders(folder) == []
        assert processes_in(folder) == []
