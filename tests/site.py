"""A web site on 127.0.0.1 for tests: pages written in the test itself, and handlers that misbehave as told."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

Handler = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request, with short ways to answer it."""

    protocol_version = "HTTP/1.1"
    server: "_Server"

    def answer(
        self, body: str | bytes = b"", kind: str = "text/html; charset=utf-8", status: int = 200, **headers: str
    ) -> None:
        """Send a whole answer; underscores in header names stand for hyphens."""
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def hang(self) -> None:
        """Say nothing until the site closes."""
        self.close_connection = True
        self.server.site.closing.wait(60)

    def hang_up(self) -> None:
        """Close the connection without an answer."""
        self.close_connection = True

    def _serve(self) -> None:
        site = self.server.site
        path = urlsplit(self.path).path
        site.hits[path] += 1
        handler = site.handlers.get(path)
        try:
            if handler is None:
                self.answer("<title>Not here</title><h1>Nothing here</h1>", status=404)
            else:
                handler(self)
        except (ConnectionError, OSError):
            self.close_connection = True

    do_GET = do_POST = do_HEAD = _serve  # noqa: N815  names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    site: "Site"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is no error."""


class Site:
    """`with Site() as site:` serves; `site.page(html)` gives the address of a page."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        self.hits: Counter[str] = Counter()
        self.closing = threading.Event()
        self._numbers = itertools.count(1)
        self._server = _Server(("127.0.0.1", 0), Request)
        self._server.site = self
        self.port: int = self._server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"
        self.base = f"http://{self.host}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def page(self, html: str, *, status: int = 200, title: str = "Test", **headers: str) -> str:
        """Serve a document with this body; gives its address."""
        whole = (
            html
            if html.lstrip().lower().startswith(("<!doctype", "<html"))
            else f"<!doctype html><title>{title}</title><body>{html}"
        )
        return self.route(lambda request: request.answer(whole, status=status, **headers))

    def route(self, handler: Handler, path: str | None = None) -> str:
        """Serve whatever `handler` answers; gives its address."""
        path = path or f"/p{next(self._numbers)}"
        self.handlers[path] = handler
        return self.base + path
