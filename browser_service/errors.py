"""Failures of the service itself, and the one table from a failure's class to its HTTP status."""

from fetch.errors import (
    AddressForbidden,
    Blocked,
    ContentTooLarge,
    InvalidRequest,
    NavigationFailed,
    TabwrightError,
    TimedOut,
    UnsupportedContent,
    UpstreamStatus,
)

__all__ = [
    "STATUS",
    "AddressForbidden",
    "Blocked",
    "ContentTooLarge",
    "InvalidRequest",
    "NavigationFailed",
    "TabwrightError",
    "TimedOut",
    "UnsupportedContent",
    "UpstreamStatus",
]


class Unauthorized(TabwrightError):
    """No key was given, or one that is not known."""

    code = "unauthorized"
    title = "Unauthorized"


class Forbidden(TabwrightError):
    """The caller is known but may not do this, or came under a host name that is not ours."""

    code = "forbidden"
    title = "Forbidden"


class NotFound(TabwrightError):
    """There is no such route."""

    code = "not_found"
    title = "Not found"


class MethodNotAllowed(TabwrightError):
    """The route exists, but not with this method."""

    code = "method_not_allowed"
    title = "Method not allowed"


class SessionNotFound(TabwrightError):
    """No session has this id."""

    code = "session_not_found"
    title = "Session not found"


class SessionExpired(TabwrightError):
    """The session has ended; `reason` says why."""

    code = "session_expired"
    title = "Session expired"


class SessionBusy(TabwrightError):
    """Too many calls wait for their turn in this session."""

    code = "session_busy"
    title = "Session busy"
    retryable = True


class ElementNotFound(TabwrightError):
    """Nothing matches the selector."""

    code = "element_not_found"
    title = "Element not found"


class ElementNotActionable(TabwrightError):
    """The element is there, but covered, hidden, disabled or moving."""

    code = "element_not_actionable"
    title = "Element not actionable"


class StaleRef(TabwrightError):
    """The element that a ref of a snapshot meant is gone, or is another one now."""

    code = "stale_ref"
    title = "Stale ref"


class AmbiguousSelector(TabwrightError):
    """`strict` was asked for and the selector matches several elements."""

    code = "ambiguous_selector"
    title = "Ambiguous selector"


class NoPage(TabwrightError):
    """Nothing has been opened in this session or tab yet."""

    code = "no_page"
    title = "No page"


class ScriptFailed(TabwrightError):
    """The caller's script threw, or does not parse."""

    code = "script_failed"
    title = "Script failed"


class PageCrashed(TabwrightError):
    """The page's renderer died; the session goes on with a new page."""

    code = "page_crashed"
    title = "Page crashed"
    retryable = True


class BrowserCrashed(TabwrightError):
    """The browser died during the call, or none can be started."""

    code = "browser_crashed"
    title = "Browser crashed"
    retryable = True


class Overloaded(TabwrightError):
    """All places are taken and the queue is full."""

    code = "overloaded"
    title = "Overloaded"
    retryable = True


class ShuttingDown(TabwrightError):
    """The service is stopping and takes no new work."""

    code = "shutting_down"
    title = "Shutting down"
    retryable = True


STATUS: dict[type[TabwrightError], int] = {
    TabwrightError: 500,
    InvalidRequest: 422,
    Unauthorized: 401,
    Forbidden: 403,
    AddressForbidden: 403,
    NotFound: 404,
    MethodNotAllowed: 405,
    SessionNotFound: 404,
    SessionExpired: 410,
    SessionBusy: 409,
    ElementNotFound: 404,
    ElementNotActionable: 409,
    StaleRef: 409,
    AmbiguousSelector: 409,
    NoPage: 409,
    ScriptFailed: 422,
    ContentTooLarge: 413,
    UnsupportedContent: 415,
    Blocked: 502,
    NavigationFailed: 502,
    UpstreamStatus: 502,
    TimedOut: 504,
    PageCrashed: 502,
    BrowserCrashed: 503,
    Overloaded: 429,
    ShuttingDown: 503,
}
