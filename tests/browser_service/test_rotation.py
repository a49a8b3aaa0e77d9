"""Upstream proxies in turn."""

from browser_service.egress import Rotation, Visit


def names(rotation: Rotation, count: int) -> list[str]:
    """The next hosts."""
    return [upstream.host for _ in range(count) if (upstream := rotation.take())]


def visit(outcome: str) -> Visit:
    """A visit that ended so."""
    return Visit("site.example", 443, outcome, "", 0.0)  # type: ignore[arg-type]


def test_proxies_are_taken_in_turn() -> None:
    """Each once, then again from the start; none where none are set."""
    assert names(Rotation(["http://a:1", "socks5://b:1", "http://c:1"]), 4) == ["a", "b", "c", "a"]
    assert Rotation([]).take() is None


def test_a_proxy_that_fails_rests() -> None:
    """It is passed over until its rest is over, or until it is seen to work."""
    rotation = Rotation(["http://a:1", "http://b:1"])
    first = rotation.take()
    assert first is not None
    rotation.note(first, visit("upstream_failed"))
    assert names(rotation, 3) == ["b", "b", "b"]
    rotation.note(first, visit("ok"))
    assert names(rotation, 2) == ["a", "b"]


def test_when_all_rest_the_one_that_wakes_first_is_taken() -> None:
    """The service does not stop."""
    rotation = Rotation(["http://a:1", "http://b:1"])
    for _ in range(2):
        upstream = rotation.take()
        assert upstream is not None
        rotation.note(upstream, visit("upstream_failed"))
    assert names(rotation, 1) == ["a"]


def test_the_password_does_not_show() -> None:
    """Nor in what a log would print."""
    assert "canary" not in repr(Rotation(["http://u:canary@a:1"]).take())
