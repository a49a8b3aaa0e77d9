"""A page made ready to be read: one parse, and one pass that opens what is closed and takes out what is unseen.

Opened: declarative shadow roots and `srcdoc` frames. Straightened: formulas (as TeX) and images that scripts would have
loaded. Taken out: scripts and the like, and what a person would not see, which is counted, as instructions hide there.
"""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetch.metadata import base_of
from fetch.prepare_hidden import MAYBE, SURE, Concealment, hidden_text, is_label

NEARLY_ALL = 0.8
"""Share of a page's text above which its hidden part is believed to be what its scripts show."""

_WORTH_READING = 1_000  # characters for those without scripts that are more than a notice
_OPENED = 300  # shadow roots and frames of a page
_DROPPED = frozenset({
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "map", "datalist",
    "noframes", "link", "meta", "head", "param", "applet",
})  # fmt: skip
LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-lazy", "data-original-src")
_TEX = 'annotation[encoding="application/x-tex"]'
_FORMULAS = ".mwe-math-element, .katex-display, .katex, mjx-container, math, script[type^='math/tex']"


@dataclass(frozen=True)
class Prepared:
    """A page that holds what is to be read, and no more.

    `root` is its body. `base` is what addresses are relative to. `hidden` counts the elements with text that a person
    would not have seen, `hidden_characters` that text.
    """

    tree: LexborHTMLParser
    root: LexborNode
    base: str
    hidden: int = 0
    hidden_characters: int = 0


def prepare(html: str, url: str) -> Prepared:
    """Parse a page at `url`, tamed (`fetch.tame`), and make it ready."""
    tree = LexborHTMLParser(html)
    base = base_of(tree, url)
    root = tree.body or tree.css_first("frameset") or tree.root
    if root is None:  # not even a comment
        tree = LexborHTMLParser("<body></body>")
        root = tree.body
        assert root is not None  # noqa: S101
        return Prepared(tree, root, base)
    _open_roots(tree, root)
    _place_segments(root)
    _open_frames(tree, root)
    _write_formulas(tree, root)
    hidden, characters = _Cleaning(tree, root).run()
    return Prepared(tree, root, base, hidden, characters)


class _Cleaning:
    """Takes out of a page what is no text and what nobody would see."""

    def __init__(self, tree: LexborHTMLParser, root: LexborNode) -> None:
        self._concealment = Concealment(tree)
        self._root = root
        self._junk: list[LexborNode] = []
        self._unseen: list[tuple[LexborNode, int, bool]] = []  # hidden element, how surely, is a label

    def run(self) -> tuple[int, int]:
        """How many elements with text were hidden, and how many characters were in them."""
        self._root.strip_tags(["script", "style"], recursive=True)
        self._open_noscript()
        tops = [self._root]
        count = characters = 0
        while tops:
            self._junk, self._unseen = [], []
            for top in tops:
                self._walk(top)
            tops = []
            for node in self._junk:
                node.decompose()
            for (node, _, label), size, stays in self._judged():
                if stays:
                    tops.append(node)
                    continue
                count += size > 0 and not label
                characters += 0 if label else size
                node.decompose()
        return count, characters

    def _walk(self, top: LexborNode) -> None:
        stack = [top.first_child]
        conceals = self._concealment.of
        while stack:
            node = stack.pop()
            while node is not None:
                if node.is_element_node:
                    tag = node.tag or ""
                    if tag in _DROPPED:
                        if tag == "noscript":
                            _rescue_image(node)
                        self._junk.append(node)
                    else:
                        attributes = node.attributes
                        sure = conceals(tag, attributes) if attributes or tag == "dialog" else 0
                        if sure:
                            self._unseen.append((node, sure, is_label(attributes)))
                        elif node.first_child is not None:
                            stack.append(node.next)
                            node = node.first_child
                            continue
                elif node.is_comment_node:
                    self._junk.append(node)
                node = node.next

    def _open_noscript(self) -> None:
        """What is said only to those without scripts is the page, where it is more than all the rest."""
        for notice in self._root.css("noscript"):
            said = len(notice.text())
            if said > _WORTH_READING and said > len(self._root.text()) / 2:
                notice.unwrap()

    def _judged(self) -> list[tuple[tuple[LexborNode, int, bool], int, bool]]:
        """Each hidden element with the length of its text, and whether it stays: what holds the page is not hidden."""
        if not self._unseen:
            return []
        sizes = [hidden_text(node) for node, _, _ in self._unseen]
        whole = len(" ".join(self._root.text().split()))
        all_of_it = sum(sizes) > NEARLY_ALL * whole
        faded = sum(size for (_, sure, _), size in zip(self._unseen, sizes, strict=True) if sure == MAYBE) > whole / 5
        return [
            (each, size, all_of_it or size > whole / 2 or (faded and each[1] < SURE))
            for each, size in zip(self._unseen, sizes, strict=True)
        ]


