"""Pages that become complete in some seventy different ways. `settle_server` serves them."""

from dataclasses import dataclass

PROSE = " ".join(f"Sentence {number} of a text about the harbour and its boats." for number in range(30))
BODY = f"<p>{PROSE} TOKEN</p>"
ROOT = "<div id=root></div>"
SET = "root.innerHTML='<p>TOKEN</p>';"


@dataclass(frozen=True)
class Kind:
    """A page whose text holds TOKEN once it has settled: within how many seconds, and how settling then ends."""

    html: str
    within: float = 4.0
    ends: str = "quiet"


def fetched(ms: int, text: str = "TOKEN") -> str:
    """A promise of an answer that takes so long."""
    return f"fetch('/data?ms={ms}&text={text}').then(r=>r.text())"


def shown(ms: int) -> str:
    """The token is fetched and shown."""
    return f"{fetched(ms)}.then(t=>root.innerHTML='<p>'+t+'</p>');"


def built(script: str, before: str = "") -> str:
    """A page whose text comes from this script."""
    return f"{before}{ROOT}<script>{script}</script>"


ONWARD = "<meta http-equiv=refresh content='0; url=/onward'><p>Moving on."

STATIC = {
    "static": Kind(BODY),
    "short": Kind("<h1>Contact</h1><p>Ring TOKEN twice.</p>"),
    "assets": Kind("<link rel=stylesheet href=/css>" + BODY + "".join(f"<img src=/png?{n}>" for n in range(8))),
    "linked_data": Kind(f'<script type=application/ld+json>{{"a":1}}</script>{BODY}'),
    "frame_static": Kind(f"<p>{PROSE}</p><iframe src=/text?TOKEN></iframe>"),
    "frame_srcdoc": Kind("<iframe srcdoc='<p>TOKEN</p>'></iframe>"),
    "missing": Kind("<h1>Nothing here</h1><p>TOKEN</p>"),
}

_DECODED = "(await fetch('/drip?n=5&ms=200')).body.pipeThrough(new TextDecoderStream).getReader()"
_WORKER = "w=new Worker(URL.createObjectURL(new Blob(['setTimeout(()=>postMessage(1),700)'])));w.onmessage=()=>{"

BUILT = {
    "inline": Kind(built(SET)),
    "fetch": Kind(built(shown(300))),
    "fetch_under_prose": Kind(built(shown(700), f"<p>{PROSE}</p>")),
    "xhr": Kind(
        built(
            "x=new XMLHttpRequest;x.open('GET','/data?ms=300&text=TOKEN');"
            "x.onload=()=>root.innerHTML=x.responseText;x.send()"
        )
    ),
    "chain": Kind(
        built(
            "(async()=>{for(let i=0;i<4;i++)root.append(await(await fetch('/data?ms=150&text=part'+i)).text());"
            "root.append('TOKEN')})()"
        )
    ),
    "side_by_side": Kind(
        built(
            "for(i=0;i<6;i++)fetch('/data?ms=400&text=TOKEN',{method:'POST'}).then(r=>r.text()).then(t=>root.append(t))"
        )
    ),
    "two_places": Kind(
        f"{ROOT}<div id=more></div><script>{fetched(200)}.then(t=>root.innerHTML='{PROSE}');"
        f"{fetched(1200)}.then(t=>more.innerHTML=t)</script>"
    ),
    "late": Kind(f"<div id=root><div class=spinner>Loading…</div></div><script>{shown(4500)}</script>", 7.0),
    "error_answer": Kind(built(f"fetch('/nothing').then(r=>r.ok||Promise.reject()).catch(()=>{{{SET}}})")),
    "body_stream": Kind(
        built(
            f"(async()=>{{const r={_DECODED};for(;;){{const{{done,value}}=await r.read();"
            "if(done)break;root.append(value)}})()"
        )
    ),
    "skeleton": Kind(
        "<div id=root><div class=Card_skeleton__x1 style='height:90px'></div></div>"
        f"<script>setTimeout(()=>{{{SET}}},1000)</script>"
    ),
    "aria_busy": Kind(
        f"<p>{PROSE}</p><main id=root aria-busy=true>…</main>"
        f"<script>{_WORKER}{SET}root.removeAttribute('aria-busy')}}</script>"
    ),
    "worker": Kind(built(f"{_WORKER}{SET}}}")),
    "module": Kind(f"{ROOT}<script type=module src='/js?ms=150&next=1'></script>"),
    "import": Kind(built("import('/js?ms=400')")),
    "script_added": Kind(
        built("onload=()=>{s=document.createElement('script');s.src='/js?ms=500';document.body.append(s)}")
    ),
    "image_onload": Kind(built(f"i=new Image;i.onload=()=>{{{SET}}};i.src='/png?ms=400'")),
    "indexed_db": Kind(built(f"indexedDB.open('a').onsuccess=()=>{{{SET}}}")),
    "idle": Kind(built(f"requestIdleCallback(()=>requestAnimationFrame(()=>{{{SET}}}))")),
    "write": Kind("<script>document.write('<p>one</p>')</script><script src='/js?ms=200&write=1'></script>"),
    "hash_route": Kind(built(f"onhashchange=()=>{{{SET}}};location.hash='#/two'")),
    "shadow": Kind(
        "<x-card></x-card><script>customElements.define('x-card',class extends HTMLElement{connectedCallback(){"
        f"window.root=this.attachShadow({{mode:'open'}});{shown(400)}}}}})</script>"
    ),
    "frame_built": Kind(f"<p>{PROSE}</p><iframe src=/built></iframe>"),
    "frame_late": Kind(built(f"{fetched(200)}.then(()=>root.innerHTML='<iframe src=/text?TOKEN></iframe>')")),
    "busy_script": Kind(
        built(f"onload=()=>setTimeout(()=>{{const t=performance.now();while(performance.now()-t<800);{SET}}})")
    ),
}

