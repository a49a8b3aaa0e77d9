"""Walls that a person could walk through: a login, a consent dialog, an age gate, a paywall."""

import re
from collections.abc import Iterator
from urllib.parse import SplitResult

from selectolax.lexbor import LexborNode

from fetch.page import Verdict
from fetch.refusal_signs import STRONG, WEAK
from fetch.refusal_survey import CONSENT, PLENTY, SOME, Survey, visible_text
from fetch.refusal_words import (
    AGE_WORDS,
    CONSENT_WORDS,
    LOGIN_TITLE,
    LOGIN_WORDS,
    PAYWALL_WORDS,
)

THRESHOLD = 4
SHORT = 300  # characters of prose that stand on a login page or around a dialog
TEASER = 5_000  # characters of prose from which an article is taken for whole, whatever it says of itself
LONE = 2_500  # characters of a page that could be one dialog of no known make
SHARE = 0.8  # of a page's text in a dialog that is the page

_LOGIN_PATH = re.compile(
    r"/(log[-_]?[io]n|sign[-_]?in|authwall|uas|sso|cas|oauth2?|passport|session/new|users/sign_in|wp-login\.php|account/login"
    r"|accounts/login|checkpoint|flow/login|login\w*\.\w+|auth/\w+)(/|$|\.)",
    re.IGNORECASE,
)
_LOGIN_HOST = re.compile(r"^(log[io]n|signin|passport|sso|auth|accounts?|id|idp|cas)\.", re.IGNORECASE)
_RETURN = re.compile(
    r"(^|&)(next|return\w*|redir\w*|continue|service|goto|dest\w*|back_?url|from|ref_?url|session_redirect|target|url|rd)=",
    re.IGNORECASE,
)
_CONSENT_PLACE = re.compile(
    r"^(consent\.(google|youtube|yahoo)\.|guce\.|[\w.-]+/(v\d/)?collectconsent|(consent|cmp|myprivacy|privacy-gate)\.)"
    r"|/(consent|cookie-?wall|privacy-?gate|gdpr-?consent|cookie-?consent)(/|$|\.)",
    re.IGNORECASE,
)
_ACCEPT = re.compile(
    r"^(i )?(accept|agree|allow|ok|got it|yes|同意|接受|允许|全部接受|.{0,5}akzeptieren|tout|aceptar)", re.IGNORECASE
)
_NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?(false|no)\b', re.IGNORECASE)
_PAYWALL = (
    ".tp-modal, .tp-backdrop, .tp-iframe-wrapper, #piano-paywall, .piano-paywall, #regwall, .regwall, #paywall, "
    '.paywall, .pay-wall, [data-testid*="paywall"], [class*="paywall-"], [class*="-paywall"], [id*="paywall-"], '
    '[class*="Paywall"], .subscriber-only, .subscription-required, .premium-wall, .metered-wall, #gateway-content, '
    ".article-locked, .pay-mask"
)
_LOCKED = 'meta[property="article:content_tier"][content="locked"], meta[name="article:content_tier"][content="locked"]'
_ARTICLE = 'meta[property="og:type"][content="article"], [itemtype$="Article"], [itemtype$="BlogPosting"]'
_OFFER = 'a[href*="subscri"], a[href*="/abo"], a[href*="membership"], a[href*="/plans"], a[href*="/vip"]'


def login_wall(seen: Survey) -> Verdict | None:
    """A login in place of what was asked for. One that was asked for is content."""
    if seen.prose >= PLENTY:
        return None
    wanted = _is_login(seen.first_url)
    sent = _is_login(seen.url) and (not wanted or (seen.page.method == "browser" and _RETURN.search(seen.url.query)))
    if seen.status != 401 and wanted and not sent:
        return None
    signs = [*_login_signs(seen)]
    score = sum(points for points, _ in signs)
    evidence = [said for _, said in signs]
    if seen.status == 401:
        score += THRESHOLD
        evidence.append("status 401")
    elif sent and signs:
        score += THRESHOLD
        evidence.append(f"redirected to {seen.url.hostname}{seen.url.path}"[:100])
    return Verdict("login_wall", tuple(evidence)) if score >= THRESHOLD + _weight(seen) else None


def _login_signs(seen: Survey) -> Iterator[tuple[int, str]]:
    """What makes the page a login: points and what says so."""
    form = seen.shows("input[type='password' i]")
    if form:
        yield WEAK, "a password field"
    if any(LOGIN_TITLE.fullmatch(each.lower()) for each in (seen.title, *seen.headings[:1])):
        yield WEAK, f"title “{seen.title[:80]}”"
    match = LOGIN_WORDS.search(seen.words) if seen.characters < LONE else None
    if match:
        way_in = form or seen.has(
            'a[href*="login" i], a[href*="signin" i], a[href*="sign_in" i], a[href*="passport" i]'
        )
        yield (STRONG if way_in else WEAK) + WEAK * (seen.characters < SHORT), f"text “{match[0][:60]}”"


