"""Is this page what was asked for, or a wall in its place? Structure decides; words only add to it.

Every rule scores: what a vendor's wall alone has (CERTAIN), what is seldom elsewhere (STRONG), what only fits (WEAK).
Against it stands what the page holds: a wall is short, a page is not. A rule fires where its score reaches THRESHOLD
and what the content weighs on top: so an article that quotes a wall's words, or a form that carries a captcha, stays a
page, and an interstitial stays a wall whatever its status.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from fetch.page import Page, Verdict
from fetch.refusal_gates import consent_wall, login_wall, paywall
from fetch.refusal_signs import CERTAIN, SIGHTED_FIELDS, SIGNS, STRONG, WEAK, WIDGETS, Sign, Wall, Where
from fetch.refusal_survey import IMMUNE, PLENTY, Survey, survey
from fetch.refusal_words import (
    CHALLENGE_TITLE,
    CHALLENGE_WORDS,
    MISSING_TITLE,
    MISSING_WORDS,
    REFUSAL_TITLE,
    REFUSAL_WORDS,
    SCRIPT_WORDS,
)

THRESHOLD = 4  # STRONG and one thing more
TINY = 300  # characters of a page that is too short to be one
WORDS_IN = 4_000  # characters of text in which a wall's words are sought

_STATUSES = {401: 1, 403: 2, 405: 1, 406: 2, 412: 1, 418: 2, 429: 1, 451: 2, 468: 2, 493: 2, 503: 1, 521: 2, 999: 4}
_MEDIA = "img, picture, video, audio, canvas, svg, iframe, frame, object, embed, input, textarea"
_SEGMENTS = re.compile(r"\s+[|\u2013\u2014·•»:_-]+\s+")
_RELOADS = re.compile(r"\blocation\s*\.\s*(reload|replace|assign|href)\b|\blocation\s*=[^=]")


class Fired(NamedTuple):
    """A sign that is there: its points, what says so, and which kind of wall it points to."""

    points: int
    evidence: str
    kind: str = ""


def judge(page: Page, tree: LexborHTMLParser, html: str, seen: Survey | None = None) -> Verdict:
    """What kind of answer the page is. `html` is what `tree` was parsed from, over HTTP or as it stood in a browser.

    `seen`: the page's survey, where one was made before.
    """
    if page.status in {204, 205}:
        return Verdict("empty", (f"status {page.status}",))
    seen = seen or survey(page, tree, html)
    if not seen.fine:
        return _by_header(seen) or Verdict()
    for rule in (_refused, _missing, login_wall, consent_wall):
        if verdict := rule(seen):
            return verdict
    return paywall(seen, html) or _empty(seen) or Verdict()


def _refused(seen: Survey) -> Verdict | None:
    """A vendor's or anyone's challenge or refusal."""
    said_so = _by_header(seen)
    if said_so or seen.weight == IMMUNE:
        return said_so
    common = list(_common(seen))
    score = sum(sign.points for sign in common)
    said = tuple(sign.evidence for sign in common)
    walls = {wall: found for wall in SIGNS if (found := _fired(seen, wall))}
    if walls:
        wall, found = max(walls.items(), key=lambda each: sum(sign.points for sign in each[1]))
        if score + sum(sign.points for sign in found) >= THRESHOLD + seen.weight:
            names = tuple(f"{wall.name}: {sign.evidence}" for sign in found)
            return Verdict(wall.outcome, names + said, may_lift=wall.lifts)
    asked = sum(sign.points for sign in common if sign.kind == "challenge")
    denied = sum(sign.points for sign in common if sign.kind == "blocked")
    if score < THRESHOLD + seen.weight or not (asked or denied) or _of_a_gateway(seen):
        return None
    if denied >= asked:
        return Verdict("blocked", said)
    return Verdict("challenge", said, may_lift=bool(seen.script_text.strip()) and not seen.shows(WIDGETS))


def _by_header(seen: Survey) -> Verdict | None:
    """A vendor's own word for it. A browser's headers may be of an answer before the one that is shown."""
    if seen.page.method == "browser":
        return None
    for wall, signs in SIGNS.items():
        for sign in signs:
            if sign.where == "header" and sign.weight == CERTAIN and (evidence := _shows(seen, sign)):
                return Verdict(wall.outcome, (f"{wall.name}: {evidence}",), may_lift=wall.lifts)
    return None


def _of_a_gateway(seen: Survey) -> bool:
    """Whether it is a gateway's page about the server behind it."""
    return seen.status >= 500 and seen.status != 503


def _fired(seen: Survey, wall: Wall) -> list[Fired]:
    """The wall's signs that are there."""
    if wall.outcome == "blocked" and _of_a_gateway(seen):
        return []
    return [Fired(sign.weight, evidence) for sign in SIGNS[wall] if (evidence := _shows(seen, sign))]


def _shows(seen: Survey, sign: Sign) -> str:
    """What in the page bears this sign; empty where nothing does."""
    return _SOUGHT[sign.where](seen, sign.what)


def _script(seen: Survey, what: str) -> str:
    return f"script {what}" if what in seen.script_text else ""


def _selector(seen: Survey, what: str) -> str:
    return next((f"element {each}" for each in what.split(", ") if seen.has(each)), "") if seen.has(what) else ""


def _header(seen: Survey, what: str) -> str:
    name, _, part = what.partition(": ")
    value = seen.headers.get(name)
    return f"header {name}: {value[:60]}" if value is not None and part in value.lower() else ""


