"""What happened in a context while nobody looked: new tabs, dialogs, downloads, errors on the console.

Everything is written into a journal as it happens; an action's `changes` are what no earlier action has reported, so a
dialog that opened between two calls is not lost.
"""

from collections import deque
from typing import Literal, TypeVar

from pydantic import BaseModel, Field

from fetch.untrusted import Untrusted

KEPT = 50  # of each kind; a page that opens dialogs in a loop must not fill the memory
TEXT = 500

_T = TypeVar("_T")


class Failure(BaseModel):
    """Why a navigation that an action began did not arrive."""

    code: str
    detail: str


class NewTab(BaseModel):
    """A tab that the page opened. It does not become the active one."""

    id: str = Field(examples=["t2"])
    url: Untrusted
    error: Failure | None = Field(None, description="why its address could not be loaded")


class Dialog(BaseModel):
    """A dialog, and how it was answered."""

    kind: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: Untrusted
    answer: Literal["accepted", "dismissed"]


class Download(BaseModel):
    """A download that the page or a navigation began. Its bytes are not kept."""

    file_name: Untrusted
    url: Untrusted
    size: int | None = Field(None, description="bytes, where the server declared them")


class Navigated(BaseModel):
    """The tab shows another document, or another address, than before."""

    from_: Untrusted = Field(serialization_alias="from")
    to: Untrusted


class Changes(BaseModel):
    """The answer to "what did that do"."""

    navigated: Navigated | None = None
    navigation_error: Failure | None = None
    title: Untrusted | None = Field(None, description="the new title, where it changed")
    new_tabs: list[NewTab] = Field(default_factory=list)
    dialogs: list[Dialog] = Field(default_factory=list)
    downloads: list[Download] = Field(default_factory=list)
    closed_tabs: list[str] = Field(default_factory=list, description="ids of tabs that closed")
    console_errors: list[Untrusted] = Field(default_factory=list)
    more: int = Field(0, description="further events that were dropped because there were too many")


class Journal:
    """Collects events until an action reports them."""

    def __init__(self) -> None:
        self._dropped = 0
        self._new_tabs: deque[NewTab] = deque()
        self._dialogs: deque[Dialog] = deque()
        self._downloads: deque[Download] = deque()
        self._console_errors: deque[str] = deque()
        self._closed: deque[str] = deque()

    def tab(self, name: str, url: str) -> None:
        """A tab was opened by the page."""
        self._add(self._new_tabs, NewTab(id=name, url=url))

    def dialog(self, dialog: Dialog) -> None:
        """A dialog was answered."""
        self._add(self._dialogs, dialog)

    def download(self, download: Download) -> None:
        """A download began."""
        self._add(self._downloads, download)

    def console_error(self, text: str) -> None:
        """An error was written to the console, or was not caught."""
        self._add(self._console_errors, text[:TEXT])

    def closed(self, name: str) -> None:
        """A tab closed."""
        self._add(self._closed, name)

    def drop(self) -> None:
        """Something happened that is only counted."""
        self._dropped += 1

    def report(self) -> Changes:
        """All that was not reported before; the journal is empty then."""
        changes = Changes(
            new_tabs=list(self._new_tabs),
            dialogs=list(self._dialogs),
            downloads=list(self._downloads),
            console_errors=list(self._console_errors),
            closed_tabs=list(self._closed),
            more=self._dropped,
        )
        for kind in (self._new_tabs, self._dialogs, self._downloads, self._console_errors, self._closed):
            kind.clear()
        self._dropped = 0
        return changes

    def _add(self, kind: deque[_T], event: _T) -> None:
        if len(kind) >= KEPT:
            self._dropped += 1
        else:
            kind.append(event)
