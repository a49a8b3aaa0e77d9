"""When a page over HTTP is whole, and when a browser would show more."""

import time
from typing import NamedTuple

import pytest

from fetch.page import Page
from fetch.render_need import why
from tests.fetch.walls import ARTICLE, CHINESE, SENTENCE, page_of, tree_of

NAV = "<nav>" + "".join(f"<a href=/{n}>Section number {n}</a> " for n in range(30)) + "</nav>"
APP = "<script src=/assets/app.1f2e.js></script>"
BUILD = "<script>fetch('/api').then(r=>r.text()).then(t=>{list.innerHTML=t})</script>"
SHORT = f"<h1>Hours</h1><p>{SENTENCE * 3}</p>"


class Case(NamedTuple):
    """A page, and a word of the reason for which it is rendered."""

    name: str
    html: str
    reason: str = ""
    url: str = "https://site.example/news/ferry"


NEEDY = (
    Case("an empty root", f"<div id=root></div>{APP}", "characters of text"),
    Case("a root and a noscript message", f"<body><noscript>You need to enable JavaScript to run this app. "
         f"{SENTENCE * 3}</noscript><div id=app></div>{APP}", "characters of text"),
    Case("navigation and an empty root", f"{NAV}<div id=app></div>{APP}", "beside navigation"),
    Case("navigation, a footer and a root", f"{NAV}<main><p>{SENTENCE * 3}</p><div id=__next></div></main>{APP}",
         "empty container"),
    Case("an angular root", f"{NAV}<p>{SENTENCE * 3}</p><app-root></app-root>{APP}", "empty container"),
    Case("a late request", f"<div id=root><div class=spinner>Loading</div></div>{BUILD}", "characters of text"),
    Case("embedded state", f'{NAV}<div class=page></div><script id=__NEXT_DATA__ type=application/json>{{"a": '
         f'"{SENTENCE * 20}"}}</script><script src=/_next/static/chunks/main.js></script>', "beside navigation"),
    Case("a skeleton", f"{SHORT}<div class=skeleton-card></div>{APP}", "placeholder"),
    Case("loading, in Chinese", f"{SHORT}<div id=c>正在加载中...</div>{BUILD}", "加载中"),
    Case("an empty table", f"{SHORT}<table><thead><tr><th>Name</th></tr></thead><tbody id=rows></tbody></table>"
         f"{BUILD}", "empty list"),
    Case("an empty list with its source", f"{SHORT}<ul data-url=/api/items></ul>{BUILD}", "empty list"),
    Case("an empty custom element", f"{SHORT}<x-board></x-board><script>customElements.define('x-board',X)</script>",
         "empty element"),
    Case("a noscript message in Chinese", f"<p>{SENTENCE * 3}</p><noscript>请启用 JavaScript 以查看本页</noscript>"
         f"{APP}", "it says"),
    Case("a hash route", f"<div id=v>{ARTICLE}</div><script>onhashchange=()=>"
         f"{{v.innerHTML=views[location.hash]}}</script>", "fragment", "https://site.example/app#/item/2"),
    Case("a hash-bang route", ARTICLE + APP, "fragment", "https://site.example/#!/item"),
    Case("a refresh", "<meta http-equiv=refresh content='0; url=target.html'><p>Moving…</p>", "refresh"),
    Case("a refresh after five seconds", f"<meta http-equiv=Refresh content=\"5;URL='/there'\"><p>{SENTENCE * 3}</p>",
         "refresh"),
    Case("a redirect by script", "<p>Moving</p><script>setTimeout(()=>location='end.html',250)</script>",
         "characters of text"),
    Case("a frameset", "<frameset cols=20%,*><frame src=menu.html><frame src=main.html></frameset>", "frameset"),
    Case("a frame of the same site", "<h1>Course</h1><iframe src=inner.html width=600></iframe>", "frame"),
    Case("a srcdoc frame", "<h1>Course</h1><iframe srcdoc='<p>Keep left.</p>'></iframe>", "srcdoc"),
    Case("a frame that is the page", "<iframe src=https://other.example/app width=100%></iframe>", "frame"),
    Case("hidden until scripts run", f"<div style='display:none'>{ARTICLE}</div><script>show()</script>", "hidden"),
)  # fmt: skip

