"""An action over REST against the same call in raw Playwright, in the same browser.

python -m benchmarks.actions
"""

import httpx
from playwright.async_api import Page

from benchmarks.bench import Pair, pages, run, service_for, show

ROUNDS = 40
TARGET = "<= 1.15 x + 5 ms"
PAGE = (
    "<!doctype html><title>Bench</title><h1>Head</h1>"
    + "<p>Some words that fill a paragraph of text.</p>" * 60
    + "<input id=field><button id=go onclick='this.dataset.n=1'>Go</button>"
)


async def main() -> None:
    """Measure and print."""
    with pages(page=PAGE) as base:
        async with service_for(base) as (service, client):
            browser = service.pool.fleet.browsers()[0]
            context = await browser.new_context(no_viewport=True, proxy=None)
            page = await context.new_page()
            await page.set_content(PAGE)
            made = (await client.post("/v1/sessions")).json()
            session = f"/v1/sessions/{made['id']}"
            (await client.post(f"{session}/open", json={"url": f"{base}/page"})).raise_for_status()
            show("Actions over REST", await measure(client, session, page))
            await context.close()


async def measure(client: httpx.AsyncClient, session: str, page: Page) -> list[Pair]:
    """Each action in turn with its raw counterpart."""

    async def ours(action: str, **body: object) -> None:
        (await client.post(f"{session}/{action}", json=body)).raise_for_status()

    async def text() -> None:
        await page.inner_text("body")
        await page.title()

    return [
        await Pair("click", TARGET).run(
            lambda: ours("click", selector="#go"), lambda: page.click("#go"), rounds=ROUNDS
        ),
        await Pair("type", TARGET).run(
            lambda: ours("type", selector="#field", text="words"), lambda: page.fill("#field", "words"), rounds=ROUNDS
        ),
        await Pair("evaluate", TARGET).run(
            lambda: ours("evaluate", js="document.title"), lambda: page.evaluate("document.title"), rounds=ROUNDS
        ),
        await Pair("extract", TARGET).run(lambda: ours("extract"), text, rounds=ROUNDS),
        await Pair("screenshot", TARGET).run(lambda: ours("screenshot"), page.screenshot, rounds=ROUNDS),
    ]


if __name__ == "__main__":
    run(main)
