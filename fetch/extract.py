"""What a page says: the whole of it or its main part, as text, Markdown or HTML.

No one extractor is best for all pages. trafilatura finds articles; of pages that are none, or of which it keeps little,
the whole without navigation says more. The thresholds were chosen on 743 pages of known content, by classes of pages.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from trafilatura import bare_extraction
from trafilatura.htmlprocessing import build_html_output
from trafilatura.settings import Document

from fetch.errors import InvalidRequest
from fetch.markdown import to_markdown
from fetch.markdown_tree import absolute
from fetch.page import Wish
from fetch.prepare import Prepared, prepare
from fetch.signals import Signals, signals_of
from fetch.text import NAVIGATION, text_of

CERTAIN = 0.5  # share of the page's words above which trafilatura is believed on any page
NEARLY_ALL = 0.9  # … above which the page is taken as it is, in `auto`
SHORT, HALF, FEW_LINKS = 1500, 0.5, 0.2  # characters of a short page, the share that is enough there, of links
PROSE = 0.6  # share of words in lines of 25 words and more that makes an article …
ARTICLE = 150  # … with so many words
LEAST = 80  # words of an article
LOST = 2.0  # so many times the prose in what Resiliparse keeps: trafilatura lost some
FORUM = 0.5
CJK = 0.15
PRODUCT = 0.1
LARGE = 3 * 2**20  # characters of a document beyond which only the whole is read: trafilatura takes minutes
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_CONSENT = "dialog,[role=dialog],[role=alertdialog],[aria-modal=true]," + ",".join(
    f"[{name}*={word} i]" for name in ("id", "class") for word in ("cookie", "consent", "gdpr", "privacy", "cmp")
)
_ABOUT = re.compile(r"cookie|consent|privacy|partners|隐私|同意", re.IGNORECASE)
_AGREE = re.compile(
    r"accept|agree|allow|consent|reject|decline|refuse|manage|got it|akzept|zustimm|accepter|aceptar|accetta|同意|接受",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~])")


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


class _Choice(NamedTuple):
    """Main content: its name, its text, its HTML where there is some; and the share of it that is links."""

    extractor: str
    text: str
    html: str | None
    linked: float = 0.0


def extract(html: str, url: str, wish: Wish) -> Extracted:
    """Read a page, tamed (`fetch.tame`). Raises InvalidRequest for a selector that does not parse, NoMatch."""
    page = prepare(html, url)
    whole = text_of(page.root)
    if wish.selector is not None:
        choice = _selected(page, wish.selector)
    elif wish.extract_mode == "full":
        choice = _Choice("full", whole, page.root.html)
    else:
        choice = _Chooser(html, url, page, wish).choose(whole)
    words = _size(whole)
    return Extracted(
        content=_written(choice, page.base, wish),
        extractor=choice.extractor,
        words_kept=min(1.0, _size(choice.text) / words) if words else 1.0,
        characters=len(whole),
        warnings=_hidden(page),
    )


def _written(choice: _Choice, base: str, wish: Wish) -> str:
    """The content in the wanted form; plain text where a form comes out empty and the text does not."""
    if wish.format == "text":
        return choice.text
    if choice.html is None:
        lines = [line for line in choice.text.split("\n") if line.strip()]
        if wish.format == "html":
            return "".join(f"<p>{line.replace('&', '&amp;').replace('<', '&lt;')}</p>\n" for line in lines)
        return "\n\n".join(_MARKUP.sub(r"\\\1", line) for line in lines)
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


def _selected(page: Prepared, selector: str) -> _Choice:
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
    return _Choice("selector", "\n".join(text_of(each) for each in outer), "\n".join(each.html or "" for each in outer))


def _is_within(node: LexborNode, other: LexborNode) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id == other.mem_id:
            return True
        above = above.parent
    return False


class _Chooser:
    """Chooses the main content of one page."""

    def __init__(self, html: str, url: str, page: Prepared, wish: Wish) -> None:
        self._wish = wish
        self._html = html
        self._url = url
        self._page = page
        self._tree = LexborHTMLParser(page.root.html or "")
        asked = _drop_consent(self._tree)
        self._clean = (self._tree.body and self._tree.body.html) or ""
        # What nobody would see is not to come back by the other extractors.
        self._source = self._clean if page.hidden or asked else html

    def choose(self, whole: str) -> _Choice:
        """The content. In `auto`, a page that is nearly all content is taken as it is."""
        plain = self._plain(whole)
        if len(self._html) > LARGE:
            return plain
        signals = signals_of(self._page.tree, self._html)
        words = max(1, _size(plain.text))
        if _is_cjk(plain.text):
            found = self._trafilatura(self._clean)
            best = found if len(found.text) >= CJK * len(plain.text) else self._resiliparse()
        else:
            best = self._western(signals, plain, words)
        if not best.text.strip():
            return plain
        return plain if self._wish.extract_mode == "auto" and _is_nearly_all(best, plain) else best

    def _western(self, signals: Signals, plain: _Choice, words: int) -> _Choice:
        if signals.forum:
            found = self._trafilatura(self._source, comments=True)
            return found if _size(found.text) >= FORUM * words else plain
        if signals.product and not signals.article:
            found = self._trafilatura(self._clean)
            return found if _size(found.text) >= PRODUCT * words else self._resiliparse()
        found = self._trafilatura(self._source, fast=signals.article)
        kept, share = _size(found.text), _size(found.text) / words
        prose = _prose(found.text)
        is_prose = prose >= PROSE * len(found.text.split()) and kept >= ARTICLE
        if share >= CERTAIN:
            return found
        if signals.article or is_prose:
            other = self._resiliparse()
            if kept < LEAST or _prose(other.text) >= LOST * max(50, prose):
                return other
            return found
        return plain

    def _plain(self, whole: str) -> _Choice:
        """The page without navigation, header, footer and side bars; all of it where nothing else is left."""
        tree = self._tree
        tree.strip_tags(sorted(NAVIGATION), recursive=True)
        root = tree.body
        text = text_of(root) if root is not None else ""
        if not text.strip() or root is None:
            return _Choice("page", whole, self._clean)
        linked = sum(len(each.text()) for each in tree.css("a[href]")) / len(text)
        return _Choice("page", text, root.html, linked)

    def _trafilatura(self, html: str, *, comments: bool = False, fast: bool = False) -> _Choice:
        rich = self._wish.format != "text"  # links and pictures cost it some certainty about what is content
        found = bare_extraction(
            html,
            url=self._url,
            fast=fast,
            include_comments=comments,
            include_links=rich,
            include_images=rich,
            include_formatting=rich,
            output_format="html",
        )
        if not isinstance(found, Document) or found.body is None:
            return _Choice("trafilatura", "", None)
        written = build_html_output(found)
        body = LexborHTMLParser(written).body
        return _Choice("trafilatura", text_of(body) if body is not None else "", written)

    def _resiliparse(self) -> _Choice:
        text = extract_plain_text(self._source, main_content=True, alt_texts=False, comments=False)
        return _Choice("resiliparse", text, None)


def _drop_consent(tree: LexborHTMLParser) -> bool:
    """Take out what asks for consent, where it asks with a button, and stands beside content rather than around it."""
    whole = len(tree.body.text()) if tree.body is not None else 0
    for node in tree.css(_CONSENT)[:50]:
        text = node.text()
        if len(text) > whole / 2 and len(text) > 1000:
            continue
        buttons = " ".join(each.text() for each in node.css("button, a, input, [role=button]")[:20])
        if _ABOUT.search(text) and _AGREE.search(buttons):
            node.decompose()
            return True  # what lies within it is gone, too, and must not be touched
    return False


def _is_nearly_all(taken: _Choice, plain: _Choice) -> bool:
    """Whether so much was taken of a page that the rest of it is no clutter; of a short one with few links half."""
    whole = len("".join(plain.text.split()))
    share = len("".join(taken.text.split())) / max(1, whole)
    return (HALF if whole < SHORT and plain.linked < FEW_LINKS else NEARLY_ALL) <= share <= 1


def _hidden(page: Prepared) -> tuple[str, ...]:
    if not page.hidden:
        return ()
    many = "elements were" if page.hidden > 1 else "element was"
    return (f"{page.hidden} hidden {many} left out, with {page.hidden_characters} characters of text.",)


def _size(text: str) -> int:
    return len(_WORD.findall(text))


def _prose(text: str) -> int:
    return sum(count for line in text.split("\n") if (count := len(line.split())) >= 25)


def _is_cjk(text: str) -> bool:
    sample = text[:20_000]
    return len(_CJK.findall(sample)) > 0.2 * len(sample)
