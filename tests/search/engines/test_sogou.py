"""Sogou: its cards, its hidden addresses, its captcha, its request."""

import pytest

from search.query import Query
from tests.search.engines.reading import ENGINES, only_hit, read

_HIDDEN = (
    "<div class='r-sech' style='display:none' data-url='https://example.org/?a=1&amp;amp;b=2'data-hint='sugg'></div>"
)


def _page(*cards: str) -> str:
    return f"<title>q - 搜狗搜索</title><div id='main'><div class='results'>{''.join(cards)}</div></div>"


def _card(inside: str = "", href: str = "/link?url=hedJja..", more: str = "") -> str:
    title = f"<h3 class='vr-title'><a href='{href}'><em><!--red_beg-->Cats<!--red_end--></em>, all\n</a></h3>"
    return f"<div class='vrwrap' {more}>{title}{inside}</div>"


def test_the_real_address_is_the_hidden_one() -> None:
    """It is there for suggestions, escaped twice at times; no request is needed."""
    hit = only_hit("sogou", _page(_card(_HIDDEN)))
    assert (hit.title, hit.url, hit.opaque) == ("Cats, all", "https://example.org/?a=1&b=2", False)


@pytest.mark.parametrize("named", ["", "data-url='http://mp.weixin.qq.com/count/x/1'", "data-url='javascript:x'"])
def test_a_card_without_a_usable_one_keeps_the_redirect(named: str) -> None:
    """The counter of WeChat is no page."""
    hit = only_hit("sogou", _page(_card(f"<div class='r-sech' {named}></div>")))
    assert (hit.url, hit.opaque) == ("https://www.sogou.com/link?url=hedJja..", True)


def test_a_direct_link_is_better_than_the_hidden_address() -> None:
    """Articles of WeChat are linked with a signature."""
    signed = "http://mp.weixin.qq.com/s?src=11&amp;signature=x"
    hit = only_hit(
        "sogou", _page(_card("<div class='r-sech' data-url='http://mp.weixin.qq.com/count/x/1'></div>", signed))
    )
    assert (hit.url, hit.opaque) == ("http://mp.weixin.qq.com/s?src=11&signature=x", False)


_PLAIN = """<div class='fz-mid space-txt' id='cacheresult_summary_3'>About <em>cats</em>.</div>
<a class='citeLinkClass'><span>Example</span> <span>https://example.org/2...</span> <span>2025-07-12</span></a>"""
_STARRED = """<div class='text-layout'><p class='star-wiki'>About cats.<a class='more-sign'>查看全部</a></p>
<a class='citeLinkClass'><span>Example</span><span class='cite-date'>2025-07-12</span></a></div>"""
_OLD = """<div class='ft' id='x'>About cats.</div><div class='fb'><cite>example.org - 2025-7-12</cite></div>"""
_BOXED = """<div class='strBox'><div class='str_info_div'><p class='str_info'>About cats.</p><div class='fb'>
<cite id='cacheresult_info_1'>example.org&nbsp;-&nbsp;2025-7-12</cite></div></div></div>"""


@pytest.mark.parametrize("inside", [_PLAIN, _STARRED, _OLD, _BOXED])
def test_snippet_and_date_of_all_kinds_of_cards(inside: str) -> None:
    """The date has a class of its own, or is a bare word of the line with the site."""
    hit = only_hit("sogou", _page(_card(inside)))
    assert (hit.snippet, hit.published) == ("About cats.", "2025-07-12")


def test_the_results_of_2013_are_still_read() -> None:
    """Then plain ones were `.rb` with direct links, special ones had `.vrTitle`."""
    plain = "<div class='rb'><h3 class='pt'><a href='http://a.example/'>A</a></h3><div class='ft'>a</div></div>"
    special = "<div class='vrwrap'><h3 class='vrTitle'><a href='http://b.example/'>B</a></h3></div>"
    assert [hit.url for hit in read("sogou", _page(plain, special)).hits] == ["http://a.example/", "http://b.example/"]


def test_hints_advertisements_and_own_pages_are_no_results() -> None:
    """What people also search, special boxes, Sogou's pictures and the links it is paid for."""
    hints = "<div class='vrwrap middle-better-hintBox'><h3><a href='https://x.example/'>大家还在搜</a></h3></div>"
    special = _card("<div class='special-wrap'></div>", "https://x.example/")
    ad = _card("", "http://www.sogou.com/bill_cpc?v=1")
    paid = f"<div class='sponsored'>{_card('', 'https://x.example/')}</div>"
    answer = read("sogou", _page(hints, special, ad, paid, _card("", "https://pic.sogou.com/p?q=1"), _card(_HIDDEN)))
    assert [hit.url for hit in answer.hits] == ["https://example.org/?a=1&b=2"]


@pytest.mark.parametrize(
    ("page", "state"),
    [
        ("<title>搜狗搜索</title><form id='seccodeForm'><input id='seccodeInput'></form>", "blocked"),
        ("<div id='main'><div class='results'></div><p>抱歉，没有找到与<em>x</em>相关的网页。</p></div>", "empty"),
        ("<div id='noresult_part1_container'></div>", "empty"),
        ("<div id='main'><script>'没有找到 antispider'</script><div class='new'>x</div></div>", "unreadable"),
    ],
)
def test_pages_without_results_are_told_apart(page: str, state: str) -> None:
    """By their elements."""
    assert read("sogou", page).state == state


@pytest.mark.parametrize("place", ["http://www.sogou.com/antispider/?from=%2fweb", "/antispider/?from=x"])
def test_a_redirect_to_the_captcha_is_blocked(place: str) -> None:
    """The address says it, before any page."""
    assert read("sogou", "", 302, {"Location": place}).state == "blocked"


def test_a_time_range_is_named_and_numbered() -> None:
    """As its own menu does."""
    given = ENGINES["sogou"].request(Query("x", time_range="month")).url.params
    assert (given["s_from"], given["sourceid"], given["tsn"]) == ("inttime_month", "inttime_month", "3")
