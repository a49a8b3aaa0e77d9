"""Redirects that carry their target."""

import base64

import pytest

from search.redirects import is_wrapper, unwrapped, web_address


def _ck(target: bytes, prefix: str = "a1") -> str:
    return f"https://www.bing.com/ck/a?!&&p=1&u={prefix}{base64.urlsafe_b64encode(target).decode().rstrip('=')}&ntb=1"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (_ck(b"https://example.org/?a=1"), "https://example.org/?a=1"),
        (_ck("https://example.org/猫".encode()), "https://example.org/猫"),
        (_ck(b"example.org/a", "a0"), "http://example.org/a"),
        (_ck(b"example.org:8080/a"), "https://example.org:8080/a"),
        (_ck(b"/images/search?q=x"), "https://www.bing.com/images/search?q=x"),
        (_ck(_ck(b"https://example.org/").encode()), "https://example.org/"),
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2F%3Fq%3D1&rut=x", "https://example.org/?q=1"),
        ("https://r.search.yahoo.com/_ylt=A/RV=2/RU=https%3a%2f%2fexample.org%2f/RK=2/RS=x-", "https://example.org/"),
        ("https://www.google.com/url?sa=t&q=https://example.org/&ved=1", "https://example.org/"),
        ("https://www.google.co.uk/url?url=https://example.org/", "https://example.org/"),
        ("http://www.so.com/link?url=http%3A%2F%2Fexample.org%2F&q=x", "http://example.org/"),
    ],
)
def test_the_target_is_read_without_a_request(url: str, target: str) -> None:
    """In the ways of each engine."""
    assert unwrapped(url) == target


@pytest.mark.parametrize(
    "url",
    [
        _ck(b"javascript:alert(1)"),
        _ck(b"ftp://example.org/"),
        _ck(b"\xff\xfe"),
        _ck(b"https://exa mple.org/"),
        "https://www.bing.com/ck/a?u=a1!!!",
        "https://www.bing.com/ck/a?u=a1猫",
        "https://www.bing.com/ck/a?u=b2aHR0",
        "https://www.bing.com/ck/a",
        "https://www.bing.com/ck/a?" + "&".join("a" * 300),
        "https://duckduckgo.com/l/?uddg=",
        "https://example.org/url?q=https://other.example/",
        "https://notgoogle.com/url?q=https://other.example/",
        "https://example.org/link?url=https://other.example/",
        "http://[",
    ],
)
def test_what_carries_no_web_address_stays(url: str) -> None:
    """And nothing is raised."""
    assert unwrapped(url) == url


@pytest.mark.parametrize(
    ("url", "wrapped"),
    [
        ("https://www.baidu.com/link?url=x", True),
        ("http://www.sogou.com/link?url=x", True),
        ("https://www.so.com/link?m=x", True),
        ("https://www.bing.com/ck/a?u=zz", True),
        ("https://www.baidu.com/s?wd=x", False),
        ("https://notbaidu.com/link?url=x", False),
        ("https://www.baidu.com/link", False),
    ],
)
def test_wrappers_are_known_by_host_and_path(url: str, wrapped: bool) -> None:
    """Only the engines' own."""
    assert is_wrapper(url) == wrapped


@pytest.mark.parametrize(
    "text",
    ["", None, "x", "javascript:x", "data:,x", "http://", "http://a b/", "http://a/\x00", "http://a:b/", "http://[x/"],
)
def test_only_web_addresses_are_addresses(text: str | None) -> None:
    """Everything else is None."""
    assert web_address(text) is None


def test_a_relative_address_is_joined() -> None:
    """To where it was found."""
    assert web_address("/a", "https://example.org/b") == "https://example.org/a"
    assert web_address("//other.example/a", "https://example.org/b") == "https://other.example/a"
