"""What a page has put off: timers that may still bring content, and elements whose sight it waits for (timers.js).

In a light browser the page's timer functions are wrapped, which it could notice. Else V8's debugger counts: a
breakpoint at the entry of a built-in function, with a condition that notes the call and is never true. Nothing that a
script can look at is changed by it. It costs 2 to 15 ms of CPU a document with scripts, by the size of the heap, and
0.08 ms a call; and WebAssembly runs at a third of its speed while the debugger is on (Chromium 156). So it is turned
off, until we navigate again, for a page that sets timers by the thousand or brings WebAssembly.
"""

import asyncio
import logging
import secrets
from typing import Any, NamedTuple

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.tab.events import guarded
from browser_service.tab.world import script

_log = logging.getLogger(__name__)

CALLS = 1000
SWITCH_LIMIT_S = 0.5  # a busy page answers late, but in order

_Calls = tuple[tuple[str, dict[str, Any]], ...]
_ON: _Calls = (("Debugger.enable", {"maxScriptsCacheSize": 0}), ("Debugger.setSkipAllPauses", {"skip": True}))
_OFF: _Calls = (("Debugger.disable", {}),)


class Pending(NamedTuple):
    """What is put off, in seconds from now."""

    latest: float  # when the last timer fires that is waited for
    soon: float  # … and the last of those that were set to a few ms
    next: float  # … and the next step of what repeats in short ones
    lazy: bool  # an empty element below the screen is watched


class Timers:
    """Counts in all documents of a page. `event` is the name by which our own world asks for the count."""

    def __init__(self, cdp: CDPSession, *, hooked: bool) -> None:
        self.event = f"e{secrets.token_hex(8)}"
        self._cdp = cdp
        self._hooked = hooked
        self._counting = True
        self._arrived = False  # whether a document has come since counting began
        self._stopping: asyncio.Task[None] | None = None

    async def attach(self) -> None:
        """Begin to count: in a blank document at once, else from the next one on."""
        source = self._source()
        given = {"includeCommandLineAPI": self._hooked}
        if self._hooked:
            self._cdp.on("Debugger.scriptParsed", guarded(self._script_parsed))
        await asyncio.gather(
            self._cdp.send("Page.enable"),
            *(self._cdp.send(method, given) for method, given in (_ON if self._hooked else ())),
            self._cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, **given}),
            self._cdp.send("Runtime.evaluate", {"expression": source, **given}),
        )

    def read(self, answer: dict[str, Any] | None) -> Pending | None:
        """The count that a document answered; None where it is not known."""
        if answer is None or not self._counting:
            return None
        if self._hooked and answer["calls"] > CALLS:
            self._stop()
            return None
        latest, soon, following = (answer[name] / 1000 for name in ("latest", "soon", "next"))
        return Pending(latest, soon, following, lazy=answer["lazy"])

    def committed(self) -> None:
        """A document has come."""
        self._arrived = True

    async def resume(self) -> None:
        """We navigate: count again."""
        if not self._counting:
            self._counting, self._arrived = True, False
            await self._send(_ON)

    def _stop(self) -> None:
        self._counting = False
        self._stopping = asyncio.ensure_future(self._send(_OFF))

    def _script_parsed(self, event: dict[str, Any]) -> None:
        if event.get("scriptLanguage") == "WebAssembly" and self._counting and self._arrived:
            self._stop()

    async def _send(self, calls: _Calls) -> None:
        try:
            async with asyncio.timeout(SWITCH_LIMIT_S):
                await asyncio.gather(*(self._cdp.send(method, given) for method, given in calls))
        except (PlaywrightError, TimeoutError) as fault:
            _log.debug("the debugger was not switched: %s", fault)

    def _source(self) -> str:
        names = {
            "SECRET": f"s{secrets.token_hex(8)}",
            "EVENT": f"'{self.event}'",
            "HOOKED": "true" if self._hooked else "false",
        }
        source = script("timers.js")
        for name, value in names.items():
            source = source.replace(name, value)
        return source
