"""What holds for every scraping engine."""

import random
import re
from pathlib import Path

import httpx
import pytest

from search.engines import DEFAULT, ENGINES, engines
from search.engines.scraper import Scraper
from search.query import Query
from search.selectors import SelectorFile
from tests.search.engines import reading

ROOT = Path(__file__).resolve().parents[3]
NAMES = tuple(reading.ENGINES)
CARDS = {
    "bing": ("<ol id='b_results'>", "<li class='b_algo'><h2><a href='https://a.example/'>t</a></h2><p>x</p></li>"),
    "baidu": (
        "<div id='content_left'>",
        "<div class='result c-container' mu='https://a.example/'><h3><a>t</a></h3></div>",
    ),
    "sogou": (
        "<div id='main'>",
        "<div class='vrwrap'><h3 class='vr-title'><a href='https://a.example/'>t</a></h3></div>",
    ),
    "so360": (
        "<div id='main'>",
        "<li class='res-list'><h3 class='res-title'><a href='https://a.example/'>t</a></h3></li>",
    ),
    "duckduckgo": (
        "<div id='links'>",
        "<div class='result'><a class='result__a' href='https://a.example/'>t</a></div>",
    ),
}


def test_each_has_a_name_of_its_own_and_selectors() -> None:
    """What is listed can be asked for and read."""
    known = SelectorFile().current()
    assert len(set(NAMES)) == len(ENGINES)
    assert set(NAMES) == set(known)
    assert set(DEFAULT) < set(NAMES)


def test_the_weights_are_those_that_were_agreed() -> None:
    """Bing 90, Baidu 80, Sogou and 360 75."""
    assert {each.name: each.weight for each in engines() if each.name in DEFAULT} == {
        "bing": 90,
        "baidu": 80,
        "sogou": 75,
        "so360": 75,
    }


def test_engines_with_one_index_say_so() -> None:
    """DuckDuckGo and Bing are one vote."""
    assert reading.ENGINES["duckduckgo"].index == reading.ENGINES["bing"].index


@pytest.mark.parametrize("name", NAMES)
def test_requests_are_those_of_one_browser(name: str) -> None:
    """Its version is that of the running one."""
    engine = next(each for each in engines("131.0.1") if each.name == name)
    headers = engine.request(Query("cats")).headers
    assert "Chrome/131." in headers["user-agent"]
    assert '"131"' in headers["sec-ch-ua"]
    assert headers["accept-encoding"] == "gzip, deflate, br, zstd"


@pytest.mark.parametrize("name", NAMES)
def test_any_query_makes_a_request(name: str) -> None:
    """Broken characters, long texts and signs that mean something in addresses too."""
    for text in ("a&b=c#d%20+e", "\ud800\x00", "猫" * 5000, ""):
        request = reading.ENGINES[name].request(Query(text, allowed_domains=("a.example", "b.example")))
        assert request.url.host.removeprefix("www.").endswith(reading.ENGINES[name].hosts[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "state"), [(429, "blocked"), (403, "blocked"), (503, "blocked"), (202, "blocked"), (500, "error")]
)
def test_a_status_can_be_a_refusal(name: str, status: int, state: str) -> None:
    """With the time that the engine asks for."""
    answer = reading.read(name, "<p>x</p>", status, {"Retry-After": "120"})
    assert answer.state == state
    assert answer.retry_after_s == (120 if state == "blocked" else None)
    assert answer.error


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "stuff", ["<div>" * 100_000, "<i></i>" * 50_000, "<div " + "a " * 50_000 + ">", "\x00" * 50_000]
)
def test_hostile_pages_are_read(name: str, stuff: str) -> None:
    """Deep, broad and strange ones: a result before it is still found."""
    start, card = CARDS[name]
    assert reading.read(name, start + card + stuff).state == "ok"


@pytest.mark.parametrize("name", NAMES)
def test_no_bytes_make_reading_fail(name: str) -> None:
    """Damaged pages give answers too, in which texts can be written."""
    chance = random.Random(7)
    start, card = CARDS[name]
    for _ in range(150):
        page = bytearray((start + card * 5).encode())
        for _ in range(chance.randrange(1, 30)):
            at = chance.randrange(len(page))
            page[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        answer = reading.read(name, bytes(page))
        assert "".join(hit.title + hit.url + hit.snippet for hit in answer.hits).encode() is not None


@pytest.mark.parametrize("name", NAMES)
def test_an_opaque_or_foreign_redirect_is_said(name: str) -> None:
    """A redirect to another site is an error that names it."""
    answer = reading.read(name, "", 302, {"Location": "https://portal.example/login"})
    assert (answer.state, "portal.example" in str(answer.error)) == ("error", True)


def test_a_page_in_another_charset_is_read() -> None:
    """Sogou's old pages were GBK."""
    start, card = CARDS["sogou"]
    page = f"<meta charset='gbk'>{start}{card.replace('>t<', '>猫咪<')}".encode("gbk")
    assert reading.read("sogou", page).hits[0].title == "猫咪"


def test_a_card_within_a_card_is_one_result() -> None:
    """The outer one."""
    start, card = CARDS["sogou"]
    assert len(reading.read("sogou", start + card.replace("</div>", card + "</div>")).hits) == 1


def test_a_saved_page_needs_no_request() -> None:
    """`parse` reads what it is given."""
    response = httpx.Response(200, text="".join(CARDS["bing"]))
    assert reading.ENGINES["bing"].parse(response, SelectorFile().current()["bing"]).state == "ok"


def test_the_worked_example_is_the_real_engine() -> None:
    """docs/engines.md shows all of DuckDuckGo's file, and its table of selectors."""
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```(?:python|toml)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    code = (ROOT / "search" / "engines" / "duckduckgo.py").read_text(encoding="utf-8")
    table = (ROOT / "search" / "selectors.toml").read_text(encoding="utf-8").partition("[duckduckgo]")
    assert shown[:2] == [code, "".join(table[1:])]


def test_the_documentation_names_every_attribute() -> None:
    """What a class may say is in the tables."""
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    for name in Scraper.__annotations__:
        assert f"| `{name}` |" in page, name
