"""Would a browser show more of this page? Whether it is whole is read from its scripts, containers, frames and address.

A page is rendered for a reason that is in it, never for being short: short and without scripts that could add to it,
it is whole; long and readable, it is whole with any number of them.
"""

import re
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetch.page import Page
from fetch.refusal_survey import SCRIPT_HEAD, Script, Survey, runs, split, survey
from fetch.refusal_words import SCRIPT_WORDS

LITTLE = 200  # characters of text below which a page with scripts is rendered
SOME = 600  # characters of prose below which a shell's marks count
MUCH = 1_500  # … and above which nothing but its address or a refresh makes a page move
SOON = 10.0  # seconds within which a refresh belongs to the visit
BARE = 60  # characters of text that are no more than a title
NODES = 400
STATE_IN = 300_000  # characters of HTML in which a state for scripts is sought

_REFRESH = re.compile(r"^\s*(\d*\.?\d+)?\s*[;,]?\s*(?:url\s*=)?\s*['\"]?\s*([^'\"]*)", re.IGNORECASE)
_ROOTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #react-root, #main-app, #app-root, #application, "
    "#app-container, #reactRoot, #vue-app, #mount, #page-root, #spa, #ember-app, app-root, [ng-app], [ng-view], "
    "[ui-view], [data-reactroot], router-outlet, ion-app, [data-server-rendered='false']"
)
_LOADERS = (
    '[class*="skeleton" i], [class*="spinner" i], [class*="loading" i], [id*="loading" i], [class*="placeholder" i], '
    '[class*="shimmer" i], [class*="preloader" i], [aria-busy="true"], [role="progressbar"], progress:not([value])'
)
_LISTS = (
    "tbody, ul[data-url], ol[data-url], ul[data-src], ul[data-source], ul[data-api], [data-endpoint], "
    "[hx-trigger*='load'], #list, #results, #result, #items, #posts, #feed, #entries, #articles, #rows, #table, "
    "#content, #main-content, main"
)
_LOADING_WORDS = re.compile(
    r"^(please wait,? ?)?(is )?(now )?(loading|fetching|initiali[sz]ing)\b.{0,40}$|^please wait\W*$"
    r"|^(正在|努力|玩命|拼命)?(加载|载入|加載|載入)(中|数据)?.{0,12}$|^(請|请)稍(候|等|后|後)\W*$|^読み込み中.{0,8}$|^chargement.{0,10}$",
    re.IGNORECASE,
)
_CUSTOM = re.compile(r"<([a-z][a-z0-9]*-[a-z0-9-]+)(?:\s[^<>]*)?>\s*</\1>")
_SMALL = re.compile(r"icon|captcha|^(g|amp|ion|fa|theme|search|cookie|share|back)-")
_NO_LOADERS = frozenset({"html", "body", "img", "input", "textarea", "a", "button", "option"})
_BUNDLE = re.compile(
    r"/(_next|_nuxt|static/js|assets|dist|build|bundles?|chunks?|webpack|js)/|(main|app|index|bundle|vendor|runtime|chunk)"
    r"[\w.-]*\.m?js"
)
_STATE = re.compile(
    r"__NEXT_DATA__|__NUXT__|__NUXT_DATA__|__INITIAL_STATE__|__APOLLO_STATE__|__PRELOADED_STATE__|__remixContext"
    r"|self\.__next_f|__sveltekit|window\.__DATA__|__INITIAL_DATA__|ng-state"
)
_INERT_HOSTS = re.compile(
    r"(^|\.)(googletagmanager|google-analytics|googlesyndication|googleadservices|doubleclick|adservice\.google"
    r"|hm\.baidu|cpro\.baidustatic|push\.zhanzhang\.baidu|zz\.bdstatic|cnzz|umeng|51\.la|la\.51|growingio|sensorsdata"
    r"|clarity\.ms|bat\.bing|connect\.facebook|hotjar|segment|mixpanel|amplitude|heap|fullstory|newrelic|nr-data"
    r"|cloudflareinsights|plausible|usefathom|goatcounter|umami|matomo|piwik|statcounter|quantserve|scorecardresearch"
    r"|chartbeat|parsely|mc\.yandex|yastatic|snap\.licdn|analytics\.tiktok|static\.ads-twitter|sentry|sentry-cdn"
    r"|bugsnag|datadoghq-browser-agent|cookielaw|onetrust|cookiebot|usercentrics|consensu|quantcast|privacy-mgmt|didomi"
    r"|addthis|sharethis|addtoany|typekit|fontawesome|recaptcha|hcaptcha|challenges\.cloudflare|gravatar|taboola|outbrain"
    r"|criteo|amazon-adsystem|adnxs|pubmatic|ahrefs|simpleanalytics|pirsch|counter\.dev|gtag|tongji|crisp|intercom"
    r"|zdassets|drift|hs-scripts|hs-analytics|hubspot|optimizely|vwo|visualwebsiteoptimizer)(\.|$)",
    re.IGNORECASE,
)
_INERT_FILES = re.compile(
    r"(^|/)(gtag|gtm|ga|analytics|ga4|hm|h|stat|tongji|count(er)?|piwik|matomo|beacon|pixel|fbevents|clarity|umami|plausible"
    r"|adsbygoogle|ads?|pagead|email-decode|rocket-loader|invisible|jquery(-\d[\w.]*|-migrate[\w.-]*|\.slim|-ui)?|bootstrap"
    r"(\.bundle)?|modernizr[\w.-]*|html5(shiv|shim)[\w-]*|respond|polyfills?[\w.-]*|popper|prism[\w-]*|highlight|hljs"
    r"|mathjax|tex-[\w-]+|katex|auto-render|fontawesome|all|lazysizes|lazyload|instantpage|turbolinks|smoothscroll|wow|aos"
    r"|share|social|cookie[\w-]*|consent[\w-]*|comment-reply|wp-embed|wp-emoji-release|skip-link[\w-]*|focus-visible"
    r"|darkmode|theme-toggle|back-to-top|jsd/main|clipboard|copybutton|doctools|sphinx_highlight|recaptcha(__\w+)?"
    r"|recaptcha/api|enterprise)([.-]min)?(\.[0-9a-f]{6,})?\.js$",
    re.IGNORECASE,
)
_INERT_PATHS = re.compile(
    r"/(gtag/js|gtm\.js|recaptcha/(api|enterprise)|cdn-cgi/(challenge-platform|scripts)/|pagead/)", re.IGNORECASE
)
_INERT_CODE = re.compile(
    r"dataLayer|gtag\(|GoogleAnalyticsObject|_gaq|google_tag|_hmt|hm\.baidu|fbq\(|_paq|clarity\.ms|cnzz|_czc|hotjar|hjid"
    r"|adsbygoogle|googletag|NREUM|newrelic|_linkedin_partner|ttq\.|ym\(|Ya\.Metrika|mixpanel|amplitude|zz\.bdstatic"
    r"|push\.zhanzhang|__CF\$cv|cookieconsent|OneTrust|_satellite|dataset\.theme|prefers-color-scheme|MathJax\b"
    r"|serviceWorker\.register|getFullYear\(\)"
)
_BUILDS = re.compile(
    r"innerHTML|outerHTML|insertAdjacent|textContent|innerText|document\s*\.\s*write|createElement|appendChild"
    r"|append\(|prepend\(|replaceChildren|replaceWith|createTextNode|cloneNode|importNode|setHTML|customElements|attachShadow|\bfetch\s*\("
    r"|XMLHttpRequest|EventSource|WebSocket|\$\.(get|post|ajax|getJSON)|\.ajax\(|axios|\.(load|html|text|mount|render)\("
    r"|createRoot|createApp|hydrate|new Vue|\bimport\s*\(|\bimport\s+[\w{*'\"]"
    r"|location\s*(\.\s*(href|replace|assign))?\s*[=(]"
    r"|location\.reload|\beval\(|new Function|atob\("
)