def _cookie(seen: Survey, what: str) -> str:
    return next((f"cookie {each.name[:60]}" for each in seen.page.cookies if each.name.startswith(what)), "")


def _address(seen: Survey, what: str) -> str:
    place = f"{(seen.url.hostname or '').lower()}{seen.url.path}"
    return f"address {place[:80]}" if re.search(what, place) else ""


def _title(seen: Survey, what: str) -> str:
    named = [_plain(each) for each in (seen.title, *seen.headings[:1])]
    return next((f"title “{each[:80]}”" for each in named if re.fullmatch(what, each)), "")


def _text(seen: Survey, what: str) -> str:
    match = re.search(what, seen.words[:WORDS_IN])
    return f"text “{match[0][:60]}”" if match else ""


_SOUGHT: Mapping[Where, Callable[[Survey, str], str]] = {
    "script": _script,
    "selector": _selector,
    "header": _header,
    "cookie": _cookie,
    "url": _address,
    "title": _title,
    "text": _text,
}


def _common(seen: Survey) -> Iterator[Fired]:
    """What every wall may have."""
    for kind, expression in (("challenge", CHALLENGE_TITLE), ("blocked", REFUSAL_TITLE)):
        points, hit = _named(seen, expression)
        if points:
            yield Fired(points, f"title “{hit[:80]}”", kind)
    if points := _STATUSES.get(seen.status, 0):
        yield Fired(points, f"status {seen.status}")
    if seen.characters < TINY and seen.prose < TINY:
        yield Fired(WEAK, f"{seen.characters} characters of text")
    if seen.characters < WORDS_IN:
        yield from _wording(seen)
    if seen.prose < TINY and seen.shows(WIDGETS) and not _is_form(seen):
        yield Fired(STRONG - 1, "a captcha and nothing else to fill in", "challenge")
    scripts = seen.script_text
    if seen.characters < TINY // 3 and "document.cookie" in scripts and _RELOADS.search(scripts):
        yield Fired(STRONG, "a script that sets a cookie and loads the page again", "challenge")


def _wording(seen: Survey) -> Iterator[Fired]:
    """A wall's words in the text beside what was taken for its title: two are as good as ten."""
    words = seen.words
    for each in seen.headings:
        words = words.replace(_plain(each), " ", 1)
    for kind, expression in (("challenge", CHALLENGE_WORDS), ("blocked", REFUSAL_WORDS)):
        found = {match[0] for match in islice(expression.finditer(words), 8)}
        for each in sorted(found)[:2]:
            yield Fired(WEAK, f"text “{each[:60]}”", kind)
    if seen.characters < TINY and (match := SCRIPT_WORDS.search(seen.words)) and not _builds(seen):
        yield Fired(STRONG, f"text “{match[0][:60]}”", "challenge")


def _builds(seen: Survey) -> bool:
    """Whether it is an application that waits for its scripts, and not a wall."""
    if seen.page.method == "browser" or seen.status >= 400:
        return False
    return any(script.src for script in seen.scripts) or seen.has("body div[id]:empty")


def _is_form(seen: Survey) -> bool:
    """Whether the captcha belongs to something that a person fills in."""
    fields = [
        each for each in seen.find(SIGHTED_FIELDS) if "g-recaptcha-response" not in (each.attributes.get("name") or "")
    ]
    return len(fields) > 1 or any(each.tag == "textarea" for each in fields)


def _missing(seen: Survey) -> Verdict | None:
    """A page that says that there is none: by its status, or dressed as a success."""
    points, hit = _named(seen, MISSING_TITLE)
    evidence = [f"title “{hit[:80]}”"] if hit else []
    if seen.status in {404, 410}:
        titles = " ".join((seen.title, *seen.headings[:2])).lower()
        if seen.prose >= TINY and not hit and not MISSING_WORDS.search(titles):
            return None
        return Verdict("not_found", (f"status {seen.status}", *evidence))
    if seen.status >= 300 or not hit or seen.core > PLENTY // 2:
        return None
    if word := MISSING_WORDS.search(seen.words):
        points += WEAK
        evidence.append(f"text “{word[0][:60]}”")
    if re.search(r"/(404|not[-_]?found|error)(\.\w+)?/?$", seen.url.path.lower()):
        points += WEAK
        evidence.append(f"address {seen.url.path[-60:]}")
    points += WEAK * (seen.core < TINY)
    return Verdict("not_found", tuple(evidence)) if points >= THRESHOLD + seen.prose // (TINY // 2) else None


def _empty(seen: Survey) -> Verdict | None:
    """A success with nothing to see."""
    if seen.status >= 300 or seen.characters or seen.hidden or seen.has(_MEDIA):
        return None
    return Verdict("empty", ("no text, picture, form or frame",))


def _named(seen: Survey, expression: re.Pattern[str]) -> tuple[int, str]:
    """How much the title and the headings say that it is such a page, and what says it."""
    title = _plain(seen.title)
    whole = title if expression.fullmatch(title) else ""
    part = next((each for each in _SEGMENTS.split(title) if expression.fullmatch(each)), "")
    heading = next((each for each in map(_plain, seen.headings[:2]) if expression.fullmatch(each)), "")
    if not (whole or part or heading):
        return 0, ""
    return (STRONG if whole else STRONG - 1) + WEAK * bool(part and heading), whole or part or heading


def _plain(text: str) -> str:
    return text.lower().replace("\u2019", "'").replace("…", "...").strip()
