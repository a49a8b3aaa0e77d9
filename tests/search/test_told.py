"""What it means when every engine fails."""

import pytest

from fetch.errors import Blocked, InvalidRequest, TabwrightError, TimedOut, UpstreamStatus
from search.engine import Answer, Hit, State
from search.told import Sourced, Told, failure, stats


def told(state: State, name: str = "bing", error: str | None = None, pause: float | None = None) -> Told:
    """An answer without results."""
    return Told(Answer(name, state, error=error, retry_after_s=pause), 7)


def failed(*given: Told, unusable: str | None = None) -> TabwrightError:
    """The error for one source."""
    return failure([("builtin", Sourced(given, unusable=unusable))])


@pytest.mark.parametrize(
    ("states", "kind"),
    [
        (("blocked", "resting", "low_quality"), Blocked),
        (("timeout", "timeout"), TimedOut),
        (("timeout", "blocked"), UpstreamStatus),
        (("error",), UpstreamStatus),
        (("unreadable", "blocked"), UpstreamStatus),
    ],
)
def test_the_kind_is_what_all_have_in_common(states: tuple[State, ...], kind: type[TabwrightError]) -> None:
    """Refused, late, or anything else."""
    fault = failed(*(told(state, f"engine{at}") for at, state in enumerate(states)))
    assert type(fault) is kind
    assert all(f"engine{at}: {state}." in fault.detail for at, state in enumerate(states))


def test_every_engine_says_why() -> None:
    """One sentence each, and the figures beside them."""
    fault = failed(told("blocked", "bing", "A captcha."), told("timeout", "baidu", "It is late"))
    assert fault.detail == "No engine answered the search. bing: A captcha. baidu: It is late."
    assert fault.about["engine_stats"] == {
        "bing": {"state": "blocked", "hits": 0, "elapsed_ms": 7, "error": "A captcha.", "resting_until": None},
        "baidu": {"state": "timeout", "hits": 0, "elapsed_ms": 7, "error": "It is late", "resting_until": None},
    }
    assert "tabwright settings" in (fault.hint or "")


def test_the_shortest_pause_counts() -> None:
    """After it one of them may be asked again."""
    assert failed(told("blocked", pause=60), told("blocked", pause=5), told("blocked")).retry_after_s == 5
    assert failed(told("blocked")).retry_after_s is None


def test_what_is_not_set_up_is_said_first_of_all_when_nothing_else_is() -> None:
    """It is the caller's to mend; beside failures it is one more of them."""
    alone = failed(unusable="A key is missing.")
    assert isinstance(alone, InvalidRequest)
    assert alone.detail == "A key is missing."
    both = failure([("tavily", Sourced(unusable="A key is missing.")), ("builtin", Sourced([told("timeout")]))])
    assert isinstance(both, TimedOut)
    assert both.detail.endswith("bing: timeout. A key is missing.")
    assert both.about["mode"] == "builtin"


def test_nobody_to_ask() -> None:
    """No source at all."""
    assert isinstance(failure([]), InvalidRequest)


@pytest.mark.parametrize(
    ("sourced", "good"),
    [
        (Sourced([told("ok"), told("blocked")]), True),
        (Sourced([told("empty")]), True),
        (Sourced([told("low_quality"), told("resting"), told("error")]), False),
        (Sourced([told("error")], formatted="text"), True),
        (Sourced(), False),
    ],
)
def test_one_good_answer_is_enough(sourced: Sourced, good: bool) -> None:
    """Nothing found is a good answer, as is a text."""
    assert sourced.good is good


def test_an_answer_as_news_and_as_figures() -> None:
    """Hits are counted, not given."""
    answer = Told(Answer("bing", "ok", (Hit("A", "https://a.example/"),)), 12, "2026-11-30T10:00:00Z")
    assert answer.event().name == "engine_done"
    assert answer.event().data == {"engine": "bing", "state": "ok", "hits": 1, "elapsed_ms": 12, "error": None}
    assert stats(answer)["resting_until"] == "2026-11-30T10:00:00Z"
