"""Bing: its page through the years, its redirects, its challenge, its request."""

import base64

import pytest

from search.query import Query
from tests.search.engines.reading import ENGINES, only_hit, read


def _ck(target: str, prefix: str = "a1") -> str:
    coded = base64.urlsafe_b64encode(target.encode()).decode().rstrip("=")
    return f"https://www.bing.com/ck/a?!&amp;&amp;p=ab12&amp;ptn=3&amp;u={prefix}{coded}&amp;ntb=1"


def _page(*cards: str) -> str:
    inline = "<script>var words = {none: 'There are no results for this question', c: 'captcha'};</script>"
    return f"<title>q - Search</title>{inline}<ol id='b_results'>{''.join(cards)}</ol>"


def _card(link: str, caption: str = "<p class='b_lineclamp2'>About cats.</p>") -> str:
    return f"<li class='b_algo'><h2>{link}</h2><div class='b_caption'>{caption}</div></li>"


def test_redirects_are_decoded_without_a_request() -> None:
    """The real address stands in `u`."""
    hit = only_hit("bing", _page(_card(f"<a href='{_ck('https://example.org/a?b=1')}'><strong>Cats</strong>, all</a>")))
    assert (hit.title, hit.url, hit.snippet, hit.opaque) == (
        "Cats, all",
        "https://example.org/a?b=1",
        "About cats.",
        False,
    )


@pytest.mark.parametrize(
    ("href", "url"),
    [
        (_ck("example.org/x"), "https://example.org/x"),
        (_ck("example.org/x", "a0"), "http://example.org/x"),
        (_ck("http://example.org/x"), "http://example.org/x"),
        ("https://cn.bing.com/ck/a?u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy8", "https://example.org/"),
        ("https://example.org/direct", "https://example.org/direct"),
    ],
)
def test_all_forms_of_links_lead_to_the_target(href: str, url: str) -> None:
    """`a1` stands for https, `a0` for http, where the target has no scheme of its own."""
    assert only_hit("bing", _page(_card(f"<a href='{href}'>t</a>"))).url == url


def test_a_redirect_that_cannot_be_read_stays_and_is_opaque() -> None:
    """A request may still resolve it."""
    hit = only_hit("bing", _page(_card("<a href='https://www.bing.com/ck/a?p=1&amp;u=zz!!'>t</a>")))
    assert hit.opaque


def test_own_pages_and_advertisements_are_no_results() -> None:
    """Relative targets, searches and advertisements lead to Bing itself."""
    own = [_ck("/images/search?q=x"), "/search?q=more", "https://www.bing.com/aclick?ld=1", "javascript:void(0)"]
    cards = [_card(f"<a href='{href}'>own</a>") for href in own]
    ad = (
        f"<li class='b_ad'><ul><li class='b_algo'><h2><a href='{_ck('https://ad.example/')}'>ad</a></h2></li></ul></li>"
    )
    answer = read("bing", _page(*cards, ad, _card("<a href='https://example.org/'>real</a>")))
    assert [hit.title for hit in answer.hits] == ["real"]


def test_an_empty_title_link_has_its_name_elsewhere() -> None:
    """The label, or the heading around it, or the line of the site above it."""
    labelled = _card("<a href='https://one.example/' aria-label='One'></a>")
    beside = "<li class='b_algo'><a class='tilk' href='https://two.example/'>two.example</a><h2>Two<a></a></h2></li>"
    around = "<li class='b_algo'><a href='https://three.example/'><h2>Three</h2></a></li>"
    answer = read("bing", _page(labelled, beside, around))
    assert [(hit.title, hit.url[8:11]) for hit in answer.hits] == [("One", "one"), ("Two", "two"), ("Three", "thr")]


@pytest.mark.parametrize(
    "caption",
    [
        "<p><i class='algoSlug_icon'>WEB</i><span class='news_dt'>Jul 12, 2025</span>&nbsp;&#0183;&#32;About cats.</p>",
        "<p class='b_lineclamp4 b_algoSlug'>Jul 12, 2025&nbsp;· About cats.</p>",
        "<div class='b_attribution'><cite>example.org</cite></div><div>12 Jul 2025 - About cats.</div>",
        "<p>2025年7月12日 · About cats.</p>",
    ],
)
def test_a_date_before_the_snippet_is_taken_out(caption: str) -> None:
    """It goes into `published`, in whatever markup of the years."""
    hit = only_hit("bing", _page(_card("<a href='https://example.org/'>t</a>", caption)))
    assert (hit.published, hit.snippet) == ("2025-07-12", "About cats.")


def test_the_page_of_2012_is_still_read() -> None:
    """Markup of years ago comes back in tests that engines make."""
    hit = only_hit(
        "bing",
        "<div id='results'><ul><li class='sa_wr'><div class='sb_tlst'><h3><a href='http://example.org/'>Old</a></h3></div>"
        "<div class='sa_cc'><p>Then.</p></div></li></ul></div>",
    )
    assert (hit.title, hit.url, hit.snippet) == ("Old", "http://example.org/", "Then.")


def test_the_challenge_is_blocked_though_all_else_looks_normal() -> None:
    """Status 200 and a usual title say nothing."""
    page = "<title>q - Search</title><div class='captcha'><div class='captcha_header'>One last step</div></div>"
    assert read("bing", page).state == "blocked"


def test_results_count_more_than_a_captcha_beside_them() -> None:
    """Where there are results, nothing else on the page matters."""
    page = (
        _page(_card("<a href='https://example.org/'>t</a>"))
        + "<div class='captcha'><i class='captcha_header'></i></div>"
    )
    assert read("bing", page).state == "ok"


def test_no_results_is_an_element_not_a_word() -> None:
    """The scripts of each page hold the words, so they make a changed page neither empty nor blocked."""
    assert read("bing", _page("<li class='b_no'><h1>There are no results for q</h1></li>")).state == "empty"
    assert read("bing", _page("<li class='something-new'>x</li>")).state == "unreadable"


def test_a_chinese_query_always_has_a_market() -> None:
    """Without one Bing answers it with decoys."""
    request = ENGINES["bing"].request(Query("北京 天气"))
    assert request.url.params["setmkt"] == request.url.params["mkt"] == "zh-CN"
    assert request.headers["accept-language"].startswith("zh-CN,zh;")


def test_the_request_says_what_the_query_says() -> None:
    """Market, time range, safe search, count, and the one domain that is allowed."""
    query = Query("cats", 30, "week", "de", 2, ("example.org",))
    given = ENGINES["bing"].request(query).url.params
    assert given["q"] == "cats site:example.org"
    assert (given["setmkt"], given["cc"], given["adlt"], given["count"]) == ("de-DE", "DE", "strict", "30")
    assert given["filters"] == 'ex1:"ez2"'


def test_a_year_is_written_in_days() -> None:
    """Since 1970, as Bing's own menu does."""
    assert ENGINES["bing"].request(Query("cats", time_range="year")).url.params["filters"] == 'ex1:"ez5_20422_20787"'


def test_it_comes_as_edge() -> None:
    """User agent and client hints belong together."""
    headers = ENGINES["bing"].request(Query("cats")).headers
    assert "Edg/" in headers["user-agent"]
    assert "Microsoft Edge" in headers["sec-ch-ua"]
    assert headers["sec-fetch-mode"] == "navigate"
