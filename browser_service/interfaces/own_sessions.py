"""The session that a caller has without naming one: made when it is first used, and anew when it has ended."""

import asyncio
from dataclasses import dataclass

from browser_service.errors import SessionExpired, TabwrightError
from browser_service.operations.operation import Call, Caller
from browser_service.operations.sessions import CreateSession
from browser_service.service import Service


@dataclass(frozen=True)
class Visitor:
    """Who calls a tool, and from where: a connection of MCP, or the agent that a request names.

    Each place of a caller has a session of its own.
    """

    caller: Caller
    place: str = ""


class OwnSessions:
    """The own sessions of all visitors."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._ids: dict[tuple[str, str], str] = {}
        self._making: dict[tuple[str, str], asyncio.Task[str]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def known(self, visitor: Visitor) -> str:
        """The visitor's session, ended perhaps; empty where there is none."""
        return self._ids.get(_key(visitor), "")

    async def of(self, visitor: Visitor) -> tuple[str, str]:
        """The visitor's session, which is open, and what to say where the one before has ended.

        Calls that come at once get the same one. Raises Overloaded.
        """
        key = _key(visitor)
        said = ""
        try:
            if known := self._ids.get(key):
                self._service.sessions.get(known, visitor.caller.owner)
                return known, ""
        except TabwrightError as fault:
            if isinstance(fault, SessionExpired):
                said = f"{fault.detail} A new one was made."
            self._ids.pop(key, None)
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.ensure_future(self._make(key, visitor.caller))
            making.add_done_callback(lambda done: self._made(key, done))
        return await asyncio.shield(making), said

    def forget(self, session_id: str) -> None:
        """Nobody's own session any more."""
        self._ids = {key: known for key, known in self._ids.items() if known != session_id}

    async def leave(self, visitor: Visitor) -> None:
        """The visitor is gone for good: end the session."""
        key = _key(visitor)
        if making := self._making.get(key):
            making.cancel()
            await asyncio.wait({making})
        if known := self._ids.pop(key, None):
            await self._service.sessions.close(known, visitor.caller.owner)

    async def _make(self, key: tuple[str, str], caller: Caller) -> str:
        made = await CreateSession().run(Call(self._service, caller))
        open_ids = {session.id for session in self._service.sessions.owned(None)}
        self._ids = {kept: known for kept, known in self._ids.items() if known in open_ids}
        self._ids[key] = made.id
        return made.id

    def _made(self, key: tuple[str, str], done: "asyncio.Task[str]") -> None:
        del self._making[key]
        if not done.cancelled():
            done.exception()  # told to whoever waits; where nobody does, it is of no interest


def _key(visitor: Visitor) -> tuple[str, str]:
    return visitor.caller.name, visitor.place
