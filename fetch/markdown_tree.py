"""HTML made into the plain, shallow tree that the Markdown converter walks.

The parser is Lexbor (7 ms a megabyte, any depth, any rubbish). Beautiful Soup's takes 240 ms, and nests as deep as the
page does, where markdownify's recursion cannot follow. On the way white space is folded, what no one reads is left out,
addresses are made absolute, and what Markdown cannot say as it stands (layout tables, lists inside lists, links in
headings to themselves) is straightened.
"""

import re
from collections.abc import Mapping

import ada_url
from bs4.element import Tag
from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetch.markdown_code import code_text, is_gutter, language
from fetch.markdown_nodes import Element, Text, append
from fetch.markdown_tables import is_layout

Attributes = Mapping[str, str | None]

MAX_DEPTH = 150
"""Elements inside each other; the converter takes three Python frames for each."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol"})

_DROPPED = frozenset({
    "head", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "map", "source", "track",
    "datalist", "frameset", "noframes", "progress", "meter", "rp",
})  # fmt: skip
_BLOCKS = frozenset({
    "div", "p", "main", "article", "section", "header", "footer", "nav", "aside", "figure", "figcaption", "address",
    "form", "fieldset", "legend", "details", "summary", "hgroup", "search", "center", "optgroup",
})  # fmt: skip
_TABLE_PARTS = {
    "caption": {"table"},
    "thead": {"table"},
    "tbody": {"table"},
    "tfoot": {"table"},
    "tr": {"table", "thead", "tbody", "tfoot"},
    "td": {"tr"},
    "th": {"tr"},
}
_STRUCTURES = HEADINGS | LISTS | {"li", "dl", "dt", "dd", "blockquote", "hr"}
_INLINE = {
    "b": "b", "strong": "b", "i": "em", "em": "em", "cite": "em", "dfn": "em", "var": "em",
    "del": "del", "s": "del", "strike": "del", "code": "code", "kbd": "code", "samp": "code", "tt": "code",
    "sub": "sub", "sup": "sup", "q": "q", "a": "a",
}  # fmt: skip
_MERGED = frozenset({"b", "em", "del", "code"})

_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_UNSEEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE)
_PERMALINK = frozenset({"", "#", "¶", "§", "🔗", "⚓", "link", "permalink"})
_DEAD_SCHEMES = ("javascript:", "vbscript:", "data:", "blob:")
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-lazy")
_LEAVES = frozenset(
    {"pre", "img", "input", "select", "textarea", "video", "audio", "script", "math", "mjx-container", "button"}
)
_COPIERS = frozenset({"copy", "copy code", "copied", "copied!", "复制", "复制代码"})
_TEX = 'annotation[encoding="application/x-tex"]'


def build(html: str, base_url: str) -> Element:
    """The tree of a page or fragment; addresses are resolved against the page's own `<base>`, else `base_url`."""
    if re.match(r"\s*<(?:tr|td|th|tbody|thead|tfoot|caption)\b", html, re.IGNORECASE):
        html = f"<table>{html}</table>"  # alone, the parser would drop the tags
    page = LexborHTMLParser(html.encode("utf-8", "replace"))
    base = page.css_first("base[href]")
    if base is not None:
        base_url = absolute(base.attributes.get("href") or "", base_url) or base_url
    return _Builder(base_url).build(page.body or page.root)


def plain_text(html: str) -> str:
    """All text there is, for when nothing better could be made of it."""
    page = LexborHTMLParser(html.encode("utf-8", "replace"))
    page.strip_tags(["script", "style", "noscript", "template", "svg", "head"], recursive=True)
    root = page.body or page.root
    lines = root.text(separator="\n").splitlines() if root is not None else []
    return "\n".join(line for line in (_SPACE.sub(" ", each).strip() for each in lines) if line)


def absolute(href: str, base_url: str) -> str:
    """The address that `href` means on a page at `base_url`, as browsers resolve it; empty for a dead one."""
    href = href.strip()
    if href.lower().startswith(_DEAD_SCHEMES):
        return ""
    try:
        return str(ada_url.join_url(base_url, href)) if base_url else href
    except ValueError:
        return href


