"""Calling tools: the session where none is named, limits that a model needs, and the result with its summary."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from browser_service.errors import NoPage, TabwrightError
from browser_service.interfaces.own_sessions import OwnSessions, Visitor
from browser_service.interfaces.summaries import summary
from browser_service.interfaces.tools import MOST_CHARS, Tool
from browser_service.operations.fetch import OpenedPage
from browser_service.operations.operation import Call, Operation, Result, tell_nobody
from browser_service.operations.read import Evaluated
from browser_service.operations.sessions import Close, GetSession
from browser_service.service import Service
from fetch.budget import cut

_HINTS: Final[Mapping[str, str]] = {
    "no_page": "Call browser_open first.",
    "session_not_found": "Leave out session: you get one of your own.",
    "session_expired": "Leave out session: you get a new one of your own.",
}


@dataclass(frozen=True)
class Done:
    """What a tool gave. `said` is what the caller should know besides; `session` is empty where there is none."""

    result: Result
    summary: str
    session: str | None = None
    said: str = ""

    def document(self, *, pictures: bool) -> dict[str, Any]:
        """The object that REST gives, with `summary` and the session."""
        left_out = None if pictures else {"image_base64"}
        document: dict[str, Any] = {"summary": self.summary}
        if self.session is not None:
            document["session"] = self.session
        return document | self.result.model_dump(mode="json", by_alias=True, exclude=left_out)


class Toolbox:
    """The tools of one service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.sessions = OwnSessions(service)

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        visitor: Visitor,
        tell: Callable[[str, Mapping[str, Any]], None] = tell_nobody,
    ) -> Done:
        """Call a tool. Raises TabwrightError with a hint that speaks of tools."""
        try:
            operation, named = tool.prepare(arguments)
            operation.authorize(visitor.caller)
            with self.service.working():
                return await self._run(tool, operation, named, visitor, tell)
        except TabwrightError as fault:
            fault.hint = _HINTS.get(fault.code, fault.hint)
            raise

    async def _run(
        self,
        tool: Tool,
        operation: Operation[Any],
        named: str,
        visitor: Visitor,
        tell: Callable[[str, Mapping[str, Any]], None],
    ) -> Done:
        session, said = named, ""
        if tool.in_session and not named:
            if isinstance(operation, Close | GetSession):
                session = self.sessions.known(visitor)
            else:
                session, said = await self.sessions.of(visitor)
        try:
            result = _bounded(await operation.run(Call(self.service, visitor.caller, session, tell)))
        except NoPage as fault:
            raise NoPage(f"{said} {fault.detail}".strip(), about=fault.about) from fault
        if isinstance(operation, Close):
            self.sessions.forget(session)
        return Done(result, summary(operation, result), session if tool.in_session else None, said)


def _bounded(result: Result) -> Result:
    """Cut where the operation itself knows no limit that suits a model."""
    if isinstance(result, Evaluated) and len(result.result) > MOST_CHARS:
        part = cut(result.result, max_chars=MOST_CHARS, offset=0)
        return result.model_copy(update={"result": part.content, "value": None, "truncated": True})
    if isinstance(result, OpenedPage) and len(result.content) > MOST_CHARS:
        part = cut(result.content, max_chars=MOST_CHARS, offset=0)
        return result.model_copy(update={"content": part.content, "truncated": True})
    return result
