"""Serving over HTTP: the socket, the start, the signals, the drain."""

import asyncio
import contextlib
import ipaddress
import logging
import shutil
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import uvicorn

from browser_service.errors import Forbidden, InvalidRequest, TabwrightError
from browser_service.interfaces import logs
from browser_service.interfaces.rest import build
from browser_service.service import Service
from browser_service.settings import Settings

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_log = logging.getLogger(__name__)

OPEN_FILES: Final = 65_536

BACKLOG: Final = 2048
LAST_ANSWERS_S: Final = 5

_READY: Final = """
Tabwright is ready on {base}   (stop it with Ctrl+C)

  Try:
    curl -s {base}/health
    curl -s {base}/v1/screenshot {key}-H 'content-type: application/json' -H 'accept: image/png' \\
         -d '{{"html": "<h1>Hello 你好</h1>"}}' -o hello.png
    {command} fetch {server}https://example.com/ --format markdown
    {command} search {server}python asyncio timeout
    {command} open {server}https://example.com/

  Settings of web search: {base}/ui/settings
  All operations, with examples: {base}/docs
"""


class _Server(uvicorn.Server):
    """Tells when it answers. Signals are ours: the service has to drain before the server goes."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answers = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        self.answers.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


def serve(settings: Settings) -> None:
    """Run the service until SIGTERM or SIGINT, then let running work end; a second signal ends it at once.

    Raises InvalidRequest or Forbidden for an address that cannot be used, BrowserCrashed without a working browser.
    """
    logs.configure(settings.log_level, settings.log_format)
    _allow_open_files()
    try:
        check_address(settings)
        with (
            contextlib.closing(_bound(settings)) as listening,
            asyncio.Runner(loop_factory=_loop_factory()) as runner,
        ):
            runner.run(_serve(settings, listening))
    except TabwrightError as fault:
        if settings.log_format == "json":  # whoever collects the log learns it, too
            _log.error("%s", fault.detail)
        raise


def check_address(settings: Settings) -> None:
    """Without keys the service listens on loopback only."""
    if settings.api_keys or _is_loopback(settings.host):
        return
    raise Forbidden(
        f"Without API keys the service listens on loopback only, not on {settings.host}.",
        hint="Set TABWRIGHT_API_KEYS to one or more keys (8 characters at least, separated by commas).",
    )


def _allow_open_files() -> None:
    """Take as many open files as the system grants: every connection of a page takes two."""
    if resource is not None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, OPEN_FILES)), hard))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bound(settings: Settings) -> socket.socket:
    """The socket, which takes no connection yet: nobody shall wait in its queue while browsers start."""
    with _address_fault(settings):
        family, kind, number, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, number)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        return bound


@contextlib.contextmanager
def _address_fault(settings: Settings) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise InvalidRequest(
            f"Cannot listen on {settings.host}:{settings.port}: {fault.strerror or fault}.",
            hint="Stop what listens there, or choose another port: --port, TABWRIGHT_PORT.",
        ) from fault


def _loop_factory() -> "Callable[[], asyncio.AbstractEventLoop] | None":
    if sys.platform == "win32":
        return None
    import uvloop  # noqa: PLC0415  not to be had on Windows

    return uvloop.Loop


async def _serve(settings: Settings, listening: socket.socket) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    service = Service(settings.model_copy(update={"port": listening.getsockname()[1]}))
    if not await _unless(stop, service.__aenter__()):
        return
    try:
        with _address_fault(settings):
            listening.listen(BACKLOG)
        await _answer(service, listening, stop)
    finally:
        await service.__aexit__(None, None, None)  # does nothing the second time


async def _unless(stop: asyncio.Event, work: Awaitable[object]) -> bool:
    """Do it, unless a signal comes first: then it is cancelled. Tells whether it was done."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if working.done():
        working.result()
        return True
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    return False


async def _answer(service: Service, listening: socket.socket, stop: asyncio.Event) -> None:
    server = _Server(
        uvicorn.Config(
            build(service),
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LAST_ANSWERS_S,
            lifespan="off",
        )
    )
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    answering = asyncio.ensure_future(server.answers.wait())
    await asyncio.wait({serving, answering}, return_when=asyncio.FIRST_COMPLETED)
    answering.cancel()
    if not serving.done():
        _announce(service.settings)
        await _unless(stop, asyncio.wait({serving}))
        await _drain(service, stop)
        # While the server still answers: what runs yet gets an error that says why.
        await service.__aexit__(None, None, None)
        server.should_exit = True
    await serving


def _announce(settings: Settings) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    base = f"http://{host}:{settings.port}"
    _log.info("ready on %s", base)
    key = '-H "authorization: Bearer $KEY" ' if settings.api_keys else ""
    server = "" if settings.port == Settings.model_fields["port"].default else f"--server {base} "
    here = sys.argv[0].endswith("tabwright") and shutil.which("tabwright") is None  # in a .venv that is not on the PATH
    command = sys.argv[0] if here else "tabwright"
    sys.stdout.write(_READY.format(base=base, key=key, server=server, command=command))
    sys.stdout.flush()


async def _drain(service: Service, stop: asyncio.Event) -> None:
    """Take no new work and let running work end; not beyond the limit, and not after a second signal."""
    limit_ms = service.settings.shutdown_ms
    _log.info("stopping: new work is refused, running work has %g s", limit_ms / 1000)
    stop.clear()
    if not await _unless(stop, service.drain(limit_ms / 1000)):
        _log.warning("a second signal: running work is ended now")