class _Builder:
    """Walks the parsed page once, without recursion, and grows the new tree."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._breaks = 0  # <br> elements due before the next text
        self._space = False  # a space due before it
        self._starts = True  # it would begin a line

    def build(self, root: LexborNode | None) -> Element:
        top = Element(name="[document]")
        stack = [(root.child if root is not None else None, top, 0, True)]  # what is left of a parent's children
        while stack:
            node, parent, depth, is_block = stack.pop()
            if node is None:
                if is_block:
                    self._edge()
                continue
            stack.append((node.next, parent, depth, is_block))
            if node.is_text_node:
                self._text(parent, node.text_content or "")
            elif node.is_element_node:
                inner = self._element(parent, node, depth)
                if inner is not None:
                    deeper = inner is not parent
                    stack.append((node.child, inner, depth + deeper, deeper and inner.name not in _INLINE))
        return top

    def _edge(self) -> None:
        """Blocks begin and end on lines of their own; breaks and spaces at their edges show nothing."""
        self._breaks = 0
        self._space = False
        self._starts = True

    def _text(self, parent: Element, data: str) -> None:
        text = _SPACE.sub(" ", data)
        core = text.strip()
        if not core:
            self._space = self._space or (text != "" and not self._starts)
            return
        if parent.name in LISTS:
            parent = self._item(parent)
        self._flush(parent)
        spaced = not self._starts and (self._space or text[0].isspace())
        node = Text(" " + core if spaced else core)
        node.starts = self._starts
        append(parent, node)
        self._space = text[-1].isspace()
        self._starts = False

    def _flush(self, parent: Element) -> None:
        if self._breaks and not self._starts:
            append(parent, Element(name="br" if self._breaks == 1 else "gap"))
            self._space = False
            self._starts = True
        self._breaks = 0

    def _void(self, parent: Element, name: str, **attributes: str) -> None:
        if parent.name in LISTS:
            parent = self._item(parent)
        self._flush(parent)
        if self._space and not self._starts:
            append(parent, Text(" "))
        self._space = self._starts = False
        append(parent, Element(name=name, attrs=attributes))

    def _element(self, parent: Element, node: LexborNode, depth: int) -> Element | None:
        """Where the node's children go: a new element, the parent itself, or nowhere."""
        tag = node.tag or ""
        attributes = node.attributes
        if tag in _DROPPED or _is_unseen(tag, attributes):
            return None
        if tag == "br":
            self._breaks += 1
            return None
        if tag in _LEAVES or "katex" in (attributes.get("class") or "").split():
            self._leaf(parent, node, tag, attributes)
            return None
        if parent.name in LISTS and tag != "li":
            parent, transparent = self._in_list(parent, node, tag)
            if transparent:
                return parent
        if tag in _INLINE:
            return self._inline(parent, node, tag, attributes, depth)
        return self._block(parent, node, tag, attributes, depth)

    def _in_list(self, parent: Element, node: LexborNode, tag: str) -> tuple[Element, bool]:
        """Lists hold items alone: a list joins the item before it, a wrapper of items vanishes, the rest is an item."""
        if tag in LISTS and parent.contents:
            last = parent.contents[-1]
            return (last, False) if isinstance(last, Element) else (parent, False)
        if tag not in LISTS and tag not in _STRUCTURES and node.css_first("li") is not None:
            return parent, True
        return self._item(parent), False

    def _item(self, parent: Element) -> Element:
        """The item made for what lies loose in a list."""
        last = parent.contents[-1] if parent.contents else None
        if isinstance(last, Element) and "loose" in last.attrs:
            return last
        self._edge()
        item = Element(name="li", attrs={"marker": _marker(parent, None), "loose": ""})
        append(parent, item)
        return item

    def _inline(
        self, parent: Element, node: LexborNode, tag: str, attributes: Attributes, depth: int
    ) -> Element | None:
        name = _INLINE[tag]
        new: dict[str, str] = {}
        if name == "a":
            href = attributes.get("href")
            if parent.name in HEADINGS and _is_permalink(node, attributes):
                return None
            new["href"] = absolute(href, self._base_url) if href else ""
            if not new["href"]:
                return parent
        if depth >= MAX_DEPTH or _is_inside(parent, name):
            return parent
        last = parent.contents[-1] if parent.contents else None
        if name in _MERGED and isinstance(last, Element) and last.name == name and not self._breaks and not self._space:
            return last
        inner = Element(name=name, attrs=new)
        append(parent, inner)
        return inner

    def _block(self, parent: Element, node: LexborNode, tag: str, attributes: Attributes, depth: int) -> Element | None:
        name = _block_name(parent, node, tag)
        if name is None:
            return parent
        if tag in {"td", "th"} and is_gutter(attributes):
            return None
        self._edge()
        if depth >= MAX_DEPTH:
            self._breaks, self._starts = 2, False
            return parent
        new = {key: value for key in ("colspan", "rowspan", "start") if (value := attributes.get(key))}
        if name == "li":
            new["marker"] = _marker(parent, attributes.get("value"))
        inner = Element(name=name, attrs=new)
        append(parent, inner)
        return inner

    def _leaf(self, parent: Element, node: LexborNode, tag: str, attributes: Attributes) -> None:
        if tag == "pre":
            text = code_text(node)
            if text.strip():
                self._edge()
                pre = Element(name="pre", attrs={"language": language(node)})
                append(parent, pre)
                append(pre, Text(text))
                self._edge()
        elif tag == "img":
            self._image(parent, node, attributes)
        elif tag == "input":
            if attributes.get("type") == "checkbox" and _is_inside(parent, "li"):
                self._void(parent, "checkbox", checked="x" if "checked" in attributes else " ")
                self._space = True
        elif tag == "select":
            chosen = node.css_first("option[selected]") or node.css_first("option")
            self._text(parent, f" {chosen.text()} " if chosen is not None else "")
        elif tag in {"textarea", "button"}:
            words = node.text()
            self._text(parent, f" {words} " if words.strip().lower() not in _COPIERS else "")
        elif tag in {"video", "audio"}:
            source = node.css_first("source[src]")
            src = attributes.get("src") or (source.attributes.get("src") if source is not None else None)
            if src and absolute(src, self._base_url):
                self._void(parent, "media", src=absolute(src, self._base_url), kind=tag)
        else:
            self._formula(parent, node, tag, attributes)

    def _formula(self, parent: Element, node: LexborNode, tag: str, attributes: Attributes) -> None:
        """Formulas as TeX: from a script for MathJax, from KaTeX's and MathML's annotations; else their characters."""
        kind = attributes.get("type") or ""
        if tag == "script":
            if kind.startswith("math/tex"):
                self._math(parent, node.text() or "", block="display" in kind)
            return
        tex = node.css_first(_TEX)
        math = node if tag == "math" else node.css_first("math")
        block = math is not None and math.attributes.get("display") == "block"
        if tex is not None:
            self._math(parent, tex.text(), block=block)
        elif math is not None:
            self._text(parent, math.text())
        else:
            self._text(parent, node.text())

    def _math(self, parent: Element, tex: str, *, block: bool) -> None:
        tex = re.sub(r"\s+", " ", tex).strip()
        if block:
            self._edge()
        if tex:
            self._void(parent, "formula", tex=tex, display="block" if block else "inline")
        if block:
            self._edge()

    def _image(self, parent: Element, node: LexborNode, attributes: Attributes) -> None:
        if attributes.get("width") in {"0", "1"} and attributes.get("height") in {"0", "1"}:
            return
        candidates = [*(attributes.get(name) for name in _LAZY), attributes.get("src"), _from_set(node, attributes)]
        found = (absolute(each, self._base_url) for each in candidates if each)
        src = next((each for each in found if each), "")
        alt = _SPACE.sub(" ", attributes.get("alt") or "").strip()
        if src:
            self._void(parent, "img", src=src, alt=alt, title=attributes.get("title") or "")
        elif alt:
            self._text(parent, f" {alt} ")


