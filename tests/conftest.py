"""What tests share: one web site, one service with real Chromium behind a real server, and clients of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from browser_service.settings import Settings, load_settings
from tests.site import Site

if TYPE_CHECKING:
    from browser_service.service import Service


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Commands that run in this process set logging up for themselves."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


class QuietServer(uvicorn.Server):
    """A server that leaves the signals of the test run alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


class Api:
    """A client of the service, for one session at a time."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def post(self, path: str, body: dict[str, Any] | None = None, status: int = 200) -> dict[str, Any]:
        """The JSON of an answer that must have this status."""
        answer = await self.http.post(path, json=body or {})
        assert answer.status_code == status, answer.text[:1000]
        return dict(answer.json()) if answer.content else {}

    async def fails(self, path: str, body: dict[str, Any], code: str) -> dict[str, Any]:
        """The problem document of an answer that must fail with this code."""
        answer = await self.http.post(path, json=body)
        assert answer.headers["content-type"] == "application/problem+json", answer.text[:1000]
        document: dict[str, Any] = answer.json()
        assert document["code"] == code, document
        assert document["status"] == answer.status_code
        return document


class Session(Api):
    """A session of the service."""

    def __init__(self, http: httpx.AsyncClient, identity: str) -> None:
        super().__init__(http)
        self.id = identity
        self.path = f"/v1/sessions/{identity}"

    async def do(self, action: str, **body: Any) -> dict[str, Any]:
        """An action that must succeed."""
        return await self.post(f"{self.path}/{action}", body, 204 if action == "close" else 200)

    async def refused(self, code: str, action: str, **body: Any) -> dict[str, Any]:
        """An action that must fail with this code."""
        return await self.fails(f"{self.path}/{action}", body, code)

    async def value(self, js: str) -> Any:
        """What a script gives."""
        return (await self.do("evaluate", js=js))["value"]


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """A web site that the service may visit."""
    with Site() as site:
        yield site


def settings_for(site: Site, data_dir: Path, **given: Any) -> Settings:
    """Settings of a service that may visit the test site."""
    network = {"allow": [site.host, f"localhost:{site.port}"]}
    return load_settings(data_dir=data_dir, network=network, **given)


@pytest.fixture(scope="session")
async def service(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """The service that most tests share."""
    from browser_service.service import Service

    sessions = {"limit": 300, "per_key": 300}
    async with Service(settings_for(site, tmp_path_factory.mktemp("data"), sessions=sessions)) as service:
        yield service


@contextlib.asynccontextmanager
async def serving(service: Service) -> AsyncIterator[str]:
    """Serve it on a free port of 127.0.0.1; gives the base address."""
    from browser_service.interfaces.rest import build

    # asyncio switches Nagle's algorithm off only where the socket names its protocol
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    server = QuietServer(uvicorn.Config(build(service), log_config=None, lifespan="off", access_log=False))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@pytest.fixture(scope="session")
async def base(service: Service) -> AsyncIterator[str]:
    """Where the shared service answers."""
    async with serving(service) as base:
        yield base


@pytest.fixture(scope="session")
async def api(base: str) -> AsyncIterator[Api]:
    """A client of the shared service."""
    async with httpx.AsyncClient(base_url=base, timeout=100) as http:
        yield Api(http)


@pytest.fixture
async def session(api: Api) -> AsyncIterator[Session]:
    """A session of the shared service, closed afterwards."""
    made = await api.post("/v1/sessions", {}, 201)
    session = Session(api.http, made["id"])
    yield session
    await session.http.delete(session.path)
