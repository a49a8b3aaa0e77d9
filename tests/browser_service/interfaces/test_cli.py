"""The command line: every operation is a command, for people and for programs, in a terminal and in a pipe."""

import asyncio
import functools
import io
import json
import os
import pty
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from PIL import Image

from browser_service.interfaces.cli import main
from browser_service.interfaces.commands import OperationCommand, with_scheme
from browser_service.interfaces.options import given
from browser_service.operations import OPERATIONS
from browser_service.operations.operation import Operation
from tests.browser_service.interfaces.conftest import Run
from tests.browser_service.running import COMMAND, environment, processes_in, run_folders, short_folder
from tests.conftest import Api, Session
from tests.site import Request, Site

FORM = "<h1>Hi</h1><a href=/there>there</a><input id=q><button onclick=\"document.title='clicked'\">Go</button>"


def all_commands(
    group: click.Group = main, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from all_commands(command, (*path, name))
        else:
            yield (*path, name), command


def commands_of(operation: type[Operation[Any]]) -> list[tuple[tuple[str, ...], click.Command]]:
    """The commands that call an operation."""
    return [
        (path, command)
        for path, command in all_commands()
        if isinstance(command, OperationCommand) and operation in command.operations
    ]


def in_terminal(*words: str, see: Callable[[bytes], None] = lambda _: None, **variables: str) -> str:
    """What a terminal receives from a command; `see` is shown what has come by now, each time that something comes."""
    ours, theirs = pty.openpty()
    variables = {"TERM": "xterm-256color"} | variables
    with subprocess.Popen(
        [*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | variables
    ) as process:
        os.close(theirs)
        received = b""
        try:
            while part := os.read(ours, 65536):
                received += part
                see(received)
        except OSError:  # how Linux tells that the other side is closed
            pass
        finally:
            os.close(ours)
    assert process.returncode is not None
    return received.decode()


def kind_of(picture: bytes) -> str | None:
    """The format of a picture."""
    return Image.open(io.BytesIO(picture)).format


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_a_command_with_every_field(operation: type[Operation[Any]]) -> None:
    """One declaration serves all: what REST takes, the command line takes."""
    (_, command) = commands_of(operation)[0]
    names = {parameter.name for parameter in command.params}
    assert names >= operation.model_fields.keys()


@pytest.mark.parametrize(("path", "command"), list(all_commands()))
def test_every_option_is_explained(path: tuple[str, ...], command: click.Command) -> None:
    """--help has a sentence for each, or the choice speaks for itself; and it names no field by its REST name."""
    result = CliRunner().invoke(main, [*path, "--help"])
    assert result.exit_code == 0, result.output
    assert "_ms" not in result.output
    for option in command.params:
        if isinstance(option, click.Option) and not isinstance(option.type, click.Choice):
            assert option.help, f"{' '.join(path)} {option.opts[0]}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_examples_of_the_help_give_the_examples_of_the_operation(operation: type[Operation[Any]]) -> None:
    """What is shown can be typed, and means the same."""
    ((path, command),) = commands_of(operation)
    assert isinstance(command, OperationCommand)
    if operation is not command.operations[0]:
        return  # screenshot has one example of its own for it
    epilog = (command.epilog or "").replace(" -o page.png", "")
    lines = [shlex.split(line) for line in epilog.splitlines() if line.strip().startswith("tabwright")]
    for line, example in zip(lines[: len(operation.examples)], operation.examples, strict=True):
        assert line[1 : len(path) + 1] == list(path)
        values = given(command.make_context(path[-1], line[len(path) + 1 :]).params)
        typed = {name: value for name, value in values.items() if name in operation.model_fields}
        assert operation.model_validate(typed) == operation.model_validate(example)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("example.com", "https://example.com"),
        ("example.com:8080/x?y=a:b", "https://example.com:8080/x?y=a:b"),
        ("localhost:3000", "https://localhost:3000"),
        ("//example.com/", "https://example.com/"),
        ("[::1]:80/", "https://[::1]:80/"),
        ("HTTP://example.com", "HTTP://example.com"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("", ""),
    ],
)
def test_a_bare_host_gets_https(written: str, meant: str) -> None:
    """And what has a scheme keeps it."""
    assert with_scheme(written) == meant


async def test_open_without_a_session_makes_one(run: Run, site: Site, api: Api) -> None:
    """Its id is printed, also in JSON, and serves for the next command."""
    url = site.page(FORM, title="Form")
    printed = await run("open", url)
    assert printed.exit_code == 0, printed.output
    identity = printed.stdout.split()[1]
    assert printed.stdout.startswith("session: ")
    assert "title: Form" in printed.stdout
    assert (await run("click", "button", TABWRIGHT_SESSION=identity)).stdout == "changes:\n  title: clicked\n"
    document = json.loads((await run("open", "--json", url)).stdout)
    assert document["status"] == 200
    for each in (identity, document["session"]):
        assert (await run("sessions", "close", each)).exit_code == 0
        assert (await api.http.get(f"/v1/sessions/{each}")).status_code == 410


async def test_open_that_fails_leaves_no_session(run: Run, api: Api) -> None:
    """The one that it made is closed again."""
    before = (await api.http.get("/v1/sessions")).json()
    failed = await run("open", "http://nosuch.invalid/")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: ")
    assert len((await api.http.get("/v1/sessions")).json()["sessions"]) == len(before["sessions"])


async def test_pipes_get_the_text_itself(run: Run, site: Site, session: Session) -> None:
    """Of extract the content, of evaluate the result, of a new session its id; what was cut is told on stderr."""
    await session.do("open", url=site.page(FORM))
    own = {"TABWRIGHT_SESSION": session.id}
    assert (await run("extract", **own)).stdout == "Hi\n\nthere Go\n"
    cut = await run("extract", "--max-chars", "2", **own)
    assert cut.stdout == "Hi\n"
    assert "--offset 2" in cut.stderr
    assert (await run("evaluate", "'a' + 1", **own)).stdout == "a1\n"
    assert (await run("evaluate", "-", stdin="return 6 * 7", **own)).stdout == "42\n"
    made = (await run("sessions", "new", "--viewport", "900x600")).stdout.strip()
    shown = json.loads((await run("sessions", "show", made, "--json")).stdout)
    assert shown["viewport"] == {"width": 900, "height": 600}
    assert made in (await run("sessions", "list")).stdout
    await run("sessions", "close", made)


async def test_json_is_the_rest_object(run: Run, site: Site, session: Session) -> None:
    """Field for field."""
    await session.do("open", url=site.page(FORM))
    typed = json.loads((await run("type", "#q", "hello", "--session", session.id, "--json")).stdout)
    assert typed == await session.do("type", selector="#q", text="hello")
    waited = json.loads((await run("wait", "--url", "127.0.0.1", "--session", session.id, "--json")).stdout)
    assert waited["matched"] == "url"


async def test_a_point_takes_the_place_of_the_selector(run: Run, site: Site, session: Session) -> None:
    """Then the only argument of type is the text."""
    await session.do("open", url=site.page("<body style='margin:0'><input style='width:200px;height:50px'>"))
    typed = await run("type", "--x", "50", "--y", "25", "hello", "--session", session.id)
    assert typed.stdout == "value: hello\n"


async def test_what_a_snapshot_or_a_search_in_it_gives_can_be_acted_on(run: Run, site: Site, session: Session) -> None:
    """A snapshot is its text; with a ref, the only argument of type is the text."""
    await session.do("open", url=site.page("<input aria-label=City>"))
    text = (await run("snapshot", "--interactive-only", "--session", session.id)).stdout
    assert re.fullmatch(r'- textbox "City" \[ref=e1\]\n', text)
    assert "ref: e1" in (await run("find", "city", "--session", session.id)).stdout
    typed = await run("type", "--ref", "e1", "Oslo", "--session", session.id)
    assert typed.stdout == "value: Oslo\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["open"], "URL: Field required."),
        (["click", "#x"], "--session ID, or TABWRIGHT_SESSION"),
        (["click", "--session", "s"], "exactly one target"),
        (["type", "#x", "--session", "s"], "TEXT: Field required."),
        (["click", "#x", "--count", "7", "--session", "s"], "--count: should be less than or equal to 3."),
        (["click", "#x", "--button", "top", "--session", "s"], "'top' is not one of"),
        (["sessions", "new", "--viewport", "wide"], "It must be WIDTHxHEIGHT, or JSON."),
        (["sessions", "new", "--viewport", "9x9"], "--viewport.width: should be greater than or equal to 100"),
        (["sessions", "new", "--storage-state", "@/nowhere"], "@/nowhere cannot be read: No such file"),
        (["sessions", "new", "--server", "ftp://x"], "not the address of a service"),
        (["screenshot", "-o", "x.png"], "give exactly one of url and html"),
        (["screenshot", "a.example", "--session", "s", "-o", "x.png"], "URL does not go with --session."),
        (["screenshot", "a.example", "--frame", "f", "-o", "x.png"], "--frame does not go without --session."),
        (["screenshot", "a.example", "-o", "/nowhere/x.png"], "There is no folder /nowhere."),
        (["screenshot", "a.example", "--json", "-o", "-"], "both want stdout"),
    ],
)
async def test_wrong_usage_has_status_2_and_says_what_is_wrong(run: Run, words: list[str], said: str) -> None:
    """Nothing is asked of the service."""
    result = await run(*words, TABWRIGHT_SERVER="http://127.0.0.1:9")
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""


