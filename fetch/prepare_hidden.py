"""What of a page nobody would see, told from its markup alone: attributes, inline styles and plain rules of its own.

Hidden text is where instructions to machines are put, so it is left out and counted. What a control of the page opens
(tabs, accordions) is not hidden in this sense, nor is what a script fades in.
"""

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

Attributes = Mapping[str, str | None]

SURE, MAYBE = 2, 1
"""How surely something is hidden; what scripts fade in begins with `MAYBE`."""

_HIDES = re.compile(r"none|hidden|collapse|:-\d{3}|-\d{4}|font-size:[.0-2]|clip|opacity:[.0]|scale|transparent|color:")
_FAR = re.compile(r"-\d{4,}(?:\.\d+)?(?:px|em|rem|%|pt|vw)?")
_NOTHING = re.compile(r"0(?:\.0+)?(?:px|em|rem|%|pt)?")
_TINY = re.compile(r"0(?:\.[01]\d*)?(?:px|em|rem|%|pt)?|(?:\d?\.\d+|[12])px|\.[01]\d*(?:em|rem)")
_CLIPPED = re.compile(r"rect\((?:0|1px)|inset\((?:50|100)%")
_MOVED = re.compile(r"translate(?:x|y|3d)?\(-\d{4,}|scale\(0\)")
_SPACE = re.compile(r"\s+")
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)", "rgba(255,255,255,1)"})

_LABELS = frozenset({
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "element-invisible", "d-none",
})  # fmt: skip
_OVERLAY = re.compile(r"modal|overlay|popup|pop-up|offcanvas|off-canvas|lightbox|backdrop|drawer|dialog|consent|cookie")
_OPENED = re.compile(r"accordion|collaps|tab-?pan|tab-?content|\bpanel|toggle|expand|faq|answer|read-?more|spoiler")

