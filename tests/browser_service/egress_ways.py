"""A page that tries every way out of a browser that is known, and a canary that notes by which it was reached.

Each way asks for `TO/<its name>`, so that the canary can tell them apart. Those that speak no plain HTTP have a port of
their own each, and are noted as `<name>/tcp` or `<name>/udp`.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from tests.browser_service.egress_servers import Wire, serving

PAGE = """<!doctype html><title>ways</title><body><script>
const given = new URLSearchParams(location.search), to = given.get('to'), url = name => to + '/' + name;
const host = name => new URL(to).hostname + ':' + (given.get(name) || new URL(to).port);
const other = (name, scheme) => scheme + '://' + host(name) + '/' + name;
const add = (tag, attributes, parent = document.body) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.append(element);
    return element;
};
const style = text => add('style', {}, document.head).textContent = text;
const frame = html => add('iframe', {srcdoc: html});
const link = (rel, name, more = {}) => add('link', {rel, href: url(name), ...more}, document.head);
const hop = (name, kind = 302) => `/hop?status=${kind}&to=` + encodeURIComponent(url(name));
const blob = text => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
const speculate = (how, address) => add('script', {type: 'speculationrules'}).textContent =
    JSON.stringify({[how]: [{urls: [address], eagerness: 'immediate'}]});
