"""Numbers that tell content from the rest: of a block, of the places around it, of its neighbours, of its page."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from fetch.extract_blocks import HINT, INSIDE, Block, Blocks, Place
from fetch.extract_signs import SIGNS

Numbers = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]

_ENDS = tuple('.!?:;。！？：；…"”’)')
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CAPITAL = re.compile(r"\b[A-Z]")
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|usd|eur|元|円|kr\b)")
_DATE = re.compile(
    r"\b20[012]\d\b|\b\d\d?[:/.-]\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|\bago\b|"
    r"[年月日]"
)
_SECTION = re.compile(
    r"(comment|repl(?:y|ies)|discussion|disqus|coment|kommentar|reacties?|评论|留言|コメント|댓글|회신|комментар|回复|"
    r"回帖|跟帖)"
    r"|(relat|read (?:more|next|also)|more (?:from|in|on|stories|news|articles)|you m(?:ay|ight)|also (?:like|read)|"
    r"recommend|popular|trending|latest|most (?:read|viewed)|up next|next article|similar|don't miss|see also|leia|"
    r"relacionad|veja|mais lidas|à lire|lire aussi|sur le même|articles liés|mehr zum|auch interess|lesen sie|"
    r"meistgelesen|lees ook|meer over|ti potrebbe|correlati|leggi anche|te puede|相关|推荐|热门|热点|更多|最新|関連|"
    r"おすすめ|ランキング|читайте|похожие|관련)"
    r"|(about (?:the|us|author)|author|contact|subscribe|newsletter|sign up|follow|share|advert|sponsor|tags?\b|"
    r"filed under|categor|topics|copyright|partager|teilen|compart|autor|关于|作者|版权|声明|免责|分享|标签|シェア|"
    r"タグ|著者|теги|поделиться)"
)
"""Words of the titles above comments, above what else there is to read, and above what is said of author and site."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TAGS = {
    tag: index + 1.0
    for index, tag in enumerate((
        "p", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "figcaption", "dd", "dt",
        "section", "article", "body", "tr", "table", "form",
    ))
}  # fmt: skip
_PARTS = frozenset({"p", "li", "h1", "h2", "h3", "pre", "blockquote", "td", "dd", "dt"})
_SHORT = 120  # characters of blocks that may name something
_TITLE = 9  # words of titles that need not be headings
_FAR = 99.0  # blocks: farther is all the same

_HINTS = ("comment", "related", "nav", "footer", "header", "side", "form", "thread")
_OWN_HINTS = ("comment", "nav", "footer", "advert", "form", "meta", "content", "item")
_BLOCK = (
    "size", "length", "density", "stops", "ends", "capitals", "marks", "times", "depth", "tag",
    "share before", "share of blocks before",
)  # fmt: skip
_NEAR = ("density after", "size after", "link share ±4", "size ±15", "dates ±6", "good before")
_PLACE = (
    "place chars", "place links", "up links", "up paragraphs", "up² chars", "up² links", "up² blocks", "up² paragraphs",
    "up³ chars", "up³ links", "up³ paragraphs", "steps to best", "level of best", "alike",
)  # fmt: skip
_HOME = (
    "share of home", "home to the greatest", "shape", "upper shape", "from last", "from first", "from h1", "titles",
    "from comments", "from related", "from about",
)  # fmt: skip
_PAGE = (
    "blocks", "total", "links of page", "good share", "best chars", "best links", "in article", "in main", "comments",
    "threads", "items", "lists", "paragraphs", "prices", "dates", "code", "most alike", "mean size", "greatest size",
)  # fmt: skip
NAMES = (
    *_BLOCK, *_NEAR, *_PLACE, *_HOME, *(f"hint {each}" for each in _HINTS), *(f"own {each}" for each in _OWN_HINTS),
    *(f"inside {each}" for each in INSIDE), *_PAGE, *SIGNS,
)  # fmt: skip
"""What each column of `features` holds."""


def units(text: str) -> float:
    """The length of a text in words, five signs of a language without spaces counted as three."""
    words = text.count(" ") + 1.0
    return words if text.isascii() else words + len(_WIDE.findall(text)) * 0.6


def features(page: Blocks, signs: Sequence[float]) -> tuple[Numbers, Numbers]:
    """A row of numbers for each block of a page that has some, and the blocks' sizes in words."""
    made = _Page(page)
    around = made.page_columns()
    count = len(page.blocks)
    whole = np.tile(np.array([*around, *signs], np.float32), (count, 1))
    own = np.array(
        [*made.block_columns(), *made.near_columns(), *made.place_columns(), *made.home_columns(), *made.bits()],
        np.float32,
    )
    return np.hstack((own.T, whole)), made.size.astype(np.float32)


