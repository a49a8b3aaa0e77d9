"""Results in the answers of Brave's two searches."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from search.channels.exchange import items_of
from search.channels.values import TITLE, items, joined, line, mapping, moment, unmarked, web_address
from search.engine import Hit

MOST_SCALARS: Final = 40  # of one structured excerpt

SERVICE: Final = "Brave"
SETTING: Final = "the Brave address"


def web_hits(body: Mapping[str, object]) -> list[Hit]:
    """Of Web Search. `web` is absent where nothing was found. Raises Fault when it is something else."""
    if body.get("web") is None and body.get("type") == "search":
        return []
    results = items_of(mapping(body.get("web")), "results", SERVICE, SETTING)
    return [hit for each in results if (hit := _web_hit(mapping(each)))]


def has_more(body: Mapping[str, object]) -> bool:
    """Whether Brave says that another page would hold results; it is asked where it does not say."""
    return mapping(body.get("query")).get("more_results_available") is not False


def context_hits(body: Mapping[str, object]) -> list[Hit]:
    """Of LLM Context: pages with the passages that matter. Raises Fault when there is no grounding."""
    grounding = items_of(mapping(body.get("grounding")), "generic", SERVICE, SETTING)
    sources = mapping(body.get("sources"))
    return [hit for each in grounding if (hit := _context_hit(mapping(each), sources))]


def _web_hit(result: Mapping[str, object]) -> Hit | None:
    url = web_address(result.get("url"))
    if not url:
        return None
    extra = [unmarked(each) for each in items(result.get("extra_snippets"), 5)]
    snippet = joined([unmarked(result.get("description")), *extra])
    return Hit(unmarked(result.get("title"), TITLE) or url, url, snippet, moment(result.get("page_age")))


def _context_hit(result: Mapping[str, object], sources: Mapping[str, object]) -> Hit | None:
    url = web_address(result.get("url"))
    if not url:
        return None
    source = mapping(sources.get(url))
    title = line(result.get("title"), TITLE) or line(source.get("title"), TITLE) or url
    snippet = joined(_passage(each) for each in items(result.get("snippets"), 100))
    dates = (moment(each) for each in reversed(items(source.get("age"), 5)))
    return Hit(title, url, snippet, next(filter(None, dates), None))


def _passage(value: object) -> str:
    """An excerpt as text: tables and schemas come as JSON inside of the string."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] in {"{", "["}:
        try:
            return line(" · ".join(_scalars(json.loads(text))))
        except (ValueError, RecursionError):
            pass
    return line(text)


def _scalars(root: object) -> Iterator[str]:
    """The texts and numbers in a JSON value, in their order, some at most."""
    stack, given = [root], 0
    while stack and given < MOST_SCALARS:
        value = stack.pop()
        if isinstance(value, dict):
            stack += reversed(list(value.values()))
        elif isinstance(value, list):
            stack += reversed(value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            given += 1
            yield line(str(value), 200)
