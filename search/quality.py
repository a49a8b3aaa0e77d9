"""Is this an answer to the question? Engines give suspected robots 200, valid markup and results of something else.

Seen in practice: ten pages of one unrelated site, unrelated pages of many, pages that share one word of many with the
query, and one site's pages where the same query brings many sites to others. A result counts as related when it has
two words of the query (its one word, where there is only one) and a fifth of them; Chinese, Japanese and Korean count
by pairs of characters. An answer is low in quality when fewer than a fifth of its results are related, or when nearly
all are on one host that the query does not name.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

from fetch.stemming import stem
from search.engine import Answer, Hit
from search.normalise import host_of, key, site
from search.query_terms import Asked, asked
from search.terms import folded, grams, is_unparted, pieces

LOOKED_AT: Final = 20
"""Results of an answer that are judged; decoys fill the whole page."""

FEW: Final = 3
"""Results of which nothing can be said when there are fewer."""

RELATED: Final = 0.2
"""Share of related results under which an answer is low in quality."""

ONE_HOST: Final = 0.8
"""Share of results on one host from which an answer is low in quality; five honest engines had 0.14 to 0.4."""

ONE_HOST_FEW: Final = 6
"""Different addresses without which the share on one host says nothing."""

_COVERED = 0.2  # of the query's terms in a related result
# Of a query of up to three terms, results often have one and say the other in other words ("how old", "born")
_SHORT_QUERY = 3
_TOUCHED = 0.8
_LONG_WORD = 4  # characters from which a word is looked for inside others, and may be misspelt
_ALIAS_SHARE = 0.2  # of results that have the word which a misspelt one is taken for
_OFFICIAL = frozenset({"gov", "gouv", "gob", "gub", "govt"})  # parts of hosts that rightly have all of some answers
# What people call sites whose hosts do not say it
_NICKNAMES: Final = {
    "b站": "bilibili.com", "知乎": "zhihu.com", "微博": "weibo.com", "淘宝": "taobao.com", "京东": "jd.com",
    "豆瓣": "douban.com", "小红书": "xiaohongshu.com", "贴吧": "tieba.baidu.com", "百度百科": "baike.baidu.com",
    "维基": "wikipedia.org", "公众号": "mp.weixin.qq.com", "油管": "youtube.com", "推特": "x.com", "twitter": "x.com",
    "hackernews": "news.ycombinator.com",
}  # fmt: skip
_BRAND_MARKS = ("-", "|", "_", "–", "—", "·", "»", ":", "：", "－")
# Engines that answer in Chinese whatever the language of the query
_CHINESE: Final = frozenset({"baidu", "sogou", "so360", "360search", "360", "quark", "chinaso"})


@dataclass(frozen=True, slots=True)
class _Row:
    """A result as it is compared: its host, its words, its text and address without spaces, its characters by pairs."""

    host: str
    words: frozenset[str]
    squeezed: str
    pairs: frozenset[str]
    title: str

    def has(self, word: str) -> bool:
        return word in self.words or (len(word) >= _LONG_WORD and word in self.squeezed)


def judge(query_text: str, answer: Answer) -> Answer:
    """The answer itself, or the same with state `low_quality` and a sentence that gives the figures.

    Only answers of state `ok` are judged. Doubt is in the answer's favour: few results, a query that says nothing, one
    that names the site, misspelt words, results in another language than the query that share its names.
    """
    if answer.state != "ok" or len(answer.hits) < FEW:
        return answer
    query = asked(query_text)
    hits = answer.hits[:LOOKED_AT]
    rows = [_row(hit) for hit in hits]
    aliases = _aliases(query, rows)
    fault = _unrelated(query, rows, aliases, answer.engine) or _on_one_host(
        replace(query, words=(*query.words, *aliases.values())), hits, rows
    )
    return replace(answer, state="low_quality", error=fault) if fault else answer


def _unrelated(query: Asked, rows: Sequence[_Row], aliases: dict[str, str], engine: str) -> str | None:
    if not query.terms and not query.limited:
        return None
    judged = rows if query.terms else [row for row in rows if row.host]
    if engine in _CHINESE and not query.pairs:
        judged = [row for row in rows if not row.pairs or any(_finds(row, word, aliases) for word in query.words)]
    if len(judged) < FEW:
        return None
    counts = [_found(query, row, aliases) for row in judged]
    related = sum(found >= min(2, terms) and found >= _COVERED * terms for found, terms in counts)
    touched = sum(found > 0 for found, _ in counts)
    paraphrased = related > 0 and len(query.terms) <= _SHORT_QUERY and touched >= _TOUCHED * len(judged)
    if related >= RELATED * len(judged) or paraphrased:
        return None
    return (
        f"{related} of {len(judged)} results have to do with the query; engines answer like this when they take the "
        "visitor for a robot."
    )


def _found(query: Asked, row: _Row, aliases: dict[str, str]) -> tuple[int, int]:
    """How many of the query's terms a result has, and of how many that it could have."""
    if query.limited and any(_is_on(row.host, one) for one in query.sites):
        return 1, 1
    words = sum(_finds(row, word, aliases) for word in query.words)
    pairs = sum(pair in row.pairs for pair in query.pairs)
    terms = len(query.terms) or 1  # `site:` alone
    if not row.pairs and any(not word.isdecimal() for word in query.words):
        terms = len(query.words)  # a page in another language can have its names and numbers alone
    return words + pairs, terms


