"""A running service, called over REST by the command line."""

import ipaddress
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import click
import httpx

DEFAULT: Final = "http://127.0.0.1:8330"

# Longer than any operation's own limit, so that the answer is the service's.
_LIMITS = httpx.Timeout(630, connect=10)


class Failed(Exception):
    """A failure with its problem document."""

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document.get("detail"))
        self.document = document


class Remote:
    """`call` sends one request and gives the JSON of its answer. `headers` has the key."""

    def __init__(self, address: str | None, key: str | None) -> None:
        address = address or DEFAULT
        self.address = (address if "://" in address else "http://" + address).rstrip("/")
        try:
            url = httpx.URL(self.address)
        except httpx.InvalidURL:
            url = httpx.URL()
        if url.scheme not in {"http", "https"} or not url.host:
            raise click.BadParameter(f"not the address of a service, such as {DEFAULT}.", param_hint="--server")
        if key is not None and not key.isascii():
            raise click.BadParameter("keys are of ASCII characters.", param_hint="--api-key")
        self.headers = {"Authorization": f"Bearer {key.strip()}"} if key else {}
        self.through_proxies = not _is_here(url.host)

    def call(self, method: str, path: str, values: dict[str, Any], session_id: str = "") -> dict[str, Any]:
        """The result as JSON. A failure raises Failed with its problem document."""
        try:
            answer = httpx.request(
                method,
                self.address + path.format(session_id=quote(session_id, safe="")),
                json=values if method in {"POST", "PATCH"} else None,
                headers=self.headers,
                timeout=_LIMITS,
                trust_env=self.through_proxies,
            )
        except httpx.HTTPError as fault:
            raise Failed(self._no_answer(fault)) from fault
        if answer.is_success and not answer.content:
            return {}
        try:
            document = answer.json()
        except ValueError:
            document = None
        if answer.is_success and isinstance(document, dict):
            return document
        raise Failed(self._failure(answer))

    def stream(
        self, method: str, path: str, values: dict[str, Any], tell: Callable[[str, Mapping[str, Any]], None]
    ) -> dict[str, Any]:
        """The result of an operation that tells how it gets on; `tell` takes each event. Raises as `call` does."""
        last: tuple[str, Any] = ("", None)
        try:
            with httpx.stream(
                method,
                self.address + path,
                params={"stream": "true"},
                json=values,
                headers=self.headers,
                timeout=_LIMITS,
                trust_env=self.through_proxies,
            ) as answer:
                if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                    answer.read()
                    raise Failed(self._failure(answer))
                for last in _events(answer.iter_bytes()):
                    if last[0] not in {"done", "error"}:
                        tell(*last)
        except httpx.HTTPError as fault:
            raise Failed(self._no_answer(fault)) from fault
        name, document = last
        if name == "done" and isinstance(document, dict):
            return document
        raise Failed(document if name == "error" and _is_problem(document) else self._no_service(200))

    def _failure(self, answer: httpx.Response) -> dict[str, Any]:
        """The problem document that an answer is, or one that says that it is none."""
        try:
            document = answer.json()
        except ValueError:
            document = None
        return document if _is_problem(document) else self._no_service(answer.status_code)

    def _no_answer(self, fault: httpx.HTTPError) -> dict[str, Any]:
        if isinstance(fault, httpx.ConnectError | httpx.ConnectTimeout):
            return _problem(
                f"No service answers at {self.address}: {fault}.",
                "Start one with `tabwright serve`, or name it with --server or TABWRIGHT_SERVER.",
            )
        said = str(fault) or "no answer in time"
        return _problem(f"The service at {self.address} did not answer: {said}.", "Look at its log.")

    def _no_service(self, status: int) -> dict[str, Any]:
        return _problem(
            f"What answers at {self.address} is not this service: status {status} without a known document.",
            "Name the service with --server or TABWRIGHT_SERVER.",
        )


def _events(parts: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The name and the data of each server-sent event of ours, JSON on one line; up to one that is none of ours."""
    name = ""
    for line in _lines(parts):
        field, _, value = line.partition(b": ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            try:
                yield name, json.loads(value)
            except ValueError:
                return


def _lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that end with a line feed: what else Python takes for the end of a line may stand inside of JSON."""
    begun: list[bytes] = []
    for part in parts:
        first, *further = part.split(b"\n")
        begun.append(first)
        for line in further:
            yield b"".join(begun)
            begun = [line]


def _is_here(host: str) -> bool:
    """Whether it is this machine, which no proxy of the environment can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_problem(document: Any) -> bool:
    return isinstance(document, dict) and "detail" in document and "code" in document


def _problem(detail: str, hint: str) -> dict[str, Any]:
    """A problem document of our own, where the service gave none."""
    return {
        "type": "about:blank",
        "title": "No answer",
        "status": 503,
        "detail": detail,
        "code": "no_answer",
        "hint": hint,
        "retryable": True,
        "request_id": "-",
    }