@pytest.mark.parametrize("option", ["--proxy", "--http-credentials", "--storage-state"])
async def test_wrong_secrets_are_not_repeated(run: Run, option: str) -> None:
    """A terminal's log may be kept."""
    result = await run("sessions", "new", option, "canary")
    assert result.exit_code == 2
    assert "canary" not in result.output


async def test_short_forms_and_files(tmp_path: Path) -> None:
    """A proxy as an address, credentials with a colon, lists and objects from a file."""
    (tmp_path / "headers.json").write_text('{"X-A": "b"}')
    (tmp_path / "steps.json").write_text('[{"click": {"selector": "#a"}}, {"wait": {}}]')
    new = main.commands["sessions"].commands["new"]  # type: ignore[attr-defined]
    words = [
        "--proxy",
        "http://u%40x:p@h:8080",
        "--http-credentials",
        "me:a:b",
        "--extra-headers",
        f"@{tmp_path}/headers.json",
    ]
    values = given(new.make_context("new", words).params)
    assert values["proxy"] == {"server": "http://h:8080", "username": "u@x", "password": "p"}
    assert values["http_credentials"] == {"username": "me", "password": "a:b"}
    assert values["extra_headers"] == {"X-A": "b"}
    shot = main.commands["screenshot"].make_context("screenshot", ["--steps", f"@{tmp_path}/steps.json"])
    assert [list(step) for step in given(shot.params)["steps"]] == [["click"], ["wait"]]


