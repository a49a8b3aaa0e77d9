"""Two hundred sessions opened, used and closed leave as much behind as twenty."""

import asyncio
import gc
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest

from browser_service.service import Service
from tests.browser_service.running import processes_in
from tests.conftest import Session, serving, settings_for
from tests.site import Site

FEW, MANY, AT_ONCE = 20, 200, 4
QUIET_LIMIT_S = 15

# How much more of each there may be after many than after few: noise, far below one for every session.
NOISE = {
    "processes": 3,
    "open files": 6,
    "open files of the driver": 6,
    "tasks": 4,
    "threads": 8,
    "listening sockets": 0,
    "temporary files": 40,
    "Python objects": 5 * (MANY - FEW),
    "MiB of this process": 40,
}


@pytest.fixture
async def service(site: Site, tmp_path: Path) -> AsyncIterator[Service]:
    """A service of this test's own."""
    pool = {"size": 1, "sandbox": "off"}
    async with Service(settings_for(site, tmp_path, pool=pool)) as service:
        yield service


async def use_one(http: httpx.AsyncClient, url: str, number: int) -> None:
    """A session as callers use it: some actions, one that fails, and in some one that opens another tab."""
    session = Session(http, (await http.post("/v1/sessions")).json()["id"])
    await session.do("open", url=url)
    button = "#new" if number % AT_ONCE == 0 else "#old"
    clicked = await session.do("click", selector=button)
    assert len(clicked["changes"]["new_tabs"]) == (button == "#new")
    assert (await session.do("extract"))["content"]
    await session.refused("element_not_found", "click", selector="#nowhere")
    assert (await session.do("screenshot", format="jpeg", max_width=200))["width"] == 200
    assert (await http.delete(session.path)).status_code == 204


async def use(http: httpx.AsyncClient, url: str, sessions: int) -> None:
    """So many, a few at a time."""
    for _ in range(sessions // AT_ONCE):
        await asyncio.gather(*(use_one(http, url, number) for number in range(AT_ONCE)))


def held(service: Service) -> dict[str, int]:
    """What the service holds of each kind."""
    gc.collect()
    (browser,) = service.pool.fleet.browsers()
    assert browser._driver is not None
    this = psutil.Process()
    return {
        "processes": len(processes_in(browser.folder)),
        "open files": this.num_fds(),
        "open files of the driver": psutil.Process(browser._driver.pid).num_fds(),
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        # Every context has one; those made ahead may be some more or less.
        "listening sockets": sum(each.status == "LISTEN" for each in this.net_connections("tcp")) - service.pool.warm(),
        "temporary files": sum(len(folders) + len(files) for _, folders, files in os.walk(browser.folder)),
        "Python objects": len(gc.get_objects()),
        "MiB of this process": this.memory_info().rss // 2**20,
    }


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, tuple[int, int]]:
    """What has grown by more than noise: before and after."""
    return {name: (before[name], after[name]) for name in NOISE if after[name] > before[name] + NOISE[name]}


async def quiet(service: Service) -> None:
    """Wait until the contexts that were used are closed and no others are being made."""
    async with asyncio.timeout(QUIET_LIMIT_S):
        while service.pool._tasks:
            await asyncio.sleep(0.05)


async def flat(service: Service, before: dict[str, int]) -> None:
    """Wait until nothing is held beyond noise: closing goes on a little behind the answers."""
    end = asyncio.get_running_loop().time() + QUIET_LIMIT_S
    while (more := grown(before, held(service))) and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.5)
    assert more == {}


@pytest.mark.timeout(240)
async def test_nothing_grows_with_the_number_of_sessions(service: Service, site: Site) -> None:
    """Processes, open files, tasks, threads, sockets, temporary files, objects, memory."""
    url = site.page("<button id=old>Stay</button><button id=new onclick=\"window.open('about:blank')\">Go</button>")
    async with serving(service) as base, httpx.AsyncClient(base_url=base, timeout=60) as http:
        await use(http, url, FEW)
        await quiet(service)
        before = held(service)
        await use(http, url, MANY - FEW)
        await quiet(service)
        await flat(service, before)
        assert len(service.sessions) == 0


async def abandon(http: httpx.AsyncClient, url: str, times: int) -> None:
    """Go away in the middle of an action, and of a capture; let another capture fail."""
    for number in range(times):
        session = (await http.post("/v1/sessions")).json()["id"]
        opening = http.post(f"/v1/sessions/{session}/open", json={"url": url}, timeout=0.3)
        capture = {"url": url, "timeout_ms": 300}
        await asyncio.gather(
            opening, http.post("/v1/screenshot", json=capture, timeout=0.2 + number % 2), return_exceptions=True
        )
        await http.delete(f"/v1/sessions/{session}")


async def test_what_is_abandoned_is_given_back(service: Service, site: Site) -> None:
    """Clients that go away, and captures that fail, keep no place and leave nothing."""
    enough = threading.Event()
    hanging = site.route(lambda request: request.answer(str(enough.wait(60))))
    async with serving(service) as base, httpx.AsyncClient(base_url=base, timeout=60) as http:
        await abandon(http, hanging, 3)
        await quiet(service)
        before = held(service)
        await abandon(http, hanging, 10)
        enough.set()
        await quiet(service)
        await flat(service, before)
        assert service.captures.waiting == 0
        assert sum(browser.contexts for browser in service.pool.fleet.browsers()) == 0
