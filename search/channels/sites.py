"""Domains in the words of a query, for channels that have no parameter for them."""

from typing import Final

from search.query import Query

MOST_SITES: Final = 5  # engines ignore queries of many operators; what slips through is filtered afterwards


def with_sites(text: str, query: Query) -> str:
    """The text, limited to the query's allowed domains by `site:` where they are few."""
    sites = [f"site:{domain}" for domain in query.allowed_domains]
    if not sites or len(sites) > MOST_SITES:
        return text
    return f"{text} {sites[0]}" if len(sites) == 1 else f"{text} ({' OR '.join(sites)})"
