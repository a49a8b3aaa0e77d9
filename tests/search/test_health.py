"""Engines that refuse are left alone, and asked again."""

import pytest

from search.engine import Answer, State
from search.health import Health


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The time of a test."""
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    """A health record on that time; on the wall it is 1970."""
    return Health(clock, lambda: clock.now - 1000)


def note(health: Health, state: State, retry_after_s: float | None = None) -> None:
    """An answer of Bing."""
    health.note(Answer("bing", state, error="Why.", retry_after_s=retry_after_s))


def rest(health: Health) -> float:
    """Seconds that Bing still rests, on the wall clock that began at 0 with the test."""
    until = health.resting_until("bing")
    return until.timestamp() if until is not None else 0


def test_rests_double_up_to_an_hour(health: Health, clock: Clock) -> None:
    """60 s, then twice as long each time that the engine refuses again."""
    rests = []
    for _ in range(8):
        began = clock.now - 1000
        note(health, "blocked")
        rests.append(rest(health) - began)
        clock.now = 1000 + rest(health)
    assert rests == [60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_a_good_answer_ends_it(health: Health, clock: Clock) -> None:
    """After one the next rest begins at 60 s again; an honest nothing is good as well."""
    for good in ("ok", "empty"):
        note(health, "blocked")
        note(health, good)
        assert rest(health) == 0
    note(health, "blocked")
    assert rest(health) == 60


@pytest.mark.parametrize(("asked", "given"), [(10, 60), (900, 900), (1e9, 21600), (-5, 60)])
def test_a_longer_retry_after_is_respected(health: Health, asked: float, given: float) -> None:
    """But not beyond six hours."""
    note(health, "blocked", asked)
    assert rest(health) == given


def test_answers_from_before_a_rest_do_not_double_it(health: Health, clock: Clock) -> None:
    """Several searches that are refused at once make one rest."""
    for _ in range(5):
        note(health, "blocked")
    assert rest(health) == 60


def test_three_faults_in_a_row_make_a_rest(health: Health) -> None:
    """One timeout or error says little; three in a row say that it is of no use to ask now."""
    for state in ("timeout", "error"):
        note(health, state)
    assert rest(health) == 0
    note(health, "unreadable")
    assert rest(health) == 60


def test_decoys_rest_for_ten_minutes_at_most(health: Health, clock: Clock) -> None:
    """An engine that answers some queries well is asked again before long."""
    for _ in range(6):
        clock.now = max(clock.now, 1000 + rest(health))
        note(health, "low_quality")
    assert rest(health) - (clock.now - 1000) == 600


def test_the_snapshot_says_how_it_is(health: Health, clock: Clock) -> None:
    """State, error and counts of all engines, and until when they rest, on the wall clock."""
    note(health, "blocked")
    health.note(Answer("bing", "resting"))
    shown = health.snapshot()["bing"]
    assert (shown.state, shown.error, shown.resting_until) == ("resting", "Why.", "1970-01-01T00:01:00Z")
    clock.now += 61
    assert (health.snapshot()["bing"].state, health.snapshot()["bing"].counts) == ("blocked", {"blocked": 1})


def test_unknown_engines_may_be_asked(health: Health) -> None:
    """What has not answered yet does not rest; a flood of names is not kept."""
    assert health.resting_until("mojeek") is None
    for number in range(2000):
        health.note(Answer(f"engine {number}", "ok"))
    assert len(health.snapshot()) == 500


def test_engines_that_others_ask_are_only_noted() -> None:
    """What they did is kept; they never rest."""
    health = Health(rests=False)
    for state in ("ok", "blocked", "blocked"):
        health.note(Answer("searxng/google", state))
    seen = health.snapshot()["searxng/google"]
    assert (seen.state, seen.resting_until, seen.counts) == ("blocked", None, {"ok": 1, "blocked": 2})
