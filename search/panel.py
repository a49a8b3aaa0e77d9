"""The scraping engines, asked all at once, with what is kept of them between searches."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

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
from search.selectors import SelectorFile
from search.told import Sourced, Told

LEAST_RESOLVE_S = 0.3  # for redirects that only a request resolves, where an engine used up its time


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
        """What each engine answers, within its own time limit; one that rests is not asked."""
        selectors = self._selectors.current()

        async def one(name: str) -> Told:
            told = self._resting(name)
            if told is None:
                engine = self.engines[name]
                began = time.monotonic()
                answer = await ask(
                    engine, query, send, selectors=selectors[name], timeout_s=timeout_s, cookies=self._cookies
                )
                if any(hit.opaque for hit in answer.hits):
                    left_s = max(LEAST_RESOLVE_S, began + timeout_s - time.monotonic())
                    hits = await resolve(answer.hits, send, limit_s=left_s, cookies=self._cookies)
                    answer = replace(answer, hits=hits)
                answer = judge(query.text, answer)
                self.health.note(answer)
                told = Told(answer, round((time.monotonic() - began) * 1000), self._until(name))
            tell(told.event())
            return told

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(name)) for name in names]
        return Sourced([task.result() for task in tasks])

    def _resting(self, name: str) -> Told | None:
        until = self._until(name)
        if until is None:
            return None
        health = self.health.snapshot()[name]
        why = f" ({health.error.rstrip('.')})" if health.error else ""
        return Told(Answer(name, "resting", error=f"It rests until {until}{why}."), 0, until)

    def _until(self, name: str) -> str | None:
        until = self.health.resting_until(name)
        return until.isoformat(timespec="seconds").replace("+00:00", "Z") if until is not None else None