_PUT_OFF = {
    "timer": built(f"setTimeout(()=>{{{SET}}},800)"),
    "timer_under_prose": built(f"setTimeout(()=>{{{SET}}},700)", f"<p>{PROSE}</p>"),
    "timer_long": built(f"setTimeout(()=>{{{SET}}},2000)"),
    "timer_fetch": built(f"{fetched(200)}.then(()=>setTimeout(()=>{{{shown(200)}}},400))"),
    "steps": built(
        "n=0;(function f(){root.append('Step '+ ++n+' of this text has come. ');"
        "n<9?setTimeout(f,80):root.append('TOKEN')})()"
    ),
    "interval": built(
        "n=0;h=setInterval(()=>{root.append('Word '+ ++n+' of a typed text comes now. ');"
        "if(n>12){clearInterval(h);root.append('TOKEN')}},90)"
    ),
    "reveal": f"<p>{PROSE}</p><p id=root style='display:none'>TOKEN</p>"
    "<script>setTimeout(()=>root.style.display='block',600)</script>",
    "banner": f"<p>{PROSE}</p><script>setTimeout(()=>document.body.insertAdjacentHTML('beforeend',"
    "'<div style=\"position:fixed;inset:0\">We value your privacy. <button>TOKEN</button></div>'),400)</script>",
    "write_late": "<p>first</p><script>setTimeout(()=>{document.open();document.write('<p>'+location);"
    "document.close();setTimeout(()=>document.body.append('TOKEN'),400)},300)</script>",
}
PUT_OFF = {name: Kind(html) for name, html in _PUT_OFF.items()}

MOVING = {
    "refresh": Kind("<meta http-equiv=refresh content='1; url=/text?TOKEN'><p>Moving…"),
    "redirect": Kind(built("location='/text?TOKEN'")),
    "redirect_chain": Kind(built("location.replace('/hop?n=3')")),
    "redirect_late": Kind(built("setTimeout(()=>location='/text?TOKEN',250)")),
    "lazy": Kind(
        f"<p>{PROSE}</p><div style='height:4000px'></div>"
        + built(
            f"new IntersectionObserver((e,o)=>{{if(e[0].isIntersecting){{o.disconnect();{shown(200)}}}}}).observe(root)"
        )
    ),
}

NEVER_IDLE = {
    "events": Kind(built("new EventSource('/sse?ms=400').onmessage=e=>root.innerHTML='<p>'+e.data+'</p>'")),
    "websocket": Kind(built("new WebSocket('ws://'+location.host+'/ws?ms=300').onmessage=e=>root.innerHTML=e.data")),
    "long_poll": Kind(built(f"(async()=>{{for(;;)await {fetched(250, 'n')}}})();{shown(500)}"), 5.0),
    "held_poll": Kind(f"{BODY}<script>fetch('/longpoll?hang')</script>"),
    "polling": Kind(built(f"setInterval(()=>{{{shown(20)}}},200)"), 5.0),
    "beacon": Kind(
        f"{BODY}<script>navigator.sendBeacon('/collect?hang');"
        "fetch('/events?hang',{method:'POST',keepalive:true})</script>"
    ),
    "animation": Kind(
        built(
            f"(function f(t){{a.style.transform=`rotate(${{t}}deg)`;requestAnimationFrame(f)}})(0);{shown(400)}",
            "<p id=a>moving</p>",
        )
    ),
    "clock": Kind(built(f"setInterval(()=>c.textContent=new Date().toISOString(),100);{shown(300)}", "<p id=c></p>")),
    "ticker": Kind(built("setInterval(()=>root.textContent=Math.random().toString(36).slice(2),100)", BODY)),
    "carousel": Kind(built("(function f(){root.textContent='Slide '+Date.now();setTimeout(f,2000)})()", BODY)),
    "growing": Kind(
        built("setInterval(()=>root.append('One more line of the log has been written here. '),60)", BODY),
        6.0,
        "ceiling",
    ),
}

HANGING = {
    "image": Kind(f"{BODY}<img src=/hang>", 4.0, "timeout"),
    "font": Kind(f"<style>@font-face{{font-family:z;src:url(/hang)}}p{{font-family:z}}</style>{BODY}", 4.0, "timeout"),
    "sheet": Kind(f"<link rel=stylesheet href=/hang><script>0</script>{BODY}", 7.0, "timeout"),
    "async_script": Kind(f"<script async src=/hang></script>{BODY}", 5.0, "timeout"),
    "script": Kind(f"{BODY}<script src=/hang></script><p>never", 7.0, "timeout"),
    "frame": Kind(f"{BODY}<iframe src=/hang></iframe>", 5.0, "timeout"),
    "request": Kind(f"{BODY}<script>fetch('/hang')</script>", 9.0, "ceiling"),
    "served": Kind(built(f"fetch('/hang');{fetched(300)}.then(t=>root.innerHTML='{PROSE} TOKEN')"), 1.5, "ceiling"),
    "post": Kind(f"{BODY}<script>fetch('/hang',{{method:'POST'}})</script>", 5.0, "ceiling"),
    "spinner": Kind(f"{BODY}<div class=spinner>…</div><script>0</script>", 4.0, "ceiling"),
    "loop": Kind(f"{BODY}<script>onload=()=>setTimeout(()=>{{for(;;);}},100)</script>", 7.0, "ceiling"),
    "drip": Kind("", 6.0),
    "endless": Kind("", 13.0, "timeout"),
    "cut": Kind("", 4.0, "timeout"),
}

KINDS = STATIC | BUILT | PUT_OFF | MOVING | NEVER_IDLE | HANGING
