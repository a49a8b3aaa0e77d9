"""The limits on memory."""

from pathlib import Path

import httpx

from browser_service import memory
from browser_service.service import Service
from tests.conftest import Session, serving, settings_for
from tests.site import Site


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    """The share is that of the limit; file pages that can be given back are not in use."""
    (tmp_path / "memory.max").write_text("1000000000000000\n")
    (tmp_path / "memory.current").write_text("990000000000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 40000000000000\n")
    assert abs(memory.used_share(tmp_path) - 0.95) < 0.001


def test_without_a_limit_the_machine_counts(tmp_path: Path) -> None:
    """`max`, or no such files, is no limit."""
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("5\n")
    (tmp_path / "memory.stat").write_text("")
    assert 0 < memory.used_share(tmp_path) < 1
    assert 0 < memory.used_share(tmp_path / "nowhere") < 1


async def test_a_renderer_that_eats_memory_is_ended(site: Site, tmp_path: Path) -> None:
    """Its page crashes; the session opens the next one, and the browser is the same."""
    pool = {"renderer_memory": 500 * 2**20, "warm": 1}
    async with (
        Service(settings_for(site, tmp_path, pool=pool)) as service,
        serving(service) as base,
        httpx.AsyncClient(base_url=base, timeout=60) as http,
    ):
        session = Session(http, (await http.post("/v1/sessions")).json()["id"])
        await session.do("open", url=site.page("<h1>Eater</h1>"))
        script = "const kept = []; for (let n = 0; n < 40; n++) { kept.push(new Uint8Array(50e6).fill(n)); await 0 } "
        endless = "await new Promise(() => {})"
        await session.refused("page_crashed", "evaluate", js=script + endless, timeout_ms=20_000)
        await session.do("open", url=site.page("<h1>Next</h1>"))
        assert service.pool.fleet.deaths == 0


async def test_no_new_contexts_when_memory_is_nearly_full(site: Site, tmp_path: Path) -> None:
    """Overloaded, with a time to come back."""
    async with Service(settings_for(site, tmp_path)) as service, serving(service) as base:
        service.pool.fleet._settings = service.settings.pool.model_copy(update={"memory_share": 0.000001})
        async with httpx.AsyncClient(base_url=base) as http:
            answer = await http.post("/v1/sessions")
    assert (answer.status_code, answer.json()["code"]) == (429, "overloaded")
    assert "memory" in answer.json()["detail"]
