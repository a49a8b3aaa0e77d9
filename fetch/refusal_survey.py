"""What of a page tells whether it is what was asked for: its visible words, scripts, forms and frames. Bounded."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetch.page import Page

TEXT_LIMIT = 40_000  # characters of visible text that are looked at: far more than any wall has
SCRIPT_LIMIT = 300  # scripts
SCRIPT_HEAD = 3_000  # characters of each inline script: what names a vendor stands at its beginning
TAGS_LIMIT = 60_000  # tags; above, only words are counted: no wall has so many
ROOTS = 300  # shadow roots
PARAGRAPHS = 200
ANCESTORS = 40  # elements around one that are asked whether it shows

SENTENCE = 60  # characters that make a run of text prose; labels, links and buttons are shorter
CJK_WEIGHT = 2.5  # one Chinese, Japanese or Korean character says about as much as so many Latin letters
MASS = 10_000  # characters in all, links and labels too, that no wall has
IMMUNE = 99  # what they weigh against a wall's signs
SOME = 800  # characters of prose that few walls have
PLENTY = 3_000  # characters of prose that no wall has
ENOUGH = 6_000  # characters of prose after which no more is weighed: no teaser has as much
DIALOG = 4_000  # characters of a page that could be one dialog

_UNSEEN = "script, style, noscript, template, svg, iframe, textarea, select, object, math, head"
_HIDDEN = 'body [hidden], body [style*="display:none"], body [style*="display: none"]'
_NAVIGATION = (
    'nav, header, [role="navigation"], [role="banner"], '
    "#nav, .nav, .navbar, #menu, .menu, #header, .header, .breadcrumb, .topbar"
)
_FURNITURE = (
    'footer, aside, dialog, button, label, legend, [role="contentinfo"], [role="dialog"], [role="alertdialog"], '
    "#footer, .footer, #sidebar, .sidebar"
)
CONSENT = (
    "#onetrust-consent-sdk, #onetrust-banner-sdk, #didomi-host, #didomi-popup, .fc-consent-root, #qc-cmp2-container, "
    '#CybotCookiebotDialog, #usercentrics-root, #truste-consent-track, #cmpbox, [id^="sp_message_container"], '
    '#iubenda-cs-banner, .osano-cm-window, #cmp, #gdpr, [id*="cookie-consent"], [class*="cookie-consent"], '
    '[id*="cookie-banner"], [class*="cookie-banner"], [id*="cookie-notice"], [class*="cookie-notice"], '
    '[id*="cookie-wall"], [class*="cookie-wall"], [id*="consent-wall"], [class*="consent-wall"], '
    '[id*="consent-modal"], [class*="consent-modal"], [id*="consent-banner"], [class*="consent-banner"], '
    '[aria-label*="consent" i], [aria-label*="cookie" i], form[action*="collectConsent"], form[action*="/consent"]'
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BETWEEN_TAGS = re.compile(r">\s*([^\s<>][^<>]*)")
_SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Script:
    """A script: its address (empty: inline), its type and how its text begins."""

    src: str
    kind: str
    text: str


@dataclass(frozen=True)
class Survey:
    """A page as the rules see it.

    `text` is what a person could see, folded to single spaces, up to TEXT_LIMIT; `characters` its length, `hidden` the
    length of what is there but not shown. `prose` counts the characters, up to ENOUGH, of runs of a sentence's length
    outside links, navigation and dialogs, in Latin letters' worth; `consent` those of consent dialogs, `core` all those
    outside navigation, links too, and `lines` are the short runs among these. `fine`: the page has few enough elements
    for them to have been looked at; where it has not, all its text counts as prose.
    """

    page: Page
    tree: LexborHTMLParser
    text: str
    characters: int
    hidden: int
    prose: int
    consent: int
    core: int
    lines: tuple[str, ...]
    title: str
    headings: tuple[str, ...]
    scripts: tuple[Script, ...]
    fine: bool
    shadows: tuple[LexborNode, ...] = ()
    url: SplitResult = field(default_factory=lambda: SplitResult("", "", "", "", ""))

    @property
    def status(self) -> int:
        """The status, 200 where a browser could not tell."""
        return self.page.status or 200

    @property
    def headers(self) -> Mapping[str, str]:
        """The answer's headers."""
        return self.page.headers

    @cached_property
    def words(self) -> str:
        """The text in lower case, typographic apostrophes made plain."""
        return self.text.lower().replace("\u2019", "'")

    @cached_property
    def script_text(self) -> str:
        """Addresses and beginnings of all scripts that run."""
        return "\n".join(f"{each.src}\n{each.text}" for each in self.scripts if runs(each))

    @cached_property
    def weight(self) -> int:
        """What the content weighs against a wall's signs: 0 where there is none, IMMUNE where no wall has as much."""
        if self.prose >= PLENTY or self.characters >= MASS:
            return IMMUNE
        if self.prose >= PLENTY // 2:
            return 4
        if self.prose >= SOME or self.characters >= MASS // 2:
            return 2
        return 1 if self.prose >= SOME // 2 or self.characters >= PLENTY // 2 else 0

    @property
    def first_url(self) -> SplitResult:
        """The address that was asked for, as far as is known."""
        return split(self.page.redirects[0][0]) if self.page.redirects else self.url

    def find(self, selector: str) -> list[LexborNode]:
        """Elements, those in open shadow roots too."""
        found = list(self.tree.css(selector))
        for root in self.shadows:
            found.extend(root.css(selector))
        return found

    def has(self, selector: str) -> bool:
        """Whether there is such an element."""
        return self.tree.css_first(selector) is not None or any(root.css_first(selector) for root in self.shadows)

    def shows(self, selector: str) -> bool:
        """Whether one of the first such elements is not marked as hidden."""
        return self.has(selector) and any(_stands(node) for node in self.find(selector)[:20])