const quiet = {mode: 'no-cors'};
const ice = servers => {
    const connection = new RTCPeerConnection({iceServers: servers});
    connection.createDataChannel('x');
    connection.createOffer().then(offer => connection.setLocalDescription(offer));
};
const ways = {
    'fetch': () => fetch(url('fetch'), quiet),
    'fetch-post': () => fetch(url('fetch-post'), {...quiet, method: 'POST', body: 'x'}),
    'fetch-cors': () => fetch(url('fetch-cors'), {headers: {'X-Preflight': '1'}}),
    'fetch-keepalive': () => fetch(url('fetch-keepalive'), {...quiet, keepalive: true}),
    'fetch-later': () => fetchLater(url('fetch-later'), {activateAfter: 0}),
    'fetch-302': () => fetch(hop('fetch-302'), quiet),
    'fetch-307': () => fetch(hop('fetch-307', 307), {...quiet, method: 'POST', body: 'x'}),
    'fetch-https': () => fetch(other('fetch-https', 'https'), quiet),
    'xhr': () => { const x = new XMLHttpRequest(); x.open('GET', url('xhr')); x.send(); },
    'xhr-302': () => { const x = new XMLHttpRequest(); x.open('GET', hop('xhr-302')); x.send(); },
    'beacon': () => navigator.sendBeacon(url('beacon'), 'x'),
    'eventsource': () => new EventSource(url('eventsource')),
    'eventsource-302': () => new EventSource(hop('eventsource-302')),
    'websocket': () => new WebSocket(url('websocket').replace('http', 'ws')),
    'websocket-secure': () => new WebSocket(other('websocket-secure', 'wss')),
    'webtransport': () => new WebTransport(other('webtransport', 'https')),
    'img': () => add('img', {src: url('img')}),
    'img-302': () => add('img', {src: hop('img-302')}),
    'img-srcset': () => add('img', {srcset: url('img-srcset') + ' 1x'}),
    'img-attribution': () => add('img', {attributionsrc: url('img-attribution'), src: 'data:,'}),
    'picture': () => add('source', {srcset: url('picture')}, add('picture', {})).parentNode.append(new Image()),
    'input': () => add('input', {type: 'image', src: url('input')}),
    'background': () => document.body.setAttribute('background', url('background')),
    'script': () => add('script', {src: url('script')}),
    'script-302': () => add('script', {src: hop('script-302')}),
    'module': () => add('script', {type: 'module', src: url('module')}),
    'import': () => import(url('import')),
    'stylesheet': () => link('stylesheet', 'stylesheet'),
    'css-import': () => style(`@import url(${url('css-import')});`),
    'css-url': () => { style(`#css { background: url(${url('css-url')}) }`); add('p', {id: 'css'}).textContent = 'x'; },
    'css-image-set': () => { style(`#set { background: image-set("${url('css-image-set')}" 1x) }`);
        add('p', {id: 'set'}).textContent = 'x'; },
    'css-302': () => style(`@import url(${hop('css-302')});`),
    'font': () => { style(`@font-face { font-family: f; src: url(${url('font')}) } #f { font-family: f }`);
        add('p', {id: 'f'}).textContent = 'x'; },
    'font-face': () => new FontFace('g', `url(${url('font-face')})`).load(),
    'video': () => add('video', {src: url('video'), preload: 'auto'}),
    'poster': () => add('video', {poster: url('poster')}),
    'video-302': () => add('video', {src: hop('video-302'), preload: 'auto'}),
    'audio': () => new Audio(url('audio')).load(),
    'track': () => { const video = add('video', {src: 'data:video/mp4,', crossorigin: ''});
        add('track', {src: url('track'), default: ''}, video).track.mode = 'showing'; },
    'iframe': () => add('iframe', {src: url('iframe')}),
    'iframe-302': () => add('iframe', {src: hop('iframe-302')}),
    'iframe-sandbox': () => add('iframe', {src: url('iframe-sandbox'), sandbox: ''}),
    'iframe-srcdoc': () => frame(`<img src="${url('iframe-srcdoc')}">`),
    'iframe-data': () => add('iframe', {src: `data:text/html,<img src="${url('iframe-data')}">`}),
    'iframe-blob': () => add('iframe', {src: URL.createObjectURL(
        new Blob([`<img src="${url('iframe-blob')}">`], {type: 'text/html'}))}),
    'object': () => add('object', {data: url('object')}),
    'embed': () => add('embed', {src: url('embed')}),
    'meta-refresh': () => frame(`<meta http-equiv=refresh content="0; url=${url('meta-refresh')}">`),
    'header-refresh': () => add('iframe', {src: '/refresh?to=' + encodeURIComponent(url('header-refresh'))}),
    'header-link': () => add('iframe', {src: '/link?to=' + encodeURIComponent(url('header-link'))}),
    'location': () => frame(`<script>location.href = "${url('location')}"<\\/script>`),
    'form-get': () => frame(`<form action="${url('form-get')}"></form><script>document.forms[0].submit()<\\/script>`),
    'form-post': () => frame(`<form method=post action="${url('form-post')}"></form>
        <script>document.forms[0].submit()<\\/script>`),
    'form-302': () => frame(`<form method=post action="${location.origin + hop('form-302', 307)}"></form>
        <script>document.forms[0].submit()<\\/script>`),
    'popup': () => window.open(url('popup')),
    'popup-noopener': () => window.open(url('popup-noopener'), '_blank', 'noopener'),
    'popup-302': () => window.open(hop('popup-302')),
    'ping': () => frame(`<a ping="${url('ping')}" href="#x">x</a><script>document.links[0].click()<\\/script>`),
    'download': () => frame(`<a download href="${url('download')}">x</a><script>document.links[0].click()<\\/script>`),
    'prefetch': () => link('prefetch', 'prefetch'),
    'preload': () => link('preload', 'preload', {as: 'image'}),
    'preload-fetch': () => link('preload', 'preload-fetch', {as: 'fetch', crossorigin: ''}),
    'modulepreload': () => link('modulepreload', 'modulepreload'),
    'dns-prefetch': () => link('dns-prefetch', 'dns-prefetch'),
    'prerender': () => link('prerender', 'prerender'),
    'icon': () => link('icon', 'icon'),
    'manifest': () => link('manifest', 'manifest'),
    'dictionary': () => link('compression-dictionary', 'dictionary'),
    'speculation-prefetch': () => speculate('prefetch', url('speculation-prefetch')),
    'speculation-302': () => speculate('prefetch', hop('speculation-302')),
    'speculation-prerender': () => speculate('prerender', hop('speculation-prerender')),
    'svg-image': () => document.body.insertAdjacentHTML('beforeend',
        `<svg width=9 height=9><image href="${url('svg-image')}" width=9 height=9 /></svg>`),
    'svg-use': () => document.body.insertAdjacentHTML('beforeend',
        `<svg><use href="${url('svg-use')}#x" /></svg>`),
    'svg-filter': () => document.body.insertAdjacentHTML('beforeend',
        `<svg><filter id=q><feImage href="${url('svg-filter')}" /></filter>
         <rect filter="url(#q)" width=9 height=9 /></svg>`),
    'xml-stylesheet': () => add('iframe', {src: '/xml?to=' + encodeURIComponent(url('xml-stylesheet'))}),
    'csp-report': () => add('iframe', {src: '/csp?to=' + encodeURIComponent(url('csp-report'))}),
    'worker': () => new Worker('/worker.js?name=worker&to=' + encodeURIComponent(to)),
    'worker-module': () => new Worker('/module.js?name=worker-module&to=' + encodeURIComponent(to), {type: 'module'}),
    'worker-blob': () => new Worker(blob(`fetch("${url('worker-blob')}", {mode: 'no-cors'})`)),
    'worker-302': () => new Worker(hop('worker-302')),
    'shared-worker': () => new SharedWorker('/worker.js?name=shared-worker&to=' + encodeURIComponent(to)),
    'service-worker': () => navigator.serviceWorker.register(
        '/worker.js?name=service-worker&to=' + encodeURIComponent(to), {scope: '/none/'}),
    'audio-worklet': () => new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule(url('audio-worklet')),
    'paint-worklet': () => CSS.paintWorklet.addModule(url('paint-worklet')),
    'rtc-stun': () => ice([{urls: 'stun:' + host('rtc-stun')}]),
    'rtc-turn-udp': () => ice([{urls: `turn:${host('rtc-turn-udp')}?transport=udp`, username: 'u', credential: 'c'}]),
    'rtc-turn-tcp': () => ice([{urls: `turn:${host('rtc-turn-tcp')}?transport=tcp`, username: 'u', credential: 'c'}]),
    'rtc-turns': () => ice([{urls: `turns:${host('rtc-turns')}`, username: 'u', credential: 'c'}]),
    'rtc-candidate': async () => {
        const here = new RTCPeerConnection(), there = new RTCPeerConnection();
        const [name, port] = host('rtc-candidate').split(':');
        here.createDataChannel('x');
        await here.setLocalDescription(await here.createOffer());
        await there.setRemoteDescription(here.localDescription);
        await there.setLocalDescription(await there.createAnswer());
        await here.setRemoteDescription(there.localDescription);
        for (const [kind, more] of [['udp', ''], ['tcp', ' tcptype passive']])
            await here.addIceCandidate({sdpMid: '0',
                candidate: `candidate:1 1 ${kind} 2122260223 ${name} ${port} typ host${more}`});
    },
    'fedcm': () => navigator.credentials.get({identity: {providers: [{configURL: url('fedcm'), clientId: 'x'}]}}),
    'background-fetch': async () => (await navigator.serviceWorker.register(
        '/worker.js?name=background-worker&to=' + encodeURIComponent(to), {scope: '/'}),
        await navigator.serviceWorker.ready).backgroundFetch.fetch('x', [url('background-fetch')]),
    'pagehide': () => frame(`<script>onpagehide = () => navigator.sendBeacon("${url('pagehide')}");
        setTimeout(() => location.href = 'about:blank', 50)<\\/script>`),
};
window.failed = [];
for (const [name, way] of Object.entries(ways)) {
    try { Promise.resolve(way()).catch(() => 0); } catch (fault) { failed.push(name + ': ' + fault); }
}
window.tried = Object.keys(ways).length;
</script>"""

RAW_WAYS = ["fetch-https", "websocket-secure", "webtransport", "preconnect"]
RAW_WAYS += ["rtc-stun", "rtc-turn-udp", "rtc-turn-tcp", "rtc-turns", "rtc-candidate"]

WAYS = {*re.findall(r"^    '([a-z0-9-]+)':", PAGE, re.MULTILINE), "preconnect"}
# Ways that Chromium does not take at once, in every build, or at all any more: tried all the same.
UNSURE_WAYS = {"background-fetch", "dns-prefetch", "icon", "img-attribution", "manifest", "prerender", "shared-worker"}
UNSURE_WAYS |= {
    "preconnect",
    "speculation-prefetch",
    "speculation-302",
    "speculation-prerender",
    "svg-use",
    "xml-stylesheet",
}

WORKER = """
const given = new URL(self.location).searchParams, to = given.get('to'), name = given.get('name');
fetch(to + '/' + name, {mode: 'no-cors'}).catch(() => 0);
fetch('/hop?status=302&to=' + encodeURIComponent(to + '/' + name + '-302'), {mode: 'no-cors'}).catch(() => 0);
try { new WebSocket(to.replace('http', 'ws') + '/' + name + '-websocket'); } catch (fault) {}
try { new EventSource(to + '/' + name + '-eventsource'); } catch (fault) {}
try { importScripts(to + '/' + name + '-import'); } catch (fault) {}
"""
MODULE = "const given = new URL(self.location).searchParams; import(given.get('to') + '/' + given.get('name'));"


@contextlib.asynccontextmanager
async def ways_site() -> AsyncIterator[str]:
    """Serve the page of all ways; gives its base address."""

    async def handle(wire: Wire) -> None:
        while True:
            target = (await wire.head()).split(b" ")[1].decode()
            await wire.send(_answer(target))

    async with serving(handle) as server:
        yield f"http://{server.host}"


def _answer(target: str) -> bytes:
    parts = urlsplit(target)
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    to = given.get("to", "")
    status, kind, more, body = "200 OK", "text/html", "", ""
    match parts.path:
        case "/":
            more, body = f"Link: <http://{urlsplit(to).hostname}:{given['preconnect']}>; rel=preconnect\r\n", PAGE
        case "/hop":
            status, more = f"{given['status']} Found", f"Location: {to}\r\n"
        case "/refresh":
            more = f"Refresh: 0; url={to}\r\n"
        case "/link":
            more, body = f"Link: <{to}>; rel=preload; as=image\r\n", "<p>x"
        case "/csp":
            more, body = f"Content-Security-Policy: img-src 'none'; report-uri {to}\r\n", "<img src=/x>"
        case "/xml":
            kind, body = "text/xml", f'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="{to}"?><a/>'
        case "/worker.js":
            kind, body = "text/javascript", WORKER
        case "/module.js":
            kind, body = "text/javascript", MODULE
        case _:
            status = "404 Not Found"
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\n{more}"
    return f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode()


@dataclass
class Canary:
    """Servers that must not be reached, over TCP and UDP; `hits` are the ways that led there."""

    port: int = 0
    hits: list[str] = field(default_factory=list)
    ports: dict[str, int] = field(default_factory=dict)

    def query(self, host: str = "127.0.0.1") -> str:
        """What the page of all ways needs to know."""
        return "&".join([f"to=http://{host}:{self.port}", *(f"{name}={port}" for name, port in self.ports.items())])

    async def handle(self, wire: Wire) -> None:
        while head := await wire.reader.readuntil(b"\r\n\r\n"):
            match = re.search(rb"[A-Z]+ /([^ ?]*)", head)  # the body of the request before may stand in front
            self.hits.append(match[1].decode() if match else "tcp")
            await wire.send(
                b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n"
                b"Content-Length: 6\r\n\r\nsecret"
            )


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, hits: list[str], name: str) -> None:
        self.hits = hits
        self.name = name

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.hits.append(f"{self.name}/udp")


@contextlib.asynccontextmanager
async def canary_at(port: int = 0) -> AsyncIterator[Canary]:
    """A canary on 127.0.0.1, with one port for HTTP and one for each way that speaks something else."""
    canary = Canary()
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(canary.handle, port=port))
        canary.port = server.port
        for name in RAW_WAYS:
            canary.ports[name] = await _listen(stack, canary.hits, name)
        yield canary


async def _listen(stack: contextlib.AsyncExitStack, hits: list[str], name: str) -> int:
    async def note(wire: Wire) -> None:
        hits.append(f"{name}/tcp")
        await wire.rest()

    port = (await stack.enter_async_context(serving(note))).port
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Datagrams(hits, name), local_addr=("127.0.0.1", port)
    )
    stack.callback(transport.close)
    return port
