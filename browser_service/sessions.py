"""All sessions of a service: making them within the limits, whose they are, when they end, and what is remembered."""

import asyncio
import contextlib
import logging
from collections import Counter

from cachetools import TTLCache

from browser_service.errors import Overloaded, SessionNotFound, ShuttingDown
from browser_service.pool import BrowserPool
from browser_service.session import Judge, Lifetime, Reason, Session, expired
from browser_service.settings import SessionSettings
from browser_service.tab.options import ContextOptions
from fetch.address import Rule

_log = logging.getLogger(__name__)

REMEMBERED = 20_000


class Sessions:
    """All sessions of this service."""

    def __init__(self, settings: SessionSettings, pool: BrowserPool, rule: Rule, judge: Judge) -> None:
        self._settings = settings
        self._pool = pool
        self._rule = rule
        self._judge = judge
        self._open: dict[str, Session] = {}
        self._making: Counter[str] = Counter()
        self._ended: TTLCache[str, tuple[str, Reason]] = TTLCache(REMEMBERED, max(settings.remember_ms / 1000, 0.001))
        self._closing: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._admitting = True

    def __len__(self) -> int:
        return len(self._open)

    def owned(self, owner: str | None) -> list[Session]:
        """The sessions of one key, or all for None, oldest first."""
        return [session for session in self._open.values() if owner is None or session.owner == owner]

    def get(self, session_id: str, owner: str | None) -> Session:
        """The open session with this id. Another key's session is not found, as one that never was."""
        session = self._open.get(session_id)
        if session is not None and owner in {None, session.owner}:
            return session
        whose, reason = self._ended.get(session_id, (None, None))
        if reason is not None and owner in {None, whose}:
            raise expired(reason)
        raise SessionNotFound(
            "No session has this id.", hint="GET /v1/sessions lists yours; POST /v1/sessions makes one."
        )

    async def create(self, owner: str, options: ContextOptions, lifetime: Lifetime, limit_s: float) -> Session:
        """Make a session. Overloaded when there are too many, or no context comes free within `limit_s`."""
        self._admit(owner)
        self._making[owner] += 1
        try:
            seat = await self._pool.lend(options, limit_s)
        finally:
            self._making[owner] -= 1
        if not self._admitting:
            await self._pool.give_back(seat)
            raise ShuttingDown("The service is stopping.")
        session = Session(owner, lifetime, seat, self._rule, judge=self._judge, queue=self._settings.queue)
        session.tabs.limit = self._settings.tabs
        seat.on_loss = lambda: self._forget(session, "browser_crashed")
        self._open[session.id] = session
        self._changed.set()
        return session

    async def close(self, session_id: str, owner: str | None, reason: Reason = "closed") -> None:
        """End a session, whatever it is doing. An ended or unknown one is no error."""
        session = self._open.get(session_id)
        if session is None or owner not in {None, session.owner}:
            return
        self._forget(session, reason)
        await self._pool.give_back(session.seat)

    async def expire(self) -> None:
        """End sessions when their time is up; runs until cancelled."""
        while True:
            waits = [max(0.05, session.expires_in()) for session in self._open.values()]
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(waits, default=None)):
                    await self._changed.wait()
            for session in tuple(self._open.values()):
                reason = session.overdue()
                if reason is not None:
                    _log.info("session %s… ends: %s", session.id[:6], reason)
                    self._close_soon(session, reason)

    def stop_admitting(self) -> None:
        """Make no further sessions."""
        self._admitting = False

    async def close_all(self) -> None:
        """End every session."""
        await asyncio.gather(*(self.close(session_id, None) for session_id in tuple(self._open)))
        await asyncio.gather(*self._closing)

    def _admit(self, owner: str) -> None:
        if not self._admitting:
            raise ShuttingDown("The service is stopping.")
        mine = sum(session.owner == owner for session in self._open.values()) + self._making[owner]
        if mine >= self._settings.per_key:
            raise Overloaded(
                f"This key has its {self._settings.per_key} sessions already.",
                hint="Close one (DELETE /v1/sessions/{id}), or raise TABWRIGHT_SESSIONS__PER_KEY.",
                retry_after_s=5,
            )
        if len(self._open) + self._making.total() >= self._settings.limit:
            raise Overloaded(
                f"All {self._settings.limit} sessions are in use.",
                hint="Close one, or raise TABWRIGHT_SESSIONS__LIMIT.",
                retry_after_s=5,
            )

    def _forget(self, session: Session, reason: Reason) -> None:
        if self._open.pop(session.id, None) is not None:
            self._ended[session.id] = (session.owner, reason)
            session.end(reason)

    def _close_soon(self, session: Session, reason: Reason) -> None:
        task = asyncio.ensure_future(self.close(session.id, None, reason))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
