"""Which passages of a long text matter to a question: Okapi BM25 over its paragraphs.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the usual k1 = 1.2 and
b = 0.75. Chinese, Japanese and Korean, which do not part words (or part phrases), are indexed by pairs of characters.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fetch.stemming import stem

_K1 = 1.2
_B = 0.75
_LENGTH = 600  # characters to which paragraphs are gathered, and over which long ones are cut
_HEADING_WEIGHT = 2  # how often words of the headings above count
_FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_ASIAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(rf"[{_ASIAN}]+|(?:(?![{_ASIAN}_])\w)+(?:['’](?:(?![{_ASIAN}_])\w)+)?")
_IS_ASIAN = re.compile(f"[{_ASIAN}]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_STOP = (
    "a an and are as at be by can did do does for from has have how i in is it its of on or that the this to was what"
    " when where which who why will with you your 的 了 是 在 和 吗 呢 什么 怎么 如何"
)
_PARTED = "\n\n[…]\n\n"


@dataclass(frozen=True)
class Passage:
    """A piece of a text: `text[start:end]`. `headings` are those above it, the outermost first."""

    start: int
    end: int
    headings: tuple[str, ...]
    score: float


def passages(text: str, query: str, max_chars: int = 0) -> str:
    """The text with the passages first that matter to the query, each under the headings it stands below.

    They come in order of their score; passages that have none of its words follow in the order of the text. With
    `max_chars` no more passages are given than fit (one at least); where nothing in the text matches, it is given as
    it is. Passages that follow on each other in the text and in rank are not parted by a mark.
    """
    ranked = rank(text, query)
    matching = [passage for passage in ranked if passage.score > 0]
    if not matching:
        return text
    blocks: list[str] = []
    size = 0
    for block in _blocks(text, matching, [passage for passage in ranked if passage.score <= 0]):
        size += len(block) + len(_PARTED)
        if max_chars and size > max_chars and blocks:
            break
        blocks.append(block)
    return _PARTED.join(blocks)


def rank(text: str, query: str) -> list[Passage]:
    """All passages of a text, the best first; those that score the same in the order of the text."""
    found = list(_split(text))
    wanted = set(_terms(query)) - set(_STOP.split()) or set(_terms(query))
    counts = [_counts(text, passage) for passage in found]
    lengths = [sum(count.values()) or 1 for count in counts]
    average = sum(lengths) / max(len(lengths), 1)
    weights = {term: _weight(sum(term in count for count in counts), len(counts)) for term in wanted}
    scored = []
    for passage, count, length in zip(found, counts, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / average)
        score = sum(weights[term] * count[term] * (_K1 + 1) / (count[term] + norm) for term in wanted if term in count)
        scored.append(Passage(passage.start, passage.end, passage.headings, round(score, 4)))
    return sorted(scored, key=lambda passage: (-passage.score, passage.start))


def _weight(having: int, count: int) -> float:
    """The inverse document frequency; never below zero, as a word that is everywhere still matches."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _counts(text: str, passage: Passage) -> "Counter[str]":
    counts = Counter(_terms(text[passage.start : passage.end]))
    for heading in passage.headings:
        for term in _terms(heading):
            counts[term] += _HEADING_WEIGHT
    return counts


def _terms(text: str) -> Iterator[str]:
    """Words in lower case without their commonest endings; of scripts without spaces each character and each pair."""
    for match in _WORDS.finditer(text.lower()):
        word = match[0]
        if _IS_ASIAN.match(word):
            pairs = [word[at : at + 2] for at in range(len(word) - 1)]
            yield from pairs or [word]
        else:
            yield stem(word.removesuffix("'s").removesuffix("’s"))


def _split(text: str) -> Iterator[Passage]:
    """The passages of a text, with white space between: paragraphs below one heading, gathered."""
    headings: list[tuple[int, str]] = []
    above: tuple[str, ...] = ()
    start: int | None = None
    last = 0
    for begin, end in _paragraphs(text):
        heading = _HEADING.match(text[begin:end].strip()) if text[begin] == "#" and end - begin < _LENGTH else None
        if start is not None and (heading is not None or end - start > _LENGTH):
            yield from _cut(text, start, last, above)
            start = None
        if heading is not None:
            level = len(heading[1])
            headings = [each for each in headings if each[0] < level] + [(level, heading[2][:200])]
        if start is None:
            start = begin
            # A heading belongs to the passage below it, and is not repeated above that.
            above = tuple(each for _, each in (headings[:-1] if heading is not None else headings))
        last = end
    if start is not None:
        yield from _cut(text, start, last, above)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Where paragraphs begin and end; a fenced block is one, a heading too. Single lines where none are parted."""
    start: int | None = None
    fence = ""
    at = 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        is_heading = (
            not fence and line.startswith("#") and len(line) < _LENGTH and _HEADING.match(line.rstrip()) is not None
        )
        if start is not None and not fence and (not line.strip() or is_heading or at - start > _LENGTH):
            yield start, at
            start = None
        if is_heading:
            yield at, end
        elif start is None and line.strip():
            start = at
        at = end
    if start is not None:
        yield start, at


def _cut(text: str, start: int, end: int, headings: tuple[str, ...]) -> Iterator[Passage]:
    """The passage, cut at ends of sentences if it is far too long; code is left whole."""
    while end - start > 3 * _LENGTH and not _FENCE.match(text, start):
        stop = next(
            (m.end() for m in _SENTENCE_END.finditer(text, start + _LENGTH, start + 2 * _LENGTH) if m.end() > start), 0
        )
        stop = stop or start + 2 * _LENGTH
        yield Passage(start, stop, headings, 0.0)
        start = stop
    yield Passage(start, end, headings, 0.0)


def _blocks(text: str, matching: Iterable[Passage], others: Iterable[Passage]) -> Iterator[str]:
    for passage in matching:
        body = text[passage.start : passage.end].strip("\n")
        yield f"{' › '.join(passage.headings)}\n\n{body}" if passage.headings else body
    run: list[Passage] = []
    for passage in others:
        if run and text[run[-1].end : passage.start].strip():
            yield text[run[0].start : run[-1].end].strip("\n")
            run = []
        run.append(passage)
    if run:
        yield text[run[0].start : run[-1].end].strip("\n")
