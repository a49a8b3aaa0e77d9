"""The ladder: which way is taken, when it goes on, and what comes of it. The ways are played here."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from fetch.errors import Blocked, ContentTooLarge, NavigationFailed, TabwrightError, TimedOut, UpstreamStatus
from fetch.page import Cookie, Outcome, Page, Reading, Verdict, Wish
from fetch.web_fetch import Ask, Fetched, web_fetch

LONG = "Words that are content. " * 100
URL = "http://site.example/page"
Step = tuple[Page, Reading] | TabwrightError


def seen(
    way: str,
    content: str = LONG,
    *,
    outcome: Outcome = "ok",
    render: str | None = None,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Step:
    """A page by this way, and what is read in it."""
    html = content if way == "browser" else None
    page = Page(URL, "browser" if html is not None else "http", status, "text/html", html=html, headers=headers or {})
    verdict = Verdict(outcome, () if outcome == "ok" else ("some rule",))
    return page, Reading(content, verdict=verdict, render=render, characters=len(content))


@dataclass
class Played:
    """Ways that give what was written down, in order; `log` tells which were taken."""

    http_gives: Step | None = None
    light_gives: Step | None = None
    full_gives: Step | None = None
    pause_s: float = 0.0
    log: list[str] = field(default_factory=list)
    cookies: tuple[Cookie, ...] = ()
    _readings: dict[int, Reading] = field(default_factory=dict)

    async def http(self, ask: Ask, deadline: float) -> Page:
        return self._give("http", self.http_gives)

    async def browser(self, ask: Ask, cookies: tuple[Cookie, ...], deadline: float, *, light: bool) -> Page:
        self.cookies = cookies
        return self._give("light" if light else "full", self.light_gives if light else self.full_gives)

    async def read(self, page: Page, wish: Wish, limit_s: float) -> Reading:
        return self._readings[id(page)]

    def pause(self, page: Page) -> float:
        return self.pause_s

    def _give(self, name: str, step: Step | None) -> Page:
        self.log.append(name)
        assert step is not None, f"the {name} way was not expected"
        if isinstance(step, TabwrightError):
            raise step
        self._readings[id(step[0])] = step[1]
        return step[0]


async def climb(ways: Played, **given: object) -> Fetched:
    """Fetch by these ways."""
    return await web_fetch(Ask(URL, "site.example", **given), ways)  # type: ignore[arg-type]


async def test_a_whole_page_needs_no_browser() -> None:
    """Plain HTTP gave all of it: that is the result."""
    ways = Played(http_gives=seen("http"))
    found = await climb(ways)
    assert (ways.log, found.page.method, [each.phase for each in found.phases]) == (["http"], "http", ["http"])


async def test_a_page_that_needs_its_scripts_is_rendered_by_the_light_browser() -> None:
    """The upgrade says why, and the light browser's text is the result."""
    ways = Played(http_gives=seen("http", "Loading", render="an empty shell"), light_gives=seen("browser"))
    found = await climb(ways)
    assert ways.log == ["http", "light"]
    assert [(each.phase, each.why) for each in found.phases][1] == ("upgrade", "an empty shell")
    assert found.reading.content == LONG


@pytest.mark.parametrize("status", [403, 429, 502, 503])
async def test_a_refusal_goes_straight_to_the_full_browser(status: int) -> None:
    """These answers are not for a cheaper way."""
    ways = Played(http_gives=seen("http", "No", status=status), full_gives=seen("browser"))
    assert (await climb(ways)).page.method == "browser"
    assert ways.log == ["http", "full"]


async def test_a_403_with_an_article_is_content() -> None:
    """Readable content succeeds whatever the status."""
    ways = Played(http_gives=seen("http", status=403))
    assert (await climb(ways)).page.status == 403
    assert ways.log == ["http"]


async def test_a_wall_for_the_light_browser_goes_on_to_the_full_one() -> None:
    """Three ways up, and the content at the end."""
    ways = Played(
        http_gives=seen("http", "", render="a shell"),
        light_gives=seen("browser", "Checking", outcome="challenge"),
        full_gives=seen("browser"),
    )
    found = await climb(ways)
    assert ways.log == ["http", "light", "full"]
    assert found.reading.content == LONG


@pytest.mark.parametrize("outcome", ["blocked", "challenge", "login_wall"])
async def test_a_wall_that_stands_is_an_error(outcome: Outcome) -> None:
    """It carries the outcome, what it rests on, what was seen, and the phases."""
    wall = seen("browser", "Access denied", outcome=outcome, status=403)
    ways = Played(http_gives=seen("http", "Access denied", outcome=outcome, status=403), full_gives=wall)
    with pytest.raises(Blocked) as caught:
        await climb(ways)
    about = caught.value.about
    assert (about["outcome"], about["upstream_status"], about["content"]) == (outcome, 403, "Access denied")
    assert about["evidence"] == ["some rule"]
    assert len(about["phases"]) == 2  # type: ignore[arg-type]


