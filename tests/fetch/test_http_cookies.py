"""Cookies go where browsers would send them, and nowhere else."""

import time
from urllib.parse import urlsplit

import pytest

from fetch.http_cookies import MAX_COOKIES, Jar, read_cookie
from fetch.page import Cookie

HERE = "https://www.example.com/a/b?c"


def read(text: str, url: str = HERE) -> Cookie | None:
    """The cookie that this header sets."""
    return read_cookie(text, urlsplit(url))


@pytest.mark.parametrize(
    ("text", "cookie"),
    [
        ("a=b", Cookie("a", "b", "www.example.com", "/a")),
        (" a = b=c ; Path=/; secure; HttpOnly", Cookie("a", "b=c", "www.example.com", "/", None, True, True)),
        ("a=b; Domain=example.com; Path=x", Cookie("a", "b", ".example.com", "/a")),
        ("a=b; domain=.Example.COM; path=/q", Cookie("a", "b", ".example.com", "/q")),
        ("a=b; Domain=", Cookie("a", "b", "www.example.com", "/a")),
        ("alone", Cookie("", "alone", "www.example.com", "/a")),
        ("a=b; Expires=Wed, 21-Oct-2026 07:28:00 GMT", Cookie("a", "b", "www.example.com", "/a", 1792567680.0)),
        ("a=b; Expires=whenever", Cookie("a", "b", "www.example.com", "/a")),
    ],
)
def test_reading(text: str, cookie: Cookie) -> None:
    """Attributes are read as loosely as browsers read them."""
    assert read(text) == cookie


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "a=b; Domain=other.com",
        "a=b; Domain=com",
        "a=b; Domain=deep.www.example.com",
        "a=b\x01",
        "a=" + "b" * 5000,
        "__Secure-a=b",
        "__Host-a=b; Secure",
        "__Host-a=b; Secure; Path=/; Domain=example.com",
    ],
)
def test_what_is_not_taken(text: str) -> None:
    """Cookies for other sites, oversized ones and those that break their own promise are ignored."""
    assert read(text) is None


def test_secure_cookies_come_over_secure_ways() -> None:
    """Plain http can neither set nor get them, but on this machine."""
    assert read("a=b; Secure", "http://example.com/") is None
    assert read("a=b; Secure", "http://localhost/") is not None
    jar = Jar([Cookie("a", "b", "example.com", secure=True)])
    assert jar.header("https://example.com/") == "a=b"
    assert jar.header("http://example.com/") is None


@pytest.mark.parametrize(
    ("cookie", "sent"),
    [
        (Cookie("a", "b", "www.example.com"), True),
        (Cookie("a", "b", "example.com"), False),
        (Cookie("a", "b", ".example.com"), True),
        (Cookie("a", "b", ".ample.com"), False),
        (Cookie("a", "b", "www.example.com", "/a"), True),
        (Cookie("a", "b", "www.example.com", "/a/b"), True),
        (Cookie("a", "b", "www.example.com", "/a/"), True),
        (Cookie("a", "b", "www.example.com", "/a/b/c"), False),
        (Cookie("a", "b", "www.example.com", "/aa"), False),
        (Cookie("a", "b", "www.example.com", expires=1.0), False),
        (Cookie("a", "b", "www.example.com", expires=9e9), True),
    ],
)
def test_where_they_are_sent(cookie: Cookie, sent: bool) -> None:
    """To the host or the domain below which they belong, at their path, until they expire."""
    assert Jar([cookie]).header(HERE) == ("a=b" if sent else None)


def test_a_domain_of_numbers_has_nothing_below() -> None:
    """An address is one host."""
    assert Jar([Cookie("a", "b", ".0.0.1")]).header("http://127.0.0.1/") is None
    assert read("a=b; Domain=127.0.0.1", "http://127.0.0.1/") == Cookie("a", "b", "127.0.0.1")
    assert read("a=b; Domain=0.0.1", "http://127.0.0.1/") is None


def test_the_order() -> None:
    """Longer paths come first, then what was set first."""
    jar = Jar([Cookie("1", "x", "www.example.com"), Cookie("2", "x", "www.example.com", "/a")])
    jar.store(["3=x; Path=/", "", "lonely; Path=/"], HERE)
    assert jar.header(HERE) == "2=x; 1=x; 3=x; lonely"


def test_replacing_and_removing() -> None:
    """A cookie of the same name and place takes the other's; one that has expired takes it away."""
    jar = Jar([Cookie("a", "old", "www.example.com", "/")])
    jar.store(["a=new; Path=/", "b=1", "c=1; Max-Age=100"], HERE)
    assert jar.header(HERE) == "b=1; c=1; a=new"
    jar.store(["a=; Path=/; Max-Age=-1", "b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], HERE)
    assert [each.name for each in jar.set_by_servers] == ["c"]
    assert jar.set_by_servers[0].expires == pytest.approx(time.time() + 100, abs=20)


def test_a_jar_does_not_overflow() -> None:
    """A site that sets cookies without end loses its oldest."""
    jar = Jar()
    jar.store([f"c{number}=x" for number in range(1000)], HERE)
    assert len(jar.set_by_servers) == MAX_COOKIES
    assert jar.set_by_servers[-1].name == "c999"
