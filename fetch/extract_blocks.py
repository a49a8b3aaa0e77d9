"""A page as the sequence of its blocks of text, each with its place in the tree: what the choice of content is made on."""

import re
from functools import lru_cache
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from fetch.markdown_code import code_text
from fetch.text import BLOCKS

# What the names that authors give to elements say of their content: a bit for each kind.
_HINTS = re.compile(
    r"(?P<comment>comment|disqus|repl(?:y|ies)|respond)"
    r"|(?P<share>share|sharing|social|follow)"
    r"|(?P<related>related|recommend|popular|trending|latest|recirc|teaser|suggest|similar|read-?next|also|more-)"
    r"|(?P<nav>nav|menu|breadcrumb|crumb|paginat|pager|toc\b|skip)"
    r"|(?P<footer>footer|foot\b|copyright|legal|colophon)"
    r"|(?P<header>header|masthead|banner|topbar)"
    r"|(?P<side>sidebar|side|aside|widget|rail\b|right\b|left\b|secondary)"
    r"|(?P<advert>\bads?\b|advert|sponsor|promo|outbrain|taboola)"
    r"|(?P<form>newsletter|subscri|signup|sign-up|login|register|form|search|cookie|consent|gdpr|modal|popup|cta\b)"
    r"|(?P<meta>author|byline|meta|date|time|tags?\b|categor|credit|bio\b|caption)"
    r"|(?P<content>content|article|post|entry|story|body|text|main|descr|detail)"
    r"|(?P<thread>message|thread|topic|answer|question)"
    r"|(?P<item>card|item|tile|product|list|grid|price)"
)
HINTS = tuple(_HINTS.groupindex)
_BIT = {name: 1 << index for index, name in enumerate(HINTS)}
_ROLES = {
    "navigation": "nav", "contentinfo": "footer", "banner": "header", "complementary": "side", "search": "form",
    "dialog": "form", "main": "main", "article": "article", "menu": "nav", "menubar": "nav", "tablist": "nav",
}  # fmt: skip

TAGS = ("nav", "header", "footer", "aside", "form", "article", "main", "li", "table", "blockquote", "figure", "dl", "button", "section")
"""Elements of which a block is told whether it stands in one."""
_TAG_BIT = {name: 1 << index for index, name in enumerate(TAGS)}
_INSIDE = {"td": "table", "th": "table", "tr": "table", "dd": "dl", "dt": "dl", "nav": "nav", "fieldset": "form", "figcaption": "figure"}
_ROLE_BIT = {role: _TAG_BIT[{"side": "aside"}.get(name, name)] for role, name in _ROLES.items()}

_SKIPPED = frozenset({
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "map",
    "datalist", "head", "rp", "noframes", "progress", "meter", "select", "textarea", "input", "option",
})  # fmt: skip


class Place:
    """A block element: where it stands, and what all the text in it amounts to."""

    __slots__ = ("parent", "node", "tag", "depth", "tags", "hints", "own", "chars", "links", "blocks", "paragraphs")

    def __init__(self, parent: "Place | None", node: LexborNode, tag: str, tags: int, hints: int, own: int) -> None:
        self.parent = parent
        self.node = node
        self.tag = tag
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.tags = tags
        self.hints = hints
        self.own = own
        self.chars = 0
        self.links = 0
        self.blocks = 0
        self.paragraphs = 0


@dataclass(slots=True)
class Block:
    """A line of text. `links`: its characters that are links; `nodes`: what to keep in the tree to keep it."""

    place: Place
    text: str
    links: int
    nodes: list[LexborNode]
    marks: int = 0  # elements such as bold, emphasis, code within


def blocks_of(root: LexborNode) -> tuple[list[Block], list[Place]]:
    """The blocks of a page in order, and the places that they stand in, outer ones first."""
    return _Reading(root).run()


@lru_cache(maxsize=10_000)
def _hint(name: str) -> int:
    """What the name of a class says, as bits of `HINTS`."""
    bits = 0
    for found in _HINTS.finditer(name[:60].lower()):
        bits |= _BIT[str(found.lastgroup)]
    return bits


class _Reading:
    def __init__(self, root: LexborNode) -> None:
        self._root = root
        self._blocks: list[Block] = []
        self._places = [Place(None, root, root.tag or "", 0, 0, 0)]
        self._hints: dict[str, int] = {}
        self._pieces: list[str] = []
        self._nodes: list[LexborNode] = []
        self._linked = 0
        self._marks = 0

    def run(self) -> tuple[list[Block], list[Place]]:
        place = self._places[0]
        link = 0
        stack: list[tuple[LexborNode | None, Place, int, bool]] = []
        node = self._root.first_child
        ends = True
        while True:
            while node is not None:
                if node.is_text_node:
                    text = node.text_content or ""
                    self._pieces.append(text)
                    if text.strip():
                        self._nodes.append(node)
                        if link:
                            self._linked += len(text.strip())
                elif node.is_element_node:
                    tag = node.tag or ""
                    if tag in BLOCKS:
                        self._end(place)
                        if tag == "pre":
                            self._code(node, place)
                        elif tag != "br":
                            stack.append((node.next, place, link, ends))
                            place = self._enter(node, tag, place)
                            ends = True
                            node = node.first_child
                            continue
                    elif tag == "math":
                        self._pieces.append(node.text())
                        self._nodes.append(node)
                    elif tag not in _SKIPPED:
                        stack.append((node.next, place, link, ends))
                        if tag == "a" and "href" in node.attributes:
                            link += 1
                        elif tag == "button":
                            self._pieces.append(" ")
                        else:
                            self._marks += 1
                        ends = False
                        node = node.first_child
                        continue
                node = node.next
            if ends:
                self._end(place)
            if not stack:
                break
            node, place, link, ends = stack.pop()
        self._sum_up()
        return self._blocks, self._places

    def _enter(self, node: LexborNode, tag: str, above: Place) -> Place:
        attributes = node.attributes
        own = 0
        tags = above.tags | _TAG_BIT.get(_INSIDE.get(tag, tag), 0)
        if attributes:
            names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
            if len(names) > 1:
                own = self._hints.get(names, -1)
                if own < 0:
                    own = 0
                    for name in names.split(None, 20)[:20]:
                        own |= _hint(name)
                    self._hints[names] = own
            tags |= _ROLE_BIT.get(attributes.get("role") or "", 0)
        place = Place(above, node, tag, tags, above.hints | own, own)
        self._places.append(place)
        return place

    def _end(self, place: Place) -> None:
        if self._pieces:
            text = " ".join("".join(self._pieces).split())
            if text:
                self._blocks.append(Block(place, text, min(self._linked, len(text)), self._nodes, self._marks))
            self._pieces = []
            self._nodes = []
        self._linked = self._marks = 0

    def _code(self, node: LexborNode, place: Place) -> None:
        text = " ".join(code_text(node).split())
        if text:
            inside = Place(place, node, "pre", place.tags, place.hints, 0)
            self._places.append(inside)
            self._blocks.append(Block(inside, text, 0, [node]))

    def _sum_up(self) -> None:
        for block in self._blocks:
            place = block.place
            place.chars += len(block.text)
            place.links += block.links
            place.blocks += 1
            place.paragraphs += len(block.text) > 80 and block.links * 3 < len(block.text)
        for place in reversed(self._places):
            above = place.parent
            if above is not None:
                above.chars += place.chars
                above.links += place.links
                above.blocks += place.blocks
                above.paragraphs += place.paragraphs