def _stands(node: LexborNode | None) -> bool:
    """Whether neither it nor what holds it says that it does not show."""
    for _ in range(ANCESTORS):
        if node is None or node.tag == "body":
            return True
        attributes = node.attributes
        if "hidden" in attributes or "display:none" in (attributes.get("style") or "").replace(" ", ""):
            return False
        node = node.parent
    return True


def runs(script: Script) -> bool:
    """Whether it is code, and not data or a template."""
    kind = script.kind
    return not kind or kind == "module" or kind.endswith(("javascript", "ecmascript", "jscript", "babel"))


def split(url: str) -> SplitResult:
    """The parts of an address; empty ones where it has none."""
    try:
        parts = urlsplit(url)
        parts.hostname  # noqa: B018  raises for what is no host
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def survey(page: Page, tree: LexborHTMLParser, html: str) -> Survey:
    """Look the page over once."""
    title = _fold(_text_of(tree.css_first("title")) or page.title)
    if html.count("<") > TAGS_LIMIT:
        return _coarse(page, tree, html, title)
    shadows = _shadows(tree) if "shadowroot" in html else ()
    roots = [root for root in (tree.body, *shadows) if root is not None]
    shown, hidden = _visible(roots)
    core = _core(roots, shown)
    text = _fold(" ".join(shown))
    prose, consent = _weigh(roots, core, dialog=len(text) <= DIALOG)
    return Survey(
        page=page,
        tree=tree,
        text=text,
        characters=len(text),
        hidden=hidden,
        prose=prose,
        consent=consent,
        core=sum(len(run.strip()) for run in core),
        lines=tuple(run.strip() for run in core if len(run) < SENTENCE * 2),
        title=title,
        headings=tuple(_fold(_text_of(node)) for root in roots for node in root.css("h1, h2")[:4]),
        scripts=_scripts([*([tree.head] if tree.head is not None else []), *roots]),
        fine=True,
        shadows=shadows,
        url=split(page.url),
    )


def _coarse(page: Page, tree: LexborHTMLParser, html: str, title: str) -> Survey:
    """A survey of what stands between tags, scripts or not: a walk over a vast tree takes seconds."""
    found: list[str] = []
    size = 0
    for match in _BETWEEN_TAGS.finditer(html):
        found.append(match[1][:TEXT_LIMIT])
        size += len(found[-1])
        if size >= TEXT_LIMIT:
            break
    text = _fold(" ".join(found))[:TEXT_LIMIT]
    size = len(text)
    return Survey(page, tree, text, size, 0, size, 0, size, (), title, (), (), fine=False, url=split(page.url))


def visible_text(node: LexborNode) -> str:
    """The text of an element that shows."""
    return _fold(" ".join(_visible([node])[0]))


def _shadows(tree: LexborHTMLParser) -> tuple[LexborNode, ...]:
    """The contents of declarative shadow roots, nested ones too."""
    found: list[LexborNode] = []
    waiting = list(tree.template_fragments())
    while waiting and len(found) < ROOTS:
        fragment = waiting.pop()
        parent = fragment.parent
        if parent is not None and "shadowrootmode" in parent.attributes:
            found.append(fragment)
            waiting.extend(fragment.template_fragments())
    return tuple(found)