def _open_roots(tree: LexborHTMLParser, root: LexborNode) -> None:
    """Put declarative shadow roots in place, with what the host holds at their slots."""
    waiting = root.css("template[shadowrootmode]")
    for _ in range(_OPENED):
        if not waiting:
            return
        template = waiting.pop()
        host = template.parent
        fragments = template.template_fragments()
        if host is None or not fragments:
            continue
        inside = tree.create_node("div")
        inside.inner_html = "".join(child.html or "" for child in fragments[0].iter(include_text=True))
        template.replace_with(inside, move=True)
        slots = {slot.attributes.get("name") or "": slot for slot in reversed(inside.css("slot"))}
        for child in list(host.iter(include_text=True)) if slots else ():
            name = child.attributes.get("slot") or "" if child.is_element_node else ""
            if child.mem_id != inside.mem_id and name in slots:
                slots[name].insert_child(child, move=True)
        waiting += inside.css("template[shadowrootmode]")


def _place_segments(root: LexborNode) -> None:
    """Put what React streamed after the page in its place, as the page's scripts would (ids `S:…`, `B:…`, `P:…`)."""
    for segment in root.css("div[hidden][id^='S:']"):
        key = (segment.attributes.get("id") or "")[2:]
        if not key.isalnum():
            continue
        place = root.css_first(f"template[id='B:{key}'], template[id='P:{key}']")
        del segment.attrs["hidden"]
        if place is None:
            continue
        if (place.attributes.get("id") or "").startswith("B:"):
            _drop_fallback(place)
        place.insert_after(segment, move=True)


def _drop_fallback(boundary: LexborNode) -> None:
    """What React shows until a segment comes: all up to the comment that ends it."""
    depth = 0
    node = boundary.next
    while node is not None:
        after = node.next
        said = (node.comment_content or "").strip() if node.is_comment_node else ""
        if said == "/$" and depth == 0:
            return
        depth += (said in {"$", "$?", "$!"}) - (said == "/$")
        node.decompose()
        node = after


def _open_frames(tree: LexborHTMLParser, root: LexborNode) -> None:
    """Put what is written in frames' `srcdoc` in their place."""
    waiting = root.css("iframe[srcdoc]")
    for _ in range(_OPENED):
        if not waiting:
            return
        frame = waiting.pop()
        inside = tree.create_node("div")
        body = LexborHTMLParser((frame.attributes.get("srcdoc") or "").encode("utf-8", "replace")).body
        inside.inner_html = (body.inner_html or "") if body is not None else ""
        frame.replace_with(inside, move=True)
        waiting += inside.css("iframe[srcdoc]")


def _rescue_image(noscript: LexborNode) -> None:
    """The picture that a page shows without scripts stands for the empty one beside it, or alone."""
    shown = noscript.css_first("img[src]")
    if shown is None:
        return
    beside = noscript.prev
    while beside is not None and not beside.is_element_node:
        beside = beside.prev
    empty = beside if beside is None or beside.tag == "img" else beside.css_first("img")
    if empty is None:
        noscript.insert_before(shown)
    elif not any((empty.attributes.get(name) or "data:").startswith("data:") is False for name in ("src", *LAZY)):
        empty.replace_with(shown)


def _write_formulas(tree: LexborHTMLParser, root: LexborNode) -> None:
    """Formulas that come with their TeX hold that alone, in the form that MathML has for it."""
    if root.css_first(_FORMULAS) is None:
        return
    for node in root.css(_FORMULAS):
        tex, block = _tex(node)
        if not tex or node.parent is None:
            continue
        for shown in _pictures(node):
            shown.decompose()
        formula = tree.create_node("math")
        if block:
            formula.attrs["display"] = "block"
        note = tree.create_node("annotation")
        note.attrs["encoding"] = "application/x-tex"
        note.insert_child(tex)
        formula.insert_child(note, move=True)
        node.replace_with(formula, move=True)


def _tex(node: LexborNode) -> tuple[str, bool]:
    """The TeX of a formula, and whether it stands on its own."""
    kind = node.attributes.get("type") or ""
    if kind.startswith("math/tex"):
        return node.text(), "display" in kind
    math = node if node.tag == "math" else node.css_first("math")
    note = node.css_first(_TEX)
    tex = note.text() if note is not None else (math.attributes.get("alttext") or "") if math is not None else ""
    classes = node.attributes.get("class") or ""
    return tex.strip(), "katex-display" in classes or (math is not None and math.attributes.get("display") == "block")


def _pictures(script: LexborNode) -> list[LexborNode]:
    """What MathJax drew for a script with a formula: it stands just before it."""
    drawn: list[LexborNode] = []
    node = script.prev if script.tag == "script" else None
    while node is not None and (not node.is_element_node or (node.attributes.get("class") or "").startswith("MathJax")):
        if node.is_element_node:
            drawn.append(node)
        elif (node.text_content or "").strip():
            break
        node = node.prev
    return drawn