def why(page: Page, tree: LexborHTMLParser, characters: int | None = None, seen: Survey | None = None) -> str | None:
    """Why a browser would probably show more than this page over HTTP holds; None where it is whole.

    `characters` is how much text was read in it, where that is known better than from the tree; `seen` the page's
    survey, where one was made before.
    """
    if page.method == "browser" or page.status in {204, 205}:
        return None
    # Only tags and names are sought in it: the bytes will do, whatever their encoding.
    html = page.html if page.html is not None else page.body.decode("latin-1")
    seen = seen or survey(page, tree, html)
    shown = seen.characters if characters is None else characters
    if not seen.fine:
        return None
    builder = next((True for each in seen.scripts if builds(each)), False)
    reason = _moves(seen) or (_routes(seen) if builder else None)
    if reason or seen.prose >= MUCH or seen.core >= 2 * MUCH:
        return reason
    reason = _framed(seen, shown)
    if reason or not builder:
        return reason or _shy(seen, shown)
    return _few(seen, shown) or (_shell(seen, html) if seen.prose < SOME else None) or _hungry(seen)


def builds(script: Script) -> bool:
    """Whether the script could add text to the page. Analytics, advertising, consent and mere libraries do not."""
    if not runs(script):
        return False
    if script.src:
        parts = split(script.src)
        host = parts.hostname or ""
        named = _INERT_FILES.search(parts.path) or _INERT_PATHS.search(parts.path)
        return not (_INERT_HOSTS.search(host) or named)
    if _INERT_CODE.search(script.text):
        return False
    return len(script.text) >= SCRIPT_HEAD or bool(_BUILDS.search(script.text))


