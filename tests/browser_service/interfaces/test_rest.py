"""REST: every operation is there, and every failure is a problem document that helps."""

from pathlib import Path
from typing import Any, get_args, get_origin

import httpx
import pytest
from pydantic import BaseModel

from browser_service import errors
from browser_service.errors import STATUS, TabwrightError
from browser_service.interfaces.problems import problem, status_of
from browser_service.operations import OPERATIONS
from browser_service.operations.operation import Operation
from browser_service.service import Service
from fetch.untrusted import FromPage
from tests.conftest import Api, serving, settings_for
from tests.site import Site

# Plain text fields of results that are ours, not a page's.
OURS = {"id", "answer", "kind", "user_agent", "code", "detail", "image_base64", "mime_type", "sha256", "closed_tabs"}
OURS |= {"extractor", "outcome", "mode", "resting_until", "ref"}  # names of our own choices
OURS |= {"query"}  # the caller's own words
# Settings: written by whoever may change them
OURS |= {"settings", "value", "default", "choices", "description", "source", "variable", "note", "warnings"}


def all_errors(kind: type[TabwrightError] = TabwrightError) -> list[type[TabwrightError]]:
    """All error classes of the project, the subclasses of their modules' own included."""
    return [kind, *(each for sub in kind.__subclasses__() for each in all_errors(sub))]


@pytest.mark.parametrize("kind", all_errors())
def test_every_error_has_a_status_and_a_code_of_its_own(kind: type[TabwrightError]) -> None:
    """Two classes share a code only when one is a special case of the other."""
    document = problem(kind("Why."), "r1")
    assert document["status"] == status_of(kind("x"))
    assert document["code"] == kind.code
    assert {"type", "title", "detail", "hint", "retryable", "request_id"} <= document.keys()
    twins = [other for other in all_errors() if other.code == kind.code and other is not kind]
    assert all(issubclass(kind, other) or issubclass(other, kind) for other in twins if other is not TabwrightError)


def test_the_table_of_statuses_names_every_class_of_the_module() -> None:
    """A new error class without a line in the table would become a 500."""
    named = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, TabwrightError)}
    assert named == set(STATUS)


def text_fields(model: type[BaseModel], seen: set[type[BaseModel]]) -> list[tuple[str, list[Any]]]:
    """All text fields of a result class and of the classes in it, with what their annotations carry."""
    if model in seen:
        return []
    seen.add(model)
    found: list[tuple[str, list[Any]]] = []
    for name, field in model.model_fields.items():
        found += _texts(name, field.annotation, list(field.metadata), seen)
    return found


