"""The real window around a tab. Its size is set through its bounds, so that nothing is emulated."""

import asyncio

from playwright.async_api import CDPSession

from browser_service.tab.options import Viewport

FIT_LIMIT_S = 3.0

_FRAME = "[outerWidth - innerWidth, outerHeight - innerHeight]"
_REACHED = """new Promise((resolve) => {
  const check = () => { if (innerWidth === %d && innerHeight === %d) resolve(true); };
  addEventListener("resize", check);
  check();
})"""


async def fit(cdp: CDPSession, viewport: Viewport) -> bool:
    """Give the active tab of a window exactly this visible size, in CSS pixels; tells whether it was reached.

    The window's own frame (its tab strip) is measured, since popups have a smaller one. Tabs made later in the same
    window get the size by themselves.
    """
    window = await cdp.send("Browser.getWindowForTarget")
    frame = await cdp.send("Runtime.evaluate", {"expression": _FRAME, "returnByValue": True})
    wide, high = frame["result"]["value"]
    bounds = {"left": 0, "top": 0, "width": viewport.width + wide, "height": viewport.height + high}
    await cdp.send("Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds})
    try:
        async with asyncio.timeout(FIT_LIMIT_S):
            reached = _REACHED % (viewport.width, viewport.height)
            await cdp.send("Runtime.evaluate", {"expression": reached, "awaitPromise": True})
    except TimeoutError:
        return False
    return True
