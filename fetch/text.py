"""The text of a page as a person would copy it: a line a block, tabs between cells, code to the letter."""

from selectolax.lexbor import LexborNode

from fetch.markdown_code import code_text
from fetch.markdown_tables import is_layout

NAVIGATION = frozenset({"nav", "header", "footer", "aside"})

_UNREAD = frozenset({
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "map",
    "datalist", "head", "rp", "noframes", "progress", "meter",
})  # fmt: skip
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "option", "optgroup", "p", "search",
    "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "br", "pre", "textarea", "td", "th",
})  # fmt: skip
_TEX = 'annotation[encoding="application/x-tex"]'
_LINE, _CELL, _TABLE, _ROW, _HEADING = 1, 2, 3, 4, 5
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def text_of(root: LexborNode) -> str:
    """The text below an element, lines parted by line feeds. Takes time in proportion to the page, at any depth."""
    return _Writing().write(root)


class _Writing:
    """Grows the lines of a text while it walks the tree, without recursion."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._row: list[str] = []  # finished cells of the row that is being written
        self._line: list[str] = []
        self._tables = 0  # data tables around the place, in whose cells blocks do not end lines
        self._headings = 0  # around the place, in which line breaks are spaces

    def write(self, root: LexborNode) -> str:
        stack: list[tuple[LexborNode | None, int]] = [(root.first_child, _LINE)]
        while stack:
            node, closing = stack.pop()
            while node is not None:
                if node.is_text_node:
                    self._line.append(node.text_content or "")
                elif node.is_element_node:
                    inner = self._open(node)
                    if inner >= 0:
                        stack.append((node.next, closing))
                        node, closing = node.first_child, inner
                        continue
                node = node.next
            self._close(closing)
        self._end_line()
        return "\n".join(self._lines).strip("\n")

    def _open(self, node: LexborNode) -> int:
        """Begin an element: how it will have to be closed, below 0 where what is in it is not read."""
        tag = node.tag or ""
        if tag not in BLOCKS:
            return self._open_inline(node, tag)
        if tag in {"td", "th"} and self._tables:
            return _CELL
        if tag == "br" and self._headings:
            self._line.append(" ")
            return -1
        self._break()
        if tag == "pre":
            self._verbatim(node)
        if tag in {"br", "pre"}:
            return -1
        self._headings += tag in _HEADINGS
        return self._open_table(node, tag)

    def _open_table(self, node: LexborNode, tag: str) -> int:
        if tag == "table" and not is_layout(node):
            self._tables += 1
            return _TABLE
        if tag == "tr" and self._tables:
            self._end_line()
            return _ROW
        return _HEADING if tag in _HEADINGS else _LINE

    def _open_inline(self, node: LexborNode, tag: str) -> int:
        if tag in _UNREAD:
            return -1
        if tag == "math":
            tex = node.css_first(_TEX)
            if tex is not None:
                self._line.append(tex.text())
                return -1
        elif tag == "select":
            chosen = node.css_first("option[selected]") or node.css_first("option")
            self._line.append(f" {chosen.text()} " if chosen is not None else "")
            return -1
        return 0

    def _close(self, closing: int) -> None:
        if closing == _LINE:
            self._break()
        elif closing == _HEADING:
            self._headings -= 1
            self._break()
        elif closing == _CELL:
            self._row.append(_folded(self._line))
            self._line = []
        elif closing == _TABLE:
            self._tables -= 1
            self._end_line()
        elif closing == _ROW:
            self._end_line()

    def _break(self) -> None:
        if self._tables:
            self._line.append(" ")
        else:
            self._end_line()

    def _end_line(self) -> None:
        if not self._line and not self._row:
            return
        text = _folded(self._line)
        if self._row:
            if text:
                self._row.append(text)
            text = "\t".join(self._row)
            self._row = []
        if text.strip():
            self._lines.append(text)
        self._line = []

    def _verbatim(self, pre: LexborNode) -> None:
        code = code_text(pre).strip("\n").rstrip()
        if self._tables:
            self._line.append(code)
        elif code:
            self._lines.append(code)


def _folded(pieces: list[str]) -> str:
    return " ".join("".join(pieces).split())