_STYLES = 300_000  # characters of style sheets that are looked at
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]++)\{([^{}]++)\}")
_CONDITION = re.compile(r"@[^{};@]*+\{(?:[^{}]*+\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\})*+[^{}]*+(?:\}|\Z)")
_HIDES_MAYBE = re.compile(
    r"display\s*:\s*none|hidden|collapse|-\d{4}|indent\s*:\s*-|font-size\s*:\s*[.0-2]|clip|opacity\s*:\s*[.0]|scale"
    r"|transparent"
)
_SHOWS_MAYBE = re.compile(r"display|visibility|opacity")
_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?([.#][\w-]+)")
_LAST = re.compile(r"[^\s>+~]+$")
_NAME = re.compile(r"[.#][\w-]+")


class Concealment:
    """Knows which elements of one page are hidden."""

    def __init__(self, page: LexborHTMLParser) -> None:
        self._rules = _rules(page)
        self._bare = not self._rules and page.css_first("style, link[rel~=stylesheet]") is None
        self._opened = _opened(page)
        self._known: dict[tuple[str, str], int] = {}

    def of(self, tag: str, attributes: Attributes) -> int:
        """How surely an element is hidden: 0, `MAYBE` or `SURE`."""
        found = self._found(tag, attributes)
        if found and self._is_opened(attributes):
            return 0
        return found

    def _found(self, tag: str, attributes: Attributes) -> int:
        if "hidden" in attributes and attributes["hidden"] != "until-found":
            return SURE
        if tag == "dialog" and "open" not in attributes:
            return SURE
        style = attributes.get("style")
        found = conceals(_SPACE.sub("", style.lower()), bare=self._bare) if style else 0
        classes = attributes.get("class")
        if classes and found < SURE:
            known = self._known.get((tag, classes))
            if known is None:
                known = self._known[tag, classes] = self._by_class(tag, classes)
            found = max(found, known)
        if self._rules and (name := attributes.get("id")):
            found = max(found, self._rules.get(f"#{name}", 0), self._rules.get(f"{tag}#{name}", 0))
        if found < SURE and attributes.get("aria-hidden") == "true" and _is_overlay(attributes):
            return SURE
        return found

    def _by_class(self, tag: str, classes: str) -> int:
        names = classes.split()
        if not _LABELS.isdisjoint(names) and not any(name.startswith("d-") and name != "d-none" for name in names):
            return SURE
        found = 0
        if self._rules:
            for name in names:
                found = max(found, self._rules.get(f".{name}", 0), self._rules.get(f"{tag}.{name}", 0))
        return found

    def _is_opened(self, attributes: Attributes) -> bool:
        """Whether something on the page opens it: a tab, the title of an accordion."""
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
        if _OVERLAY.search(names) is not None or not _LABELS.isdisjoint(names.split()):
            return False
        if attributes.get("role") == "tabpanel" or attributes.get("id") in self._opened:
            return True
        return _OPENED.search(names) is not None


def is_label(attributes: Attributes) -> bool:
    """Whether an element is one of those that name controls for screen readers, as most pages have them."""
    return not _LABELS.isdisjoint((attributes.get("class") or "").split())


def conceals(style: str, *, bare: bool = False) -> int:
    """How surely declarations (lower case, no spaces) hide; `bare`: the page has no style sheet, so it is white."""
    if _HIDES.search(style) is None:
        return 0
    said = {}
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        said[name] = value.removesuffix("!important")
    if said.get("display") == "none" or said.get("visibility") in {"hidden", "collapse"} or _is_off(said):
        return SURE
    if "font-size" in said and _TINY.fullmatch(said["font-size"]):
        return SURE
    if (colour := said.get("color")) is not None and _is_unreadable(colour, said, bare=bare):
        return SURE
    if "opacity" in said and _NOTHING.fullmatch(said["opacity"]) and "transform" not in said:
        return SURE if said.get("position") in {"absolute", "fixed"} and "transition" not in style else MAYBE
    return 0


def _is_off(said: Mapping[str, str]) -> bool:
    """Whether declarations leave an element no place on the page."""
    if said.get("overflow") == "hidden" and any(
        _NOTHING.fullmatch(said.get(name, "")) for name in ("height", "width", "max-height", "max-width")
    ):
        return True
    if any(_FAR.fullmatch(said.get(name, "")) for name in ("left", "right", "top", "bottom", "margin-left", "inset")):
        return True
    if "text-indent" in said and _FAR.match(said["text-indent"].replace("-999", "-9999")):
        return True
    return any(
        shape.match(said.get(name, "")) is not None
        for name, shape in (("clip", _CLIPPED), ("clip-path", _CLIPPED), ("transform", _MOVED))
    )


def _is_unreadable(colour: str, said: Mapping[str, str], *, bare: bool) -> bool:
    if colour == "transparent":
        return "background-clip:text" not in ";".join(f"{name}:{value}" for name, value in said.items())
    background = said.get("background-color") or said.get("background")
    if background is None:
        return bare and colour in _WHITE
    return background == colour or (background in _WHITE and colour in _WHITE)


def _is_overlay(attributes: Attributes) -> bool:
    if attributes.get("role") in {"dialog", "alertdialog"} or attributes.get("aria-modal") == "true":
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
    return _OVERLAY.search(names) is not None or "position:fixed" in _SPACE.sub("", attributes.get("style") or "")


def _opened(page: LexborHTMLParser) -> frozenset[str]:
    """The ids of what the page's controls open; menus and dialogs are not what it says."""
    found: set[str] = set()
    for control in page.css("[aria-controls], [data-target^='#'], [data-bs-target^='#']"):
        attributes = control.attributes
        if attributes.get("aria-haspopup") in {None, "false"}:
            for name in ("aria-controls", "data-target", "data-bs-target"):
                found.update((attributes.get(name) or "").replace("#", "").split())
    return frozenset(found)


def _rules(page: LexborHTMLParser) -> dict[str, int]:
    """Selector of one class or id, with or without a tag → how surely its elements are hidden.

    Rules that hold only under conditions (`@media` …) hide nothing, and a class that another rule shows is not hidden.
    """
    always, at_times = _sheets(page)
    hidden = _hiding(always)
    if not hidden:
        return hidden
    shown: set[str] = set()
    for selectors, written in (*_RULE.findall(always), *_RULE.findall(at_times)):
        if _SHOWS_MAYBE.search(written) is not None and _shows(_SPACE.sub("", written)):
            for selector in selectors.split(","):
                if (last := _LAST.search(selector.strip())) is not None:
                    shown.update(_NAME.findall(last[0]))
    return {rule: sure for rule, sure in hidden.items() if shown.isdisjoint(_NAME.findall(rule))}


def _hiding(sheet: str) -> dict[str, int]:
    """Selectors of rules that hide, whatever other rules say."""
    hidden: dict[str, int] = {}
    for selectors, written in _RULE.findall(sheet):
        may_hide = _HIDES_MAYBE.search(written) is not None or ("background" in written and "color" in written)
        if found := conceals(_SPACE.sub("", written)) if may_hide else 0:
            for selector in selectors.rpartition(";")[2].split(","):
                if (simple := _SELECTOR.fullmatch(selector.strip())) is not None:
                    hidden[simple[0]] = max(hidden.get(simple[0], 0), found)
    return hidden


def _sheets(page: LexborHTMLParser) -> tuple[str, str]:
    """The page's own style sheets for screens, as far as they are read: what always holds, and what at times does."""
    texts: list[str] = []
    left = _STYLES
    for sheet in page.css("style"):
        text = sheet.text()
        left -= len(text)
        if left >= 0 and (sheet.attributes.get("media") or "all") in {"all", "screen"}:
            texts.append(_COMMENT.sub("", text.lower()))
    whole = "}".join(texts)
    return _CONDITION.sub("}", whole), "\n".join(_CONDITION.findall(whole))


def _shows(declarations: str) -> bool:
    return (
        ("display:" in declarations and "display:none" not in declarations)
        or "visibility:visible" in declarations
        or ("opacity:" in declarations and not declarations.endswith("opacity:0"))
    ) and not conceals(declarations)


def hidden_text(node: LexborNode) -> int:
    """Characters of text in a hidden element."""
    node.strip_tags(["script", "style", "noscript", "template", "svg"], recursive=True)
    return len(" ".join(node.text().split()))
