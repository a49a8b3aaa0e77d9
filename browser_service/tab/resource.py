"""The bytes at an address, by the tab's own network: through its context's proxy, with its cookies.

For answers that a browser does not show, or shows by a viewer that keeps their bytes to itself. It asks the server
again; cookies that are kept from cross-site requests (SameSite) go along only where the tab is at that site.
"""

import asyncio
import base64
import contextlib
import logging

from playwright.async_api import Error as PlaywrightError

from browser_service.tab.tab import Tab

_log = logging.getLogger(__name__)

CHUNK = 1024 * 1024


async def load_resource(tab: Tab, url: str, *, limit: int, timeout_s: float) -> bytes | None:
    """The body, at most `limit` + 1 bytes of it; None where the server does not give it, or not in time."""
    try:
        async with asyncio.timeout(timeout_s):
            wanted = {"disableCache": False, "includeCredentials": True}
            given = {"frameId": tab.world.frame, "url": url, "options": wanted}
            resource = (await tab.cdp.send("Network.loadNetworkResource", given))["resource"]
            if not resource["success"] or "stream" not in resource:
                return None
            return await _read(tab, resource["stream"], limit)
    except (TimeoutError, PlaywrightError) as fault:
        _log.debug("a resource was not loaded: %s", fault)
        return None


async def _read(tab: Tab, stream: str, limit: int) -> bytes:
    body = bytearray()
    try:
        while len(body) <= limit:
            part = await tab.cdp.send("IO.read", {"handle": stream, "size": CHUNK})
            data = part["data"]
            body += base64.b64decode(data) if part.get("base64Encoded") else data.encode()
            if part["eof"]:
                break
    finally:
        with contextlib.suppress(PlaywrightError):
            await tab.cdp.send("IO.close", {"handle": stream})
    return bytes(body[: limit + 1])
