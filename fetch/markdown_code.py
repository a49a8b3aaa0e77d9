"""Blocks of code as pages write them: text to the letter without line numbers and buttons, and its language."""

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

_GUTTERS = frozenset({
    "linenos", "lineno", "linenumber", "linenumbers", "line-number", "line-numbers", "line-numbers-rows",
    "linenodiv", "gutter", "rouge-gutter", "code-gutter", "blob-num", "hljs-ln-numbers", "lnt", "ln", "copybtn",
    "copy-button", "copy-btn", "btn-copy", "copy-code-button", "code-block-copy-button", "clipboard-copy",
})  # fmt: skip
_SKIPPED = frozenset({"button", "script", "style", "template", "svg", "noscript"})
_LINES = frozenset({"div", "p", "tr", "li", "ol", "ul", "table", "pre"})
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*|sourceCode\s+)([\w+#.-]+)"
)
_HLJS = re.compile(r"^hljs\s+([a-z][\w+#-]*)$|^([a-z][\w+#-]*)\s+hljs$")
_NONE = frozenset({"default", "none", "text", "txt", "plain", "plaintext", "nohighlight", "code", "wrapper"})


def is_gutter(attributes: Mapping[str, str | None]) -> bool:
    """Whether an element holds line numbers or a copy button beside code."""
    return not _GUTTERS.isdisjoint((attributes.get("class") or "").split())


def code_text(pre: LexborNode) -> str:
    """What a `pre` shows, white space to the letter; `<br>` and blocks in it end lines."""
    out: list[str] = []
    stack: list[tuple[LexborNode | None, bool]] = [(pre.child, False)]
    while stack:
        node, is_line = stack.pop()
        if node is None:
            if is_line:
                _end_line(out)
            continue
        stack.append((node.next, is_line))
        if node.is_text_node:
            out.append(node.text_content or "")
        elif node.tag == "br":
            out.append("\n")
        elif node.is_element_node and node.tag not in _SKIPPED and not is_gutter(node.attributes):
            inner_line = node.tag in _LINES
            if inner_line:
                _end_line(out)
            stack.append((node.child, inner_line))
    return "".join(out).replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")


def _end_line(out: list[str]) -> None:
    last = next((piece for piece in reversed(out) if piece), "\n")
    if not last.endswith("\n"):
        out.append("\n")


def language(pre: LexborNode) -> str:
    """The language that the classes of a `pre`, its `code` or its wrappers name; empty when they name none."""
    code = pre.css_first("code")
    for node in (code, pre, *_wrappers(pre)):
        if node is None:
            continue
        for name in _names(node.attributes):
            if name.lower() not in _NONE:
                return name.lower()
    return ""


def _wrappers(pre: LexborNode) -> Iterator[LexborNode]:
    node = pre.parent
    for _ in range(2):
        if node is None or node.tag not in {"div", "figure", "td"}:
            return
        yield node
        node = node.parent


def _names(attributes: Mapping[str, str | None]) -> Iterator[str]:
    for key in ("data-lang", "data-language"):
        if named := re.fullmatch(r"[\w+#.-]+", attributes.get(key) or ""):
            yield named[0]
    classes = (attributes.get("class") or "").strip()
    for match in _LANGUAGE.finditer(classes):
        yield match[1]
    if bare := _HLJS.match(classes):
        yield bare[1] or bare[2]