async def test_failures_have_status_1_an_error_and_a_hint(run: Run, session: Session) -> None:
    """In words of the command line; with --json the problem document goes to stdout."""
    failed = await run("click", "#x", "--session", session.id)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert failed.stderr.splitlines() == [
        "error: Nothing has been opened in this tab yet.",
        "hint:  `tabwright open URL` opens one.",
    ]
    failed = await run("click", "#x", "--session", session.id, "--json")
    document = json.loads(failed.stdout)
    assert (failed.exit_code, failed.stderr) == (1, "")
    assert {"code": "no_page", "status": 409}.items() <= document.items()
    assert {"type", "title", "detail", "hint", "retryable", "request_id"} <= document.keys()


@pytest.mark.parametrize("identity", ["nope", "-Jh", "--json-like", "a b?c"])
async def test_an_unknown_session_is_named_so_whatever_it_looks_like(run: Run, identity: str) -> None:
    """Ids may begin with a hyphen."""
    for words in (("sessions", "show", identity), ("extract", "--session", identity)):
        failed = await run(*words)
        assert failed.exit_code == 1, failed.output
        assert "error: No session has this id." in failed.stderr


async def test_no_service_and_other_services_are_told_apart(run: Run, site: Site) -> None:
    """Each with what to do, and as a document."""
    nobody = await run("sessions", "list", "--server", "127.0.0.1:9")
    assert "No service answers at http://127.0.0.1:9" in nobody.stderr
    assert "tabwright serve" in nobody.stderr
    other = await run("sessions", "list", "--server", site.base, "--json")
    assert other.exit_code == 1
    assert {"code": "no_answer", "retryable": True}.items() <= json.loads(other.stdout).items()
    site.route(lambda request: request.connection.shutdown(socket.SHUT_RDWR), "/closes/v1/sessions")
    closed = await run("sessions", "list", "--server", f"{site.base}/closes")
    assert f"The service at {site.base}/closes did not answer" in closed.stderr


