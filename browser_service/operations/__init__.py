"""All operations, in the order in which they are shown. To add one: its class, and its name here."""

from typing import Any

from browser_service.operations.fetch import Fetch, OpenWebPage
from browser_service.operations.interact import Click, Scroll, Type, Wait
from browser_service.operations.open import Open
from browser_service.operations.operation import Operation
from browser_service.operations.read import Evaluate, Extract
from browser_service.operations.screenshot import Capture, Screenshot
from browser_service.operations.search import Search
from browser_service.operations.sessions import Close, CreateSession, DeleteSession, GetSession, ListSessions
from browser_service.operations.settings import ChangeSettings, GetSettings, TrySearxng
from browser_service.operations.snapshot import Find, TakeSnapshot

OPERATIONS: tuple[type[Operation[Any]], ...] = (
    CreateSession,
    ListSessions,
    GetSession,
    DeleteSession,
    Open,
    Screenshot,
    Evaluate,
    Extract,
    TakeSnapshot,
    Find,
    Click,
    Type,
    Scroll,
    Wait,
    Close,
    Capture,
    Fetch,
    OpenWebPage,
    Search,
    GetSettings,
    ChangeSettings,
    TrySearxng,
)
