"""web_fetch against httpx (with trafilatura) and raw Playwright.

python -m benchmarks.fetch
"""

import asyncio
import contextlib
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import trafilatura
from rich.console import Console
from rich.table import Table

from benchmarks.bench import run, service_for, serving
from browser_service.service import Service
from fetch.page import Page, Wish
from fetch.reading import read

AT_ONCE = 16
HTTP_PAGES = 200
SCRIPT_PAGES = 24
WORDS = "Some words of a paragraph that a reader would read in an article about the sea. "
_MENU = "".join(
    f"<li class='item item-{n}'><a href=/section/{n} class=link><span>Section {n}</span></a></li>" for n in range(80)
)
_TEXT = "".join(
    f"<p class=text>Paragraph {n}. {WORDS * 4}See <a href=/note/{n}>note {n}</a>, <em>which says more</em>.</p>"
    + (f"<h2>Part {n}</h2><ul><li>One of {n}<li>Two of {n}</ul>" if n % 6 == 0 else "")
    for n in range(75)
)
_CARDS = "".join(
    f"<div class=card><a href=/other/{n}><img src=/i/{n}.jpg alt=''><h3>Another {n}</h3></a><p>Teaser {n}.</p></div>"
    for n in range(40)
)
ARTICLE = f"""<!doctype html><html lang=en><title>Article {{n}}</title><meta name=description content=About>
<body><header><nav><ul>{_MENU}</ul></nav></header><main><article><h1>Article {{n}}</h1>{_TEXT}</article></main>
<aside>{_CARDS}</aside><footer><ul>{_MENU}</ul></footer></body></html>"""
SHELL = """<!doctype html><title>Shell</title><div id=root></div><script>
  fetch('/hang'); setTimeout(() => fetch('/data').then((r) => r.json()).then((d) => {
    root.innerHTML = '<h1>Built</h1><p>' + d.text + '</p><p id=end>The end.</p>' }), 0)
</script>"""


class _Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        kind = "text/html; charset=utf-8"
        if self.path.startswith("/article"):
            body = ARTICLE.replace("{n}", self.path.rsplit("/", 1)[1])
        elif self.path.startswith("/shell"):
            body = SHELL
        elif self.path == "/data":
            time.sleep(0.3)
            body, kind = json.dumps({"text": WORDS * 20}), "application/json"
        else:
            time.sleep(5 if self.path == "/hang" else 0)
            body = ""
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay quiet."""


async def rate(one: Callable[[int], Awaitable[bool]], count: int, at_once: int) -> tuple[float, int]:
    """How many a second, and how many were whole."""
    places = asyncio.Semaphore(at_once)

    async def each(number: int) -> bool:
        async with places:
            return await one(number)

    began = time.perf_counter()
    whole = await asyncio.gather(*(each(number) for number in range(count)))
    return count / (time.perf_counter() - began), sum(whole)


async def http_rows(base: str, client: httpx.AsyncClient) -> AsyncIterator[tuple[str, float, float, int, str]]:
    """Plain pages: name, baseline's rate, ours, how many of ours were whole, target."""
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=AT_ONCE)) as plain:

        async def bare(number: int) -> bool:
            return (await plain.get(f"{base}/article/{number}")).status_code == 200

        async def extracted(number: int) -> bool:
            html = (await plain.get(f"{base}/article/{number}")).text
            return bool(trafilatura.extract(html, url=base, output_format="markdown", include_links=True))

        def ours(**given: str) -> Callable[[int], Awaitable[bool]]:
            async def fetch(number: int) -> bool:
                body = {"url": f"{base}/article/{number}", "cache": "off", **given}
                answer = (await client.post("/v1/fetch", json=body)).json()
                return f"Article {number}" in answer.get("title", "") and answer["content"].count("Some words") == 300

            return fetch

        await rate(ours(), 20, AT_ONCE)
        for name, baseline, way, target in (
            ("HTTP to full text, against httpx alone", bare, ours(extract_mode="full"), ">= 0.5 x"),
            (
                "HTTP to article Markdown, against httpx + trafilatura",
                extracted,
                ours(extract_mode="article", format="markdown"),
                ">= 1.7 x",
            ),
        ):
            raw, _ = await rate(baseline, HTTP_PAGES, AT_ONCE)
            rated, whole = await rate(way, HTTP_PAGES, AT_ONCE)
            yield name, raw, rated, whole, target


async def script_rows(
    base: str, service: Service, client: httpx.AsyncClient
) -> AsyncIterator[tuple[str, float, float, int, str]]:
    """Pages whose text comes by script, isolated: raw load + 2.5 s against ours, one and four at a time."""
    browser = service.pool.fleet.browsers()[0]
    exit_ = await service.egress.open_exit()

    async def raw(_: int) -> bool:
        context = await browser.new_context(proxy=exit_.playwright_proxy)
        page = await context.new_page()
        await page.goto(f"{base}/shell", wait_until="commit")
        with contextlib.suppress(Exception):
            await page.wait_for_load_state("load", timeout=1000)
        await asyncio.sleep(2.5)  # what is measured against
        whole = "The end." in await page.inner_text("body")
        await context.close()
        return whole

    async def ours(number: int) -> bool:
        body = {"url": f"{base}/shell/{number}", "cache": "off", "render": "always"}
        return "The end." in (await client.post("/v1/fetch", json=body)).json().get("content", "")

    await ours(0)
    for at_once in (1, 4):
        count = SCRIPT_PAGES // 3 if at_once == 1 else SCRIPT_PAGES
        baseline, _ = await rate(raw, count, at_once)
        rated, whole = await rate(ours, count, at_once)
        yield (
            f"script-built pages, {at_once} at a time, {whole} of {count} whole",
            baseline,
            rated,
            whole,
            ">= 5 x (light)",
        )
    await exit_.close()


def reading_rows() -> Iterator[tuple[str, str, str]]:
    """CPU seconds for large pages."""
    for size, target in ((1, "< 0.5 s"), (5, "< 2 s")):
        html = ARTICLE + f"<p>{WORDS * 5}</p>" * (size * 2**20 // (len(WORDS) * 5 + 7))
        page = Page("http://a.example/", "http", 200, "text/html", body=html.encode())
        times = []
        for _ in range(3):
            began = time.process_time()
            read(page, Wish("markdown", "full"))
            times.append(time.process_time() - began)
        yield f"{size} MB to Markdown", f"{statistics.median(times):.2f} s of CPU", target


async def main() -> None:
    """Measure and print."""
    table = Table("what", "baseline /s", "ours /s", "ratio", "whole", "target", title="Fetching")
    with serving(_Site) as base:
        async with service_for(base, fetch={"per_host": 100}) as (service, client):
            rows: list[Any] = [each async for each in http_rows(base, client)]
            rows += [each async for each in script_rows(base, service, client)]
    for name, raw, ours, whole, target in rows:
        table.add_row(name, f"{raw:.1f}", f"{ours:.1f}", f"{ours / raw:.2f}", str(whole), target)
    console = Console()
    console.print(table)
    large = Table("what", "measured", "target")
    for row in reading_rows():
        large.add_row(*row)
    console.print(large)


if __name__ == "__main__":
    run(main)
