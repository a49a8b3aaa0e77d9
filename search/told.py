"""Answers with the circumstances in which they came, and what it means when all of them are failures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fetch.errors import Blocked, InvalidRequest, TabwrightError, TimedOut, UpstreamStatus
from search.engine import Answer
from search.progress import Event

_GOOD = frozenset({"ok", "empty"})
_REFUSED = frozenset({"blocked", "resting", "low_quality"})
_SET_UP = "Save it at /ui/settings or with `tabwright settings set`, or choose another adapter."
_HINT = "Try again later, name other engines, or set up SearXNG or an API: tabwright settings."


@dataclass(frozen=True, slots=True)
class Told:
    """An engine's answer; `resting_until`: an ISO 8601 time before which the engine is not asked again."""

    answer: Answer
    elapsed_ms: int = 0
    resting_until: str | None = None

    @property
    def good(self) -> bool:
        """Whether the engine did what it was asked for, though it may have found nothing."""
        return self.answer.state in _GOOD

    def event(self) -> Event:
        """The news of it."""
        answer = self.answer
        about = {"engine": answer.engine, "state": answer.state, "hits": len(answer.hits)}
        return Event("engine_done", about | {"elapsed_ms": self.elapsed_ms, "error": answer.error})


@dataclass(frozen=True, slots=True)
class Sourced:
    """What one source gave: an answer for each engine behind it; `formatted`: text that could not be read as results.

    `unusable` says what the caller has to change before it can be asked at all.
    """

    told: Sequence[Told] = ()
    warnings: Sequence[str] = ()
    formatted: str | None = None
    unusable: str | None = None

    @property
    def good(self) -> bool:
        """Whether there is something to go on with."""
        return self.formatted is not None or any(each.good for each in self.told)


def failure(tried: Iterable[tuple[str, Sourced]]) -> TabwrightError:
    """The error for a search in which every engine of every source failed; it says why, for each."""
    sources = list(tried)
    told = [each for _, sourced in sources for each in sourced.told]
    states = {each.answer.state for each in told}
    said = [f"{each.answer.engine}: {each.answer.error or each.answer.state}" for each in told]
    said += [sourced.unusable for _, sourced in sources if sourced.unusable]
    why = " ".join(each if each.endswith((".", "!", "?")) else f"{each}." for each in said)
    about = {
        "engine_stats": {each.answer.engine: stats(each) for each in told},
        "mode": sources[-1][0] if sources else None,
    }
    if not told:
        return InvalidRequest(why or "There is no engine to ask.", hint=_SET_UP, about=about)
    pauses = [each.answer.retry_after_s for each in told if each.answer.retry_after_s is not None]
    kind = Blocked if states <= _REFUSED else TimedOut if states == {"timeout"} else UpstreamStatus
    return kind(
        f"No engine answered the search. {why}",
        hint=_HINT,
        retry_after_s=min(pauses, default=None),
        about=about,
    )


def stats(told: Told) -> dict[str, object]:
    """What became of an engine, for the result."""
    return {
        "state": told.answer.state,
        "hits": len(told.answer.hits),
        "elapsed_ms": told.elapsed_ms,
        "error": told.answer.error,
        "resting_until": told.resting_until,
    }