def _moves(seen: Survey) -> str | None:
    """A refresh that soon leads elsewhere."""
    for node in seen.tree.css('meta[http-equiv="refresh" i]')[:8]:
        if _within(node, "noscript"):
            continue
        match = _REFRESH.match(node.attributes.get("content") or "")
        target = match[2].strip() if match else ""
        delay = float(match[1] or 0) if match else SOON + 1
        if not target or delay > (1 if seen.prose >= MUCH else SOON):
            continue
        there = urljoin(seen.page.url, target)
        if there.partition("#")[0] != seen.page.url.partition("#")[0]:
            return f"a refresh to {there[:80]} after {delay:g} s"
    return None


def _within(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    for _ in range(5):
        if parent is None:
            return False
        if parent.tag == tag:
            return True
        parent = parent.parent
    return False


def _routes(seen: Survey) -> str | None:
    """An address whose fragment names a view that scripts show."""
    for url in (seen.url, seen.first_url):
        if url.fragment.startswith(("/", "!")):
            return f"the fragment #{url.fragment[:60]} names a view that scripts show"
    return None


def _framed(seen: Survey, shown: int) -> str | None:
    """Frames that may hold what the page is about."""
    if seen.has("frameset"):
        return "a frameset"
    if seen.prose >= SOME:
        return None
    for frame in seen.tree.css("iframe")[:20]:
        attributes = frame.attributes
        if attributes.get("srcdoc"):
            return "the content may be in a srcdoc frame"
        src = (attributes.get("src") or "").strip()
        style = (attributes.get("style") or "").replace(" ", "").lower()
        small = {attributes.get("width"), attributes.get("height")} & {"0", "1", "0px", "1px"}
        if not src or src.startswith(("about:", "javascript:", "data:")) or small or "hidden" in attributes:
            continue
        if "display:none" in style or "visibility:hidden" in style or _within(frame, "noscript"):
            continue
        host = split(urljoin(seen.page.url, src)).hostname or ""
        if host == seen.url.hostname or (shown < BARE and not _INERT_HOSTS.search(host)):
            return f"the content may be in the frame {src[:60]}"
    return None


def _shy(seen: Survey, shown: int) -> str | None:
    """Text that is there and does not show, where hardly any other is."""
    if shown < LITTLE and seen.hidden >= LITTLE and any(runs(each) for each in seen.scripts):
        return f"{seen.hidden} characters are hidden until scripts show them"
    return None


def _few(seen: Survey, shown: int) -> str | None:
    """Too little text beside scripts that may add to it."""
    if shown < LITTLE:
        return f"{shown} characters of text, and scripts that may add to it"
    if seen.prose >= LITTLE:
        return None
    if seen.core < BARE or (seen.core < LITTLE and _BUNDLE.search(seen.script_text)):
        return f"{seen.core} characters of text beside navigation, and scripts that may add to it"
    return None


def _shell(seen: Survey, html: str) -> str | None:
    """Marks of an application that builds its page: hardly any prose, and containers, state or words that wait."""
    for node in seen.tree.css(_ROOTS)[:20]:
        if not node.text(strip=True) and node.css_first("img, svg, video, canvas, input") is None:
            return f"an empty container {_name(node)}"
    if seen.core < SOME and (match := _STATE.search(html[:STATE_IN])):
        return f"{seen.core} characters of text beside the state {match[0]}"
    # Where a noscript stands before the body, its text is in the body: it is parsed as without scripts.
    notes = [node.text().lower()[:2000] for node in seen.tree.css("noscript")[:10]] if seen.prose < LITTLE * 2 else []
    for note in (*notes, seen.words[:2000]):
        if match := SCRIPT_WORDS.search(note):
            return f"it says “{match[0][:60]}”"
    if seen.core >= SOME:
        return None
    for match in _CUSTOM.finditer(html):
        if not _SMALL.search(match[1]):
            return f"an empty element {match[1]}"
    return _waits(seen)


def _waits(seen: Survey) -> str | None:
    """Placeholders for what is still to come."""
    for node in seen.tree.css(_LOADERS)[:NODES]:
        text = node.text(strip=True)
        if node.tag in _NO_LOADERS or node.css_first("img, a, input") is not None:
            continue
        if not text or _LOADING_WORDS.search(text[:80]):
            return f"a placeholder {_name(node)}"
    return None


def _hungry(seen: Survey) -> str | None:
    """Lists that stand empty, or say that they are loading."""
    for node in seen.tree.css(_LISTS)[:NODES]:
        if not node.text(strip=True) and node.css_first("img, input, li > *, td") is None:
            return f"an empty list {_name(node)}"
    for run in seen.lines if seen.prose < SOME and seen.core < 2 * SOME else ():
        if len(run) < 60 and (match := _LOADING_WORDS.search(run)):
            return f"text “{match[0][:40]}”"
    return None


def _name(node: LexborNode) -> str:
    attributes = node.attributes
    name = f"#{attributes['id']}" if attributes.get("id") else ""
    kind = (attributes.get("class") or "").split()
    return f"{node.tag}{name or ('.' + kind[0] if kind else '')}"[:60]
