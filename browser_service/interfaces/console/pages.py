"""The console's pages. They are written on the server; scripts and styles come from files of our own alone."""

from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

import jinja2
from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from starlette.responses import HTMLResponse, RedirectResponse, Response

from browser_service.errors import ContentTooLarge, TabwrightError, Unauthorized
from browser_service.interfaces.console.access import Access, check_origin
from browser_service.interfaces.problems import status_of
from browser_service.operations.operation import Call
from browser_service.operations.settings import GetSettings
from browser_service.service import Service

FORM_BYTES: Final = 16_384

_HERE = Path(__file__).parent
# `same-origin`: with `no-referrer` browsers send `Origin: null` with forms, which no origin check can pass
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Pages:
    """Renders templates."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def show(self, name: str, status: int = 200, **values: Any) -> Response:
        """A page."""
        page = self._templates.get_template(name).render(needs_login=self._access.needs_login, **values)
        return HTMLResponse(page, status, headers=_HEADERS)


def add_pages(app: FastAPI, service: Service, access: Access) -> None:
    """Serve the pages below /ui."""
    pages = Pages(access)
    app.mount("/ui/static", StaticFiles(directory=_HERE / "static"), name="console-static")

    async def settings(request: Request) -> Response:
        try:
            caller = access.identify(request)
        except Unauthorized:
            return RedirectResponse("/ui/login", 303)
        operation = GetSettings()
        operation.authorize(caller)
        return pages.show("settings.html", here="settings", found=await operation.run(Call(service, caller)))

    async def login(request: Request) -> Response:
        if request.method == "GET":
            return pages.show("login.html", here="login", problem=None)
        check_origin(request)
        response = RedirectResponse("/ui/settings", 303)
        try:
            access.log_in(request, response, await _field(request, "key"))
        except TabwrightError as fault:
            return pages.show("login.html", status_of(fault), here="login", problem=fault)
        return response

    async def logout(request: Request) -> Response:
        check_origin(request)
        response = RedirectResponse("/ui/login", 303)
        access.log_out(request, response)
        return response

    async def root() -> Response:
        return RedirectResponse("/ui/settings", 303)

    routes: tuple[tuple[str, Any, list[str]], ...] = (
        ("/ui", root, ["GET"]),
        ("/ui/", root, ["GET"]),
        ("/ui/settings", settings, ["GET"]),
        ("/ui/login", login, ["GET", "POST"]),
        ("/ui/logout", logout, ["POST"]),
    )
    for path, answer, methods in routes:
        app.add_api_route(path, answer, methods=methods, include_in_schema=False, response_model=None)


async def _field(request: Request, name: str) -> str:
    """One field of a form."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            raise ContentTooLarge("The form is too large.")
    return parse_qs(body.decode("utf-8", "replace")).get(name, [""])[0].strip()
