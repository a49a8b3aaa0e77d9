"""Rendering a page of the test site, and looking at what came of it."""

from typing import Any

from selectolax.lexbor import LexborHTMLParser

from browser_service.rendering import RenderWish, render
from browser_service.service import Service
from browser_service.session import Judge
from fetch.page import Page, Verdict
from tests.site import Request, Site

LIMIT_S = 30.0


async def no_wall(_page: Page) -> Verdict:
    """Takes every page for a page."""
    return Verdict()


async def wall(page: Page) -> Verdict:
    """Takes a page that says "checking" for a challenge."""
    return Verdict("challenge", may_lift=True) if "<p>checking" in (page.html or "") else Verdict()


async def rendered(service: Service, url: str, limit_s: float = LIMIT_S, judge: Judge = no_wall, **wish: Any) -> Page:
    """What a rendering in a fresh context gives."""
    return await render(service, RenderWish(url, **wish), owner="test", limit_s=limit_s, judge=judge)


def shown(page: Page) -> str:
    """The text of a page without what is marked hidden, white space folded."""
    tree = LexborHTMLParser(page.html or "")
    for node in tree.css("[hidden], script, iframe, title"):
        node.decompose()
    return " ".join(tree.root.text(deep=True, separator=" ").split()) if tree.root else ""


def late(site: Site, seconds: float, body: str) -> str:
    """An address that answers after some time."""

    def answer(request: Request) -> None:
        site.closing.wait(seconds)
        request.answer(body, "text/plain")

    return site.route(answer)


def elsewhere(site: Site) -> str:
    """The same site under another name, and so of another origin."""
    return f"http://localhost:{site.port}"
