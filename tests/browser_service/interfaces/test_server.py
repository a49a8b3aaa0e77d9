"""The service as a process: how it starts, refuses to start, stops, dies, and what is left of it."""

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from browser_service.interfaces import logs
from tests.browser_service.running import (
    COMMAND,
    all_gone,
    environment,
    processes_in,
    run_folders,
    serving,
    short_folder,
    started,
)
from tests.site import Request, Site


@pytest.fixture
def folder() -> Iterator[Path]:
    """The service's TMPDIR."""
    with short_folder() as folder:
        yield folder


class Slow:
    """A page whose answer comes when the test says so."""

    def __init__(self, site: Site) -> None:
        self.begun = threading.Event()
        self.release = threading.Event()
        self.url = site.route(self._answer)

    def _answer(self, request: Request) -> None:
        self.begun.set()
        self.release.wait(60)
        request.answer("<title>At last</title>")

    async def open_in(self, http: httpx.AsyncClient) -> "asyncio.Task[httpx.Response]":
        """Open it in a new session; returns when the page has been asked for."""
        session = (await http.post("/v1/sessions")).json()["id"]
        opening = asyncio.create_task(http.post(f"/v1/sessions/{session}/open", json={"url": self.url}))
        assert await asyncio.to_thread(self.begun.wait, 20)
        return opening


@pytest.fixture
async def slow(site: Site) -> AsyncIterator[Slow]:
    """Released at the end in any case."""
    slow = Slow(site)
    yield slow
    slow.release.set()


def serve_fails(folder: Path, *arguments: str, **settings: str) -> str:
    """Run `serve` with settings under which it must not start; what it says."""
    command = [*COMMAND, "serve", "--port", "0", *arguments]
    result = subprocess.run(
        command, env=environment(folder, **settings), text=True, capture_output=True, timeout=60, check=False
    )
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_other_addresses_need_keys(folder: Path) -> None:
    """Beyond loopback it does not listen without keys, and names the variable to set."""
    said = serve_fails(folder, "--host", "0.0.0.0")
    assert "loopback only" in said
    assert "TABWRIGHT_API_KEYS" in said


def test_a_port_in_use_is_named(folder: Path) -> None:
    """With what can be done about it."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = serve_fails(folder, "--port", str(port))
    assert f"Cannot listen on 127.0.0.1:{port}: Address already in use." in said
    assert "--port" in said


def test_a_wrong_setting_is_named_without_its_value(folder: Path) -> None:
    """It may be a secret."""
    said = serve_fails(folder, TABWRIGHT_API_KEYS="canary")
    assert "TABWRIGHT_API_KEYS" in said
    assert "canary" not in said


@pytest.mark.parametrize("form", ["console", "json"])
def test_without_a_browser_it_says_what_to_do(folder: Path, form: str) -> None:
    """Exit status 1, no traceback, nothing left; the log has the reason too where a program reads it."""
    paths = {"TABWRIGHT_POOL__BROWSER_PATH": "/nonexistent", "TABWRIGHT_POOL__LIGHT_PATH": "/nonexistent"}
    said = serve_fails(folder, TABWRIGHT_LOG_FORMAT=form, **paths)
    assert "error: " in said
    assert "/nonexistent" in said
    assert "hint: " in said
    assert list(folder.glob("tabwright-*")) == []
    logged = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert form == "console" or "/nonexistent" in logged[-1]["message"]


async def test_it_takes_connections_only_when_it_can_answer(folder: Path) -> None:
    """While browsers start they are refused, so that nobody waits; when it names its address it is ready."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with started(folder, "--port", str(port)) as running:
        await _starting(folder)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        await running.ready()
        async with httpx.AsyncClient(base_url=running.base) as http:
            assert (await http.get("/ready")).json() == {"ready": True}


async def _starting(folder: Path) -> None:
    """Wait for the first thing that a start makes."""
    async with asyncio.timeout(30):
        while not run_folders(folder):
            await asyncio.sleep(0.01)


async def _work_is_refused(http: httpx.AsyncClient) -> None:
    """Wait until the service is draining: not ready, and new work gets its own error."""
    async with asyncio.timeout(20):
        while (await http.get("/ready")).status_code == 200:
            await asyncio.sleep(0.02)
    refused = await http.post("/v1/sessions")
    assert (refused.status_code, refused.json()["code"]) == (503, "shutting_down")
    assert refused.headers["retry-after"]


@pytest.mark.parametrize("by", ["SIGTERM to it", "SIGINT to its group"])
async def test_a_signal_lets_running_work_end(site: Site, folder: Path, slow: Slow, by: str) -> None:
    """New work is refused, what runs gets its answer, all ends with status 0 and nothing is left (Ctrl+C alike)."""
    async with serving(site, folder) as (running, http):
        opening = await slow.open_in(http)
        if by.startswith("SIGTERM"):
            running.process.send_signal(signal.SIGTERM)
        else:
            os.killpg(running.process.pid, signal.SIGINT)
        await _work_is_refused(http)
        slow.release.set()
        assert (await opening).json()["title"] == "At last"
        assert await running.ended() == 0
    assert processes_in(folder) == []
    assert run_folders(folder) == []
    assert "Traceback" not in running.log


