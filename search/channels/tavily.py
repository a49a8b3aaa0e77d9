"""Tavily's search API (docs.tavily.com/documentation/api-reference/endpoint/search)."""

from collections.abc import Mapping
from typing import Final

import httpx

from search.channels.exchange import Fault, Meaning, items_of, json_of, posted, words_of
from search.channels.keyed import Keyed
from search.channels.languages import language_of
from search.channels.values import TITLE, joined, line, mapping, moment, number, web_address
from search.engine import Answer, Found, Hit, Send
from search.query import Query

KEY_VARIABLES: Final = ("TAVILY_API_KEY",)
BASE_VARIABLE: Final = "TAVILY_BASE_URL"
BASE_URL: Final = "https://api.tavily.com"
MOST: Final = 20
LONGEST_QUERY: Final = 400  # characters
MOST_INCLUDED: Final = 300  # domains
MOST_EXCLUDED: Final = 150

_MEANINGS: Final[Mapping[int, Meaning]] = {
    400: Meaning("error", "refused the request", "shorten the query, or leave options out"),
    403: Meaning("error", "does not allow this request", "check what the key and its plan may do"),
    429: Meaning("blocked", "limits how often it is asked", "wait, or use a key with a higher rate limit"),
    432: Meaning("blocked", "has used up the plan's limit of this key", "raise the plan's limit, or use another key"),
    433: Meaning("blocked", "has used up the pay-as-you-go limit", "raise that limit in the Tavily dashboard"),
}
# The API takes names in English, lower case; those of the languages that people search in
_COUNTRIES: Final[Mapping[str, str]] = {
    "AR": "argentina", "AT": "austria", "AU": "australia", "BE": "belgium", "BR": "brazil", "CA": "canada",
    "CH": "switzerland", "CL": "chile", "CN": "china", "CO": "colombia", "CZ": "czech republic", "DE": "germany",
    "DK": "denmark", "ES": "spain", "FI": "finland", "FR": "france", "GB": "united kingdom", "GR": "greece",
    "HU": "hungary", "ID": "indonesia", "IE": "ireland", "IL": "israel", "IN": "india", "IT": "italy",
    "JP": "japan", "KR": "south korea", "MX": "mexico", "MY": "malaysia", "NL": "netherlands", "NO": "norway",
    "NZ": "new zealand", "PH": "philippines", "PL": "poland", "PT": "portugal", "RO": "romania", "RU": "russia",
    "SE": "sweden", "SG": "singapore", "TH": "thailand", "TR": "turkey", "TW": "taiwan", "UA": "ukraine",
    "US": "united states", "VN": "vietnam", "ZA": "south africa",
}  # fmt: skip


class Tavily:
    """Results of Tavily. `key_in_body` is for older gateways, which do not read the header."""

    name = "tavily"
    most = MOST

    def __init__(self, key: str, *, base_url: str = BASE_URL, key_in_body: bool = False) -> None:
        self._api = Keyed("Tavily", BASE_VARIABLE, KEY_VARIABLES, key, _MEANINGS, _pause)
        self._base_url = base_url
        self._key_in_body = key_in_body

    async def search(self, query: Query, send: Send) -> Found:
        """Ask it. Failures are answers, with state and error; only cancellation is raised."""
        try:
            key = self._api.unlocked()
            base, warnings = self._api.at(self._base_url, "/search")
            body, more = _body(query)
            if self._key_in_body:
                body["api_key"] = key
            headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
            request = posted(f"{base}/search", headers, body)
            return _read(await self._api.ask(request, send), [*warnings, *more])
        except Fault as fault:
            return fault.found(self.name)


def _body(query: Query) -> tuple[dict[str, object], list[str]]:
    """What is asked for, without what is not asked for, and what was left out of it."""
    warnings = []
    text = words_of(query, LONGEST_QUERY)
    if len(text) < len(words_of(query)):
        warnings.append(f"Tavily takes queries of {LONGEST_QUERY} characters: this one was cut.")
    if query.count > MOST:
        warnings.append(f"Tavily gives at most {MOST} results; {query.count} were asked for.")
    if query.safesearch is not None:
        warnings.append("Tavily has no safe search: the option was left out.")
    for kind, domains, most in _domain_lists(query):
        if len(domains) > most:
            warnings.append(f"Tavily takes {most} {kind} domains: the others were left out of the request.")
    language = language_of(query.language)
    wanted: dict[str, object] = {
        "query": text,
        "search_depth": query.depth,
        "max_results": max(1, min(query.count, MOST)),
        "time_range": query.time_range,
        "country": _COUNTRIES.get(language.region) if language else None,
        "include_domains": list(query.allowed_domains[:MOST_INCLUDED]),
        "exclude_domains": list(query.blocked_domains[:MOST_EXCLUDED]),
    }
    return {name: value for name, value in wanted.items() if value not in (None, [])}, warnings


def _domain_lists(query: Query) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    return ("allowed", query.allowed_domains, MOST_INCLUDED), ("blocked", query.blocked_domains, MOST_EXCLUDED)


def _read(body: Mapping[str, object], warnings: list[str]) -> Found:
    results = [mapping(each) for each in items_of(body, "results", "Tavily", BASE_VARIABLE)]
    results.sort(key=lambda each: -(number(each.get("score")) or 0.0))
    hits = tuple(hit for each in results if (hit := _hit(each)))
    return Found((Answer("tavily", "ok" if hits else "empty", hits),), tuple(warnings))


def _hit(result: Mapping[str, object]) -> Hit | None:
    url = web_address(result.get("url"))
    if not url:
        return None
    snippet = joined([line(result.get("content"))])
    return Hit(line(result.get("title"), TITLE) or url, url, snippet, moment(result.get("published_date")))


def _pause(response: httpx.Response) -> float | None:
    """What the newer of its two error envelopes asks for."""
    try:
        return number(mapping(mapping(json_of(response)).get("error")).get("retry_after_seconds"))
    except ValueError:
        return None