def _visible(roots: list[LexborNode]) -> tuple[list[str], int]:
    """The runs of text that show, and how many characters of others do not.

    Told apart by subtracting, run by run, the text of elements that do not show: copying or changing the tree costs
    ten times as much, and others read it after this.
    """
    unseen = _texts(roots, _UNSEEN)
    unshown = _texts(roots, _HIDDEN)
    shown: list[str] = []
    total = hidden = 0
    for run in _runs(roots):
        if unseen[run] > 0:
            unseen[run] -= 1
        elif unshown[run] > 0:
            unshown[run] -= 1
            hidden += len(run.strip())
        elif total < TEXT_LIMIT:
            shown.append(run[: TEXT_LIMIT - total])
            total += len(run)
    return shown, hidden


def _runs(nodes: Iterable[LexborNode]) -> list[str]:
    """The text nodes in these elements that hold more than space."""
    found: list[str] = []
    for node in nodes:
        text = node.text(separator=_SEPARATOR, skip_empty=True)
        found.extend(run for run in text.split(_SEPARATOR) if run)
    return found


def _texts(roots: list[LexborNode], selector: str) -> Counter[str]:
    """The runs of text in such elements, each as often as it is there."""
    nodes = {node.mem_id: node for root in roots for node in root.css(selector)}
    outer = (node for node in nodes.values() if node.parent is None or node.parent.mem_id not in nodes)
    return Counter(_runs(outer))


def _without(runs_of_text: list[str], others: Counter[str]) -> list[str]:
    """Those runs that are not among the others."""
    left: list[str] = []
    for run in runs_of_text:
        if others[run] > 0:
            others[run] -= 1
        else:
            left.append(run)
    return left


def _core(roots: list[LexborNode], shown: list[str]) -> list[str]:
    """The runs outside navigation and other furniture.

    What holds sentences, or much that is no link, is no navigation, whatever it is called: an element that was not
    closed holds the whole page.
    """
    bare = _without(shown, _texts(roots, _FURNITURE))
    core = _without(bare, _texts(roots, _NAVIGATION))
    if len(core) >= len(bare) / 2 or _prose(core) >= SOME:
        return core
    unlinked = sum(map(len, _without(bare, _texts(roots, "a"))))
    return bare if _prose(bare) >= SOME or unlinked >= 2 * SOME else core


def _weigh(roots: list[LexborNode], core: list[str], *, dialog: bool) -> tuple[int, int]:
    """How much prose there is, up to PLENTY, and how many characters of consent dialogs where there could be one."""
    body = _without(core, _texts(roots, "a"))
    prose = _prose(body)
    if not dialog:
        return (prose if prose >= SOME else max(prose, _paragraphs(roots, core))), 0
    dialogs = _texts(roots, CONSENT)
    if not dialogs:
        return max(prose, _paragraphs(roots, core)), 0
    consent = sum(len(run.strip()) * times for run, times in dialogs.items())
    return _prose([run for run in body if run not in dialogs]), consent


def _prose(body: list[str]) -> int:
    total = 0.0
    for run in body:
        total += _worth(run)
        if total >= ENOUGH:
            break
    return int(total)


def _worth(run: str) -> float:
    """The Latin letters' worth of a run of text; 0 where it is shorter than a sentence."""
    if len(run) * CJK_WEIGHT < SENTENCE:
        return 0.0
    run = _fold(run[: PLENTY * 2])
    worth = float(len(run)) if run.isascii() else len(run) + len(_CJK.findall(run)) * (CJK_WEIGHT - 1)
    return worth if worth >= SENTENCE else 0.0


def _paragraphs(roots: list[LexborNode], core: list[str]) -> int:
    """The worth of whole paragraphs: text may be cut into many small runs by inline elements."""
    known = set(core)
    total = 0.0
    for root in roots:
        for node in root.css("p, li, pre, blockquote, dd")[:PARAGRAPHS]:
            if len(node.css("a, button, input, label")) <= 3:
                total += _worth(" ".join(run for run in _runs([node]) if run in known))
    return int(total)


def _scripts(roots: list[LexborNode]) -> tuple[Script, ...]:
    found: list[Script] = []
    for root in roots:
        for node in root.css("script")[:SCRIPT_LIMIT]:
            attributes = node.attributes
            kind = (attributes.get("type") or "").strip().lower()
            found.append(Script((attributes.get("src") or "").strip(), kind, node.text()[:SCRIPT_HEAD]))
    return tuple(found)


def _text_of(node: LexborNode | None) -> str:
    return node.text()[:1000] if node is not None else ""


def _fold(text: str) -> str:
    return " ".join(text.split())
