"""`tabwright settings`: on the data folder itself, or on a running service."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from browser_service.interfaces.cli import main
from browser_service.service import Service
from browser_service.store import FILE
from tests.browser_service.interfaces.conftest import Run
from tests.browser_service.searxng import Instance, instance
from tests.conftest import serving, settings_for
from tests.site import Site

__all__ = ["instance"]

CANARY = "canary-4711"


@pytest.fixture(params=["here", "there"])
async def run(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> AsyncIterator[Run]:
    """Run `tabwright settings` on this folder: in the process, and on a service that has it."""

    async with serving(Service(settings_for(site, tmp_path))) as base:
        there = {"TABWRIGHT_SERVER": base} if request.param == "there" else {}

        async def invoke(*words: str, stdin: str | None = None, **variables: str) -> Result:
            environment = {"TABWRIGHT_DATA_DIR": str(tmp_path)} | there | variables
            words = ("settings", *words)
            return await asyncio.to_thread(CliRunner().invoke, main, words, input=stdin, env=environment)

        yield invoke


def rows(result: Result) -> dict[str, list[str]]:
    """A table as it was printed: the words of each line after its first."""
    assert result.exit_code == 0, result.output
    return {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()}


async def test_values_are_set_shown_and_taken_back(run: Run) -> None:
    """One by its name, several with =, any as an option."""
    assert rows(await run("set", "ranking", "weighted"))["ranking"] == ["weighted", "saved"]
    assert rows(await run("set", "searxng-language=en", "fetch_count=3"))["fetch_count"] == ["3", "saved"]
    assert rows(await run("set", "--failover", "true"))["failover"] == ["true", "saved"]
    listed = rows(await run("list"))
    assert listed["searxng_language"] == ["en", "saved"]
    assert listed["searxng_format"] == ["json", "default"]
    assert rows(await run("unset", "ranking", "failover"))["ranking"] == ["rrf", "default"]
    assert (await run("get", "fetch_count")).stdout == "3\n"
    assert json.loads((await run("get", "fetch_count", "--json")).stdout)["source"] == "saved"
    assert json.loads((await run("list", "--json")).stdout)["settings"]["fetch_count"]["value"] == 3


async def test_secrets_come_by_stdin_and_are_never_shown(run: Run) -> None:
    """On the command line others may see them."""
    refused = await run("set", "tavily_api_key", CANARY)
    assert refused.exit_code == 2
    assert "stdin" in refused.stderr
    for words in (("tavily_api_key", "-"), ("tavily_api_key=-",), ("tavily_api_key",), ("--tavily-api-key", "-")):
        done = await run("set", *words, stdin=CANARY + "\n")
        assert rows(done)["tavily_api_key"] == ["(set)", "saved"]
    shown = await run("get", "tavily_api_key")
    assert shown.stdout == "(set)\n"
    listed = await run("list", "--json")
    assert CANARY not in refused.output + done.output + shown.output + listed.output
    assert rows(await run("unset", "tavily_api_key"))["tavily_api_key"] == ["(not", "set)", "default"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set",), "Name a setting and its value"),
        (("set", "ranking"), "Give one value for ranking"),
        (("set", "ranking", "a", "b"), "Give one value for ranking"),
        (("set", "ranking=rrf", "weighted"), "'weighted' is not NAME=VALUE"),
        (("set", "rankin", "rrf"), "is ranking meant?"),
        (("set", "rankin=rrf"), "is ranking meant?"),
        (("set", "fetch_count", "9"), "less than or equal to 8"),
        (("set", "searxng_url", "ftp://x"), "ftp:"),
        (("get", "nothing"), "there is no setting 'nothing'"),
        (("unset", "nothing"), "there is no setting 'nothing'"),
        (("test", "searxng", "--searxng-url", "x"), "scheme"),
    ],
)
async def test_wrong_usage_has_status_2(run: Run, words: tuple[str, ...], said: str) -> None:
    """And says what is right."""
    result = await run(*words)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())


async def test_what_does_not_go_together_has_status_1(run: Run) -> None:
    """With the problem document as JSON."""
    failed = await run("set", "searxng_enabled", "true", "--json")
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["errors"][0]["field"] == "searxng_url"


async def test_an_instance_is_tried(run: Run, instance: Instance) -> None:
    """With what is set, or with what is given; the exit status tells how it went."""
    assert (await run("test", "searxng")).exit_code == 1
    await run("set", "searxng_url", instance.url)
    tried = await run("test", "searxng", "--searxng-auth-key", "-", stdin=CANARY)
    assert tried.exit_code == 0, tried.output
    assert "ok: yes" in tried.stdout
    assert instance.authorizations == [f"Bearer {CANARY}"]
    failed = await run("test", "searxng", "--searxng-url", "http://127.0.0.1:9", "--json")
    assert (failed.exit_code, json.loads(failed.stdout)["ok"]) == (1, False)


async def test_the_environment_and_a_damaged_file_are_told(tmp_path: Path) -> None:
    """Where the commands work on the folder itself."""

    def invoke(*words: str) -> Result:
        environment = {"TABWRIGHT_DATA_DIR": str(tmp_path), "BRAVE_API_KEY": CANARY, "WEB_SEARCH_ADAPTER": "api"}
        return CliRunner().invoke(main, ["settings", *words], env=environment)

    listed = await asyncio.to_thread(invoke, "list")
    assert rows(listed)["adapter"] == ["anthropic", "environment", "(WEB_SEARCH_ADAPTER)"]
    assert rows(listed)["brave_api_key"] == ["(set)", "environment", "(BRAVE_API_KEY)"]
    assert (
        "WEB_SEARCH_ADAPTER in the environment wins" in (await asyncio.to_thread(invoke, "set", "adapter=bing")).stderr
    )
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    assert "cannot be read" in (await asyncio.to_thread(invoke, "list")).stderr
    failed = await asyncio.to_thread(invoke, "set", "adapter=bing")
    assert failed.exit_code == 1
    assert "error: " in failed.stderr
    assert "move it away" in " ".join(failed.stderr.split())
