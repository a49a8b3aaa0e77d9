"""Whether a site's robots.txt allows an address (RFC 9309), for callers that ask for it."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from protego import Protego

from fetch.errors import NavigationFailed
from fetch.page import Page

NAME = "Tabwright"
MAX_BYTES = 500 * 1024  # RFC 9309, 2.5: at least this much is read


async def allows(url: str, get: Callable[[str], Awaitable[Page]]) -> bool:
    """Whether robots.txt allows `url`; `get` fetches it.

    A site without one (any 4xx) allows all, one that cannot be reached or answers 5xx nothing (RFC 9309, 2.3.1).
    """
    parts = urlsplit(url)
    if parts.path == "/robots.txt":
        return True
    try:
        page = await get(f"{parts.scheme}://{parts.netloc}/robots.txt")
    except NavigationFailed:
        return False
    status = page.status or 0
    if 400 <= status < 500:
        return True
    if status != 200:
        return False
    rules = Protego.parse(page.body[:MAX_BYTES].decode("utf-8", "replace"))
    return bool(rules.can_fetch(url, NAME))
