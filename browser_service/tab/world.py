"""Our own JavaScript world in a page: it shares the DOM with the page's scripts, and they cannot see it.

Every document gets the world before its first script (`Page.addScriptToEvaluateOnNewDocument` with a world name); the
DevTools session tells its context id. A binding that exists in this world alone carries messages back.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.errors import NoPage, ScriptFailed, TimedOut

_log = logging.getLogger(__name__)

NAME = "reader"
_BINDING = "tell"
TERMINATE_LIMIT_S = 0.3
TITLE = 1000  # characters of a document's title that are kept


class Call(Protocol):
    """Runs a JavaScript function source with JSON arguments in some document, and gives its JSON value."""

    async def __call__(self, function: str, *arguments: object, timeout_s: float) -> Any: ...


class WorldGone(Exception):
    """The document went away during the call (a navigation); asking again reaches the next one."""


def script(name: str) -> str:
    """The source of one of our page scripts, which lie beside this file."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


async def terminate(cdp: CDPSession) -> None:
    """End whatever script runs in the page, the caller's or the page's own (3-12 ms); the page stays usable."""
    try:
        async with asyncio.timeout(TERMINATE_LIMIT_S):
            await cdp.send("Runtime.terminateExecution")
    except (TimeoutError, PlaywrightError) as fault:
        _log.debug("terminateExecution did not answer: %s", fault)


class World:
    """The isolated world of a tab's main frame, across its navigations.

    `source` runs in each new document's world, in every frame; there, `tell(text)` reaches `on_message`.
    """

    def __init__(self, cdp: CDPSession, on_message: Callable[[str], None] | None = None) -> None:
        self._cdp = cdp
        self.on_message = on_message
        self.frame = ""
        self._context: int | None = None
        self._ready = asyncio.Event()

    async def arm(self, source: str) -> None:
        """Install the world in the present document and in all later ones."""
        cdp = self._cdp
        cdp.on("Runtime.executionContextCreated", self._created)
        cdp.on("Runtime.executionContextDestroyed", self._destroyed)
        cdp.on("Runtime.executionContextsCleared", self._cleared)
        cdp.on("Runtime.bindingCalled", self._told)
        tree = await cdp.send("Page.getFrameTree")
        self.frame = tree["frameTree"]["frame"]["id"]
        await asyncio.gather(
            cdp.send("Page.enable"),
            cdp.send("Runtime.enable"),
            cdp.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": NAME}),
            cdp.send(
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": source, "worldName": NAME, "runImmediately": True},
            ),
        )

    async def __call__(self, function: str, *arguments: object, timeout_s: float, patient: bool = False) -> Any:
        """Call `function` (source text) with JSON `arguments`; promises are awaited; the value must be JSON.

        Raises WorldGone when the document is replaced meanwhile, TimedOut after `timeout_s` (running script is then
        terminated, unless `patient`), ScriptFailed when the function throws.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._ready.wait()
                answer = await self._cdp.send(
                    "Runtime.callFunctionOn",
                    {
                        "functionDeclaration": function,
                        "executionContextId": self._context,
                        "arguments": [{"value": each} for each in arguments],
                        "awaitPromise": True,
                        "returnByValue": True,
                    },
                )
        except TimeoutError:
            if not patient:
                await terminate(self._cdp)
            raise TimedOut("The page did not answer in time.", hint="Raise timeout_ms, or open it anew.") from None
        except PlaywrightError as fault:
            if is_gone(fault):
                raise WorldGone(str(fault)) from fault
            raise
        try:
            return unwrap(answer)
        except ScriptFailed as fault:  # a script of ours: the page is in a state that none should be in
            why = fault.detail.splitlines()[0][:200]
            raise NoPage(f"The page's document cannot be used: {why}.", hint="Open it anew.") from fault

    def _created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == NAME and context["auxData"].get("frameId") == self.frame:
            self._context = context["id"]
            self._ready.set()

    def _destroyed(self, event: dict[str, Any]) -> None:
        if event.get("executionContextId") == self._context:
            self._cleared(event)

    def _cleared(self, _event: dict[str, Any]) -> None:
        self._context = None
        self._ready.clear()

    def _told(self, event: dict[str, Any]) -> None:
        if self.on_message is None or event["name"] != _BINDING or event["executionContextId"] != self._context:
            return
        try:
            self.on_message(event["payload"])
        except Exception:  # noqa: BLE001  a handler that raises would end Playwright's whole connection
            _log.exception("a message from the page was not understood")


@contextlib.contextmanager
def gone_with_its_document() -> Iterator[None]:
    """Turns Playwright's error for a document that was replaced into WorldGone."""
    try:
        yield
    except PlaywrightError as fault:
        if is_gone(fault):
            raise WorldGone(str(fault)) from fault
        raise


def is_gone(fault: PlaywrightError) -> bool:
    """Whether a DevTools call failed only because its document was replaced."""
    text = str(fault)
    return any(
        sign in text
        for sign in (
            "Cannot find context",
            "context was destroyed",
            "Inspected target navigated",
            "uniqueContextId not found",
            "Cannot find default execution context",
        )
    )


def unwrap(answer: dict[str, Any]) -> Any:
    """The value of a Runtime.evaluate or callFunctionOn answer; raises ScriptFailed for a thrown one."""
    thrown = answer.get("exceptionDetails")
    if thrown is None:
        return answer["result"].get("value")
    thing = thrown.get("exception", {})
    said = thing.get("description") or thing.get("value") or thrown.get("text", "the script failed")
    raise ScriptFailed(said if isinstance(said, str) else json.dumps(said))
