"""Running operations without a service: in this process, with a service of its own for as long."""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from rich.console import Console

from browser_service.interfaces import logs
from browser_service.operations.operation import EVERYTHING, Call, Operation, tell_nobody
from browser_service.service import Service
from browser_service.settings import Settings, load_settings

T = TypeVar("T")


def quiet_settings() -> Settings:
    """The settings; errors alone are logged unless they say otherwise: a command's output is its result."""
    settings = load_settings()
    logs.configure(settings.log_level if "log_level" in settings.model_fields_set else "error", settings.log_format)
    return settings


@contextlib.asynccontextmanager
async def local_call(tell: Callable[[str, Mapping[str, Any]], None] = tell_nobody) -> AsyncIterator[Call]:
    """A call with all scopes on a service with one browser. SIGTERM cancels what runs in it."""
    settings = quiet_settings()
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    pool = settings.pool.model_copy(update={"size": 1, "warm": 0})
    async with Service(settings.model_copy(update={"pool": pool})) as service:
        yield Call(service, EVERYTHING, tell=tell)


def run_to_end(work: Coroutine[Any, Any, T], words: str = "") -> T:
    """The result of `work`; `words` are shown to a person meanwhile. Ends the process where SIGTERM cancelled it."""
    console = Console(stderr=True)
    try:
        with console.status(f"{words} …") if words and console.is_terminal else contextlib.nullcontext():
            return asyncio.run(work)
    except asyncio.CancelledError:
        sys.exit(128 + signal.SIGTERM)


async def run_alone(operation: Operation[Any]) -> dict[str, Any]:
    """Run one operation in a service of its own."""
    async with local_call() as call:
        return await run_locally(operation, call)


async def run_locally(operation: Operation[Any], call: Call) -> dict[str, Any]:
    """The result as the JSON object that REST gives."""
    result = await operation.run(call)
    document: dict[str, Any] = json.loads(result.model_dump_json(by_alias=True))
    return document
