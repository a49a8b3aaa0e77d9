"""Pictures of a loaded page: our capture against raw `page.screenshot`, in turn, in both browsers.

    python -m benchmarks.screenshots [--rounds 15]

A page of text in two scripts, a table, gradients and ten photographs, at 1280 x 800, about 9 000 pixels tall. 1.8
times as many a second is a ratio of 0.56. JPEG has no faster encoder to choose; its ratio shows the rest.
"""

import argparse
import asyncio
import base64
import io
from typing import Any

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from benchmarks.bench import Pair, show
from browser_service import finder
from browser_service.settings import Kind
from browser_service.tab.capture import Shot, capture
from browser_service.tab.options import Viewport
from browser_service.tab.window import fit
from browser_service.tab.world import World

TARGET = "<= 0.56"
SIZE = Viewport(width=1280, height=800)
WINDOWED = ["--ozone-platform=headless", "--disable-gpu", "--screen-info={1920x1080 workAreaBottom=48}"]
SHOTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "viewport png": (TARGET, {}, {}),
    "viewport jpeg": ("", {"format": "jpeg"}, {"type": "jpeg", "quality": 80}),
    "viewport png, 640 wide": ("", {"max_width": 640}, {}),
    "full page png": (TARGET, {"full_page": True}, {"full_page": True}),
    "full page jpeg": ("", {"full_page": True, "format": "jpeg"}, {"full_page": True, "type": "jpeg", "quality": 80}),
}


def article() -> str:
    """The page."""
    photos = []
    for number in range(10):
        file = io.BytesIO()
        noise = Image.effect_noise((640, 360), 40 + number).convert("RGB")
        noise.save(file, "jpeg", quality=70)
        photos.append(f"<img src='data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}'>")
    words = "The quick brown fox jumps over the lazy dog; 春眠不觉晓，处处闻啼鸟。" * 8
    parts = (f"<h2>Part {n}</h2>{photo}<p>{words}</p><p>{words}</p>" for n, photo in enumerate(photos))
    rows = "".join(f"<tr><td>{n}<td>{n * n}<td>{n % 7}" for n in range(40))
    style = "header{height:300px;background:linear-gradient(120deg,#fc6,#66f)} body{font:16px/1.5 sans-serif}"
    return f"<!doctype html><style>{style}</style><header></header>{''.join(parts)}<table>{rows}</table>"


async def measure(browser: Browser, kind: Kind, rounds: int) -> list[Pair]:
    """Each picture in turn with its raw counterpart, on two pages alike."""
    options: dict[str, Any] = {"no_viewport": True} if kind == "full" else {"viewport": SIZE.model_dump()}
    html = article()
    pages: list[Page] = []
    for _ in range(2):
        page = await (await browser.new_context(**options)).new_page()
        if kind == "full":
            await fit(await page.context.new_cdp_session(page), SIZE)
        await page.set_content(html, wait_until="load")
        pages.append(page)
    raw, ours = pages
    cdp = await ours.context.new_cdp_session(ours)
    world = World(cdp)
    await world.arm("")

    async def take(given: dict[str, Any]) -> object:
        return await capture(ours, cdp, world, Shot(**given), deadline=asyncio.get_running_loop().time() + 60)

    found = [
        await Pair(f"{kind}: {name}", target).run(
            lambda mine=mine: take(mine),  # type: ignore[misc]
            lambda theirs=theirs: raw.screenshot(**theirs),  # type: ignore[misc]
            rounds=rounds,
        )
        for name, (target, mine, theirs) in SHOTS.items()
    ]
    heading = ours.locator("h2").first
    element = Pair(f"{kind}: element png", "")
    found.append(
        await element.run(lambda: take({"element": heading}), raw.locator("h2").first.screenshot, rounds=rounds)
    )
    return found


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    kinds: tuple[Kind, ...] = ("full", "light")
    pairs = []
    async with async_playwright() as playwright:
        for kind in kinds:
            browser = await playwright.chromium.launch(
                executable_path=finder.find(kind, None).executable,
                headless=kind == "light",
                chromium_sandbox=False,
                args=WINDOWED if kind == "full" else [],
            )
            pairs += await measure(browser, kind, rounds)
            await browser.close()
    show("Pictures of a loaded page", pairs)


if __name__ == "__main__":
    asyncio.run(main())
