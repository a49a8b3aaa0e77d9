"""Numbers that tell content from the rest: of a block, of the places around it, of its neighbours, of the page."""

import re
from bisect import bisect_left

from fetch.extract_blocks import HINTS, TAGS, Block, Place
from fetch.extract_page import SIGNALS

_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|USD|EUR|元|円|kr\b)")
_REPLY = re.compile(r"^(?:repl(?:y|ies)|quote|like|upvote|report|permalink|answer|回复|引用|赞)\b", re.IGNORECASE)
_DATE = re.compile(r"\b20[012]\d\b|\b\d\d?[:/.-]\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|\bago\b|[年月日]", re.IGNORECASE)
_LI = 1 << TAGS.index("li")
_END = re.compile(r"[.!?:;。！？：；…\"”’)]$")
_STOPS = re.compile(r"[.!?。！？](?:\s|$|[”\"'])|[。！？]")
_COMMAS = re.compile(r"[,，、;；]")
_NUMBERS = re.compile(r"\d")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CAPITAL = re.compile(r"\b[A-Z]")
_BOILERPLATE = re.compile(
    r"©|copyright|all rights reserved|cookie|privacy|terms of|subscrib|newsletter|sign ?(?:up|in)|log ?in|read more|"
    r"share|follow us|related|comment|advertis|sponsor|click here|download|contact us|add to|view all|see more|"
    r"show more|load more|learn more|skip to|back to|next|previous|copy link|print|reply|posted|updated|min read|"
    r"版权|责任编辑|责编|编辑[:：]|上一[篇页]|下一[篇页]|相关|登录|注册|分享|转载|声明|来源|评论|更多|返回|打印|收藏",
    re.IGNORECASE,
)


def units(text: str) -> float:
    """The length of a text in words; three signs of a language without spaces count as two words."""
    wide = len(_WIDE.findall(text))
    return text.count(" ") + 1 + wide * 0.6 if wide else text.count(" ") + 1.0


def features(blocks: list[Block], places: list[Place], page: list[float]) -> list[list[float]]:
    """One row a block."""
    n = len(blocks)
    whole = max(1, places[0].chars)
    size = [units(b.text) for b in blocks]
    total = max(1.0, sum(size))
    density = [min(1.0, b.links / len(b.text)) for b in blocks]
    # the best container, as readers of pages have long found it: the place that holds most good paragraphs, tightly
    best = _best(blocks, places, size, density)
    chain = []
    p = best
    while p is not None:
        chain.append(id(p))
        p = p.parent
    level = {key: i for i, key in enumerate(chain)}
    good = [i for i in range(n) if size[i] > 20 and density[i] < 0.3]
    heads = [i for i in range(n) if blocks[i].place.tag == "h1"]
    h1 = heads[0] if heads else -1
    seen: dict[str, int] = {}
    for b in blocks:
        seen[b.text] = seen.get(b.text, 0) + 1
    page_links = places[0].links / whole
    good_words = sum(size[i] for i in good)
    in_article = sum(size[i] for i in range(n) if blocks[i].place.tags & _ARTICLE) / total
    in_main = sum(size[i] for i in range(n) if blocks[i].place.tags & _MAIN) / total
    c_bit, t_bit, i_bit = (1 << HINTS.index(h) for h in ("comment", "thread", "item"))
    sh = [sum(size[i] for i in range(n) if blocks[i].place.hints & bit) / total for bit in (c_bit, t_bit, i_bit)]
    li = sum(size[i] for i in range(n) if blocks[i].place.tags & _LI) / total
    para = sum(size[i] for i in range(n) if blocks[i].place.tag == "p") / total
    prices = sum(1 for b in blocks if len(b.text) < 40 and _PRICE.search(b.text))
    replies = sum(1 for b in blocks if len(b.text) < 30 and _REPLY.search(b.text))
    dates = sum(1 for b in blocks if len(b.text) < 60 and _DATE.search(b.text))
    code = sum(size[i] for i in range(n) if blocks[i].place.tag == "pre") / total
    shapes: dict[tuple[str, int, int], int] = {}
    for p in places:
        k = (p.tag, p.own, id(p.parent))
        shapes[k] = shapes.get(k, 0) + (p.blocks > 1)
    most = max(shapes.values(), default=0)
    page = [*page, *sh, li, para, prices, prices / n, replies, replies / n, dates / n, code, most, total / n, max(size, default=0)]
    rows = []
    before = 0.0
    for i, b in enumerate(blocks):
        pl = b.place
        text = b.text
        up = pl.parent or pl
        up2 = up.parent or up
        up3 = up2.parent or up2
        k = bisect_left(good, i)
        prev_good = i - good[k - 1] if k else 99
        next_good = good[k] - i if k < len(good) else 99
        # how far up one has to go from the block to be in a place that holds the best one
        steps = 0
        p = pl
        while p is not None and id(p) not in level:
            p = p.parent
            steps += 1
        lca = level.get(id(p), 30) if p is not None else 30
        row = [
            size[i], len(text), density[i], b.marks,
            len(_STOPS.findall(text)), len(_COMMAS.findall(text)),
            1.0 if _END.search(text) else 0.0,
            len(_NUMBERS.findall(text)) / len(text),
            len(_CAPITAL.findall(text)) / size[i],
            1.0 if _BOILERPLATE.search(text) else 0.0,
            seen[text],
            pl.depth, _TAGS.get(pl.tag, 0),
            before / total, i / n,
            # neighbours
            size[i - 1] if i else 0, density[i - 1] if i else 1,
            size[i + 1] if i + 1 < n else 0, density[i + 1] if i + 1 < n else 1,
            size[i - 2] if i > 1 else 0, size[i + 2] if i + 2 < n else 0,
            sum(size[max(0, i - 4): i + 5]) / 9,
            sum(d * s for d, s in zip(density[max(0, i - 4): i + 5], size[max(0, i - 4): i + 5])) / max(1, sum(size[max(0, i - 4): i + 5])),
            prev_good, next_good,
            # places around
            pl.chars / whole, pl.links / max(1, pl.chars), pl.blocks,
            up.chars / whole, up.links / max(1, up.chars), up.blocks, up.paragraphs,
            up2.chars / whole, up2.links / max(1, up2.chars), up2.blocks, up2.paragraphs,
            up3.chars / whole, up3.links / max(1, up3.chars), up3.paragraphs,
            steps, lca,
            i - h1 if h1 >= 0 else 0, 1.0 if h1 >= 0 else 0.0,
            # page
            n, total, page_links, good_words / total, best.chars / whole, best.links / max(1, best.chars), in_article, in_main,
            float(len(heads)),
        ]
        before += size[i]
        hints, own = pl.hints, pl.own | up.own
        row += [1.0 if hints >> j & 1 else 0.0 for j in range(len(HINTS))]
        row += [1.0 if own >> j & 1 else 0.0 for j in range(len(HINTS))]
        q = pl
        same = 0
        up_ = 0
        while q.parent is not None and up_ < 4:
            same = max(same, shapes[(q.tag, q.own, id(q.parent))])
            q = q.parent
            up_ += 1
        row += [float(same), 1.0 if _PRICE.search(text) else 0.0, 1.0 if _DATE.search(text) else 0.0, 1.0 if _REPLY.search(text) else 0.0, sum(size[max(0, i - 15): i + 16]) / 31, prev2(good, k, i), ]
        row += page
        row += [1.0 if pl.tags >> j & 1 else 0.0 for j in range(len(TAGS))]
        rows.append(row)
    return rows


