"""Results come from where the caller wants them."""

import pytest

from fetch.errors import InvalidRequest
from search.domains import Domains


@pytest.mark.parametrize(
    "entry", ["example.com", "*.example.com", "https://Example.com/", ".example.com.", "HTTP://example.com"]
)
def test_a_domain_covers_its_subdomains(entry: str) -> None:
    """However it is written, a domain means itself and everything below, and nothing that only ends like it."""
    domains = Domains.parse([entry], None)
    assert domains.allowed == ("example.com",)
    assert all(map(domains.admits, ["https://example.com/x", "http://a.b.example.com:8080", "https://EXAMPLE.com."]))
    assert not any(map(domains.admits, ["https://badexample.com/", "https://example.com.evil.test/", "nonsense", ""]))


def test_blocked_domains_are_left_out() -> None:
    """Everything else is admitted."""
    domains = Domains.parse(None, ["example.com", "gov.cn"])
    assert not domains.admits("https://news.example.com/")
    assert not domains.admits("http://www.stats.gov.cn/")
    assert domains.admits("https://example.org/?u=https://example.com/")


def test_names_are_compared_as_browsers_contact_them() -> None:
    """IDNA names, IP addresses and `www.` are understood."""
    assert Domains.parse(["bücher.de"], []).admits("https://xn--bcher-kva.de/")
    assert Domains.parse(["127.0.0.1", "::1"], []).admits("http://[::1]:8080/")
    assert Domains.parse(["www.example.com"], []).admits("https://example.com/")


def test_no_filter_admits_all() -> None:
    """Without entries everything passes, and the filter is false."""
    assert not Domains.parse([], None)
    assert Domains.parse(None, None).admits("anything")


@pytest.mark.parametrize(
    "entry",
    [
        "",
        " ",
        "example.com/docs",
        "example.com:8080",
        "a.com,b.com",
        "me@example.com",
        "a.*.com",
        "*",
        "ftp://a.com",
        "a b",
        "-",
        "\ud800",
    ],
)
def test_what_is_more_or_less_than_a_domain_is_refused(entry: str) -> None:
    """The error names the parameter and says what is wrong."""
    with pytest.raises(InvalidRequest, match="blocked_domains"):
        Domains.parse(None, [entry])


def test_both_lists_are_refused() -> None:
    """Allowed and blocked domains exclude each other."""
    with pytest.raises(InvalidRequest, match="together"):
        Domains.parse(["a.com"], ["b.com"])