class _Page:
    """What is worked out once for a page."""

    def __init__(self, page: Blocks) -> None:
        self._blocks = blocks = page.blocks
        self._places = places = page.places
        self.size = np.array([units(block.text) for block in blocks])
        self._length = np.array([len(block.text) for block in blocks])
        self._density = np.array([block.links for block in blocks]) / self._length
        self._at = np.array([block.place for block in blocks])
        self._total = float(self.size.sum())
        self._whole = max(1, places[0].chars)
        self._short = [text.lower() if len(text := block.text) < _SHORT else text for block in blocks]
        self._dated = self._matches(_DATE, 80)
        self._good = (self.size > 20) & (self._density < 0.3)
        self._parent = np.array([place.parent for place in places])
        self._chars = self._of_places(lambda place: place.chars)
        self._links = self._of_places(lambda place: place.links)
        self._count = self._of_places(lambda place: place.blocks)
        self._paragraphs = self._of_places(lambda place: place.paragraphs)
        self._alike = self._count_alike()
        self._best = self._find_best()

    def _of_places(self, what: Callable[[Place], float]) -> npt.NDArray[np.float64]:
        return np.array([what(place) for place in self._places], float)

    def _matches(self, shape: re.Pattern[str], longest: int) -> npt.NDArray[np.float64]:
        """Which blocks of at most so many characters hold something."""
        return np.array([len(text) < longest and shape.search(text) is not None for text in self._short], float)

    def _count_alike(self) -> npt.NDArray[np.float64]:
        """For each place, how many of its siblings are of its kind."""
        shapes: dict[tuple[str, int, int], int] = {}
        keys = [(place.tag, place.own, place.parent) for place in self._places]
        for key, place in zip(keys, self._places, strict=True):
            shapes[key] = shapes.get(key, 0) + (place.blocks > 1)
        return np.array([shapes[key] for key in keys], float)

    def _find_best(self) -> int:
        """The place that holds most good text most tightly: a share goes to the places around it, less and less."""
        score = np.zeros(len(self._places))
        for index in np.flatnonzero((self.size >= 10) & (self._density <= 0.5)):
            worth = self.size[index] * (1 - self._density[index])
            at = int(self._at[index])
            if self._places[at].tag in _PARTS:
                at = self._places[at].parent
            for share in (1.0, 0.6, 0.3, 0.15):
                score[at] += worth * share
                if at == 0:
                    break
                at = self._places[at].parent
        score *= 1 - self._links / np.maximum(1, self._chars)
        return int(score.argmax())

    def block_columns(self) -> Iterable[npt.ArrayLike]:
        """`_BLOCK`."""
        texts = [block.text for block in self._blocks]
        times: dict[str, int] = {}
        for text in texts:
            times[text] = times.get(text, 0) + 1
        yield self.size
        yield self._length
        yield self._density
        yield [text.count(". ") + text.count("? ") + text.count("! ") + text.count("。") for text in texts]
        yield [text.endswith(_ENDS) for text in texts]
        yield [len(_CAPITAL.findall(text)) for text in texts] / self.size
        yield [block.marks for block in self._blocks]
        yield [times[text] for text in texts]
        yield [self._places[block.place].depth for block in self._blocks]
        yield [_TAGS.get(self._places[block.place].tag, 0) for block in self._blocks]
        yield (np.cumsum(self.size) - self.size) / self._total
        yield np.arange(len(texts)) / len(texts)

    def near_columns(self) -> Iterable[npt.ArrayLike]:
        """`_NEAR`."""
        yield np.append(self._density[1:], 1)
        yield np.append(self.size[1:], 0)
        yield _around(self._density * self.size, 4) / np.maximum(1, _around(self.size, 4))
        yield _around(self.size, 15)
        yield _around(self._dated, 6)
        good = np.flatnonzero(self._good)
        here = np.arange(len(self._blocks))
        before = np.searchsorted(good, here) - 1
        yield np.where(before >= 0, here - good[before], _FAR) if len(good) else np.full(len(here), _FAR)

    def place_columns(self) -> Iterable[npt.ArrayLike]:
        """`_PLACE`."""
        at = self._at
        links = self._links / np.maximum(1, self._chars)
        chars = self._chars / self._whole
        yield chars[at]
        yield links[at]
        at = self._parent[at]
        yield links[at]
        yield self._paragraphs[at]
        at = self._parent[at]
        yield chars[at]
        yield links[at]
        yield self._count[at]
        yield self._paragraphs[at]
        at = self._parent[at]
        yield chars[at]
        yield links[at]
        yield self._paragraphs[at]
        steps, levels = self._way_to_best()
        yield steps[self._at]
        yield levels[self._at]
        at = self._at
        alike = self._alike[at]
        for _ in range(3):
            at = self._parent[at]
            alike = np.maximum(alike, self._alike[at])
        yield alike

    def _way_to_best(self) -> tuple[Indexes, Indexes]:
        """From each place, how far up one has to go to have the best below, and how far below that is."""
        chain = [self._best]
        while chain[-1] != 0:
            chain.append(self._places[chain[-1]].parent)
        level = {place: index for index, place in enumerate(chain)}
        steps = np.zeros(len(self._places), np.intp)
        levels = np.zeros(len(self._places), np.intp)
        for index, place in enumerate(self._places):
            if index in level:
                levels[index] = level[index]
            else:
                steps[index] = steps[place.parent] + 1
                levels[index] = levels[place.parent]
        return steps, levels

    def home_columns(self) -> Iterable[npt.ArrayLike]:
        """`_HOME`: whether a block stands and looks like most of the page's good text."""
        fine = (self.size > 12) & (self._density < 0.4)
        homes = [int(index) for index in self._parent[self._at]]
        shapes = [(self._places[index].tag, self._places[index].name) for index in self._at]
        uppers = [
            (tag, self._places[home].tag, self._places[home].name) for (tag, _), home in zip(shapes, homes, strict=True)
        ]
        home = _gathered(homes, self.size * fine)
        all_fine = max(1.0, float((self.size * fine).sum()))
        yield home / all_fine
        yield home / max(1.0, float(home.max()))
        yield _gathered(shapes, self.size * fine) / all_fine
        yield _gathered(uppers, self.size * fine) / all_fine
        here = np.arange(len(self._blocks))
        greatest = homes[int(home.argmax())] if all_fine > 1 else -1
        there = np.flatnonzero((self._parent[self._at] == greatest) & (self.size > 12))
        yield here - (there[-1] if len(there) else len(here))
        yield here - (there[0] if len(there) else 0)
        first = next((index for index, block in enumerate(self._blocks) if self._tag(block) == "h1"), None)
        yield here - first if first is not None else np.zeros(len(here))
        yield from self._after_titles()

    def _tag(self, block: Block) -> str:
        return self._places[block.place].tag

    def _after_titles(self) -> Iterable[npt.ArrayLike]:
        """How many titles of sections beside the content came before, and how far back the last of each kind is."""
        passed = 0
        last = [-_FAR] * _SECTION.groups
        rows = []
        for index, text in enumerate(self._short):
            if len(text) < _SHORT and (self.size[index] < _TITLE or self._tag(self._blocks[index]) in _HEADINGS):
                for found in _SECTION.finditer(text):
                    last[(found.lastindex or 1) - 1] = index
                    passed += 1
            rows.append([passed, *(min(_FAR, index - each) for each in last)])
        return zip(*rows, strict=True)

    def bits(self) -> Iterable[npt.ArrayLike]:
        """Hints of the block's places, of the nearest two, and elements that it stands in."""
        places = [self._places[index] for index in self._at]
        hints = np.array([place.hints for place in places])
        own = np.array([place.own | self._places[place.parent].own for place in places])
        tags = np.array([place.tags for place in places])
        yield from ((hints & HINT[each]) != 0 for each in _HINTS)
        yield from ((own & HINT[each]) != 0 for each in _OWN_HINTS)
        yield from ((tags & bit) != 0 for bit in INSIDE.values())

    def page_columns(self) -> list[float]:
        """`_PAGE`."""
        places = [self._places[index] for index in self._at]
        count = len(places)
        best = self._places[self._best]

        def share(test: Callable[[Place], object]) -> float:
            return float(sum(self.size[index] for index, place in enumerate(places) if test(place))) / self._total

        return [
            count,
            self._total,
            self._places[0].links / self._whole,
            float(self.size[self._good].sum()) / self._total,
            best.chars / self._whole,
            best.links / max(1, best.chars),
            share(lambda place: place.tags & INSIDE["article"]),
            share(lambda place: place.tags & INSIDE["main"]),
            *(share(partial(_has_hint, HINT[each])) for each in ("comment", "thread", "item")),
            share(lambda place: place.tags & INSIDE["li"]),
            share(lambda place: place.tag == "p"),
            float(self._matches(_PRICE, 40).mean()),
            float(self._dated.mean()),
            share(lambda place: place.tag == "pre"),
            float(self._alike.max()),
            self._total / count,
            float(self.size.max()),
        ]


def _has_hint(bit: int, place: Place) -> bool:
    return place.hints & bit != 0


def _around(values: npt.NDArray[np.float64], reach: int) -> npt.NDArray[np.float64]:
    """The sum of so many values on each side of every one, and it."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    here = np.arange(len(values))
    return np.asarray(sums[np.minimum(here + reach + 1, len(values))] - sums[np.maximum(here - reach, 0)])


def _gathered(keys: Sequence[object], sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For each key, the sum of the sizes under it."""
    sums: dict[object, float] = {}
    for key, size in zip(keys, sizes, strict=True):
        sums[key] = sums.get(key, 0.0) + float(size)
    return np.array([sums[key] for key in keys])
