"""A page as the sequence of its blocks of text, each with its place in the tree: what its content is told from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from selectolax.lexbor import LexborNode

from fetch.markdown_code import code_text
from fetch.text import BLOCKS

Attributes = Mapping[str, str | None]

# What the names that authors give to elements say of their content, a bit each.
_HINT = re.compile(
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
HINT = {name: 1 << index for index, name in enumerate(_HINT.groupindex)}
"""The bit of each hint."""
_NAMES = 20  # classes of an element that are looked at
_LONG = 60  # characters of one

INSIDE = {
    name: 1 << index
    for index, name in enumerate(
        ("nav", "header", "footer", "aside", "form", "article", "main", "li", "blockquote", "dl")
    )
}
"""The bit of each element of which a block is told whether it stands in one."""
_MEANT = {"dd": "dl", "dt": "dl", "fieldset": "form"}
_ROLES = {
    "navigation": "nav", "contentinfo": "footer", "banner": "header", "complementary": "aside", "search": "form",
    "dialog": "form", "main": "main", "article": "article", "menu": "nav", "menubar": "nav", "tablist": "nav",
}  # fmt: skip

_UNREAD = frozenset({
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "map",
    "datalist", "head", "rp", "noframes", "progress", "meter", "select", "textarea", "input", "option",
})  # fmt: skip
_LEAVES = frozenset({"br", "pre", "img", "math"})
_PARAGRAPH = 80  # characters of a block that is one


@dataclass(slots=True)
class Place:
    """A block element. `parent` is its index; `tags` and `hints` are of it and all around it, `own` its own hints.

    The rest sums up what is in it: characters, those in links, blocks, and blocks that are paragraphs.
    """

    parent: int
    tag: str
    name: str
    depth: int
    tags: int
    hints: int
    own: int
    chars: int = 0
    links: int = 0
    blocks: int = 0
    paragraphs: int = 0


@dataclass(slots=True)
class Block:
    """A line of text. `links`: its characters in links; `marks`: inline elements; `nodes`: what holds it."""

    place: int
    text: str
    links: int
    marks: int
    nodes: list[LexborNode]


@dataclass(slots=True)
class Picture:
    """A picture, and the index of the block after it."""

    place: int
    before: int
    node: LexborNode


@dataclass(frozen=True, slots=True)
class Blocks:
    """A page's blocks in order, the places they stand in, outer ones first, and its pictures."""

    blocks: list[Block]
    places: list[Place]
    pictures: list[Picture]


def blocks_of(root: LexborNode) -> Blocks:
    """Read the blocks below an element, in time proportional to the page."""
    return _Reading(root.tag or "").read(root)


@lru_cache(maxsize=10_000)
def _hint(name: str) -> int:
    bits = 0
    for found in _HINT.finditer(name[:_LONG].lower()):
        bits |= HINT[str(found.lastgroup)]
    return bits


class _Reading:
    """Walks a tree once, without recursion."""

    def __init__(self, tag: str) -> None:
        self._places = [Place(0, tag, "", 0, 0, 0, 0)]
        self._blocks: list[Block] = []
        self._pictures: list[Picture] = []
        self._place = 0
        self._within_links = 0
        self._pieces: list[str] = []
        self._nodes: list[LexborNode] = []
        self._linked = 0
        self._marks = 0

    def read(self, root: LexborNode) -> Blocks:
        stack: list[tuple[LexborNode | None, int, int, bool]] = []
        node = root.first_child
        is_block = True
        while True:
            while node is not None:
                if node.is_text_node:
                    self._text(node)
                elif node.is_element_node:
                    before = (node.next, self._place, self._within_links, is_block)
                    entered = self._enter(node, node.tag or "")
                    if entered is not None:
                        stack.append(before)
                        is_block = entered
                        node = node.first_child
                        continue
                node = node.next
            if is_block:
                self._end()
            if not stack:
                break
            node, self._place, self._within_links, is_block = stack.pop()
        self._sum_up()
        return Blocks(self._blocks, self._places, self._pictures)

    def _text(self, node: LexborNode) -> None:
        text = node.text_content or ""
        self._pieces.append(text)
        core = len(text.strip())
        if core:
            self._nodes.append(node)
            if self._within_links:
                self._linked += core

    def _enter(self, node: LexborNode, tag: str) -> bool | None:
        """Go into an element: whether it is a block; None where there is nothing to go into."""
        if tag in BLOCKS:
            self._end()
            if tag in _LEAVES:
                self._leaf(node, tag)
                return None
            self._open(node, tag)
            return True
        if tag in _UNREAD:
            return None
        if tag in _LEAVES:
            self._leaf(node, tag)
            return None
        if tag == "a" and "href" in node.attributes:
            self._within_links += 1
        else:
            self._marks += 1
        return False

    def _leaf(self, node: LexborNode, tag: str) -> None:
        """What is taken whole."""
        if tag == "pre":
            self._code(node)
        elif tag == "img":
            self._pictures.append(Picture(self._place, len(self._blocks), node))
        elif tag == "math":
            self._pieces.append(node.text())
            self._nodes.append(node)

    def _open(self, node: LexborNode, tag: str) -> None:
        attributes = node.attributes
        above = self._places[self._place]
        name = ""
        own = 0
        tags = above.tags | INSIDE.get(_MEANT.get(tag, tag), 0)
        if attributes:
            name = attributes.get("class") or ""
            for each in f"{name} {attributes.get('id') or ''}".split(None, _NAMES)[:_NAMES]:
                own |= _hint(each)
            if "role" in attributes:
                tags |= INSIDE.get(_ROLES.get(attributes["role"] or "", ""), 0)
        self._places.append(Place(self._place, tag, name, above.depth + 1, tags, above.hints | own, own))
        self._place = len(self._places) - 1

    def _end(self) -> None:
        if self._pieces:
            text = " ".join("".join(self._pieces).split())
            if text:
                links = min(self._linked, len(text))
                self._blocks.append(Block(self._place, text, links, self._marks, self._nodes))
                self._nodes = []
            self._pieces = []
        self._linked = self._marks = 0

    def _code(self, node: LexborNode) -> None:
        text = " ".join(code_text(node).split())
        if text:
            above = self._place
            self._open(node, "pre")
            self._blocks.append(Block(self._place, text, 0, 0, [node]))
            self._place = above

    def _sum_up(self) -> None:
        places = self._places
        for block in self._blocks:
            place = places[block.place]
            length = len(block.text)
            place.chars += length
            place.links += block.links
            place.blocks += 1
            place.paragraphs += length > _PARAGRAPH and block.links * 3 < length
        for place in reversed(places[1:]):
            above = places[place.parent]
            above.chars += place.chars
            above.links += place.links
            above.blocks += place.blocks
            above.paragraphs += place.paragraphs
