"""What a page says: the whole of it or its main part, as text, Markdown or HTML."""

from dataclasses import dataclass

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborNode
import trafilatura

from fetch.errors import InvalidRequest
from fetch.markdown import to_markdown
from fetch.page import Wish
from fetch.prepare import Prepared, prepare
from fetch.text import text_of
from selectolax.lexbor import LexborHTMLParser


@dataclass(frozen=True)
class Extracted:
    content: str
    title: str
    extractor: str
    words_kept: float
    characters: int
    warnings: tuple[str, ...] = ()
    main_html: str = ""


def extract(html: str, url: str, wish: Wish, *, keep_comments: bool | None = None) -> Extracted:
    page = prepare(html, url)
    whole = text_of(page.root)
    main = page.root.html or ""
    name = "full"
    if wish.selector:
        try:
            found = page.root.css(wish.selector)
        except Exception as error:
            raise InvalidRequest(f"{wish.selector!r} is not a CSS selector: {error}") from error
        if not found:
            raise InvalidRequest(f"nothing on the page matches {wish.selector!r}")
        main = "".join(each.html or "" for each in found)
        name = "selector"
    elif wish.extract_mode != "full":
        got = trafilatura.extract(html, output_format="html", include_comments=bool(keep_comments), include_links=True, include_images=True)
        if got:
            main, name = got, "trafilatura"
    if wish.format == "markdown":
        content = to_markdown(main, page.base)
    elif wish.format == "html":
        content = main
    elif name == "full":
        content = whole
    else:
        content = text_of(LexborHTMLParser(main).root)
    warnings = (f"{page.hidden} hidden elements with {page.hidden_characters} characters of text were left out",) if page.hidden else ()
    return Extracted(content, page.title, name, min(1.0, len(content) / max(1, len(whole))), len(whole), warnings, main)
