"""The command `fetch`: one address for a person or a pipe, many into a file."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.browser_service.interfaces.conftest import Run
from tests.browser_service.interfaces.test_cli import in_terminal
from tests.browser_service.running import COMMAND, environment
from tests.conftest import Api
from tests.site import Site

PAGE = "<h1>Head</h1><p>Words of the page.</p>"


async def test_a_pipe_gets_the_content_alone(run: Run, site: Site) -> None:
    """Nothing but the text on stdout."""
    done = await run("fetch", site.page(PAGE), "--format", "markdown")
    assert (done.exit_code, done.stdout.strip()) == (0, "# Head\n\nWords of the page.")


async def test_json_is_the_rest_object(run: Run, api: Api, site: Site) -> None:
    """The same object as POST /v1/fetch gives."""
    url = site.page(PAGE)
    there = await api.post("/v1/fetch", {"url": url})
    here = json.loads((await run("fetch", url, "--json")).stdout)
    assert here.keys() == there.keys()
    assert here["content"] == there["content"]


async def test_many_addresses_make_a_line_each(run: Run, site: Site, tmp_path: Path) -> None:
    """One that fails is a line with its problem, and sinks nothing; the exit status tells."""
    good, bad = site.page(PAGE), "http://10.0.0.1/"
    listed = tmp_path / "urls.txt"
    long = "http://a.example/" + "a" * 9000
    listed.write_text(f"# a comment\n{good}\n\n{bad}\n{long}\n")
    out = tmp_path / "pages.ndjson"
    done = await run("fetch", "-i", str(listed), "-o", str(out), "--jobs", "2")
    assert done.exit_code == 1
    assert "1 of 3 fetched, 2 failed" in done.stderr
    lines = {each["url"]: each for each in map(json.loads, out.read_text().splitlines())}
    assert "Words of the page." in lines[good]["content"]
    assert lines[bad]["code"] == "address_forbidden"
    assert lines[long]["code"] == "invalid_request"


async def test_addresses_come_from_stdin_and_go_to_stdout(run: Run, site: Site) -> None:
    """In a pipeline no files are needed."""
    done = await run("fetch", "-i", "-", stdin=f"{site.page(PAGE)}\n{site.page(PAGE)}\n")
    assert [json.loads(line)["title"] for line in done.stdout.splitlines()] == ["Test", "Test"]
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Name an address"),
        (("https://a.example/", "--format", "pdf"), "--format"),
        (("https://a.example/", "--max-chars", "-1"), "--max-chars"),
        (("-i", "/no/such/file"), "No such file"),
    ],
)
async def test_wrong_usage_says_what_to_write(run: Run, words: tuple[str, ...], says: str) -> None:
    """Exit status 2 and a sentence."""
    done = await run("fetch", *words)
    assert done.exit_code == 2
    assert says in done.stderr


def test_it_works_without_a_service(site: Site, tmp_path: Path) -> None:
    """A service of its own runs for as long as the command, and nothing is left of it."""
    variables = environment(tmp_path) | {"TABWRIGHT_NETWORK__ALLOW": json.dumps([site.host])}
    words = [*COMMAND, "fetch", site.page(PAGE), site.page(PAGE), "http://a.example/" + "a" * 9000]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 3), done.stderr
    assert "2 of 3 fetched, 1 failed" in done.stderr


async def test_a_reader_that_goes_ends_it_quietly(base: str, site: Site) -> None:
    """`tabwright fetch … | head -1` is no crash."""
    urls = " ".join(site.page(PAGE) for _ in range(30))
    line = f"{' '.join(COMMAND)} fetch --jobs 1 {urls} | head -1"
    process = await asyncio.create_subprocess_shell(
        line,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"TABWRIGHT_SERVER": base},
    )
    out, err = await process.communicate()
    assert len(out.splitlines()) == 1
    assert b"Traceback" not in err


async def test_a_person_sees_what_it_is_before_the_text(base: str, site: Site) -> None:
    """Title, address and outcome, then the content."""
    seen = await asyncio.to_thread(in_terminal, "fetch", site.page(PAGE), TABWRIGHT_SERVER=base)
    assert seen.index("title") < seen.index("Words of the page.")
    assert "outcome" in seen
