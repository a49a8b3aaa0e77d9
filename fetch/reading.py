"""From a page as it came to what it says. Runs in a worker process: nothing here waits, and all of it is bounded."""

import re
from html import unescape

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser

from fetch.charset import decode
from fetch.documents import kind_of, read_document
from fetch.errors import TabwrightError
from fetch.extract import Extracted, NoMatch, extract
from fetch.language import language_of
from fetch.metadata import read_links, read_metadata, read_title
from fetch.page import BARE, Link, Page, Reading, Verdict, Wish
from fetch.refusal import judge
from fetch.refusal_survey import survey as look
from fetch.render_need import why
from fetch.tame import tame

SAMPLE = 20_000  # characters in which a title is looked for
_TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_BRACKETS = re.compile(r"([\[\]\\])")


def read(page: Page, wish: Wish) -> Reading | TabwrightError:
    """What the page says, in the wanted form, with its verdict. A failure is given, not raised: it has to be sent."""
    try:
        return _read(page, wish)
    except TabwrightError as fault:
        return fault


def read_simply(page: Page, wish: Wish) -> Reading | TabwrightError:
    """Its text by the simplest means, for a page that is too much for `read`."""
    html = page.html if page.html is not None else decode(page.body, page.charset)[0]
    text = extract_plain_text(tame(html), main_content=False, alt_texts=False)
    said = f"The page is too large or too intricate for {wish.format}: this is its plain text."
    title = _TITLE.search(html[:SAMPLE])
    found = page.title or (" ".join(unescape(title[1]).split()) if title else "")
    return Reading(text, found, characters=len(text), extractor="plain", warnings=(said,))


def glance(page: Page) -> Verdict:
    """What kind of answer a rendered page is, without reading it."""
    html = tame(page.html or "")
    return judge(page, LexborHTMLParser(html), html)


def warm_up() -> None:
    """Do all of it once with a small page: what it needs is then loaded."""
    body = b"<title>Warm</title><article><h1>Warm</h1><p>" + b"Some words of a paragraph. " * 40 + b"</p></article>"
    _read(Page("http://example.com/", "http", 200, "text/html", body=body), Wish("markdown"))


def _read(page: Page, wish: Wish) -> Reading:
    if page.html is None and kind_of(page) != "html":
        return read_document(page, wish)
    if page.html is None:
        html, charset, said = decode(page.body, page.charset)
    else:
        html, charset, said = page.html, None, ()
    html = tame(html)
    tree = LexborHTMLParser(html)
    survey = look(page, tree, html)
    verdict = judge(page, tree, html, survey)
    links = read_links(tree, page.url)
    try:
        seen, unmatched = extract(html, page.url, wish), None
    except NoMatch as fault:  # what it names may be still to come
        seen, unmatched = Extracted("", "selector", 0.0, survey.characters), fault
    missing = why(page, tree, seen.characters, survey) if page.method == "http" else None
    if unmatched is not None and missing is None:
        raise unmatched
    if verdict.outcome == "empty" and len(seen.content.strip()) >= BARE:
        verdict = Verdict()  # what judges does not read everything
    root = tree.css_first("html")
    return Reading(
        content=as_links(links) if wish.format == "links" else seen.content,
        title=page.title or read_title(tree),
        verdict=verdict,
        render=missing,
        characters=seen.characters,
        charset=charset,
        language=language_of(seen.content, root.attributes.get("lang") if root is not None else None),
        metadata=read_metadata(tree, page.url),
        links=links,
        extractor=seen.extractor,
        words_kept=round(seen.words_kept, 3),
        warnings=(*said, *seen.warnings),
    )


def as_links(links: tuple[Link, ...]) -> str:
    """Links as a Markdown list, one a line."""
    return "\n".join(f"- [{_escaped(each.text or each.url)}](<{each.url}>)" for each in links)


def _escaped(text: str) -> str:
    return _BRACKETS.sub(r"\\\1", text)
