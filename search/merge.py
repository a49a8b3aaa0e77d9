"""Many engines' answers as one list of pages, each with every engine that found it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from search.engine import Answer, Hit
from search.normalise import host_of, key

_LONGEST_TITLE = 150  # characters beyond which more of a title is no better title
_CUT_OFF = re.compile(r"(?:\.{2,}|…)\s*$")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w-]+(?:\.[\w-]+)+(?:/\S*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One page. `key` is its address as compared, `ranks` the engines that found it with the best place in each (from
    1), the best first; `opaque` says that no engine gave an address other than its own redirect."""

    key: str
    url: str
    title: str
    snippet: str
    ranks: tuple[tuple[str, int], ...]
    published: str | None = None
    opaque: bool = False

    @property
    def engines(self) -> tuple[str, ...]:
        """All engines that found it, the one that put it highest first."""
        return tuple(name for name, _ in self.ranks)


def merge(answers: Iterable[Answer]) -> list[Candidate]:
    """The pages that the answers of state `ok` hold, without duplicates; the same in whatever order the answers come.

    Kept of each: the best title (whole rather than cut off, words rather than an address, then the longest up to 150
    characters), the longest snippet, the clearest address (the page's own rather than an engine's redirect, https,
    then the shortest), and the date that the engine that ranks it highest gives. Hits without an http(s) address or
    without any words are dropped.
    """
    found: dict[str, list[tuple[int, str, Hit]]] = defaultdict(list)
    for answer in answers:
        if answer.state == "ok":
            for rank, hit in enumerate(answer.hits, 1):
                if host_of(hit.url) and (hit.title.strip() or hit.snippet.strip()):
                    found[key(hit.url)].append((rank, answer.engine, hit))
    merged = [_candidate(name, sorted(finds, key=_order)) for name, finds in found.items()]
    return sorted(merged, key=lambda one: (one.ranks[0][1], one.ranks[0][0], one.key))


def _order(find: tuple[int, str, Hit]) -> tuple[int, str, str, str, str]:
    rank, engine, hit = find
    return rank, engine, hit.url, hit.title, hit.snippet


def _candidate(name: str, finds: Sequence[tuple[int, str, Hit]]) -> Candidate:
    ranks: dict[str, int] = {}
    for rank, engine, _ in finds:
        ranks.setdefault(engine, rank)
    hits = [hit for _, _, hit in finds]
    address = min(hits, key=lambda hit: (hit.opaque, not hit.url.strip().lower().startswith("https:"), len(hit.url)))
    return Candidate(
        key=name,
        url=address.url.strip(),
        title=max((hit.title.strip() for hit in hits), key=_worth),
        snippet=max((hit.snippet.strip() for hit in hits), key=len),
        ranks=tuple(ranks.items()),
        published=next((hit.published for hit in hits if hit.published), None),
        opaque=all(hit.opaque for hit in hits),
    )


def _worth(title: str) -> tuple[bool, bool, bool, int]:
    is_address = _ADDRESS.fullmatch(title) is not None
    return bool(title), not is_address, not _CUT_OFF.search(title), min(len(title), _LONGEST_TITLE)
