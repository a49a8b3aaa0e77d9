"""Making, listing, looking at and closing sessions."""

from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from browser_service.operations.operation import Call, Nothing, Operation, Result
from browser_service.session import Lifetime, Session
from browser_service.settings import Scope
from browser_service.tab.options import ContextOptions, Viewport
from fetch.untrusted import Untrusted


class TabInfo(Result):
    """One tab of a session."""

    id: str
    url: Untrusted
    title: Untrusted
    active: bool


class SessionInfo(Result):
    """A session as it stands."""

    id: str
    created_at: datetime
    expires_at: datetime = Field(description="when it ends if nobody uses it")
    idle_timeout_ms: int
    viewport: Viewport
    user_agent: str
    browser: Literal["full", "light"]
    url: Untrusted = Field(description="of the active tab")
    title: Untrusted = Field(description="of the active tab")
    tabs: list[TabInfo]


class SessionList(Result):
    """Sessions, oldest first."""

    sessions: list[SessionInfo]


class CreateSession(ContextOptions, Operation[SessionInfo]):
    """Make a session: an isolated browser context with its own cookies, storage and cache.

    It outlives this connection, until it is closed, not used for `idle_timeout_ms`, or older than `max_lifetime_ms`.
    """

    name: ClassVar[str] = "create_session"
    path: ClassVar[str] = "/v1/sessions"
    success: ClassVar[int] = 201
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark", "timezone": "Europe/Berlin"},
    )

    idle_timeout_ms: int = Field(600_000, ge=1_000, le=86_400_000, description="ends when not used for so long")
    max_lifetime_ms: int = Field(3_600_000, ge=1_000, le=7 * 86_400_000, description="ends when so old")
    timeout_ms: int = Field(30_000, ge=1, le=300_000, description="how long to wait for a free context")

    async def run(self, call: Call) -> SessionInfo:
        """Make it."""
        options = ContextOptions.model_validate({name: getattr(self, name) for name in ContextOptions.model_fields})
        lifetime = Lifetime(self.idle_timeout_ms, self.max_lifetime_ms)
        session = await call.service.sessions.create(call.caller.name, options, lifetime, self.timeout_ms / 1000)
        return await describe(session)


class ListSessions(Operation[SessionList]):
    """List your open sessions (all of them, with an admin key)."""

    name: ClassVar[str] = "list_sessions"
    method: ClassVar[Literal["GET", "POST", "DELETE"]] = "GET"
    path: ClassVar[str] = "/v1/sessions"

    async def run(self, call: Call) -> SessionList:
        """List them."""
        owned = call.service.sessions.owned(call.caller.owner)
        return SessionList(sessions=[await describe(session) for session in owned])


class GetSession(Operation[SessionInfo]):
    """Look at one session: where its tabs are, and when it expires."""

    name: ClassVar[str] = "get_session"
    method: ClassVar[Literal["GET", "POST", "DELETE"]] = "GET"
    path: ClassVar[str] = "/v1/sessions/{session_id}"

    async def run(self, call: Call) -> SessionInfo:
        """Look."""
        session = call.service.sessions.get(call.session_id, call.caller.owner)
        session.touch()
        return await describe(session)


class DeleteSession(Operation[Nothing]):
    """End a session, whatever it is doing. Ended and unknown ones are no error."""

    name: ClassVar[str] = "delete_session"
    method: ClassVar[Literal["GET", "POST", "DELETE"]] = "DELETE"
    path: ClassVar[str] = "/v1/sessions/{session_id}"
    success: ClassVar[int] = 204
    scope: ClassVar[Scope] = "act"

    async def run(self, call: Call) -> Nothing:
        """End it."""
        await call.service.sessions.close(call.session_id, call.caller.owner)
        return Nothing()


class Close(Operation[Nothing]):
    """End the session. The same as deleting it; safe to repeat."""

    name: ClassVar[str] = "close"
    path: ClassVar[str] = "/v1/sessions/{session_id}/close"
    success: ClassVar[int] = 204

    async def run(self, call: Call) -> Nothing:
        """End it."""
        await call.service.sessions.close(call.session_id, call.caller.owner)
        return Nothing()


async def describe(session: Session) -> SessionInfo:
    """A session as it stands; titles of pages that do not answer are empty."""
    tabs = []
    for tab in session.tabs:
        title = await tab.title() if tab.opened else ""
        tabs.append(TabInfo(id=tab.name, url=tab.page.url, title=title, active=session.tabs.is_active(tab)))
    shown = next((tab for tab in tabs if tab.active), None)
    now = datetime.now(UTC).timestamp()
    return SessionInfo(
        id=session.id,
        created_at=datetime.fromtimestamp(session.created_at, UTC),
        expires_at=datetime.fromtimestamp(now + max(0.0, session.expires_in()), UTC),
        idle_timeout_ms=session.lifetime.idle_timeout_ms,
        viewport=session.tabs.viewport,
        user_agent=await session.tabs.user_agent(),
        browser=session.seat.browser.kind,
        url=shown.url if shown else "",
        title=shown.title if shown else "",
        tabs=tabs,
    )
