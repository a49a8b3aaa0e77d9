"""REST, generated from the operation classes."""

import base64
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from typing import Annotated, Any

import fastapi_offline
from fastapi import Body, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.models import Example
from fastapi.staticfiles import StaticFiles
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from browser_service.errors import InvalidRequest, MethodNotAllowed, NotFound, TabwrightError
from browser_service.interfaces import console, events
from browser_service.interfaces.gate import Gate, identify, request_id
from browser_service.interfaces.idempotency import Idempotency
from browser_service.interfaces.mcp import Endpoint
from browser_service.interfaces.presence import ClientGone, unless_gone
from browser_service.interfaces.problems import (
    MEDIA_TYPE,
    from_validation,
    headers_of,
    problem,
    status_of,
    unforeseen,
)
from browser_service.interfaces.tool_routes import add_tools
from browser_service.interfaces.toolbox import Toolbox
from browser_service.operations import OPERATIONS
from browser_service.operations.operation import Call, Caller, Nothing, Operation, Result
from browser_service.operations.screenshot import Picture
from browser_service.service import Service

_ASSETS = Path(fastapi_offline.__file__).with_name("static")
_INTRODUCTION = """
A self-hosted browser for software agents. Make a session, open a page in it, act on it:

    curl -s -X POST {base}/v1/sessions
    curl -s -X POST {base}/v1/sessions/$ID/open -H 'content-type: application/json' -d '{{"url": "https://example.com"}}'

Every failure is a problem document (RFC 9457) with a `code`, a `detail` and a `hint`.
"""


