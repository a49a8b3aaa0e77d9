"""What an operation is: a pydantic class with its parameters, one asynchronous method, and the class of its result.

From this one declaration come the REST route with its OpenAPI description, the command of the command line, and the
tool of agents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict

from browser_service.errors import Forbidden
from browser_service.service import Service
from browser_service.session import Session
from browser_service.settings import Scope
from browser_service.tab.tab import Tab

ResultT = TypeVar("ResultT", bound="Result")


class Result(BaseModel):
    """What an operation gives."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)


class Nothing(Result):
    """No content."""


@dataclass(frozen=True)
class Caller:
    """Who calls: the name of the key (empty where none is configured) and what it may do."""

    name: str
    scopes: frozenset[Scope]

    @property
    def owner(self) -> str | None:
        """Whose sessions are seen: one's own, or everybody's (None)."""
        return None if "admin" in self.scopes else self.name


EVERYTHING: Final = Caller("", frozenset({"read", "act", "eval", "admin"}))
"""Whoever calls where no keys are: this machine's own user."""


def tell_nobody(_name: str, _data: Mapping[str, Any]) -> None:
    """For when nobody asks."""


@dataclass(frozen=True)
class Call:
    """One call of an operation: by whom, on which service, and, where the operation has one, in which session.

    `tell` takes the news of long work, a name and what can be written as JSON, from operations that are `told`.
    """

    service: Service
    caller: Caller
    session_id: str = ""
    tell: Callable[[str, Mapping[str, Any]], None] = tell_nobody


class Operation(BaseModel, Generic[ResultT]):
    """Base of all operations. Subclasses set the class variables and write `run`.

    Those with `told` tell how they get on while they run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: ClassVar[str]
    method: ClassVar[Literal["GET", "POST", "PATCH", "DELETE"]] = "POST"
    path: ClassVar[str]
    success: ClassVar[int] = 200
    told: ClassVar[bool] = False
    scope: ClassVar[Scope] = "act"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ()

    @classmethod
    def takes_body(cls) -> bool:
        """Whether its parameters come as a JSON body."""
        return cls.method in {"POST", "PATCH"} and bool(cls.model_fields)

    async def run(self, call: Call) -> ResultT:
        """Do it."""
        raise NotImplementedError

    def scope_needed(self) -> Scope:
        """What the caller's key must allow, with these parameters."""
        return self.scope

    def authorize(self, caller: Caller) -> None:
        """Raise Forbidden when the key lacks the scope."""
        needed = self.scope_needed()
        if needed not in caller.scopes:
            raise Forbidden(
                f"This key may not do this: {self.name} needs the scope {needed!r}.",
                hint="Use a key with that scope (TABWRIGHT_API_KEYS).",
            )

    @classmethod
    def result_class(cls) -> type[Result]:
        """The class of what `run` or `act` gives."""
        method = getattr(cls, "act", cls.run)
        kind = get_type_hints(method)["return"]
        if not (isinstance(kind, type) and issubclass(kind, Result)):
            raise TypeError(f"{cls.__name__} does not declare the class of its result")
        return kind


class Action(Operation[ResultT]):
    """An operation in a tab of a session; it has its turn there and is bounded in time."""

    path: ClassVar[str] = "/v1/sessions/{session_id}/"

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "name" in cls.__dict__:
            cls.path = Action.path + cls.name

    async def act(self, session: Session, tab: Tab) -> ResultT:
        """Do it in this tab."""
        raise NotImplementedError

    def limit_ms(self) -> float:
        """How long it may take, in milliseconds."""
        return float(getattr(self, "timeout_ms", 10_000))

    def tab_name(self) -> str | None:
        """The tab it works in; None: the active one."""
        return getattr(self, "tab", None)

    async def run(self, call: Call) -> ResultT:
        """Wait for this action's turn in the session, then act."""
        session = call.service.sessions.get(call.session_id, call.caller.owner)
        return await session.run(lambda tab: self.act(session, tab), self.tab_name(), self.limit_ms() / 1000)
