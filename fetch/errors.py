"""What can go wrong, one class a kind. Every class owns its code; callers match on the code, people read the detail.

    TabwrightError
    ├── InvalidRequest        the caller must change something
    ├── AddressForbidden      the network policy refuses the address
    ├── NavigationFailed      DNS, refused, TLS, reset, cut body
    └── TimedOut              the time limit of the call ran out

`browser_service.errors` adds those of sessions and browsers.
"""

from collections.abc import Mapping
from typing import ClassVar


class TabwrightError(Exception):
    """Base of all failures that a caller may see.

    `detail` is one sentence that a person can act on; `hint` says what to try; `about` holds further public fields of
    the problem document (`url`, `final_url`, `upstream_status`, `reason` …); `retry_after_s` is a time in seconds.
    """

    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        detail: str,
        *,
        hint: str | None = None,
        retry_after_s: float | None = None,
        about: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.retry_after_s = retry_after_s
        self.about = dict(about or {})


class InvalidRequest(TabwrightError):
    """A parameter is missing, malformed or out of range."""

    code = "invalid_request"
    title = "Invalid request"


class AddressForbidden(TabwrightError):
    """The network policy does not allow this address."""

    code = "address_forbidden"
    title = "Address forbidden"


class NavigationFailed(TabwrightError):
    """The address could not be loaded: DNS, refused connection, TLS, reset, cut body."""

    code = "navigation_failed"
    title = "Navigation failed"
    retryable = True


class TimedOut(TabwrightError):
    """The time limit ran out."""

    code = "timeout"
    title = "Timed out"
    retryable = True
