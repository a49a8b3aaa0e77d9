"""Baidu: its JSON, its page through the years, its captcha, its request."""

import json
from typing import Any

import httpx
import pytest

from search.query import Query
from search.selectors import Selectors
from tests.search.engines.reading import ENGINES, only_hit, read

_TITLE = "<h3 class='t'><a href='http://www.baidu.com/link?url=Xy9'>{}</a></h3>"


def _page(*cards: str) -> str:
    side = "<div id='content_right'><div class='result-op c-container' mu='https://side.example/'><h3><a>s</a></h3></div></div>"
    return f"<div id='wrapper'><div id='content_left'>{''.join(cards)}</div>{side}</div>"


def _card(inside: str, attributes: str = "mu='https://example.org/a'") -> str:
    return f"<div class='result c-container xpath-log new-pmd' tpl='www_index' {attributes}>{inside}</div>"


def _feed(*entries: Any) -> bytes:
    return json.dumps({"feed": {"all": 1, "entry": entries}}).encode()


def test_json_is_asked_for_first_and_the_page_second() -> None:
    """In JSON the addresses are the real ones."""
    query = Query("猫", 30)
    first, second = ENGINES["baidu"].request(query), ENGINES["baidu"].fallback(query)
    assert second is not None
    assert (first.url.params["tn"], "tn" in second.url.params) == ("json", False)
    assert first.url.params["wd"] == second.url.params["wd"] == "猫"
    assert first.url.params["rn"] == "30"


def test_json_gives_title_address_snippet_and_day() -> None:
    """Entities and highlighting are undone; the time is China's."""
    entry = {
        "title": "Cats &amp; <em>dogs</em>",
        "url": "https://example.org/?a=1&amp;b=2",
        "abs": "About",
        "time": 1764432000,
    }
    answer = read("baidu", _feed(entry, {}))
    hit = answer.hits[0]
    assert (answer.state, len(answer.hits), hit.title) == ("ok", 1, "Cats & dogs")
    assert (hit.url, hit.snippet, hit.published) == ("https://example.org/?a=1&b=2", "About", "2025-11-30")


def test_json_with_raw_control_characters_is_read() -> None:
    """Baidu writes them into strings, which JSON forbids."""
    assert (
        read("baidu", b'{"feed":{"entry":[{"title":"a\tb","url":"https://example.org/","abs":"c\x01d"}]}}').state
        == "ok"
    )


@pytest.mark.parametrize(
    ("body", "state"),
    [
        (_feed(), "empty"),
        (_feed({}), "empty"),
        (b'{"antiFlag": 1}', "blocked"),
        (b'{"feed": {"antiFlag": "1"}}', "blocked"),
        (b'{"feed": []}', "unreadable"),
        (b'{"feed": {"entry": {"a": 1}}}', "unreadable"),
        (_feed(None, 3, [], {"title": 1, "url": []}, {"title": "t", "url": "http://["}), "unreadable"),
        (b'{"feed": {"entry": [', "unreadable"),
        (b'{"feed":' * 50_000, "unreadable"),
        (b'{"feed":' + b"9" * 10_000 + b"}", "unreadable"),
    ],
)
def test_json_without_results_says_why(body: bytes, state: str) -> None:
    """Whatever its types are, reading it raises nothing."""
    answer = read("baidu", body)
    assert answer.state == state
    assert (answer.error is None) == (state == "empty")


_OF_2015 = """<div class='c-abstract'><span class=' newTimeFactor_before_abs m'>2025年7月12日&nbsp;-&nbsp;</span>About
<em>cats</em>.</div>"""
_OF_2021 = """<div class='c-row'><div class='c-span9 c-span-last'><span class='content-right_8Zs40'><span
class='c-color-gray2'>2025年7月12日 </span><!--s-text-->About <em>cats</em>.<!--/s-text--></span></div></div>"""
_OF_2026 = """<div data-module='abstract'><div class='c-color summary-gap_3Jb4I'><span class='cos-color-text-minor'
>2025年7月12日</span><span class='summary-text_560AW'>About <em>cats</em>.</span></div></div>"""
_BELOW = """<div class='c-abstract'>About cats.</div><div class='f13'><span class='g'>a.org/ 2025-07-12&nbsp;</span>
</div>"""


