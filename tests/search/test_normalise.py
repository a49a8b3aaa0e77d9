"""Addresses of one page compare as equal, of two pages as different."""

import pytest

from search.normalise import host_of, key


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a?id=1&ref=x",
        "https://EXAMPLE.com:443/a?id=1&ref=x",
        "https://www.example.com/a/?id=1&ref=x",
        "https://example.com./a?ref=x&id=1",
        "https://example.com/a?id=1&ref=x&utm_source=news&gclid=1&fbclid=2&msclkid=3&yclid=4",
        "https://example.com/a?id=1&ref=x#section-2",
        " https://example.com/%61?id=1&ref=x ",
    ],
)
def test_writings_of_one_address_are_one(other: str) -> None:
    """Scheme, case, default port, www, final slash, order and tracking parameters do not part addresses."""
    assert key(other) == key("https://example.com/a?id=1&ref=x")


@pytest.mark.parametrize(
    "other",
    [
        "https://example.com/a?id=2&ref=x",
        "https://example.com/a?id=1",
        "https://example.com/A?id=1&ref=x",
        "https://example.com:8443/a?id=1&ref=x",
        "https://m.example.com/a?id=1&ref=x",
        "https://example.com/a?id=1&ref=x#!/page/2",
        "https://example.com/a?id=1&ref=x&spm=1.2.3",
        "https://example.com/a?id=1&id=2&ref=x",
    ],
)
def test_what_may_be_another_page_is_kept(other: str) -> None:
    """`id`, `ref`, path case, ports, hosts, routes in the fragment and unclear parameters part addresses."""
    assert key(other) != key("https://example.com/a?id=1&ref=x")


def test_names_and_escapes_are_compared_by_meaning() -> None:
    """IDNA names, the case of escapes and blanks in queries have one form."""
    assert key("https://bücher.de/%e4%b8%ad?q=a+b") == key("https://xn--bcher-kva.de/%E4%B8%AD?q=a%20b")


def test_a_shop_counts_its_clicks_with_spm() -> None:
    """`spm` is dropped where it is known to be a counter."""
    assert key("https://item.taobao.com/item.htm?id=1&spm=a21") == key("https://item.taobao.com/item.htm?id=1")


@pytest.mark.parametrize(
    "text", ["", "nonsense", "http://[::1", "https://a.b/\ud800", "javascript:x", "\x00", "http://"]
)
def test_any_text_has_a_key_that_is_its_own(text: str) -> None:
    """What is no address raises nothing, has no host, and keeps its key when that is taken again."""
    assert key(key(text)) == key(text)
    assert isinstance(key(text).encode(), bytes)
    assert host_of(text) in {"", "a.b"}