WHOLE = (
    Case("short and without scripts", "<h1>Contact</h1><p>Ring the bell twice and wait.</p>"),
    Case("short, with analytics", "<p>Ring twice.</p><script async "
         "src=https://www.googletagmanager.com/gtag/js?id=G-1></script><script>"
         "window.dataLayer=[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date())</script><script>var "
         "_hmt=[];(function(){var hm="

         "document.createElement('script');hm.src='https://hm.baidu.com/hm.js?1';document.head.appendChild(hm)})()</script>"),
    Case("short, with data", '<p>Ring twice.</p><script type=application/ld+json>{"@type":"Place"}</script>'
         "<script type=importmap>{}</script>"),
    Case("short, with libraries", "<p>Ring twice.</p><script src=/js/jquery-3.7.1.min.js></script><script "
         "src=/js/bootstrap.bundle.min.js></script>"),
    Case("short, with a theme's script", "<p>Ring twice.</p><script>document.documentElement.className='js'</script>"),
    Case("short, with an alert", "<script>alert('Tide warning')</script><p>Below the alert.</p>"),
    Case("rendered by the server, state beside it", f"<div id=__next>{ARTICLE}</div><script id=__NEXT_DATA__ "
         f"type=application/json>{{}}</script>"
         "<script src=/_next/static/chunks/main.js></script><noscript>You need to enable JavaScript</noscript>"),
    Case("an article among scripts", NAV + ARTICLE + APP + BUILD + "<div class=spinner></div><ul data-url=/related>"
         "</ul>"),
    Case("an article with an empty root for comments", ARTICLE + "<div id=app></div>" + APP),
    Case("a Chinese article", f"<p>{CHINESE * 20}</p>{APP}"),
    Case("a contact page with a captcha", SHORT + "<form><input name=m><div class=g-recaptcha></div></form>"
         "<script src=https://www.google.com/recaptcha/api.js></script>"),
    Case("a refresh of itself", f"<meta http-equiv=refresh content=300><p>{SENTENCE * 3}</p>"),
    Case("a refresh much later", "<meta http-equiv=refresh content='60;url=/next'><p>Slides.</p>"),
    Case("a refresh without scripts only", "<p>Ring twice.</p><noscript><meta http-equiv=refresh "
         "content='0;url=/nojs'></noscript>"),
    Case("a refresh to a fragment of itself", "<meta http-equiv=refresh content='0;url=#top'><p>Ring twice.</p>"),
    Case("an anchor", ARTICLE + APP, url="https://site.example/news/ferry#chapter-2"),
    Case("a hash route without scripts", ARTICLE, url="https://site.example/#/item/2"),
    Case("a tracking frame", "<p>Ring twice.</p><noscript><iframe src=/ns.html></iframe></noscript><iframe "
         "src=/pixel width=0 height=0></iframe>"),
    Case("an embedded video", f"{SHORT}<iframe src=https://video.example/embed/1 width=560></iframe>"),
    Case("a long list of links", NAV + "<main>" + "".join(f"<a href=/p/{n}>The tale of the ferry number {n}</a>" for n
         in range(120)) + f"</main>{APP}"),
    Case("nothing and no scripts", "<p></p>"),
)  # fmt: skip

HOSTILE = {
    "deep": "<div>" * 20_000 + "x" + BUILD,
    "refresh": "<meta http-equiv=refresh content='" + " " * 500_000 + "x'>",
    "elements": "<x-a> " * 28_000 + BUILD,
    "state": BUILD + "<script type=application/json>" + '"a"' * 3_000_000 + "</script>",
    "frames": "<iframe srcdoc=x></iframe>" * 29_000,
    "loaders": "<div class=loading><b>x</b></div>" * 14_000 + BUILD,
}


def reason_of(html: str, url: str) -> str | None:
    return why(page_of(html, url), tree_of(html))


@pytest.mark.parametrize("case", NEEDY, ids=lambda case: case.name)
async def test_rendered(case: Case) -> None:
    """A page whose scripts, frames or address hold more than its text is rendered, for the reason that is given."""
    reason = reason_of(case.html, case.url)
    assert reason is not None
    assert case.reason in reason
    assert len(reason) < 200


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
async def test_not_rendered(case: Case) -> None:
    """A page that is all there is not rendered, however short it is and whatever scripts it has."""
    assert reason_of(case.html, case.url) is None


async def test_what_was_read_counts() -> None:
    """The characters that were read in the page decide where they are known."""
    html = SHORT + BUILD
    assert why(page_of(html), tree_of(html), 50) is not None
    assert why(page_of(html), tree_of(html), 300) is None


async def test_a_rendered_page_is_not_rendered_again() -> None:
    """What a browser gave is what there is."""
    html = "<div id=root></div>" + APP
    assert why(page_of(html, method="browser"), tree_of(html)) is None
    assert why(Page("https://site.example/", "http", 204), tree_of("")) is None


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_documents(name: str) -> None:
    """Depth, length and numbers are bounded."""
    html = HOSTILE[name]
    page, tree = page_of(html), tree_of(html)
    began = time.process_time()
    why(page, tree)
    assert time.process_time() - began < 2
