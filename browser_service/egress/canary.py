"""The proof that the browser's only way out is the proxy: a server that must not be reached."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.egress.proxy import Egress

_FETCH = "url => fetch(url, {mode: 'no-cors'}).then(() => 0, () => 0)"
# Signalling is not needed: looking for a way in is what sends the packets.
_WEBRTC = """async address => {
    const connection = new RTCPeerConnection({iceServers: [{urls: 'stun:' + address}]});
    const done = new Promise(found => { connection.onicegatheringstatechange = () =>
        connection.iceGatheringState === 'complete' && found(); setTimeout(found, 1000); });
    connection.createDataChannel('canary');
    await connection.setLocalDescription(await connection.createOffer());
    await done;
    connection.close();
}"""


@dataclass(slots=True)
class _Canary(asyncio.DatagramProtocol):
    port: int = 0
    reached: bool = False

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.reached = True

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reached = True
        writer.close()


async def canary_reached(context: BrowserContext, egress: Egress, *, limit_s: float = 10.0) -> bool:
    """Whether a page of this context, whose proxy is an exit of `egress`, can reach a server on this machine past it.

    A page of the context navigates there, fetches from there, and sends it a datagram through WebRTC. True means that
    the service must not run. The page goes with its context, which the caller closes: closed by itself after this, it
    sometimes does not answer for seconds. Raises TimeoutError when no page can be opened in time.
    """
    async with _canary() as canary:
        with egress.shutting(canary.port):
            async with asyncio.timeout(limit_s):
                page = await context.new_page()
            await _try_all(page, canary.port, limit_s)
        return canary.reached


@contextlib.asynccontextmanager
async def _canary() -> AsyncIterator[_Canary]:
    canary = _Canary()
    server = await asyncio.start_server(canary.accept, "127.0.0.1", 0)
    canary.port = server.sockets[0].getsockname()[1]
    datagrams, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: canary, local_addr=("127.0.0.1", canary.port)
    )
    try:
        yield canary
    finally:
        datagrams.close()
        server.close()


async def _try_all(page: Page, port: int, limit_s: float) -> None:
    url = f"http://127.0.0.1:{port}/"
    for attempt in (
        lambda: page.evaluate(_WEBRTC, f"127.0.0.1:{port}"),
        lambda: page.evaluate(_FETCH, url),
        lambda: page.goto(url, wait_until="commit"),
    ):
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(limit_s):
                await attempt()
