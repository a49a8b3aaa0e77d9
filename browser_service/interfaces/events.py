"""The news of long work as server-sent events (HTML standard, 9.2); the last is its result, or why there is none."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from starlette.responses import StreamingResponse

from browser_service.errors import TabwrightError
from browser_service.interfaces.problems import problem
from browser_service.operations.operation import Result

MEDIA_TYPE: Final = "text/event-stream"
SILENCE_S: Final = 15.0
"""After so long without news a comment is sent: proxies end connections that say nothing."""

TellAny = Callable[[str, Mapping[str, Any]], None]


def streamed(
    work: Callable[[TellAny], Awaitable[Result]],
    request_id: str,
    working: Callable[[], AbstractContextManager[None]],
    foreseen: Callable[[BaseException], TabwrightError],
) -> StreamingResponse:
    """Do the work and tell of it: its own events, then `done` with the result or `error` with the problem document.

    When the client goes away, the work is cancelled. `foreseen` makes a failure of ours of any other. Raises what
    `working` raises where no work is taken.
    """
    with working():  # refused before there is a stream, it has a status of its own
        pass
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(work, request_id, working, foreseen), media_type=MEDIA_TYPE, headers=headers)


async def _events(
    work: Callable[[TellAny], Awaitable[Result]],
    request_id: str,
    working: Callable[[], AbstractContextManager[None]],
    foreseen: Callable[[BaseException], TabwrightError],
) -> AsyncIterator[str]:
    news: asyncio.Queue[str | None] = asyncio.Queue()

    def tell(name: str, data: Mapping[str, Any]) -> None:
        news.put_nowait(_event(name, json.dumps(data)))

    async def run() -> None:
        try:
            with working():
                result = await work(tell)
            news.put_nowait(_event("done", result.model_dump_json(by_alias=True)))
        except Exception as fault:  # noqa: BLE001  it is told, and logged where it was not foreseen
            ours = fault if isinstance(fault, TabwrightError) else foreseen(fault)
            news.put_nowait(_event("error", json.dumps(problem(ours, request_id))))
        finally:
            news.put_nowait(None)

    task = asyncio.ensure_future(run())
    try:
        while True:
            try:
                async with asyncio.timeout(SILENCE_S):
                    event = await news.get()
            except TimeoutError:
                event = ": still at work\n\n"
            if event is None:
                return
            yield event
    finally:
        # The server cancels this again and again until it ends; the work is cancelled once, to clean up in peace.
        task.cancel()
        await asyncio.wait({task})


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"
