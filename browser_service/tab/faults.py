"""The one place where Playwright's errors become ours."""

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.errors import (
    BrowserCrashed,
    InvalidRequest,
    NavigationFailed,
    NoPage,
    PageCrashed,
    TabwrightError,
    TimedOut,
)
from browser_service.tab.refs import stale
from browser_service.tab.world import is_gone

_CLOSED = ("has been closed", "Target closed", "Connection closed", "Browser closed", "Session closed", "not attached")
_SELECTOR = (
    "while parsing",
    "Unknown engine",
    "is not a valid selector",
    "Malformed",
    "Unexpected end of selector",
    "is not a valid XPath",
    "Invalid regular expression",
    "Selector cannot start with",
    "reading 'queryAll'",
    "SyntaxError",
)


def translate(fault: PlaywrightError, *, crashed: bool, browser_dead: bool) -> TabwrightError:
    """What a Playwright error means to the caller."""
    text = fault.message.split("\nCall log", 1)[0].split("\nBrowser logs", 1)[0].strip()
    if browser_dead:
        return BrowserCrashed("The browser died during this call.", hint="Make a new session.")
    if crashed or "Target crashed" in text or "Page crashed" in text:
        return page_crashed()
    if is_closed(fault):
        return NoPage("The tab was closed during this call.", hint="See the session's tabs, or call open.")
    ref = stale(fault)
    if ref is not None:
        return ref
    if is_gone(fault) or "Frame was detached" in text:
        return TimedOut("The page moved on during this call.", hint="Look where the tab is now, then try again.")
    return _refused(fault, text)


def _refused(fault: PlaywrightError, text: str) -> TabwrightError:
    """What the caller gave does not fit, or took too long, or the page is in the way."""
    if any(sign in text for sign in _SELECTOR):
        return bad_selector(text)
    if "was expected" in text and "iframe" in text:
        return InvalidRequest(
            "frame must be the selector of an iframe.", hint="Leave it out to act on the page itself."
        )
    if isinstance(fault, PlaywrightTimeout):
        return TimedOut(text.splitlines()[0], hint="Raise timeout_ms.")
    return NavigationFailed(
        f"The page or the browser refused: {text.splitlines()[0][:300] if text else 'no reason given'}.",
        hint="The page may have replaced functions that every page has; extract and evaluate may still work.",
    )


def is_closed(fault: PlaywrightError) -> bool:
    """Whether a call failed because its tab was closed."""
    return any(sign in fault.message for sign in _CLOSED)


def page_crashed() -> PageCrashed:
    """The renderer died."""
    return PageCrashed("The page crashed.", hint="Open an address again: the session goes on, with its cookies.")


def bad_selector(text: str) -> InvalidRequest:
    """The selector does not parse."""
    said = text.split("Error: ", 1)[-1].splitlines()[0]
    return InvalidRequest(
        f"The selector does not parse: {said[:300]}",
        hint='Give CSS, or a selector such as text="Sign in", role=button[name="Sign in"], xpath=//button.',
    )
