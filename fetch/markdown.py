"""HTML to GitHub's Markdown: markdownify's walk over a prepared tree, and our own converters where its are wrong.

Those are, measured on pages and on cases: fences shorter than those in the code, cells with pipes, blocks and spans,
links around blocks, addresses with spaces, emphasis that CommonMark does not close, missing and needless escapes.
"""

import itertools
import logging
import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from bs4.element import PageElement, Tag
from markdownify import ATX, MarkdownConverter

from fetch.markdown_nodes import Element, Text
from fetch.markdown_tables import CELLS, cell_text, table
from fetch.markdown_tree import HEADINGS, build, plain_text

_log = logging.getLogger(__name__)

_ESCAPED = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])"  # a backslash that would escape what follows
    r"|[*`]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # an underscore that is not inside a word
    r"|\[(?=[^\[\]]*\](?:[(\[:]|$))"
    r"|~(?=~)|(?<=~)~"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w+;)"
)
_MAY_ESCAPE = re.compile(r"[\\*`_\[~<&]")
_VERBATIM = frozenset({"pre", "code"})
_BRACKETS = re.compile(r"[\[\]]")
_LINE_START = re.compile(r"\A(?:(?:#{1,6}|[-+]|=+|-{2,})(?=\s|\Z)|>)")
_NUMBER_START = re.compile(r"\A(\d{1,9})([.)])(?=\s|\Z)")
_HARD = frozenset("\\*_`[]()<>!~|&$")  # punctuation that is, or may be, a mark
_BLOCK_MARKS = re.compile(r"(?:#{1,6} |> |- |\d+\. |: )*")


def to_markdown(html: str, base_url: str) -> str:
    """The page or fragment as Markdown (CommonMark with GitHub's tables, task lists and strikethrough).

    Links and images are absolute: resolved against the page's `<base>`, or `base_url`. Takes about 0.15 s of CPU for a
    megabyte, so callers on an event loop run it in a thread. Never raises on odd input; what cannot be converted
    comes back as plain text.
    """
    try:
        text = _Converter(heading_style=ATX).convert_soup(build(html, base_url))
    except RecursionError:
        _log.warning("a page of %d characters is nested too deep for Markdown; its text is given", len(html))
        text = ""
    return text.strip() or plain_text(html)


