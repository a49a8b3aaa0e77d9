"""Running operations without a service: in this process, with a service of its own for as long."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from typing import Any

from browser_service.interfaces import logs
from browser_service.operations.operation import Call, Caller, Operation
from browser_service.service import Service
from browser_service.settings import load_settings


@contextlib.asynccontextmanager
async def local_call() -> AsyncIterator[Call]:
    """A call with all scopes on a service with one browser. SIGTERM cancels what runs in it."""
    settings = load_settings()
    logs.configure(settings.log_level if "log_level" in settings.model_fields_set else "error", settings.log_format)
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    pool = settings.pool.model_copy(update={"size": 1, "warm": 0})
    async with Service(settings.model_copy(update={"pool": pool})) as service:
        yield Call(service, Caller("", frozenset({"read", "act", "eval", "admin"})))


async def run_locally(operation: Operation[Any], call: Call) -> dict[str, Any]:
    """The result as the JSON object that REST gives."""
    result = await operation.run(call)
    document: dict[str, Any] = json.loads(result.model_dump_json(by_alias=True))
    return document
