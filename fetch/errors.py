"""What can go wrong, one class a kind. Every class owns its code; callers match on the code, people read the detail.

    TabwrightError
    ├── InvalidRequest        the caller must change something
    ├── AddressForbidden      the network policy refuses the address
    ├── NavigationFailed      DNS, refused, TLS, reset, cut body
    ├── ContentTooLarge       a body or a picture is over the limit
    ├── UnsupportedContent    the answer is of a kind that holds no text
    ├── Blocked               the site shows a wall instead of the page
    ├── UpstreamStatus        the site answered with an error status and nothing else
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


class ContentTooLarge(TabwrightError):
    """A body or a picture is larger than the limit."""

    code = "content_too_large"
    title = "Content too large"


class UnsupportedContent(TabwrightError):
    """The answer is a picture, an archive or something else that holds no text."""

    code = "unsupported_content"
    title = "Unsupported content"


class Blocked(TabwrightError):
    """The site refuses this visitor: a wall, a challenge that stands, or a login instead of the page."""

    code = "blocked"
    title = "Blocked"


class UpstreamStatus(TabwrightError):
    """The site answered with an error status and no content, or the caller asked for that to be a failure."""

    code = "upstream_status"
    title = "Upstream status"
    retryable = True


class TimedOut(TabwrightError):
    """The time limit ran out."""

    code = "timeout"
    title = "Timed out"
    retryable = True
