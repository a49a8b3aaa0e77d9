"""A ready session's first page against raw context + page + goto in the same browser.

python -m benchmarks.sessions
"""

import asyncio
from typing import Any

from benchmarks.bench import Pair, pages, run, service_for, show

ROUNDS = 20
BETWEEN_CALLERS_S = 1.5  # the pool refills between two callers
PAGE = "<!doctype html><title>Bench</title><h1>Head</h1>" + "<p>Some words that fill a paragraph.</p>" * 60


async def main() -> None:
    """Measure and print."""
    with pages(page=PAGE) as base:
        async with service_for(base) as (service, client):
            browser = service.pool.fleet.browsers()[0]
            url = f"{base}/page"
            exit_ = await service.egress.open_exit()

            async def raw() -> None:
                context = await browser.new_context(no_viewport=True, proxy={"server": exit_.server})
                page = await context.new_page()
                await page.goto(url)
                leaving.append(asyncio.ensure_future(context.close()))

            async def ours() -> None:
                made = (await client.post("/v1/sessions")).json()
                path = f"/v1/sessions/{made['id']}"
                (await client.post(f"{path}/open", json={"url": url, "wait_until": "load"})).raise_for_status()
                leaving.append(asyncio.ensure_future(client.delete(path)))

            leaving: list[asyncio.Future[Any]] = []
            pair = Pair("session ready, first page loaded", "<= 0.50 x")
            for _ in range(ROUNDS):
                await pair.run(ours, raw, rounds=len(pair.ours) + 1, block=1, warmup=0)
                await asyncio.gather(*leaving)
                leaving.clear()
                await asyncio.sleep(BETWEEN_CALLERS_S)
            show("A session's first page", [pair])


if __name__ == "__main__":
    run(main)
