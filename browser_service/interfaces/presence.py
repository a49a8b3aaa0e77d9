"""Work that ends when nobody waits for it any more."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")


class ClientGone(Exception):
    """The client closed its connection before the answer."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled when the client goes away: its place is free at once."""
    return await unless(_gone(request), work)


async def unless(leaving: Coroutine[Any, Any, Any], work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; ClientGone, and `work` cancelled, where `leaving` comes to its end first."""
    working = asyncio.ensure_future(work)
    left = asyncio.ensure_future(leaving)
    try:
        await asyncio.wait({working, left}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        left.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
