"""A ready session's first page against raw context + page + goto in the same browser.

python -m benchmarks.sessions
"""

import asyncio
import time

from benchmarks.bench import Pair, pages, run, service_for, show

ROUNDS = 20
BETWEEN_CALLERS_S = 1.5  # the context before is closed, and the pool refills
PAGE = "<!doctype html><title>Bench</title><h1>Head</h1>" + "<p>Some words that fill a paragraph.</p>" * 60


async def main() -> None:
    """Measure and print."""
    with pages(page=PAGE) as base:
        async with service_for(base) as (service, client):
            browser = service.pool.fleet.browsers()[0]
            url = f"{base}/page"
            exit_ = await service.egress.open_exit()
            pair = Pair("session ready, first page loaded", "<= 0.50 x")
            for _ in range(ROUNDS):
                await asyncio.sleep(BETWEEN_CALLERS_S)
                began = time.perf_counter()
                context = await browser.new_context(no_viewport=True, proxy={"server": exit_.server})
                page = await context.new_page()
                await page.goto(url)
                pair.raw.append((time.perf_counter() - began) * 1000)
                await context.close()

                await asyncio.sleep(BETWEEN_CALLERS_S)
                began = time.perf_counter()
                made = (await client.post("/v1/sessions")).json()
                path = f"/v1/sessions/{made['id']}"
                (await client.post(f"{path}/open", json={"url": url, "wait_until": "load"})).raise_for_status()
                pair.ours.append((time.perf_counter() - began) * 1000)
                await client.delete(path)
            show("A session's first page", [pair])


if __name__ == "__main__":
    run(main)
