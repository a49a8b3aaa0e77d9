"""Real deaths: of the browser, its driver, a renderer; stopped processes; what is left afterwards."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import psutil
import pytest

from browser_service.browser import Browser
from browser_service.service import Service
from tests.conftest import Session, serving, settings_for
from tests.site import Site

READY_LIMIT_S = 15


class Bench:
    """A service of this test's own, one session in it, and the browser that holds it."""

    def __init__(self, service: Service, http: httpx.AsyncClient, session: Session) -> None:
        self.service, self.http, self.session = service, http, session

    @property
    def browser(self) -> Browser:
        """The one browser."""
        return self.service.pool.fleet.browsers()[0]

    async def ready(self) -> None:
        """Wait until the service says that it is ready."""
        async with asyncio.timeout(READY_LIMIT_S):
            while (await self.http.get("/ready")).status_code != 200:
                await asyncio.sleep(0.05)

    async def another(self) -> Session:
        """One more session."""
        answer = await self.http.post("/v1/sessions")
        assert answer.status_code == 201, answer.text
        return Session(self.http, answer.json()["id"])


@pytest.fixture
async def bench(site: Site, tmp_path: Path) -> AsyncIterator[Bench]:
    """A service with one browser, and a session with a page open."""
    async with (
        Service(settings_for(site, tmp_path)) as service,
        serving(service) as base,
        httpx.AsyncClient(base_url=base, timeout=60) as http,
    ):
        made = Bench(service, http, Session(http, ""))
        made.session = await made.another()
        await made.session.do("open", url=site.page("<h1>Here</h1>"))
        yield made


def driver_pid(browser: Browser) -> int:
    """The process of its Playwright driver."""
    assert browser._driver is not None
    return browser._driver.pid


def browser_pid(browser: Browser) -> int:
    """Its main process."""
    assert browser.pid is not None
    return browser.pid


def renderers(browser: Browser) -> list[psutil.Process]:
    """Its renderer processes."""
    below = psutil.Process(browser_pid(browser)).children(recursive=True)
    return [each for each in below if any("--type=renderer" in part for part in each.cmdline())]


async def begun(bench: Bench) -> asyncio.Task[httpx.Response]:
    """A script that never ends by itself, running in the session."""
    script = {"js": "document.title = 'running'; await new Promise(() => {})", "timeout_ms": 3000}
    task = asyncio.create_task(bench.http.post(f"{bench.session.path}/evaluate", json=script))
    tab = next(iter(bench.service.sessions.get(bench.session.id, None).tabs))
    async with asyncio.timeout(3):
        while await tab.title() != "running":
            await asyncio.sleep(0.01)
    return task


@pytest.mark.parametrize("victim", [browser_pid, driver_pid])
async def test_a_death_in_the_middle_of_an_action_is_told_at_once(
    bench: Bench, site: Site, victim: Callable[[Browser], int]
) -> None:
    """The call gets browser_crashed, later ones session_expired with the reason, and a new session works."""
    task = await begun(bench)
    os.kill(victim(bench.browser), signal.SIGKILL)
    answer = await asyncio.wait_for(task, 3)
    assert answer.json()["code"] == "browser_crashed"
    later = await bench.session.refused("session_expired", "extract")
    assert later["reason"] == "browser_crashed"
    await bench.ready()
    another = await bench.another()
    await another.do("open", url=site.page("<h1>Again</h1>"))
    assert await another.value("1 + 1") == 2


@pytest.mark.parametrize("victim", [browser_pid, driver_pid])
async def test_a_death_while_idle_is_noticed(bench: Bench, victim: Callable[[Browser], int]) -> None:
    """The session has expired by the next call, and the service is ready again soon."""
    gone = bench.browser
    os.kill(victim(gone), signal.SIGKILL)
    await asyncio.wait_for(gone.dead.wait(), 3)
    assert (await bench.session.refused("session_expired", "extract"))["reason"] == "browser_crashed"
    await bench.ready()
    assert bench.browser is not gone


@pytest.mark.parametrize("victim", [browser_pid, driver_pid])
async def test_a_stopped_process_costs_no_more_than_the_time_limit(
    bench: Bench, victim: Callable[[Browser], int]
) -> None:
    """SIGSTOP mid-action: the call times out within its limit and a second, and the browser is replaced."""
    task = await begun(bench)
    began = asyncio.get_running_loop().time()
    stopped = bench.browser
    os.kill(victim(stopped), signal.SIGSTOP)
    answer = await asyncio.wait_for(task, 6)
    assert answer.json()["code"] in {"timeout", "browser_crashed"}
    assert asyncio.get_running_loop().time() - began < 3 + 1 + 1
    await asyncio.wait_for(stopped.dead.wait(), READY_LIMIT_S)
    await bench.ready()
    assert (await bench.session.refused("session_expired", "extract"))["reason"] == "browser_crashed"


async def test_a_dead_renderer_ends_the_page_and_not_the_session(bench: Bench, site: Site) -> None:
    """The call gets page_crashed; the session opens the next page with its cookies."""
    await bench.session.do("evaluate", js="document.cookie = 'kept=yes'")
    other = await bench.another()
    task = await begun(bench)
    for process in renderers(bench.browser):
        process.kill()
    answer = await asyncio.wait_for(task, 3)
    assert answer.json()["code"] == "page_crashed"
    await bench.session.refused("page_crashed", "extract")
    await bench.session.do("open", url=site.page("<h1>Next</h1>"))
    assert await bench.session.value("document.cookie") == "kept=yes"
    await other.do("open", url=site.page("<h1>Other</h1>"))


async def test_other_browsers_sessions_go_on(site: Site, tmp_path: Path) -> None:
    """With two browsers, the death of one leaves the sessions in the other alone."""
    async with (
        Service(settings_for(site, tmp_path, pool={"size": 2, "warm": 0})) as service,
        serving(service) as base,
        httpx.AsyncClient(base_url=base, timeout=60) as http,
    ):
        bench = Bench(service, http, Session(http, ""))
        async with asyncio.timeout(READY_LIMIT_S):
            while len(service.pool.fleet.browsers()) < 2:
                await asyncio.sleep(0.05)
        one, two = await bench.another(), await bench.another()
        await two.do("open", url=site.page("<h1>Alive</h1>"))
        doomed = service.sessions.get(one.id, None).seat.browser
        os.kill(browser_pid(doomed), signal.SIGKILL)
        await asyncio.wait_for(doomed.dead.wait(), 3)
        assert "Alive" in (await two.do("extract"))["content"]
        await one.refused("session_expired", "extract")


async def test_nothing_is_left_after_closing(site: Site, tmp_path: Path) -> None:
    """No process, no folder and no listening port of the service remains."""
    before = {each.pid for each in psutil.Process().children(recursive=True)}
    async with Service(settings_for(site, tmp_path)) as service:
        folder = service.pool.fleet.browsers()[0].folder.parent
        assert folder.exists()
    assert {each.pid for each in psutil.Process().children(recursive=True)} <= before
    assert not folder.exists()
