"""A query in Brave's words: languages, countries, freshness, and domain lists as goggles."""

import re
from collections.abc import Mapping
from typing import Final

from search.channels.exchange import words_of
from search.channels.languages import Language, language_of
from search.query import Query, TimeRange

PAGE: Final = 20  # results a page
PAGES: Final = 10  # `offset` is the index of a page, 0 to 9
MOST_CONTEXT: Final = 50  # addresses in one LLM Context answer
LONGEST_QUERY: Final = 400  # characters
MOST_WORDS: Final = 50
LONGEST_GOGGLE: Final = 2000  # characters: beyond it the address gets too long for what stands between

_FRESHNESS: Final[Mapping[TimeRange, str]] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_SAFESEARCH: Final = ("off", "moderate", "strict")
_LANGUAGES: Final = frozenset(
    re.findall(
        r"\w+",
        """ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl
        es sv ta te th tr uk vi""",
    )
)
_OWN_NAMES: Final = {"ja": "jp", "no": "nb", "nn": "nb", "iw": "he"}
_COUNTRIES: Final = frozenset(
    re.findall(
        r"\w+",
        """AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB
        US""",
    )
)


def parameters(query: Query) -> tuple[dict[str, str], list[str]]:
    """The parameters that Web Search and LLM Context share, and what of the query could not be said in them."""
    warnings = []
    text = _short(words_of(query))
    if text != words_of(query):
        warnings.append(f"Brave takes {LONGEST_QUERY} characters and {MOST_WORDS} words: the query was cut.")
    asked = {"q": text}
    if language := language_of(query.language):
        if name := search_lang(language):
            asked["search_lang"] = name
        else:
            warnings.append(f"Brave has no results by the language {language.code}: the option was left out.")
        if language.region in _COUNTRIES:
            asked["country"] = language.region
    if query.time_range:
        asked["freshness"] = _FRESHNESS[query.time_range]
    if goggle := _goggle(query):
        if len(goggle) > LONGEST_GOGGLE:
            warnings.append("There are too many domains for Brave: its results are not limited to them.")
        else:
            asked["goggles"] = goggle
    return asked, warnings


def safesearch(query: Query) -> str:
    """The word for the level; Brave's default where none is asked for."""
    return _SAFESEARCH[1 if query.safesearch is None else query.safesearch]


def search_lang(language: Language) -> str:
    """Brave's name of a language; "" where it has none."""
    if language.code == "zh":
        return "zh-hant" if language.traditional else "zh-hans"
    if language.code == "pt":
        return "pt-br" if language.region in {"BR", ""} else "pt-pt"
    if (language.code, language.region) == ("en", "GB"):
        return "en-gb"
    name = _OWN_NAMES.get(language.code, language.code)
    return name if name in _LANGUAGES or name == "jp" else ""


def _short(text: str) -> str:
    """As much of a query as both limits allow."""
    words = text.split(" ")[:MOST_WORDS]
    while len(words) > 1 and len(" ".join(words)) > LONGEST_QUERY:
        words.pop()
    return " ".join(words)[:LONGEST_QUERY]


def _goggle(query: Query) -> str:
    """Domain lists as re-ranking rules (search.brave.com/help/goggles): others discarded, or these."""
    if query.allowed_domains:
        return "\n".join(("$discard", *(f"$site={domain}" for domain in query.allowed_domains)))
    return "\n".join(f"$discard,site={domain}" for domain in query.blocked_domains)
