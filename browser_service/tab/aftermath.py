"""What an input (a click, a key) began, without fixed sleeps.

Whatever its handlers begin at once has begun when two tasks have run in the page and one round trip has been made
through the browser process, where `history.back()` begins. If that was nothing, that is all.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import CDPSession

from browser_service.tab.document import Begun, Observer
from browser_service.tab.events import Signal, loop_time
from browser_service.tab.navigation import Navigator
from browser_service.tab.network import Network
from browser_service.tab.readiness import ANSWER_LIMIT_S, Settled

REQUEST_LIMIT_S = 1.0  # what an input asked for is waited for so long
QUIET_S = 0.08  # after its answer, or after the changes that it made


@dataclass(frozen=True)
class Effect:
    """What an input began.

    `navigated`: a navigation to another document, and `committed`: that document came (it was no download, 204 or
    failure); `settled` is how the new page settled, or how what else was begun ended. `moved`: the address changed
    within the document. `windows`: how many the page opened. `changed`: the document was modified.
    """

    navigated: bool = False
    committed: bool = False
    settled: Settled | None = None
    moved: bool = False
    windows: int = 0
    changed: bool = False


@dataclass(frozen=True)
class _Mark:
    """How things stood before an input."""

    time: float = 0.0
    commits: int = 0
    moves: int = 0
    windows: int = 0


class Aftermath:
    """Follows what begins after `mark`."""

    def __init__(
        self, cdp: CDPSession, signal: Signal, navigator: Navigator, network: Network, observer: Observer
    ) -> None:
        self._cdp = cdp
        self._signal = signal
        self._navigator = navigator
        self._network = network
        self._observer = observer
        self._mark = _Mark()

    def mark(self) -> None:
        """What began before this moment does not count."""
        navigator = self._navigator
        self._mark = _Mark(loop_time(), navigator.commits, navigator.moves, navigator.windows)

    @property
    def begun(self) -> bool:
        """Whether a navigation, a window or a request was begun since, as far as is known without asking."""
        return self._navigated() or self._requesting() or self._navigator.windows > self._mark.windows

    async def follow(self, deadline: float, settle: Callable[[float], Awaitable[Settled]]) -> Effect:
        """Until what was begun has arrived, at most until `deadline` (loop time); a new page is settled by `settle`."""
        limit = min(deadline, loop_time() + REQUEST_LIMIT_S)
        changed = await self._until_over(limit, deadline)
        navigated = self._navigated()
        settled = Settled("ceiling", waited_for="what the input began") if loop_time() >= limit else Settled("quiet")
        await self._navigator.wait(deadline)
        committed = self._navigator.commits > self._mark.commits
        if committed:
            settled = await settle(deadline)
        return Effect(
            navigated=navigated,
            committed=committed,
            settled=settled,
            moved=self._navigator.moves > self._mark.moves,
            windows=self._navigator.windows - self._mark.windows,
            changed=changed,
        )

    async def _until_over(self, limit: float, deadline: float) -> bool:
        """Wait while something but a navigation is under way. Tells whether the document was modified."""
        changed = False
        while True:
            answer = await self._ask(deadline)
            changed = changed or (answer is not None and answer.changed)
            while self._requesting() and not self._navigated() and loop_time() < limit:
                await self._signal.wait(limit)
            until, now = self._quiet_at(answer), loop_time()
            if self._navigated() or until <= now or now >= limit:
                return changed
            await self._signal.wait(min(until, limit))

    async def _ask(self, deadline: float) -> Begun | None:
        answer = await self._observer.effects(self._mark.time, min(ANSWER_LIMIT_S, deadline - loop_time()))
        if not self._navigated():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await self._cdp.send("Page.getNavigationHistory")
        return answer

    def _navigated(self) -> bool:
        return self._navigator.navigating or self._navigator.commits > self._mark.commits

    def _requesting(self) -> bool:
        """Whether a request begun since the mark has not ended."""
        since = self._mark.time
        return any(each.started >= since and not each.held for each in self._network.pending.values())

    def _quiet_at(self, answer: Begun | None) -> float:
        """When what was begun counts as over."""
        if answer is None:
            return loop_time() + QUIET_S
        ended = max(self._network.ended, self._network.frame_ended)
        if ended <= self._mark.time:
            return answer.due
        return max(answer.due, ended + QUIET_S, answer.last_change + QUIET_S)
