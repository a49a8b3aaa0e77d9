"""DuckDuckGo: its page, its challenge, its form."""

from urllib.parse import parse_qs

from search.query import Query
from tests.search.engines.reading import ENGINES, only_hit, read

_TITLE = "<h2 class='result__title'><a class='result__a' href='{}'>About <b>cats</b></a></h2>"
_FOUND = _TITLE.format("//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1&amp;rut=x")
_SNIPPET = "<a class='result__snippet' href='#'>All of <b>them</b>.</a>"
_DATE = "<div class='result__extras__url'><span>&nbsp; 2025-07-12T00:00:00.0000000</span></div>"


def test_a_result_has_its_real_address() -> None:
    """The redirect carries it."""
    hit = only_hit("duckduckgo", f"<div id='links'><div class='result'>{_FOUND}{_DATE}{_SNIPPET}</div></div>")
    assert (hit.title, hit.url, hit.snippet) == ("About cats", "https://example.org/a?b=1", "All of them.")
    assert hit.published == "2025-07-12"


def test_advertisements_are_no_results() -> None:
    """They are marked, or lead to DuckDuckGo's counter."""
    marked = f"<div class='result result--ad'>{_FOUND}</div>"
    counted = f"<div class='result'>{_TITLE.format('https://duckduckgo.com/y.js?ad_domain=x')}</div>"
    answer = read("duckduckgo", f"<div id='links'>{marked}{counted}<div class='no-results'></div></div>")
    assert answer.state == "empty"


def test_the_challenge_is_blocked() -> None:
    """It comes with status 202, and at times with 200."""
    page = "<form id='challenge-form'><div class='anomaly-modal__title'>x</div></form>"
    assert read("duckduckgo", page).state == read("duckduckgo", "<p>x</p>", 202).state == "blocked"


def test_it_is_asked_as_its_form_asks() -> None:
    """Region, time range and safe search are fields of it."""
    request = ENGINES["duckduckgo"].request(Query("cats", time_range="month", language="de-AT", safesearch=2))
    given = parse_qs(request.content.decode())
    assert request.method == "POST"
    assert (given["kl"], given["df"], given["kp"]) == (["at-de"], ["m"], ["1"])
    assert request.headers["referer"] == "https://html.duckduckgo.com/"
