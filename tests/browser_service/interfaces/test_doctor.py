"""The doctor finds what is there and what is not, and says how to mend it."""

import io
import os
import socket
from pathlib import Path

from rich.console import Console

from browser_service.interfaces.doctor import Check, run_checks, show_checks
from browser_service.settings import PoolSettings, load_settings


def by_name(checks: list[Check]) -> dict[str, Check]:
    """The checks under their names."""
    return {check.name: check for check in checks}


async def test_a_good_machine(tmp_path: Path) -> None:
    """Browsers are really started and load a page; the network guard is tried."""
    checks = by_name(await run_checks(load_settings(data_dir=tmp_path, port=0)))
    for name in ("platform", "data folder", "address", "Playwright's driver", "Chromium", "network guard"):
        assert checks[name].state == "ok", checks[name]
    assert "loads a page" in checks["Chromium"].detail
    assert checks["sandbox"].state == ("warning" if os.geteuid() == 0 else "ok")
    assert {"headless shell", "emoji font", "Chinese, Japanese and Korean fonts"} <= set(checks)


async def test_a_bad_machine(tmp_path: Path) -> None:
    """Everything that is wrong is told at once, each with what to do."""
    (tmp_path / "file").touch()
    pool = PoolSettings(browser_path=tmp_path / "file", light_path=tmp_path / "nothing")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        checks = by_name(await run_checks(load_settings(data_dir=tmp_path / "file", port=port, pool=pool)))
    states = {name: checks[name].state for name in ("data folder", "address", "Chromium", "headless shell")}
    assert states == {"data folder": "failed", "address": "warning", "Chromium": "failed", "headless shell": "warning"}
    assert all(check.mend for check in checks.values() if check.state != "ok")


def test_the_table_says_how_to_mend() -> None:
    """A person reads the state, the finding, and below it what to do."""
    text = io.StringIO()
    show_checks(Console(file=text, width=200), [Check("emoji font", "warning", "boxes are drawn", "Install one.")])
    lines = [line.split() for line in text.getvalue().splitlines()]
    assert lines == [["warning", "emoji", "font", "boxes", "are", "drawn"], ["→", "Install", "one."]]