@pytest.mark.parametrize("inside", [_OF_2015, _OF_2021, _OF_2026, _BELOW])
def test_snippet_and_date_in_the_markup_of_the_years(inside: str) -> None:
    """Class names end in a hash that changes, so only their beginnings count."""
    hit = only_hit("baidu", _page(_card(_TITLE.format("T") + inside)))
    assert (hit.snippet, hit.published) == ("About cats.", "2025-07-12")


@pytest.mark.parametrize(
    ("attributes", "url", "opaque"),
    [
        ("mu='https://example.org/a'", "https://example.org/a", False),
        ("data-url='https://example.org/a'", "https://example.org/a", False),
        ("", "http://www.baidu.com/link?url=Xy9", True),
        ("mu='null'", "http://www.baidu.com/link?url=Xy9", True),
        ("mu='http://nourl.ubs.baidu.com/1547'", "http://www.baidu.com/link?url=Xy9", True),
    ],
)
def test_the_address_is_the_named_one_else_the_redirect(attributes: str, url: str, opaque: bool) -> None:
    """Redirects cannot be decoded, only asked."""
    hit = only_hit("baidu", _page(_card(_TITLE.format("T"), attributes)))
    assert (hit.url, hit.opaque) == (url, opaque)


def test_only_the_left_column_holds_results() -> None:
    """Cards beside it look the same; searches, translators and advertisements in it are Baidu's own."""
    related = "<div class='result-op c-container' tpl='recommend_list'><h3><a href='/s?wd=x'>r</a></h3></div>"
    translator = _card("<h3>Translate</h3>", "mu='https://fanyi.baidu.com/'")
    ad = "<div class='result c-container' cmatchid='225'><h3><a href='http://www.baidu.com/baidu.php?url=1'>ad</a></h3></div>"
    marked = _card(f"{_TITLE.format('ad')}<span class='ec-tuiguang'>广告</span>")
    encyclopedia = _card(_TITLE.format("B"), "mu='https://baike.baidu.com/item/1'")
    answer = read("baidu", _page(related, translator, ad, marked, encyclopedia))
    assert [hit.title for hit in answer.hits] == ["B"]


def test_the_tables_of_2012_are_still_read() -> None:
    """Then results were tables with direct links."""
    hit = only_hit(
        "baidu",
        "<div id='container'><table class='result' id='1'><tr><td class='f'><h3 class='t'><a href='http://example.org/'>Old"
        "</a></h3><font size='-1'>Then.<br><span class='g'>a.org/ 2012-3-4 </span></font></td></tr></table></div>",
    )
    assert (hit.title, hit.url, hit.snippet, hit.published) == ("Old", "http://example.org/", "Then.", "2012-03-04")


@pytest.mark.parametrize(
    ("page", "state"),
    [
        ("<title>百度安全验证</title><div class='x'></div>", "blocked"),
        ("<title>百度</title><div class='passMod_dialog-wrapper'></div>", "blocked"),
        ("<div class='timeout hide-callback'><button class='timeout-button'>返回首页</button></div>", "blocked"),
        ("<div id='content_left'><div class='content_none'><div class='nors'><p>抱歉</p></div></div></div>", "empty"),
        ("<div id='content_left'><p>安全验证 抱歉，未找到相关结果</p></div>", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_pages_without_results_are_told_apart(page: str, state: str) -> None:
    """By their elements and title, not by words in the text."""
    assert read("baidu", page).state == state


def test_a_redirect_to_the_captcha_is_blocked() -> None:
    """The address says it, before any page."""
    answer = read("baidu", "", 302, {"Location": "https://wappass.baidu.com/static/captcha/tuxing.html?ak=1"})
    assert answer.state == "blocked"


def test_the_address_that_answered_may_be_the_captcha() -> None:
    """Where somebody else has followed the redirect."""
    asked = httpx.Request("GET", "https://wappass.baidu.com/static/captcha/x.html")
    page = httpx.Response(200, text="<p>x</p>", request=asked)
    assert ENGINES["baidu"].parse(page, Selectors()).state == "blocked"


def test_a_time_range_is_two_moments() -> None:
    """In seconds since 1970."""
    now = 1_796_040_000
    given = ENGINES["baidu"].request(Query("x", time_range="day")).url.params
    assert given["gpc"] == f"stf={now - 86_400},{now}|stftype=1"
