"""What renderers use, and how full the memory is. Limits of a container count as the machine's."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

_CGROUP = Path("/sys/fs/cgroup")  # version 2; inside a container this is the container's own group
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)


def used_share(cgroup: Path = _CGROUP) -> float:
    """The share of the memory that may be used which is in use, from 0 to 1; file pages that can go are not counted."""
    machine = psutil.virtual_memory()
    share = 1 - machine.available / machine.total
    try:
        limit = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        current = int((cgroup / "memory.current").read_text(encoding="ascii"))
        lines = (cgroup / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return share
    if limit == "max":
        return share
    cached = next((int(line.split()[1]) for line in lines if line.startswith("inactive_file ")), 0)
    return max(share, (current - cached) / int(limit))


def fat_renderers(browser_pid: int, limit: int) -> Iterator[psutil.Process]:
    """The renderers of a browser that hold more than `limit` bytes of their own."""
    for process in renderers(browser_pid):
        with contextlib.suppress(*_GONE):
            usage = process.memory_info()
            if usage.rss - getattr(usage, "shared", 0) > limit:
                yield process


def busiest_renderer(browser_pid: int, interval_s: float = 0.3) -> psutil.Process | None:
    """The renderer that takes most of a core, if one takes more than half; blocks for the interval."""
    before = {process: _cpu(process) for process in renderers(browser_pid)}
    time.sleep(interval_s)  # a share of time needs a span of time
    shares = {process: (_cpu(process) - seconds) / interval_s for process, seconds in before.items()}
    busiest = max(shares, key=lambda each: shares[each], default=None)
    return busiest if busiest is not None and shares[busiest] > 0.5 else None


def renderers(browser_pid: int) -> Iterator[psutil.Process]:
    """The renderer processes of a browser."""
    with contextlib.suppress(*_GONE):
        for process in psutil.Process(browser_pid).children(recursive=True):
            with contextlib.suppress(*_GONE):
                if any("--type=renderer" in part for part in process.cmdline()):
                    yield process


def _cpu(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except _GONE:
        return 0.0
    return float(used.user + used.system)