async def test_the_key_is_sent_and_asked_for(run: Run, site: Site) -> None:
    """From the option or the environment; the hint says how to give one."""
    problem = {"code": "unauthorized", "detail": "This key is not known.", "hint": "Send Authorization."}

    def locked(request: Request) -> None:
        known = request.headers["Authorization"] == "Bearer right-key"
        request.answer(json.dumps({"sessions": []} if known else problem), "application/json", 200 if known else 401)

    server = site.route(locked, "/locked/v1/sessions").removesuffix("/v1/sessions")
    wrong = await run("sessions", "list", "--server", server, "--api-key", "wrong-key")
    assert wrong.stderr.splitlines()[1] == "hint:  Give the key with --api-key or TABWRIGHT_API_KEY."
    assert (await run("sessions", "list", "--server", server, TABWRIGHT_API_KEY="right-key\n")).exit_code == 0


async def test_proxies_of_the_environment_are_not_asked_for_this_machine(run: Run) -> None:
    """A proxy cannot reach a service on loopback."""
    listed = await run("sessions", "list", HTTP_PROXY="http://127.0.0.1:9", ALL_PROXY="http://127.0.0.1:9")
    assert listed.exit_code == 0, listed.output


async def test_pictures_go_to_files_and_pipes(run: Run, site: Site, session: Session, tmp_path: Path) -> None:
    """The ending tells the format; what was taken is told beside it, on stderr where the picture is on stdout."""
    url = site.page("<h1>Hi</h1>")
    written = await run("screenshot", url, "-o", f"{tmp_path}/a.jpg", "--viewport", "600x400")
    assert f"{tmp_path}/a.jpg: 600 x 400 pixels, jpeg, " in written.stdout
    assert kind_of((tmp_path / "a.jpg").read_bytes()) == "JPEG"
    for words in ((), ("-o", "-")):
        piped = await run("screenshot", url, *words)
        assert kind_of(piped.stdout_bytes) == "PNG"
        assert "stdout: 1280 x 800 pixels, png" in piped.stderr
    await session.do("open", url=url)
    kept = await run("screenshot", "--session", session.id, "-o", f"{tmp_path}/b.webp", "--json")
    assert json.loads(kept.stdout)["image_base64"]
    assert kind_of((tmp_path / "b.webp").read_bytes()) == "WEBP"
    assert (await run("screenshot", url, "-o", f"{tmp_path}/c.png", TABWRIGHT_SESSION="other")).exit_code == 0


async def test_terminals_get_colours_and_no_pictures(base: str, site: Site, session: Session) -> None:
    """What a page says cannot steer the terminal; a picture is refused before it is taken."""
    await session.do("open", url=site.page("<p>Hi", title="A\x1b]0;owned\x07\x9b31m"))
    shown_here = functools.partial(in_terminal, TABWRIGHT_SERVER=base, TABWRIGHT_SESSION=session.id)
    script = r"'\x1b]0;owned\x07' + '\x9b31m' + '你好'"
    shown, as_json, refused, coloured = await asyncio.gather(
        *(
            asyncio.to_thread(shown_here, *words)
            for words in (
                ("evaluate", script),
                ("evaluate", "--json", script),
                ("screenshot",),
                ("extract",),
            )
        )
    )
    assert r"\x1b]0;owned\x07\x9b31m你好" in shown
    assert r"\u001b]0;owned\u0007\u009b31m你好" in as_json
    assert "-o FILE" in refused
    assert "\x1b[36murl: " in coloured


def test_a_picture_without_a_service_leaves_nothing() -> None:
    """A browser is started for it, ended after it, and keeps quiet."""
    with short_folder() as folder:
        words = [*COMMAND, "screenshot", "--html", "<h1>Hi</h1>", "--viewport", "300x200"]
        result = subprocess.run(words, capture_output=True, env=environment(folder), timeout=60, check=False)
        assert result.returncode == 0, result.stderr
        assert Image.open(io.BytesIO(result.stdout)).size == (300, 200)
        assert result.stderr.decode().splitlines()[0].startswith("stdout: 300 x 200 pixels, png")
        assert (run_folders(folder), processes_in(folder)) == ([], [])


def test_help_comes_in_sections_and_quickly() -> None:
    """The service's libraries are not loaded for it."""
    words = [sys.executable, "-X", "importtime", "-m", "browser_service", "--help"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout.index("Service:") < result.stdout.index("serve ") < result.stdout.index("Pages in a session")
    assert not re.search(r"\| +(fastapi|uvicorn)\n", result.stderr)