def _finds(row: _Row, word: str, aliases: dict[str, str]) -> bool:
    return row.has(word) or (word in aliases and aliases[word] in row.words)


def _on_one_host(query: Asked, hits: Sequence[Hit], rows: Sequence[_Row]) -> str | None:
    """Whether one host has nearly all, of those addresses that are not the engine's own redirects."""
    seen = {key(hit.url): row for hit, row in zip(hits, rows, strict=True) if not hit.opaque and row.host}
    if len(seen) < ONE_HOST_FEW:
        return None
    host, count = Counter(row.host for row in seen.values()).most_common(1)[0]
    if count < ONE_HOST * len(seen) or _names(query, host, [row.title for row in rows if row.host == host]):
        return None
    return (
        f"{count} of {len(seen)} results are on {host}, which the query does not name; engines answer like this when "
        "they take the visitor for a robot."
    )


def _names(query: Asked, host: str, titles: Sequence[str]) -> bool:
    """Whether the query asks for this site: by its host, a part of that, or the name that its titles end in."""
    if query.limited or any(_is_on(host, one) or _is_on(one, host) for one in query.sites):
        return True
    if any(called in query.squeezed and _is_on(host, domain) for called, domain in _NICKNAMES.items()):
        return True
    labels = [part for label in host.split(".")[:-1] for part in {label, *label.split("-")}]
    if _OFFICIAL.intersection(labels) or any(_is_called(query, label) for label in labels):
        return True
    brands = Counter(brand for title in titles if (brand := _brand(title)))
    if not brands:
        return False
    brand, count = brands.most_common(1)[0]
    return count >= len(titles) / 2 and (brand in query.squeezed or any(term in brand for term in query.terms))


def _is_called(query: Asked, label: str) -> bool:
    if len(label) >= 3 and label in query.squeezed:
        return True
    return any(word == label or (len(word) >= _LONG_WORD and word in label) for word in query.words)


def _brand(title: str) -> str:
    """The last part of a title, in which sites put their name."""
    at = max(title.rfind(mark) for mark in _BRAND_MARKS)
    return "".join(pieces(title[at + 1 :])) if at > 0 else ""


def _is_on(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _row(hit: Hit) -> _Row:
    address = "" if hit.opaque else hit.url[:500]
    title = folded(hit.title)
    text = f"{title} {folded(hit.snippet)} {folded(unquote(address))}"
    found = list(pieces(text))
    pairs = frozenset(gram for piece in found if is_unparted(piece) for gram in (*grams(piece), *piece))
    words = frozenset(stem(piece) for piece in found if not is_unparted(piece))
    return _Row("" if hit.opaque else site(host_of(hit.url)), words, "".join(found), pairs, title)


def _aliases(query: Asked, rows: Sequence[_Row]) -> dict[str, str]:
    """What misspelt words of the query stand for: a similar one that many results have, where none has the word."""
    missing = [word for word in query.words if _may_be_misspelt(word) and not any(row.has(word) for row in rows)]
    if not missing:
        return {}
    counts = Counter(word for row in rows for word in row.words if _may_be_misspelt(word))
    common = [word for word, count in counts.most_common() if count >= max(2, _ALIAS_SHARE * len(rows))]
    found = {word: next((other for other in common if _is_similar(word, other)), None) for word in missing}
    return {word: other for word, other in found.items() if other is not None}


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= _LONG_WORD and not word.isdecimal()


def _is_similar(word: str, other: str) -> bool:
    """Whether one could be the other misspelt or shortened: one slip, two in words of eight letters or more."""
    if len(word) <= _LONG_WORD and word[0] != other[0]:
        return False
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) >= _LONG_WORD and longer.startswith(shorter):
        return True
    slips = 1 if max(len(word), len(other)) < 8 else 2
    return abs(len(word) - len(other)) <= slips and _distance(word, other) <= slips


def _distance(word: str, other: str) -> int:
    """Letters to insert, delete, replace or swap with the next (optimal string alignment, Damerau 1964)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before, last, row = row, before, [i]
        for j, sign in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != sign))
            if last and j > 1 and letter == other[j - 2] and word[i - 2] == sign:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]
