"""How complete pages are when they have settled, and how long that takes.

    python -m benchmarks.settle [--browser light|full|both] [--runs 1] [--ways floor,settled,usual] [page …]

For each page of the test set: the floor (asking for its last word every 20 ms), settling, and what is usual, the load
event (5 s at most) and 2.5 s more. The last lines hold the totals; CPU is that of this process, driver and browser.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.async_api import Error as PlaywrightError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser_service.tab.events import loop_time
from tests.browser_service.tab.pages_settle import KINDS
from tests.browser_service.tab.settle_browser import Chromium, Watched, launched, watched
from tests.browser_service.tab.settle_server import Server, serving

LIMIT_S = 15.0


@dataclass(frozen=True)
class Visit:
    """One page opened once."""

    seconds: float
    complete: bool
    cpu: float
    note: str = ""


async def text(tab: Watched) -> str:
    """What the page shows; empty while it moves on. A script that does not end is ended."""
    try:
        async with asyncio.timeout(3):
            return await tab.text()
    except TimeoutError:
        await tab.cdp.send("Runtime.terminateExecution")
        return await tab.text()
    except PlaywrightError:
        return ""


async def floor(tab: Watched, address: str) -> str:
    """Ask for the last word every 20 ms."""
    deadline = loop_time() + LIMIT_S
    await tab.page.goto(address, wait_until="commit")
    while "TOKEN" not in await text(tab) and loop_time() < deadline:  # noqa: ASYNC110  polling is what is measured
        await asyncio.sleep(0.02)
    return ""


async def usual(tab: Watched, address: str) -> str:
    """The load event and 2.5 s."""
    with contextlib.suppress(PlaywrightError):
        await tab.page.goto(address, timeout=5000)
    await asyncio.sleep(2.5)
    return ""


async def settled(tab: Watched, address: str) -> str:
    """Ours."""
    result = await tab.open(address, LIMIT_S)
    return f"{result.how} {result.waited_for}"


WAYS: dict[str, Callable[[Watched, str], Awaitable[str]]] = {"floor": floor, "settled": settled, "usual": usual}


def cpu() -> float:
    """CPU seconds of this process and all below it."""
    own = psutil.Process()
    total = 0.0
    for process in [own, *own.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:2])
    return total


async def visit(chromium: Chromium, way: str, address: str) -> Visit:
    """Open a page in a context of its own, which is made before the clock starts."""
    async with watched(chromium, plain=way != "settled") as tab:
        before, began = cpu(), loop_time()
        note = await WAYS[way](tab, address)
        seconds, used = loop_time() - began, cpu() - before
        return Visit(seconds, "TOKEN" in await text(tab), used, note)


async def compare(kind: str, names: list[str], runs: int, ways: list[str], server: Server) -> None:
    """Print a line for each page, and the totals."""
    visits: dict[str, list[Visit]] = {way: [] for way in ways}
    over: list[float] = []
    async with launched(kind) as chromium:
        for name in names:
            line, note = f"{kind:5} {name:18}", ""
            median: dict[str, float] = {}
            for way in ways:
                made = [await visit(chromium, way, server.address(name)) for _ in range(runs)]
                visits[way] += made
                median[way] = statistics.median(each.seconds for each in made)
                line += f"  {way} {median[way]:5.2f} {'ok' if all(each.complete for each in made) else 'NO'}"
                note = note or made[0].note
            if {"floor", "settled"} <= median.keys() and median["floor"] < LIMIT_S:
                over.append(median["settled"] - median["floor"])
                line += f"  over {over[-1]:+5.2f}"
            print(line, "", note, flush=True)
    for way, made in visits.items():
        seconds = [each.seconds for each in made]
        print(
            f"{kind} {way}: {sum(each.complete for each in made)} of {len(made)} complete; seconds a page: mean "
            f"{statistics.fmean(seconds):.2f}, median {statistics.median(seconds):.2f}; "
            f"CPU {statistics.fmean(each.cpu for each in made):.2f} s"
        )
    if len(over) > 1:
        p95 = statistics.quantiles(over, n=20)[18]
        print(f"{kind} over the floor: median {statistics.median(over):.2f}, p95 {p95:.2f}, most {max(over):.2f} s")


async def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", choices=["light", "full", "both"], default="both")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("pages", nargs="*")
    given = parser.parse_args()
    async with serving() as server:
        for kind in ("light", "full") if given.browser == "both" else (given.browser,):
            await compare(kind, given.pages or list(KINDS), given.runs, given.ways.split(","), server)


if __name__ == "__main__":
    asyncio.run(main())
