"""A web page of an instance, or of something that stands in front of it."""

import re
from functools import cached_property
from typing import Final

import httpx
from selectolax.lexbor import LexborHTMLParser

from fetch.tame import tame
from fetch.text import text_of
from search.channels.values import line

MOST_TEXT: Final = 100_000  # characters of a page that could not be read as results
SHORT: Final = 600  # characters of a page that holds nothing but its message

_CHALLENGE = re.compile(
    r"verifying your request|verifying you are|just a moment|checking your browser|making sure you|not a bot|"
    r"attention required|captcha|are you (?:a )?(?:human|robot)|security check|too many requests|安全验证|人机验证",
    re.IGNORECASE,
)
# Of the search page; error and start pages lack all of these
_LISTING = "#main_results, body.results_endpoint, meta[name=endpoint][content=results], .dialog-error-block"
_GENERATOR, _LIST = "meta[name=generator][content^=searx i]", "#results, #urls"


class Page:
    """A page, parsed when it is first looked at."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The document, made harmless before it is parsed."""
        return LexborHTMLParser(tame(self._response.text))

    @cached_property
    def text(self) -> str:
        """Its text, a line a block."""
        body = self.tree.body
        return text_of(body)[:MOST_TEXT] if body else ""

    @cached_property
    def challenge(self) -> str:
        """The words by which it is a challenge or a limit, from its title, heading or short text; "" when it is none.

        A page of results must not be asked: what was searched for is in its title.
        """
        heads = (self._words("title"), self._words("h1"), line(self.text) if len(self.text) < SHORT else "")
        return next((line(head, 80) for head in heads if _CHALLENGE.search(head)), "")

    @property
    def wants_password(self) -> bool:
        """Whether it is a login."""
        return self.tree.css_first("input[type=password]") is not None

    @property
    def is_listing(self) -> bool:
        """Whether it is SearXNG's page of results, with or without any."""
        if self.tree.css_first(_LISTING):
            return True
        return bool(self.tree.css_first(_GENERATOR) and self.tree.css_first(_LIST))

    def _words(self, selector: str) -> str:
        node = self.tree.css_first(selector)
        return line(node.text(), 300) if node else ""
