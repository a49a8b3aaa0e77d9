"""`Idempotency-Key`: a call that makes something and is sent twice makes it once.

As in the IETF draft of that header: the first answer is kept and given again; the same key with
other parameters is an error.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable

from cachetools import TTLCache

from browser_service.errors import InvalidRequest
from browser_service.operations.operation import Result

KEPT = 10_000
KEPT_S = 600
_FORM = re.compile(r"[\x21-\x7e]{1,200}")


class Idempotency:
    """The results of the last ten minutes, by caller and key."""

    def __init__(self) -> None:
        self._done: TTLCache[tuple[str, str], tuple[str, asyncio.Future[Result]]] = TTLCache(KEPT, KEPT_S)

    async def once(self, owner: str, key: str, parameters: str, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of `work`, done once for this caller and key. A failure is not kept: it may be tried again."""
        if not _FORM.fullmatch(key):
            raise InvalidRequest("Idempotency-Key must be 1 to 200 printable ASCII characters without blanks.")
        kept = self._done.get((owner, key))
        if kept is not None:
            if kept[0] != parameters:
                raise InvalidRequest("This Idempotency-Key was used with other parameters.", hint="Use a new key.")
            return await asyncio.shield(kept[1])
        running = asyncio.ensure_future(work())
        self._done[owner, key] = parameters, running
        try:
            return await asyncio.shield(running)
        finally:
            running.add_done_callback(lambda done: self._forget_failure(owner, key, done))

    def _forget_failure(self, owner: str, key: str, done: "asyncio.Future[Result]") -> None:
        if done.cancelled() or done.exception() is not None:
            self._done.pop((owner, key), None)