class _Problem(Result):
    """A failure (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str | None
    retryable: bool
    request_id: str


def build(service: Service) -> FastAPI:
    """The application that serves `service`; it does not start or close it."""
    app = FastAPI(
        title="Tabwright",
        version=version("tabwright"),
        description=_INTRODUCTION.format(base=f"http://{service.settings.host}:{service.settings.port}"),
        docs_url=None,
        redirect_slashes=False,
        redoc_url=None,
    )
    app.add_middleware(Gate, settings=service.settings)
    _add_failures(app)
    _add_status(app, service)
    _add_docs(app)
    kept = Idempotency()
    for operation in OPERATIONS:
        _add_operation(app, service, operation, kept)
    toolbox = Toolbox(service)
    add_tools(app, toolbox)
    app.router.routes.append(Route("/mcp", Endpoint(toolbox), include_in_schema=False))
    access = console.Access(service.settings)
    console.add_pages(app, service, access)
    for operation in console.OPERATIONS:
        endpoint = _endpoint(service, operation, kept, access.identify)
        app.add_api_route("/ui" + operation.path, endpoint, methods=[operation.method], include_in_schema=False)
    return app


def _add_operation(app: FastAPI, service: Service, operation: type[Operation[Any]], kept: Idempotency) -> None:
    def who(request: Request) -> Caller:
        return identify(service.settings, request.headers.get("authorization", ""))

    app.add_api_route(
        operation.path,
        _endpoint(service, operation, kept, who),
        methods=[operation.method],
        name=operation.name,
        operation_id=operation.name,
        summary=(operation.__doc__ or "").split("\n", 1)[0],
        description=cleandoc(operation.__doc__ or ""),
        status_code=operation.success,
        response_model=None,
        responses=_responses(operation),
        tags=[_tag(operation.path)],
    )


def _tag(path: str) -> str:
    return next((name for name in ("sessions", "settings") if path.startswith(f"/v1/{name}")), "one-shot")


def _responses(operation: type[Operation[Any]]) -> dict[int | str, dict[str, Any]]:
    failure = {"model": _Problem, "description": "Failure", "content": {MEDIA_TYPE: {}}}
    answers: dict[int | str, dict[str, Any]] = {"default": failure}
    result = operation.result_class()
    if result is not Nothing:
        answers[operation.success] = {"model": result, "description": "Success"}
    if operation.told:
        answers[operation.success]["content"] = {events.MEDIA_TYPE: {}}
    return answers


def _endpoint(
    service: Service, operation: type[Operation[Any]], kept: Idempotency, who: Callable[[Request], Caller]
) -> Callable[..., Awaitable[Response]]:
    """The function behind a route. Its signature tells FastAPI what to read and what to describe."""

    async def endpoint(
        request: Request, session_id: str = "", body: Operation[Any] | None = None, *, stream: bool = False
    ) -> Response:
        caller = who(request)
        parameters = body if body is not None else _without_body(operation)
        parameters.authorize(caller)
        if stream:
            return events.streamed(
                lambda tell: parameters.run(Call(service, caller, session_id, tell)),
                request_id.get(),
                service.working,
                unforeseen,
            )
        call = Call(service, caller, session_id)
        key = request.headers.get("idempotency-key", "") if operation.success == 201 else ""
        with service.working():
            if key:
                work = kept.once(caller.name, key, repr(parameters), lambda: parameters.run(call))
            else:
                work = parameters.run(call)
            result = await unless_gone(request, work)
        return _respond(request, operation, result)

    parameters = [Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)]
    if "{session_id}" in operation.path:
        parameters.append(Parameter("session_id", Parameter.KEYWORD_ONLY, annotation=str))
    if operation.told:
        annotation = Annotated[bool, Query(description="send the steps as server-sent events, the result as the last")]
        parameters.append(Parameter("stream", Parameter.KEYWORD_ONLY, annotation=annotation, default=False))
    if operation.takes_body():
        optional = not any(field.is_required() for field in operation.model_fields.values())
        examples = {f"example {number}": Example(value=value) for number, value in enumerate(operation.examples, 1)}
        kind = Annotated[operation | None if optional else operation, Body(openapi_examples=examples)]  # type: ignore[valid-type]
        default = None if optional else Parameter.empty
        parameters.append(Parameter("body", Parameter.KEYWORD_ONLY, annotation=kind, default=default))
    endpoint.__signature__ = Signature(parameters, return_annotation=Response)  # type: ignore[attr-defined]
    return endpoint


def _without_body(operation: type[Operation[Any]]) -> Operation[Any]:
    """The operation with its defaults; raises InvalidRequest where these are not enough."""
    try:
        return operation()
    except ValidationError as fault:
        raise from_validation(fault.errors()) from None


def _respond(request: Request, operation: type[Operation[Any]], result: Result) -> Response:
    if isinstance(result, Nothing):
        return Response(status_code=operation.success)
    if isinstance(result, Picture) and _wants_bytes(request.headers.get("accept", "")):
        return Response(base64.b64decode(result.image_base64), media_type=result.mime_type)
    return Response(result.model_dump_json(by_alias=True), operation.success, media_type="application/json")


def _wants_bytes(accept: str) -> bool:
    return any(kind.strip().startswith("image/") for kind in accept.split(","))


def _add_status(app: FastAPI, service: Service) -> None:
    async def health() -> Response:
        """Alive, and how it stands."""
        return JSONResponse(service.health())

    async def ready() -> Response:
        """A browser answers and new work is taken."""
        well = await service.ready()
        return JSONResponse({"ready": well}, 200 if well else 503)

    for path, answer in (("/health", health), ("/ready", ready)):
        app.add_api_route(path, answer, methods=["GET"], tags=["status"], summary=answer.__doc__, response_model=None)
        app.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False, response_model=None)


def _add_docs(app: FastAPI) -> None:
    """Swagger UI from files of our own: the machine may have no internet."""
    app.mount("/docs/assets", StaticFiles(directory=_ASSETS), name="docs-assets")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title="Tabwright",
            swagger_js_url="/docs/assets/swagger-ui-bundle.js",
            swagger_css_url="/docs/assets/swagger-ui.css",
            swagger_favicon_url="/docs/assets/favicon.png",
        )

    @app.get("/", include_in_schema=False)
    async def root() -> Response:
        return RedirectResponse("/docs")


def _add_failures(app: FastAPI) -> None:
    """Every failure leaves as a problem document; what is not one of ours is logged and called internal."""

    @app.exception_handler(TabwrightError)
    async def ours(_request: Request, fault: TabwrightError) -> Response:
        return _problem(fault)

    @app.exception_handler(ClientGone)
    async def gone(_request: Request, _fault: ClientGone) -> Response:
        return Response(status_code=499)  # nobody reads it; the number is nginx's, for the log

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, fault: RequestValidationError) -> Response:
        return _problem(from_validation(fault.errors()))

    @app.exception_handler(HTTPException)
    async def http(request: Request, fault: HTTPException) -> Response:
        if isinstance(fault.__cause__, TabwrightError):  # raised while the body was read
            return _problem(fault.__cause__)
        path = request.url.path[:200]
        if fault.status_code == 404:
            return _problem(NotFound(f"There is nothing at {path}.", hint="GET /docs lists the routes."))
        if fault.status_code == 405:
            return _problem(
                MethodNotAllowed(f"{path} does not take {request.method}.", hint="GET /docs lists the routes.")
            )
        return _problem(InvalidRequest(f"{fault.detail}."))

    @app.exception_handler(Exception)
    async def internal(_request: Request, fault: Exception) -> Response:
        return _problem(unforeseen(fault))


def _problem(fault: TabwrightError) -> Response:
    return JSONResponse(
        problem(fault, request_id.get()), status_of(fault), headers=headers_of(fault), media_type=MEDIA_TYPE
    )
