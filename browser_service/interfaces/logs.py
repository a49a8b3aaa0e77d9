"""Log lines on standard error: for people or as JSON, each with the id of the request it belongs to.

No line has the credentials of an address in it, and no line can be made to look like two by what a caller sent.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Literal

from browser_service.interfaces.gate import request_id

_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s@]*@")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def configure(level: str, form: Literal["console", "json"]) -> None:
    """Send all log lines, Python's warnings too, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_WithRequest())
    handler.setFormatter(_Json() if form == "json" else _Console())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    for noisy in ("httpx", "httpcore", "asyncio", "uvicorn", "mcp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


class _WithRequest(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class _Console(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s [%(request_id)s] %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  the library's name
        """The line itself; a traceback comes below it and keeps its lines."""
        return _CONTROLS.sub(lambda match: repr(match[0])[1:-1], super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return _masked(super().format(record))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _masked(record.getMessage()),
            "request_id": getattr(record, "request_id", "-"),
        }
        if record.exc_info:
            line["exception"] = _masked(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def _masked(text: str) -> str:
    """Without user and password of addresses."""
    return _CREDENTIALS.sub("***@", text)