async def test_what_http_gave_is_kept_when_the_browser_fails() -> None:
    """A rendering that fails costs nothing but a warning."""
    ways = Played(http_gives=seen("http", "Short, but something", render="scripts"), light_gives=TimedOut("too slow"))
    found = await climb(ways)
    assert (found.reading.content, found.page.method) == ("Short, but something", "http")
    assert any("too slow" in each for each in found.reading.warnings)


async def test_an_empty_shell_is_no_result() -> None:
    """Where the page was still to be built and no browser did it, that is the failure."""
    shell = seen("http", "", outcome="empty", render="a shell")
    with pytest.raises(TimedOut):
        await climb(Played(http_gives=shell, light_gives=TimedOut("too slow")))


async def test_what_http_gave_is_kept_when_the_browser_shows_less() -> None:
    """A page whose scripts take its text away is read as it came."""
    ways = Played(http_gives=seen("http", LONG, render="scripts"), light_gives=seen("browser", "Gone"))
    found = await climb(ways)
    assert (found.reading.content, found.page.method) == (LONG, "http")


async def test_connection_faults_go_on_and_final_ones_do_not() -> None:
    """A reset is worth a browser; a name that does not exist and a body that is too large are not."""
    reset = Played(http_gives=NavigationFailed("reset", about={"reason": "reset"}), light_gives=seen("browser"))
    assert (await climb(reset)).page.method == "browser"
    for fault in (NavigationFailed("dns", about={"reason": "dns"}), ContentTooLarge("too large")):
        ways = Played(http_gives=fault)
        with pytest.raises(type(fault)):
            await climb(ways)
        assert ways.log == ["http"]


async def test_render_never_ends_with_http() -> None:
    """A wall is then an error at once, a shell is what there is."""
    with pytest.raises(Blocked):
        await climb(Played(http_gives=seen("http", "Captcha", outcome="challenge")), render="never")
    found = await climb(Played(http_gives=seen("http", "Loading", render="a shell")), render="never")
    assert found.reading.content == "Loading"


async def test_render_always_begins_with_the_browser() -> None:
    """There is no HTTP phase."""
    ways = Played(light_gives=seen("browser"))
    assert [each.phase for each in (await climb(ways, render="always")).phases] == ["browser"]


@pytest.mark.parametrize(("status", "content"), [(500, ""), (404, ""), (503, "Service unavailable"), (429, "Slow")])
async def test_an_error_status_without_content_is_an_error(status: int, content: str) -> None:
    """It names the status."""
    step = seen("http", content, status=status, outcome="ok" if content else "empty")
    ways = Played(http_gives=step, full_gives=seen("browser", content, status=status))
    with pytest.raises(UpstreamStatus, match=str(status)):
        await climb(ways)


async def test_a_404_that_says_something_is_a_result() -> None:
    """Its outcome is not_found."""
    ways = Played(http_gives=seen("http", "No such page. Try the search.", status=404, outcome="not_found"))
    assert (await climb(ways)).reading.verdict.outcome == "not_found"


async def test_a_host_that_asks_for_a_pause_gets_it() -> None:
    """The browser waits for it where it fits; else the failure says how long."""
    busy = seen("http", "Slow down", status=429)
    short = Played(http_gives=busy, full_gives=seen("browser"), pause_s=0.05)
    began = asyncio.get_running_loop().time()
    await climb(short)
    assert asyncio.get_running_loop().time() - began >= 0.05
    long = Played(http_gives=busy, pause_s=3600)
    with pytest.raises(UpstreamStatus) as caught:
        await climb(long)
    assert long.log == ["http"]
    assert caught.value.retry_after_s == pytest.approx(3600, abs=5)


async def test_the_browser_gets_the_cookies_of_the_http_phase() -> None:
    """One visitor: what the site set is there in the browser."""
    page, reading = seen("http", "Hold on", outcome="challenge")  # type: ignore[misc]
    cookie = Cookie("pass", "1", "site.example")
    page = Page(URL, "http", 403, "text/html", cookies=(cookie,))
    ways = Played(http_gives=(page, reading), full_gives=seen("browser"))
    await climb(ways)
    assert ways.cookies == (cookie,)


@pytest.mark.parametrize(("limit", "share"), [(10.0, 7.0), (100.0, 20.0), (None, 20.0)])
async def test_a_limit_for_the_call_leaves_time_for_the_browser(limit: float | None, share: float) -> None:
    """HTTP has at most 20 s and seven tenths of the limit."""
    left: Callable[[float], float] = lambda deadline: deadline - asyncio.get_running_loop().time()  # noqa: E731

    class Timed(Played):
        async def http(self, ask: Ask, deadline: float) -> Page:
            self.log.append(f"{left(deadline):.1f}")
            raise TimedOut("slow")

    ways = Timed(light_gives=seen("browser"))
    await climb(ways, limit_s=limit)
    assert float(ways.log[0]) == pytest.approx(share, abs=0.2)
