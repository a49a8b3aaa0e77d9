"""What a page says: the whole of it or its main part, as text, Markdown or HTML.

Main content is told block by block (see `extract_model`), which suits pages of all kinds. What is not content is taken
out of the page's own tree, so that code, tables and formulas come to Markdown as they are in the page.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from fetch.errors import InvalidRequest
from fetch.extract_main import Main
from fetch.markdown import to_markdown
from fetch.markdown_tree import absolute
from fetch.page import Wish
from fetch.prepare import Prepared, prepare
from fetch.text import NAVIGATION, text_of

DOUBTFUL = 0.3  # F1 to be expected of the main content, below which a page has none
NEARLY_ALL = 0.9  # share of a page's words from which it is taken as it is, in `auto`
SHORT, HALF, FEW_LINKS = 1500, 0.5, 0.2  # characters of a short page, the share that is enough there, of links
_CONSENT = "dialog,[role=dialog],[role=alertdialog],[aria-modal=true]," + ",".join(
    f"[{name}*={word} i]" for name in ("id", "class") for word in ("cookie", "consent", "gdpr", "privacy", "cmp")
)
_ABOUT = re.compile(r"cookie|consent|privacy|partners|隐私|同意", re.IGNORECASE)
_AGREE = re.compile(
    r"accept|agree|allow|consent|reject|decline|refuse|manage|got it|akzept|zustimm|accepter|aceptar|accetta|同意|接受",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Extracted:
    """What was taken of a page. `characters` counts the text of the whole page, `words_kept` is the share of it."""

    content: str
    extractor: str
    words_kept: float
    characters: int
    warnings: tuple[str, ...] = ()


class NoMatch(InvalidRequest):
    """The selector matches nothing."""


@dataclass
class _Choice:
    """What is given of a page: its name, the elements it is in, and the share of the page's words that it has."""

    extractor: str
    nodes: Sequence[LexborNode]
    share: float = 1.0

    @cached_property
    def text(self) -> str:
        return "\n".join(text_of(node) for node in self.nodes)

    @property
    def html(self) -> str:
        return "\n".join(node.html or "" for node in self.nodes)


def extract(html: str, url: str, wish: Wish) -> Extracted:
    """Read a page, tamed (`fetch.tame`). Raises InvalidRequest for a selector that does not parse, NoMatch."""
    page = prepare(html, url)
    if wish.selector is not None or wish.extract_mode == "full":
        choice = _Choice("full", [page.root])
        characters = len(choice.text)
        if wish.selector is not None:
            choice = _selected(page, wish.selector, choice.text)
    else:
        _drop_consent(page.tree)
        main = Main(page, html, url)
        characters = main.characters
        choice = _main(page, main, wish)
    return Extracted(
        content=_written(choice, page.base, wish),
        extractor=choice.extractor,
        words_kept=choice.share,
        characters=characters,
        warnings=_hidden(page),
    )


def _written(choice: _Choice, base: str, wish: Wish) -> str:
    """The content in the wanted form; plain text where a form comes out empty and the text does not."""
    if wish.format == "text":
        return choice.text
    written = _absolute(choice.html, base) if wish.format == "html" else to_markdown(choice.html, base)
    return written if written.strip() else choice.text


def _absolute(html: str, base: str) -> str:
    """A piece of HTML with absolute addresses, and none that run a script."""
    tree = LexborHTMLParser(html)
    for node in tree.css("[href],[src]"):
        for name in ("href", "src"):
            if name in node.attributes:
                node.attrs[name] = absolute(node.attributes[name] or "", base)
    inner = tree.body.inner_html if tree.body is not None else None
    return (inner or "").strip()


def _selected(page: Prepared, selector: str, whole: str) -> _Choice:
    try:
        found = page.root.css(selector)
    except SelectolaxError as fault:
        raise InvalidRequest(f"{selector!r} is not a CSS selector.") from fault
    if not found:
        raise NoMatch(
            f"Nothing on the page matches {selector!r}.",
            hint="Leave out selector, or render: always if scripts make it.",
        )
    outer = [each for each in found if not any(_is_within(each, other) for other in found)]
    choice = _Choice("selector", outer)
    choice.share = min(1.0, _words(choice.text) / max(1, _words(whole)))
    return choice


def _is_within(node: LexborNode, other: LexborNode) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id == other.mem_id:
            return True
        above = above.parent
    return False


def _main(page: Prepared, main: Main, wish: Wish) -> _Choice:
    """The main content; the page without navigation where there is none or, in `auto`, where it is nearly all."""
    if main.likeness < DOUBTFUL or (wish.extract_mode == "auto" and _is_nearly_all(page, main)):
        return _plain(page)
    main.take()
    return _Choice("blocks", [page.root], main.share)


def _is_nearly_all(page: Prepared, main: Main) -> bool:
    """Whether so much was found of a page that the rest of it is no clutter; of a short one with few links half."""
    if main.share >= NEARLY_ALL or main.share < HALF or main.characters >= SHORT:
        return main.share >= NEARLY_ALL
    return sum(len(each.text()) for each in page.root.css("a[href]")) < FEW_LINKS * main.characters


def _plain(page: Prepared) -> _Choice:
    """The page without navigation, header, footer and side bars; all of it where nothing else is left."""
    tree = LexborHTMLParser(page.root.html or "")
    tree.strip_tags(sorted(NAVIGATION), recursive=True)
    if tree.body is None or not (text := text_of(tree.body)).strip():
        return _Choice("page", [page.root])
    return _Choice("page", [tree.body], min(1.0, _words(text) / max(1, _words(text_of(page.root)))))


def _drop_consent(tree: LexborHTMLParser) -> None:
    """Take out what asks for consent, where it asks with a button, and stands beside content rather than around it."""
    whole = len(tree.body.text()) if tree.body is not None else 0
    for node in tree.css(_CONSENT)[:50]:
        text = node.text()
        if len(text) > whole / 2 and len(text) > 1000:
            continue
        buttons = " ".join(each.text() for each in node.css("button, a, input, [role=button]")[:20])
        if _ABOUT.search(text) and _AGREE.search(buttons):
            node.decompose()
            return  # what lies within it is gone, too, and must not be touched


def _hidden(page: Prepared) -> tuple[str, ...]:
    if not page.hidden:
        return ()
    many = "elements were" if page.hidden > 1 else "element was"
    return (f"{page.hidden} hidden {many} left out, with {page.hidden_characters} characters of text.",)


def _words(text: str) -> int:
    return len(text.split())
