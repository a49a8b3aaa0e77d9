"""Handlers of browser events that cannot hurt, and waiting for the next one."""

import asyncio
import contextlib
import functools
import logging
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from playwright.async_api import Error as PlaywrightError

_log = logging.getLogger(__name__)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def guarded(handler: Callable[_P, None]) -> Callable[_P, None]:
    """`handler`, its failures logged: one that raises would end Playwright's whole connection."""

    @functools.wraps(handler)
    def handle(*given: _P.args, **named: _P.kwargs) -> None:
        try:
            handler(*given, **named)
        except Exception:  # noqa: BLE001  the edge of Playwright's event loop
            _log.exception("a browser event was not understood")

    return handle


def loop_time() -> float:
    """The running loop's clock, in seconds."""
    return asyncio.get_running_loop().time()


class Signal:
    """Wakes everyone who waits, each time that something happened. To be made in a running loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def fire(self) -> None:
        """Wake those who wait now."""
        self._event.set()
        self._event = asyncio.Event()

    def end(self, why: str) -> None:
        """Nothing will happen any more: the page is closed or has crashed."""
        if not self._ended.done():
            self._ended.set_result(why)
        self.fire()

    async def wait(self, until: float) -> None:
        """Until the next `fire`, at most until then (loop time). Raises Playwright's error after the end."""
        event = self._event
        if not self._ended.done():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await event.wait()
        self._check()

    async def unless_ended(self, call: Coroutine[Any, Any, _T]) -> _T:
        """The result of a call to the browser; Playwright's error at once when the end comes before."""
        task = asyncio.ensure_future(call)
        try:
            both: set[asyncio.Future[Any]] = {task, self._ended}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self._check()
            return await task
        finally:
            task.cancel()

    def _check(self) -> None:
        if self._ended.done():
            raise PlaywrightError(self._ended.result())