def _is_login(url: SplitResult) -> bool:
    return bool(_LOGIN_PATH.search(url.path) or _LOGIN_HOST.search(url.hostname or ""))


def _weight(seen: Survey) -> int:
    """What prose weighs against a gate."""
    return 0 if seen.prose < SHORT else 1 if seen.prose < SOME else 2


def consent_wall(seen: Survey) -> Verdict | None:
    """A page that is a consent dialog or an age gate and nothing else. A banner beside content is none."""
    place = f"{(seen.url.hostname or '').lower()}{seen.url.path}"
    first = f"{(seen.first_url.hostname or '').lower()}{seen.first_url.path}"
    sent = _CONSENT_PLACE.search(place) and (
        not _CONSENT_PLACE.search(first) or place.startswith(("consent.", "guce."))
    )
    if sent and CONSENT_WORDS.search(seen.words[:LONE]):
        return Verdict("consent_wall", (f"redirected to {place[:80]}",))
    if seen.consent and not seen.prose and seen.characters - seen.consent < 100 and not _outside(seen):
        return Verdict("consent_wall", (f"{seen.consent} of {seen.characters} characters in a consent dialog",))
    if not seen.characters or seen.characters > LONE:
        return None
    return _lone_dialog(seen) or _age_gate(seen)


def _outside(seen: Survey) -> bool:
    """Whether a heading stands outside the dialogs."""
    inside = {each.mem_id for box in seen.find(CONSENT)[:20] for each in box.css("h1, h2, h3")}
    return any(each.mem_id not in inside for each in seen.find("h1, h2, h3")[:50])


def _lone_dialog(seen: Survey) -> Verdict | None:
    """A consent dialog of no known make that holds most of the page."""
    if not CONSENT_WORDS.search(seen.words):
        return None
    for button in seen.find("button, input[type='submit'], a[role='button']")[:20]:
        if not _ACCEPT.match((button.text() or button.attributes.get("value") or "").strip()):
            continue
        box = _box(button)
        size = len(visible_text(box)) if box is not None else 0
        if size >= SHARE * seen.characters and len(set(CONSENT_WORDS.findall(seen.words))) > 1:
            return Verdict("consent_wall", (f"a consent dialog is {size} of {seen.characters} characters",))
    return None


def _box(button: LexborNode) -> LexborNode | None:
    """The nearest element around it that asks for consent; None where that is the whole body of an article."""
    node = button.parent
    for _ in range(8):
        if node is None or node.tag == "html" or node.css_first("article, main p + p + p") is not None:
            return None
        text = visible_text(node)
        if len(text) > len(visible_text(button)) + 20 and CONSENT_WORDS.search(text[:300].lower()):
            return node
        node = node.parent
    return None


def _age_gate(seen: Survey) -> Verdict | None:
    if seen.prose >= SHORT * 2 or not seen.has("button, input, select, a[href]"):
        return None
    found = sorted({match[0] for match in AGE_WORDS.finditer(seen.words)})
    named = any(AGE_WORDS.search(each.lower()) for each in (seen.title, *seen.headings[:2]))
    score = 2 * WEAK + STRONG * named + min(len(found), 3)
    if not found or score < THRESHOLD + _weight(seen):
        return None
    return Verdict("consent_wall", tuple(f"age gate: text “{each[:60]}”" for each in found[:2]))


def paywall(seen: Survey, html: str) -> Verdict | None:
    """An article that ends where paying begins."""
    if seen.status == 402 and seen.prose < SOME:
        return Verdict("paywall", ("status 402",))
    if seen.prose >= TEASER or seen.status >= 400:
        return None
    evidence: list[str] = []
    if _NOT_FREE.search(html):
        evidence.append("isAccessibleForFree: false")
    elif seen.has(_LOCKED):
        evidence.append("content tier: locked")
    if seen.shows(_PAYWALL):
        evidence.append("a paywall element")
    structure = len(evidence)
    match = PAYWALL_WORDS.search(seen.words) if structure or seen.prose < PLENTY // 2 else None
    if match:
        evidence.append(f"text “{match[0][:60]}”")
    score = 2 * len(evidence)
    if match and not structure and seen.prose >= SHORT // 3 and seen.has(_ARTICLE):
        score += WEAK + seen.has(_OFFER)
    if score < THRESHOLD + (0 if seen.prose < PLENTY // 2 else 1 if seen.prose < PLENTY else 2):
        return None
    return Verdict("paywall", tuple(evidence))
