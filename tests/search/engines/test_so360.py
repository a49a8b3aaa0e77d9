"""360: its cards, the addresses beside its links, its captcha, its request."""

import pytest

from search.query import Query
from tests.search.engines.reading import ENGINES, only_hit, read

_LINK = "https://www.so.com/link?m=wYeF%2B"


def _page(*cards: str) -> str:
    return f"<div id='main'><ul class='result'>{''.join(cards)}</ul><div id='rs'><h3>相关搜索</h3></div></div>"


def _card(attributes: str, inside: str = "") -> str:
    return f"<li class='res-list'><h3 class='res-title'><a {attributes}>About <em>cats</em></a></h3>{inside}</li>"


@pytest.mark.parametrize(
    ("attributes", "url"),
    [
        (f"href='{_LINK}' data-mdurl='https://a.example/' data-replaceurl='https://b.example/'", "https://a.example/"),
        (f"href='{_LINK}' data-replaceurl='https://b.example/'", "https://b.example/"),
        (f"href='{_LINK}' data-url='https://c.example/'", "https://c.example/"),
        ("href='http://www.so.com/link?url=http%3A%2F%2Fd.example%2F&amp;q=x&amp;ts=1'", "http://d.example/"),
        ("href='https://e.example/'", "https://e.example/"),
    ],
)
def test_the_address_is_the_one_beside_the_link(attributes: str, url: str) -> None:
    """Its name has changed over the years; before, the redirect carried it."""
    hit = only_hit("so360", _page(_card(attributes)))
    assert (hit.title, hit.url, hit.opaque) == ("About cats", url, False)


def test_a_bare_redirect_is_opaque() -> None:
    """Only a request tells where it leads."""
    assert only_hit("so360", _page(_card(f"href='{_LINK}' data-mdurl=''"))).opaque


_PLAIN = "<p class='res-desc'><span class='gray g-c-gray'>2025年7月12日&nbsp;-&nbsp;</span>About <em>cats</em>.</p>"
_PICTURED = """<div class='res-rich so-rich-image'><div class='res-comm-con'><p></p><span class='res-list-summary'>
2025年7月12日 - About cats.</span><p class='g-linkinfo'><cite>example.org</cite></p></div></div>"""
_RICH = "<div class='res-rich'>2025-7-12 - About cats.<p class='g-linkinfo'>example.org</p></div>"
_LISTED = "<dl><dd>2025-07-12 - About cats.</dd></dl>"


@pytest.mark.parametrize("inside", [_PLAIN, _PICTURED, _RICH, _LISTED])
def test_snippet_and_date_of_all_kinds_of_cards(inside: str) -> None:
    """The date is no part of the snippet."""
    hit = only_hit("so360", _page(_card("href='https://example.org/'", inside)))
    assert (hit.snippet, hit.published) == ("About cats.", "2025-07-12")


def test_boxes_advertisements_and_own_pages_are_no_results() -> None:
    """Its translator's box, its answers by a model, and the links it is paid for."""
    box = "<li class='res-list'><h3 class='g-title'><a href='https://x.example/'>box</a></h3></li>"
    own = [_card(f"href='https://{host}/x'") for host in ("ai.so.com", "fanyi.so.com", "e.so.com", "www.so.com")]
    paid = f"<li><ul id='e_idea_pp'>{_card('href=https://x.example/')}</ul></li>"
    answer = read("so360", _page(box, *own, paid, _card("href='https://example.org/'")))
    assert [hit.url for hit in answer.hits] == ["https://example.org/"]


@pytest.mark.parametrize(
    ("page", "state"),
    [
        ("", "blocked"),
        (" \n", "blocked"),
        ("<title>访问异常页面</title><p>x</p>", "blocked"),
        ("<div id='main'><p>抱歉，未找到和“x”相关的网页</p></div>", "empty"),
        ("<div id='no-result'></div>", "empty"),
        ("<div id='main'><script>'未找到 访问异常 qcaptcha'</script></div>", "unreadable"),
    ],
)
def test_pages_without_results_are_told_apart(page: str, state: str) -> None:
    """An empty one is a refusal, never "no results"."""
    assert read("so360", page).state == state


def test_a_redirect_to_the_captcha_is_blocked() -> None:
    """The address says it, before any page."""
    assert read("so360", "", 302, {"Location": "https://qcaptcha.so.com/?ret=x&tk=y"}).state == "blocked"


def test_a_time_range_is_a_letter() -> None:
    """As its own menu does."""
    given = ENGINES["so360"].request(Query("x", time_range="year")).url.params
    assert given["adv_t"] == "y"
