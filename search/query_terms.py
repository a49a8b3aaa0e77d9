"""What a query asks for: its words, the sites it names, and whether it is one of few words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fetch.stemming import stem
from search.normalise import site
from search.terms import STOP, content_runs, folded, grams, is_unparted, pieces

_MAX_TERMS = 60
_SITE = re.compile(r"(?<!\S)-?site:\s*(?:https?://)?(?:\*\.)?([^\s/]+)\S*", re.IGNORECASE)
_EXCLUDED = re.compile(r"(?<!\S)-(?:\"[^\"]*\"|\S+)")
_OPERATOR = re.compile(
    r"(?<!\S)(?:intitle|inurl|intext|inbody|allintitle|filetype|ext|lang|language|before|after):", re.IGNORECASE
)
_CONNECTIVE = re.compile(r"(?<!\S)(?:OR|AND|NOT|NEAR)(?!\S)|[|]")
_HOST = re.compile(r"(?<![\w.@-])(?:https?://)?((?:[\w-]+\.)+[^\W\d_]{2,24})(?![\w-])(?:[:/]\S*)?")


@dataclass(frozen=True, slots=True)
class Asked:
    """The terms of a query, folded: stems of words; where words are not parted, runs of characters and their pairs.

    `sites` are hosts that it names, `limited` whether it asks for nothing else (`site:`); `squeezed` is all of it
    without spaces, in which the name of a site can be found.
    """

    words: tuple[str, ...]
    runs: tuple[str, ...]
    pairs: tuple[str, ...]
    sites: tuple[str, ...]
    limited: bool
    squeezed: str

    @property
    def terms(self) -> tuple[str, ...]:
        """All of them."""
        return self.words + self.pairs


def asked(query: str) -> Asked:
    """Read a query. Where nothing is left without the common words, those are its terms."""
    wanted = [match for match in _SITE.finditer(query) if not match[0].startswith("-")]
    plain = _CONNECTIVE.sub(" ", _OPERATOR.sub(" ", _EXCLUDED.sub(" ", _SITE.sub(" ", query))))
    hosts = [match[1] for match in (*wanted, *_HOST.finditer(plain))]
    found = list(pieces(folded(plain)))
    words = _unique(stem(piece) for piece in found if not is_unparted(piece) and piece not in STOP)
    runs = _unique(run for piece in found if is_unparted(piece) for run in content_runs(piece))
    if not words and not runs:
        words = _unique(stem(piece) for piece in found if not is_unparted(piece))
        runs = _unique(piece for piece in found if is_unparted(piece))
    pairs = _unique(pair for run in runs for pair in grams(run))
    sites = _unique(site(host.lower()) for host in hosts)
    return Asked(words, runs, pairs, sites, bool(wanted), "".join(found))


def _unique(terms: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms))[:_MAX_TERMS]