def _texts(name: str, annotation: Any, marks: list[Any], seen: set[type[BaseModel]]) -> list[tuple[str, list[Any]]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return text_fields(annotation, seen)
    if hasattr(annotation, "__metadata__"):
        return _texts(name, get_args(annotation)[0], [*marks, *annotation.__metadata__], seen)
    if get_origin(annotation) is not None:
        return [each for part in get_args(annotation) for each in _texts(name, part, marks, seen)]
    return [(name, marks)] if annotation is str else []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_text_from_pages_is_marked(operation: type[Operation[Any]]) -> None:
    """Every text field of a result is either known to be ours or has the type Untrusted."""
    for name, marks in text_fields(operation.result_class(), set()):
        assert name in OURS or any(isinstance(mark, FromPage) for mark in marks), (operation.__name__, name)


async def test_every_operation_is_described(api: Api) -> None:
    """OpenAPI lists each with its summary, its result and its failure; each parameter of an action is there."""
    document = (await api.http.get("/openapi.json")).json()
    for operation in OPERATIONS:
        route = document["paths"][operation.path][operation.method.lower()]
        assert route["operationId"] == operation.name
        assert route["summary"]
        assert "default" in route["responses"]
        if operation.method == "POST" and operation.model_fields:
            body = route["requestBody"]["content"]["application/json"]
            assert body["schema"]
            assert not operation.examples or body["examples"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_examples_are_valid(operation: type[Operation[Any]]) -> None:
    """What the documentation shows can be sent."""
    for example in operation.examples:
        operation.model_validate(example)


async def test_the_documentation_needs_no_other_server(api: Api) -> None:
    """/docs and all that it loads come from the service itself."""
    page = (await api.http.get("/docs")).text
    assert "https://" not in page
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon.png"):
        assert f"/docs/assets/{asset}" in page
        assert (await api.http.get(f"/docs/assets/{asset}")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "content", "code", "status"),
    [
        ("GET", "/nowhere", None, "not_found", 404),
        ("PUT", "/v1/sessions", None, "method_not_allowed", 405),
        ("POST", "/v1/sessions", b"{bad json", "invalid_request", 422),
        ("POST", "/v1/sessions", b"[1, 2]", "invalid_request", 422),
        ("POST", "/v1/sessions", b"\xff\xfe", "invalid_request", 422),
        ("POST", "/v1/sessions/x/explode", b"{}", "not_found", 404),
        ("POST", "/v1/screenshot", b"{}", "invalid_request", 422),
        ("POST", "/v1/sessions/../../etc/passwd/open", b'{"url": "http://x.example/"}', "not_found", 404),
    ],
)
async def test_wrong_requests_get_problem_documents(
    api: Api, method: str, path: str, content: bytes | None, code: str, status: int
) -> None:
    """Unknown routes, wrong methods and bodies that are no JSON object."""
    answer = await api.http.request(method, path, content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_a_wrong_field_is_named_though_it_is_called_query(api: Api) -> None:
    """As a part of requests is called, too."""
    problem = await api.fails("/v1/search", {"query": 5}, "invalid_request")
    assert problem["detail"].startswith("query: ")
    assert problem["errors"][0]["field"] == "query"
    assert (await api.fails("/v1/search?stream=x", {"query": "x"}, "invalid_request"))["errors"][0]["field"] == "stream"


async def test_a_sane_request_id_is_kept_and_others_replaced(api: Api) -> None:
    """The caller's id comes back, but not one that could break a log line."""
    assert (await api.http.get("/health", headers={"X-Request-ID": "mine-1"})).headers["x-request-id"] == "mine-1"
    assert (await api.http.get("/health", headers={"X-Request-ID": "a b\tc"})).headers["x-request-id"] != "a b\tc"


async def test_a_foreign_host_or_origin_is_refused(api: Api) -> None:
    """A page that points its own name at this machine, or calls from a browser, gets nothing."""
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        answer = await api.http.post("/v1/sessions", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), headers


@pytest.mark.parametrize(
    "origin",
    [
        "http://192.0.2.7",
        "http://127.0.0.1:9",
        "http://localhost",
        "http://[::1]:9",
        "{base}0",
        "ws://{host}",
        "file://",
    ],
)
async def test_pages_at_an_address_are_foreign_too(api: Api, origin: str) -> None:
    """A page needs no name: one at a bare address, or of another program on this machine, gets nothing."""
    host = api.http.base_url.netloc.decode()
    headers = {"Origin": origin.format(base=f"http://{host}", host=host)}
    answer = await api.http.post("/v1/sessions", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_pages_of_its_own_may_call(site: Site, tmp_path: Path) -> None:
    """Under the name they were called by, those of loopback at this port, and those that were named for it."""
    service = Service(settings_for(site, tmp_path, allowed_hosts=["Tab.example"]))
    async with serving(service) as base, httpx.AsyncClient(base_url=base) as http:
        port = http.base_url.port
        for host, origin in (
            (None, base.upper().replace("HTTP", "http")),
            (None, f"http://localhost:{port}"),
            (None, f"http://[::1]:{port}"),
            ("tab.example", "https://tab.example"),
            ("192.0.2.7:80", "http://192.0.2.7:80"),
            (None, "https://tab.example:8443"),
        ):
            headers = {"Origin": origin} | ({"Host": host} if host else {})
            assert (await http.get("/openapi.json", headers=headers)).status_code == 200, origin


async def test_a_body_over_the_limit_is_refused_while_it_streams(api: Api) -> None:
    """Also without a declared length."""

    async def chunks() -> Any:
        for _ in range(12):
            yield b" " * 2**20

    headers = {"Content-Type": "application/json"}
    answer = await api.http.post("/v1/sessions", content=chunks(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "content_too_large")
    answer = await api.http.post("/v1/sessions", content=b" " * (11 * 2**20), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "content_too_large")


async def test_health_and_ready(api: Api) -> None:
    """Alive with its browsers named, and ready."""
    health = (await api.http.get("/health")).json()
    assert health["status"] == "ok"
    assert health["browsers"][0]["kind"] == "full"
    assert (await api.http.get("/ready")).json() == {"ready": True}


async def test_errors_name_no_secret(api: Api) -> None:
    """A wrong value is not repeated in the answer."""
    body = {"http_credentials": {"username": "u", "password": 5}, "proxy": {"server": "bad://canary-secret@x"}}
    assert "canary-secret" not in (await api.http.post("/v1/sessions", json=body)).text
