"""The scraping engines, asked all at once, with what is kept of them between searches."""

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from fetch.errors import InvalidRequest
from search.ask import ask
from search.cookies import Cookies
from search.engine import Answer, Engine, Send
from search.engines import DEFAULT
from search.health import Health
from search.progress import Tell
from search.quality import judge
from search.query import Query
from search.resolve import resolve
from search.selectors import SelectorFile, Selectors
from search.told import Sourced, Told

_log = logging.getLogger(__name__)

ENGINE_S: Final = 3.0
"""Seconds that a healthy engine needs at most; no answer in less than that is not its fault."""

LEAST_RESOLVE: Final = 0.1
"""Share of an engine's time for redirects that only a request resolves, where it used up all of it."""


class Panel:
    """Engines with their cookies, their health and their selectors."""

    def __init__(
        self,
        engines: Iterable[Engine],
        *,
        health: Health | None = None,
        selectors: SelectorFile | None = None,
        cookies: Cookies | None = None,
    ) -> None:
        self.engines = {engine.name: engine for engine in engines}
        self.health = health or Health()
        self._selectors = selectors or SelectorFile()
        self._cookies = cookies or Cookies()

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """These engines, each once; those that are asked when none is named. Raises InvalidRequest for unknown ones."""
        unknown = [name for name in names if name not in self.engines]
        if unknown:
            raise InvalidRequest(
                f"There is no engine {', '.join(repr(name[:40]) for name in unknown)}.",
                hint=f"The built-in engines are {', '.join(self.engines)}.",
            )
        return tuple(dict.fromkeys(names)) or tuple(name for name in DEFAULT if name in self.engines)

    async def ask(self, query: Query, names: Sequence[str], send: Send, timeout_s: float, tell: Tell) -> Sourced:
        """What each engine answers, within its own time limit; one that rests is not asked.

        Raises nothing but cancellation: an engine that breaks is an answer, too.
        """
        selectors = self._selectors.current()

        async def one(name: str) -> Told:
            told = self._resting(name)
            if told is None:
                began = time.monotonic()
                try:
                    answer = await self._answer(name, query, send, selectors.get(name, Selectors()), timeout_s)
                except Exception as fault:  # noqa: BLE001 - one engine's mistake must not end the search of all
                    _log.exception("%s: the search failed", name)
                    answer = Answer(name, "error", error=f"{name} cannot be asked: {type(fault).__name__}.")
                if answer.state != "timeout" or timeout_s >= ENGINE_S:
                    self.health.note(answer)
                health = self.health.of(name)
                elapsed_ms = round((time.monotonic() - began) * 1000)
                told = Told(answer, elapsed_ms, health.resting_until if health is not None else None)
            tell(told.event())
            return told

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(name)) for name in names]
        return Sourced([task.result() for task in tasks])

    async def _answer(self, name: str, query: Query, send: Send, selectors: Selectors, timeout_s: float) -> Answer:
        """The engine's answer with its redirects resolved, judged."""
        began, cookies = time.monotonic(), self._cookies
        answer = await ask(self.engines[name], query, send, selectors=selectors, timeout_s=timeout_s, cookies=cookies)
        if any(hit.opaque for hit in answer.hits):
            left_s = max(timeout_s * LEAST_RESOLVE, began + timeout_s - time.monotonic())
            answer = replace(answer, hits=await resolve(answer.hits, send, limit_s=left_s, cookies=cookies))
        return judge(query.text, answer)

    def _resting(self, name: str) -> Told | None:
        health = self.health.of(name)
        if health is None or health.resting_until is None:
            return None
        why = f" ({health.error.rstrip('.')})" if health.error else ""
        said = f"It rests until {health.resting_until}{why}."
        answer = Answer(name, "resting", error=said, retry_after_s=self.health.left_s(name))
        return Told(answer, 0, health.resting_until)