def _is_inside(parent: Tag | None, name: str) -> bool:
    while parent is not None:
        if parent.name == name:
            return True
        parent = parent.parent
    return False


def _is_unseen(tag: str, attributes: Attributes) -> bool:
    if tag == "dialog" and "open" not in attributes:
        return True
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    style = attributes.get("style")
    return style is not None and _UNSEEN.search(style) is not None


def _is_permalink(node: LexborNode, attributes: Attributes) -> bool:
    """A heading's link to itself, as documentation tools add it."""
    href = attributes.get("href") or ""
    return "#" in href and node.text().strip().lower() in _PERMALINK and node.css_first("img") is None


def _marker(parent: Element, value: str | None) -> str:
    """What stands before an item of this list; lists count their items in an attribute of their own."""
    if parent.name != "ol":
        return "-"
    wanted = value or str(parent.attrs.get("start") or "1")
    number = int(wanted) if re.fullmatch(r"\d{1,9}", wanted) else 1
    parent.attrs["start"] = str(number + 1)
    return f"{number}."


def _block_name(parent: Element, node: LexborNode, tag: str) -> str | None:
    """The element that stands for a block in the new tree; None for one that only wraps."""
    if tag == "table":
        return "div" if is_layout(node) else "table"
    if tag in _TABLE_PARTS:
        return tag if parent.name in _TABLE_PARTS[tag] else "div"
    if tag in {"menu", "dir"}:
        return "ul"
    if tag == "div" and parent.name == "dl":
        return None
    if tag in _BLOCKS:
        return "div"
    return tag if tag in _STRUCTURES else None


def _from_set(node: LexborNode, attributes: Attributes) -> str | None:
    """The largest candidate of an image's `srcset`, its own or that of the `picture` around it."""
    sets = [attributes.get("data-srcset"), attributes.get("srcset")]
    parent = node.parent
    if parent is not None and parent.tag == "picture":
        sets += [source.attributes.get("srcset") for source in parent.css("source")]
    return next((best for each in sets if each and (best := _largest(each))), None)


def _largest(srcset: str) -> str:
    """The candidate with the greatest width or density."""
    best, greatest = "", 0.0
    for candidate in re.split(r",\s|(?<=\d[wx]),", f"{srcset} "):
        parts = [*candidate.split(), "", ""]
        url, size = parts[0].strip(","), parts[1]
        width = float(size[:-1]) if re.fullmatch(r"\d+(?:\.\d+)?[wx]", size) else 1.0
        if url and width > greatest:
            best, greatest = url, width
    return best
