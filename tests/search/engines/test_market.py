"""For whom a query is asked."""

import pytest

from search.engines.market import market_of, words
from search.query import Query


@pytest.mark.parametrize(
    ("text", "language", "tag"),
    [
        ("cats", None, "en-US"),
        ("北京", None, "zh-CN"),
        ("ねこ 動物", None, "ja-JP"),
        ("고양이", None, "ko-KR"),
        ("北京", "auto", "zh-CN"),
        ("北京", "", "zh-CN"),
        ("北京", "en", "en-US"),
        ("cats", "zh_tw", "zh-TW"),
        ("cats", "zh-Hant", "zh-TW"),
        ("cats", "zh-Hant-HK", "zh-HK"),
        ("cats", "pt", "pt-BR"),
        ("cats", "xx", "en-US"),
    ],
)
def test_the_market_is_the_language_else_the_script(text: str, language: str | None, tag: str) -> None:
    """A language alone stands for its largest country; one that is unknown for none."""
    assert market_of(Query(text, language=language)).tag == tag


def test_allowed_domains_are_asked_for_where_the_engine_can() -> None:
    """Else most results would be thrown away."""
    one, two = Query("x", allowed_domains=("a.org",)), Query("x", allowed_domains=("a.org", "b.org"))
    assert words(one) == "x site:a.org"
    assert (words(two), words(two, "OR")) == ("x", "x (site:a.org OR site:b.org)")
    assert words(Query("x site:c.org", allowed_domains=("a.org",))) == "x site:c.org"