NAMES = [
    "size", "len", "density", "marks", "stops", "commas", "end", "numbers", "capitals", "boiler", "seen", "depth", "tag", "before", "index",
    "size-1", "dens-1", "size+1", "dens+1", "size-2", "size+2", "win", "windens", "prevgood", "nextgood",
    "p.chars", "p.links", "p.blocks", "u.chars", "u.links", "u.blocks", "u.par", "u2.chars", "u2.links", "u2.blocks", "u2.par", "u3.chars", "u3.links", "u3.par",
    "steps", "lca", "fromh1", "hash1", "n", "total", "pagelinks", "goodshare", "best.chars", "best.links", "inarticle", "inmain", "nh1",
    *HINTS, *(f"own.{h}" for h in HINTS), "same", "price", "date", "reply", "win31", "good20", *SIGNALS, "sh.comment", "sh.thread", "sh.item", "sh.li", "sh.p", "prices", "pricerate", "replies", "replyrate", "daterate", "sh.code", "most", "avg", "max", *(f"in.{t}" for t in TAGS),
]
_TAGS = {t: float(i + 1) for i, t in enumerate(["p", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "figcaption", "dd", "dt", "section", "article", "body", "tr", "table", "form"])}
_ARTICLE = 1 << TAGS.index("article")
_MAIN = 1 << TAGS.index("main")


def prev2(good: list[int], k: int, i: int) -> float:
    """How many good paragraphs lie within ten blocks."""
    return float(bisect_left(good, i + 10) - bisect_left(good, i - 10))


def _best(blocks: list[Block], places: list[Place], size: list[float], density: list[float]) -> Place:
    score: dict[int, float] = {}
    for i, b in enumerate(blocks):
        if size[i] < 10 or density[i] > 0.5:
            continue
        worth = size[i] * (1 - density[i])
        p = b.place
        if p.tag in ("p", "li", "h1", "h2", "h3", "pre", "blockquote", "td", "dd", "dt") and p.parent is not None:
            p = p.parent
        for share in (1.0, 0.6, 0.3, 0.15):
            score[id(p)] = score.get(id(p), 0.0) + worth * share
            if p.parent is None:
                break
            p = p.parent
    top = places[0]
    most = 0.0
    for p in places:
        s = score.get(id(p), 0.0) * (1 - p.links / max(1, p.chars))
        if s > most:
            top, most = p, s
    return top
