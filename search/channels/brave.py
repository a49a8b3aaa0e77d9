"""Brave's search API: Web Search and LLM Context (api-dashboard.search.brave.com/documentation)."""

import asyncio
from collections.abc import Mapping
from typing import Final, Literal

import httpx

from search.channels.brave_read import SERVICE, SETTING, context_hits, has_more, web_hits
from search.channels.brave_request import MOST_CONTEXT, PAGE, PAGES, parameters, safesearch
from search.channels.exchange import Fault, Meaning, json_object
from search.channels.keyed import Keyed
from search.engine import Answer, Found, Hit, Send
from search.query import Query

KEY_VARIABLES: Final = ("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY")
BASE_URL: Final = "https://api.search.brave.com"
_LONGEST_PAUSE_S: Final = 31 * 86400.0  # a monthly quota; more than that is no pause that was meant
LONGEST_WAIT_S: Final = 2.0  # between two pages: plans allow as little as one request a second

_MEANINGS: Final[Mapping[int, Meaning]] = {
    400: Meaning("error", "refused the request", "leave options out, or take a plan that has them"),
    402: Meaning("blocked", "has used up the plan's quota", "raise the limit in the Brave dashboard"),
    422: Meaning("error", "refused the key or a parameter", f"check {' or '.join(KEY_VARIABLES)}, then the query"),
    429: Meaning("blocked", "limits how often it is asked", "wait, or take a larger plan"),
}

Mode = Literal["web", "llm_context"]


class Brave:
    """Results of Brave. `mode="llm_context"` gives longer passages of fewer pages instead of descriptions.

    `extra_snippets`: up to five more excerpts a result; None leaves that to the plan of the key.
    """

    name = "brave"

    def __init__(
        self, key: str, *, mode: Mode = "web", base_url: str = BASE_URL, extra_snippets: bool | None = None
    ) -> None:
        self.most = PAGE * PAGES if mode == "web" else MOST_CONTEXT
        self._api = Keyed(SERVICE, SETTING, KEY_VARIABLES, key, _MEANINGS, pause)
        self._mode = mode
        self._base_url = base_url
        self._extra_snippets = extra_snippets

    async def search(self, query: Query, send: Send) -> Found:
        """Ask it. Failures are answers, with state and error; only cancellation is raised."""
        warnings: list[str] = []
        try:
            key = self._api.unlocked()
            base, plain = self._api.at(self._base_url, "/res/v1/web/search", "/res/v1/llm/context", "/res/v1")
            asked, left_out = parameters(query)
            warnings += plain + left_out
            if query.count > self.most:
                warnings.append(f"Brave gives at most {self.most} results; {query.count} were asked for.")
            count = max(1, min(query.count, self.most))
            desk = _Desk(self._api, f"{base}/res/v1", key, send)
            if self._mode == "web":
                asked["safesearch"] = safesearch(query)
                hits = await self._pages(asked, count, desk, warnings)
            else:
                asked |= {"count": str(count), "maximum_number_of_urls": str(count)}
                hits = context_hits(await desk.ask("llm/context", asked))
        except Fault as fault:
            return fault.found(self.name, warnings)
        return Found((Answer(self.name, "ok" if hits else "empty", tuple(hits[:count])),), tuple(warnings))

    async def _pages(self, asked: dict[str, str], count: int, desk: "_Desk", warnings: list[str]) -> list[Hit]:
        """As many pages as are needed. Those that came stay where a later one fails."""
        asked |= {"count": str(min(count, PAGE)), "text_decorations": "false", "result_filter": "web,query"}
        if self._extra_snippets is not None:
            asked["extra_snippets"] = str(self._extra_snippets).lower()
        hits: dict[str, Hit] = {}
        for page in range(-(-count // PAGE)):
            before = len(hits)
            try:
                body = await desk.ask("web/search", asked | ({"offset": str(page)} if page else {}))
                for hit in web_hits(body):
                    hits.setdefault(hit.url, hit)
            except Fault as fault:
                if not hits:
                    raise
                warnings.append(f"More results than {before} could not be had: {fault.sentence}")
                break
            if len(hits) == before or not has_more(body):
                break
        return list(hits.values())


class _Desk:
    """Asks one thing after the other, as fast as Brave's answers say that it may."""

    def __init__(self, api: Keyed, base: str, key: str, send: Send) -> None:
        self._api, self._base, self._send = api, base, send
        self._headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        self._wait_s = 0.0

    async def ask(self, path: str, parameters: dict[str, str]) -> Mapping[str, object]:
        """The JSON object of a successful answer. Raises Fault for every other one."""
        if 0 < self._wait_s <= LONGEST_WAIT_S:
            await asyncio.sleep(self._wait_s)
        request = httpx.Request("GET", f"{self._base}/{path}", params=parameters, headers=self._headers)
        response = await self._api.answer(request, self._send)
        self._wait_s = pause(response) or 0.0
        return json_object(response, SERVICE, SETTING)


def pause(response: httpx.Response) -> float | None:
    """Seconds until Brave may be asked again, by `X-RateLimit-Remaining` and `-Reset`; None where they do not say.

    Both are lists of one number a window, such as a second and a month: the longest window that is used up counts.
    """
    left = _numbers(response, "x-ratelimit-remaining")
    resets = _numbers(response, "x-ratelimit-reset")
    used_up = [reset for rest, reset in zip(left, resets, strict=False) if rest <= 0]
    return min(max(used_up), _LONGEST_PAUSE_S) if used_up else None


def _numbers(response: httpx.Response, header: str) -> list[float]:
    try:
        return [float(each) for each in response.headers.get(header, "").split(",")]
    except ValueError:
        return []
