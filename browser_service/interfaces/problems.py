"""Failures as RFC 9457 problem documents, the same object on every interface."""

import logging
import math
from collections.abc import Sequence
from typing import Any

from browser_service.errors import STATUS, InvalidRequest, TabwrightError

_log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


def status_of(fault: TabwrightError) -> int:
    """The HTTP status of a failure: that of its class, or of the nearest base that has one."""
    return next(STATUS[kind] for kind in type(fault).__mro__ if kind in STATUS)


def problem(fault: TabwrightError, request_id: str) -> dict[str, Any]:
    """The public document of a failure."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": fault.title,
        "status": status_of(fault),
        "detail": fault.detail,
        "code": fault.code,
        "hint": fault.hint,
        "retryable": fault.retryable,
        "request_id": request_id,
    }
    return document | {name: value for name, value in fault.about.items() if value is not None}


def unforeseen(fault: BaseException) -> TabwrightError:
    """What a caller is told of a failure that is none of ours; the log has the rest."""
    _log.error("a request failed in a way that is not foreseen", exc_info=fault)
    return TabwrightError("Something went wrong inside the service.", hint="See its log for request_id.")


def headers_of(fault: TabwrightError) -> dict[str, str]:
    """Headers that go with a failure."""
    headers = {}
    if fault.retry_after_s is not None:
        headers["Retry-After"] = str(math.ceil(fault.retry_after_s))
    if fault.code == "unauthorized":
        headers["WWW-Authenticate"] = 'Bearer realm="tabwright"'
    return headers


def from_validation(errors: Sequence[Any]) -> InvalidRequest:
    """One sentence naming every field that is wrong, from pydantic's errors. Values are not repeated."""
    said = []
    unknown = []
    fields = []
    for error in errors:
        place = ".".join(map(str, _field(error["loc"])))
        if error["type"] == "extra_forbidden":
            unknown.append(place)
        elif error["type"] == "json_invalid":
            said.append(f"the body is not valid JSON ({error.get('ctx', {}).get('error', 'it does not parse')})")
        else:
            if not place and error["type"] == "model_attributes_type":
                said.append("the body must be a JSON object, sent with Content-Type: application/json")
                continue
            message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
            if error["type"] == "string_pattern_mismatch":
                message = "does not have the form that is expected"
            said.append(f"{place}: {message}" if place else message)
            fields.append({"field": place, "message": message})
    if unknown:
        said.append(f"unknown field{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}")
    return InvalidRequest(
        "; ".join(said) + ".", hint="GET /docs describes every field.", about={"errors": fields} if fields else None
    )


def _field(place: Sequence[int | str]) -> Sequence[int | str]:
    """Where an error is, without the part of the request that FastAPI names first; a field may be named like one."""
    in_part = place[:1] == ("body",) or (len(place) > 1 and place[0] in {"query", "path"})
    return place[1:] if in_part else place