class _Converter(MarkdownConverter):
    """Each `convert_` gives the Markdown of one element, from that of its children in `text`."""

    def process_tag(self, node: Element, parent_tags: AbstractSet[str] = frozenset()) -> str:
        """As markdownify walks, less what never is in our tree: space to drop, comments, elements within code."""
        inside = parent_tags | ({node.name, "_noformat"} if node.name in _VERBATIM else {node.name})
        texts = [
            self.process_text(each, inside) if isinstance(each, Text) else self.process_tag(each, inside)
            for each in node.contents
        ]
        text = "".join(texts) if node.name == "pre" else _joined(texts)
        convert = self.get_conv_fn_cached(node.name)  # type: ignore[attr-defined]
        return text if convert is None else str(convert(node, text, parent_tags=parent_tags))

    def process_text(self, el: Text, parent_tags: AbstractSet[str]) -> str:
        if "_noformat" in parent_tags:
            return str(el)
        return _escape(el, in_link="a" in parent_tags)

    def convert_a(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        if "_noformat" in parent_tags:
            return text
        before, core, after = _chomp(text)
        if not core:
            return before or after
        href = str(el.attrs["href"])
        if "\n\n" in core or text.startswith("\n\n"):
            return f"\n\n{_link_block(core, href)}\n\n"
        if core.replace("\\", "") == href and re.match(r"https?://", href):
            return f"{before}<{href}>{after}"
        return f"{before}[{core}]({_destination(href)}){after}"

    def convert_b(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return _emphasis(el, text, parent_tags, "**", "strong")

    def convert_em(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return _emphasis(el, text, parent_tags, "*", "em")

    def convert_del(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return _emphasis(el, text, parent_tags, "~~", "del")

    def convert_sub(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return _tagged(text, parent_tags, "sub")

    def convert_sup(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return _tagged(text, parent_tags, "sup")

    def convert_q(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        before, core, after = _chomp(text)
        return f'{before}"{core}"{after}' if core else text

    def convert_code(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        if "_noformat" in parent_tags:
            return text
        before, core, after = _chomp(" ".join(line.strip() for line in text.split("\n")) if "\n" in text else text)
        if not core:
            return before or after
        fence = "`" * (_longest_run(core) + 1)
        pad = " " if core[0] == "`" or core[-1] == "`" else ""
        return f"{before}{fence}{pad}{core}{pad}{fence}{after}"

    def convert_br(self, _el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        return " " if HEADINGS & parent_tags else "  \n"

    def convert_gap(self, _el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        return " " if HEADINGS & parent_tags else "\n\n"

    def convert_checkbox(self, el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        return f"[{el.attrs['checked']}]"

    def convert_img(self, el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        alt = _BRACKETS.sub(r"\\\g<0>", str(el.attrs["alt"]))
        title = re.sub(r"\s+", " ", str(el.attrs["title"])).strip().replace('"', r"\"")
        quoted = f' "{title}"' if title and title != el.attrs["alt"] else ""
        return f"![{alt}]({_destination(str(el.attrs['src']))}{quoted})"

    def convert_media(self, el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        return f"[{el.attrs['kind']}]({_destination(str(el.attrs['src']))})"

    def convert_formula(self, el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        tex = el.attrs["tex"]
        if el.attrs["display"] == "block" and not (HEADINGS | CELLS) & parent_tags:
            return f"\n\n$$\n{tex}\n$$\n\n"
        return f"${tex}$"

    def convert_div(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        core = text.strip()
        if not core:
            return ""
        return f" {core} " if HEADINGS & parent_tags else f"\n\n{core}\n\n"

    convert_dl = convert_caption = convert_div

    def convert_hN(self, n: int, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:  # noqa: N802
        core = re.sub(r"\s+", " ", text).strip()
        if not core:
            return ""
        return core if HEADINGS & parent_tags else f"\n\n{'#' * n} {core}\n\n"

    def convert_hr(self, _el: Element, _text: str, parent_tags: AbstractSet[str]) -> str:
        return " " if (HEADINGS | CELLS) & parent_tags else "\n\n---\n\n"

    def convert_blockquote(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        core = text.strip()
        if not core or HEADINGS & parent_tags:
            return core
        return "\n\n" + "\n".join(f"> {line}".rstrip() for line in core.split("\n")) + "\n\n"

    def convert_pre(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        code = re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()
        if (HEADINGS | CELLS) & parent_tags:
            return "\n".join(self.convert_code(el, line.strip(), set()) for line in code.split("\n"))
        fence = "`" * max(3, _longest_run(code) + 1)
        return f"\n\n{fence}{el.attrs['language']}\n{code}\n{fence}\n\n"

    def convert_list(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        core = text.strip("\n")
        if HEADINGS & parent_tags:
            return f" {core} "
        return f"\n{core}\n" if "li" in parent_tags else f"\n\n{core}\n\n"

    convert_ul = convert_ol = convert_list

    def convert_li(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        core = text.strip()
        return f"\n{_hang(str(el.attrs['marker']) + ' ', core)}\n" if core else ""

    def convert_dt(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        core = re.sub(r"\s+", " ", text).strip()
        return f"\n\n{core}\n" if core else ""

    def convert_dd(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        core = text.strip()
        return f"\n{_hang(': ', core)}\n" if core else ""

    def convert_td(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        el.attrs["markdown"] = cell_text(text)
        return ""

    convert_th = convert_td

    def convert_tr(self, _el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return text

    def convert_table(self, el: Element, text: str, parent_tags: AbstractSet[str]) -> str:
        return f"\n\n{text.strip()}\n\n{table(el)}\n\n"


def _joined(texts: Sequence[str]) -> str:
    """Texts one after another; where line ends meet, the more of them stand, but no more than two."""
    parts: list[str] = []
    due = 0
    for text in texts:
        core = text.strip("\n")
        lead = len(text) - len(text.lstrip("\n"))
        due = min(2, max(due, lead)) if due and lead else due or lead
        if core:
            parts += ("\n" * due, core)
            due = len(text) - lead - len(core)
    return "".join([*parts, "\n" * due])


def _escape(el: Text, *, in_link: bool) -> str:
    text = str(el)
    if _MAY_ESCAPE.search(text) is not None:
        text = _ESCAPED.sub(r"\\\g<0>", text)
    if in_link:
        text = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", text)
    if el.starts:
        text = _NUMBER_START.sub(r"\1\\\2", text) if text[0].isdigit() else _LINE_START.sub(r"\\\g<0>", text)
    if text.endswith("!") and isinstance(el.next_sibling, Tag) and el.next_sibling.name == "a":
        text = text[:-1] + r"\!"
    return text


def _chomp(text: str) -> tuple[str, str, str]:
    """Space before, what is between, space after."""
    core = text.strip()
    return " " if text[:1].isspace() else "", core, " " if text[-1:].isspace() else ""


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def _tagged(text: str, parent_tags: AbstractSet[str], tag: str) -> str:
    """Kept as an HTML tag, as Markdown has no sign for it and 10<sup>6</sup> is not 106; links are footnote marks."""
    before, core, after = _chomp(text)
    if "_noformat" in parent_tags or not core or core.startswith("["):
        return text
    return f"{before}<{tag}>{core}</{tag}>{after}"


def _emphasis(el: Element, text: str, parent_tags: AbstractSet[str], mark: str, tag: str) -> str:
    """Marked text; punctuation at its edges moves out where the mark would not be one, and HTML is the last resort."""
    before, core, after = _chomp(text)
    if "_noformat" in parent_tags or not core or "\n\n" in text:
        return text
    left = " " if before else _neighbour(el.previous_sibling, -1)
    right = " " if after else _neighbour(el.next_sibling, 0)
    lead = trail = ""
    if _is_shut(core[0], left) or _is_shut(core[-1], right):
        lead = "".join(itertools.takewhile(_is_soft, core))
        trail = "".join(itertools.takewhile(_is_soft, reversed(core)))[::-1]
    inner = core[len(lead) : max(len(lead), len(core) - len(trail))].strip()
    if not inner or left == "*" or _is_shut(inner[0], (lead or left)[-1]) or _is_shut(inner[-1], (trail or right)[0]):
        return f"{before}<{tag}>{core}</{tag}>{after}"
    return f"{before}{lead}{mark}{inner}{mark}{trail}{after}"


def _neighbour(sibling: PageElement | None, at: int) -> str:
    """The character that stands beside an element; `*` for other emphasis, a space for none."""
    if isinstance(sibling, Tag):
        return "*" if sibling.name in {"b", "em", "del"} else " " if sibling.name in {"br", "gap", "div"} else "."
    return str(sibling)[at] if sibling is not None and str(sibling) else " "


def _is_soft(sign: str) -> bool:
    return sign not in _HARD and unicodedata.category(sign)[0] in "PS"


def _is_shut(inner: str, outer: str) -> bool:
    """Whether a mark between these would not open or close emphasis (CommonMark 0.31, 6.2: flanking)."""
    return unicodedata.category(inner)[0] in "PS" and not outer.isspace() and unicodedata.category(outer)[0] not in "PS"


def _destination(href: str) -> str:
    href = href.replace("\n", "%0A").replace("\r", "")
    if re.search(r"[\s()<>]", href):
        return f"<{href.replace('<', '%3C').replace('>', '%3E')}>"
    return href


def _link_block(core: str, href: str) -> str:
    """A link around blocks: it goes onto the first heading in it, or else the first line that can hold it."""
    lines = core.split("\n")
    order = sorted(range(len(lines)), key=lambda index: (not lines[index].startswith("#"), index))
    for index in order:
        line = lines[index].rstrip()
        marks = _BLOCK_MARKS.match(line)
        start = marks.end() if marks else 0
        if line.startswith(("```", "|", "$$")):
            break
        if line[start:]:
            lines[index] = f"{line[:start]}[{line[start:]}]({_destination(href)})"
            return "\n".join(lines)
    return f"{core}\n\n<{href}>"


def _hang(mark: str, core: str) -> str:
    indent = " " * len(mark)
    return mark + "\n".join(indent + line if line and index else line for index, line in enumerate(core.split("\n")))