async def test_a_second_signal_ends_running_work(site: Site, folder: Path, slow: Slow) -> None:
    """At once, and whoever waits is told why."""
    async with serving(site, folder) as (running, http):
        opening = await slow.open_in(http)
        running.process.send_signal(signal.SIGINT)
        await _work_is_refused(http)
        running.process.send_signal(signal.SIGINT)
        assert (await opening).json()["code"] == "session_expired"
        assert await running.ended() == 0
    assert run_folders(folder) == []


async def test_the_time_for_running_work_is_limited(site: Site, folder: Path, slow: Slow) -> None:
    """TABWRIGHT_SHUTDOWN_MS; what does not end by then is ended."""
    async with serving(site, folder, TABWRIGHT_SHUTDOWN_MS="200") as (running, http):
        opening = await slow.open_in(http)
        running.process.send_signal(signal.SIGTERM)
        assert (await opening).json()["code"] == "session_expired"
        assert await running.ended() == 0


async def test_a_signal_while_it_starts_ends_it(folder: Path) -> None:
    """Status 0, and nothing of the browser that was being started is left."""
    async with started(folder) as running:
        await _starting(folder)
        running.process.send_signal(signal.SIGTERM)
        assert await running.ended() == 0
    assert processes_in(folder) == []
    assert run_folders(folder) == []
    assert "Traceback" not in running.log


async def test_what_a_killed_service_leaves_is_swept(site: Site, folder: Path, slow: Slow) -> None:
    """Its browsers go by themselves; the next start removes its folder, and not that of a service that runs."""
    async with serving(site, folder) as (_, other), serving(site, folder) as (running, http):
        (left,) = [each for each in run_folders(folder) if _holder(each) == running.process.pid]
        session = (await other.post("/v1/sessions")).json()["id"]
        await slow.open_in(http)
        running.process.kill()
        await running.ended()
        await all_gone(left)
        async with started(folder) as third:
            await third.ready()
            assert not left.exists()
        assert (await other.get(f"/v1/sessions/{session}")).status_code == 200
        assert len(run_folders(folder)) == 1


def _holder(folder: Path) -> int:
    return int((folder / "lock").read_text(encoding="ascii"))


def _secrets(site: Site) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Requests with canaries in them: some succeed, some fail in the browser, some are refused."""
    form = site.page("<input type=password id=p>")
    protected = site.route(lambda request: request.answer("no", status=401, WWW_Authenticate='Basic realm="x"'))
    dead = {"server": "http://127.0.0.1:9", "username": "canary-proxy-user", "password": "canary-proxy-password"}
    cookie = {"name": "sid", "value": "canary-cookie", "domain": "127.0.0.1", "path": "/"}
    return (
        (form, {"storage_state": {"cookies": [cookie]}}),
        (form, {"proxy": dead}),
        (form, {"extra_headers": {"X-Secret": "canary-header"}}),
        (protected, {"http_credentials": {"username": "canary-user", "password": "canary-password"}}),
        (form, {"proxy": {**dead, "server": "http://canary:canary-in-server@127.0.0.1:9"}}),
        (form, {"proxy": {**dead, "password": 5}}),
        (form, {"storage_state": {"cookies": [{**cookie, "domain": 5}]}}),
        (form.replace("//", "//canary-name:canary-in-url@"), {}),
    )


async def test_no_secret_is_logged_or_answered(site: Site, folder: Path) -> None:
    """Keys, proxy passwords, credentials, cookies: neither in any answer nor in the log, at its most talkative."""
    settings = {
        "TABWRIGHT_API_KEYS": "canary-api-key",
        "TABWRIGHT_LOG_LEVEL": "debug",
        "TABWRIGHT_LOG_FORMAT": "json",
    }
    answers = []
    async with serving(site, folder, **settings) as (running, http):
        answers.append(await http.post("/v1/sessions", headers={"Authorization": "Bearer canary-wrong-key"}))
        assert answers[0].status_code == 401
        headers = {"Authorization": "Bearer canary-api-key", "X-Request-ID": "asked-1"}
        for url, options in _secrets(site):
            answers.append(await http.post("/v1/sessions", json=options, headers=headers))
            session = answers[-1].json().get("id", "none")
            answers.append(await http.post(f"/v1/sessions/{session}/open", json={"url": url}, headers=headers))
            answers.append(await http.get(f"/v1/sessions/{session}?token=canary-api-key", headers=headers))
        answers.append(await http.post("/v1/sessions", content=b'{"x": "canary-body', headers=headers))
        answers.append(await http.get("/health"))
    assert {each.status_code for each in answers} >= {200, 201, 401, 422}
    assert not [each.text for each in answers if "canary" in each.text]
    assert "canary" not in running.log
    lines = [json.loads(line) for line in running.log.splitlines()]
    assert {"time", "level", "logger", "message", "request_id"} <= lines[0].keys()
    assert any(line["request_id"] == "asked-1" for line in lines)


@pytest.mark.parametrize("formatter", [logs._Console(), logs._Json()])
def test_log_lines_stay_single_and_hide_credentials(formatter: logging.Formatter) -> None:
    """A path with a line break cannot forge a line; what stands before @ in an address is not shown."""
    record = logging.makeLogRecord({"msg": "GET /x\nforged \x1b[2J http://user:canary@host/", "request_id": "-"})
    text = formatter.format(record)
    assert len(text.splitlines()) == 1
    assert "\x1b" not in text
    assert "canary" not in text
    assert "@host" in text
