"""Which addresses are read, and which are visited."""

from ipaddress import ip_network

import pytest

from fetch.address import MAX_LENGTH, Address, Rule, canonical_host, parse_address
from fetch.errors import AddressForbidden, InvalidRequest, TabwrightError

# Every way that is known to write an address a stranger must not reach, or one that parsers read differently.
HOSTILE = """
http://127.0.0.1/ http://127.0.0.1:8330/ http://127.1/ http://127.0.1/ http://127.000.000.001/ http://0/
http://0.0.0.0/ http://0x0/ http://0x7f000001/ http://0x7f.1/ http://0x7F.0x0.0x0.0x1/ http://2130706433/
http://017700000001/ http://0177.0.0.1/ http://0177.0x0.1/ http://127.0.0.1./ http://127.127.127.127/
http://%31%32%37.0.0.1/ http://127%2e0.0.1/ http://１２７.０.０.１/ http://127。0。0。1/ http://①②⑦.0.0.1/ http://localhost/
http://localhost./ http://LOCALHOST/ http://foo.localhost/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://127.0.0.1%00/
http://127.0.0.1%0a/ http://10.0.0.1/ http://172.16.0.1/ http://172.31.255.255/ http://192.168.1.1/
http://169.254.1.1/ http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/
http://169.254.170.2/ http://169.254.170.23/ http://100.64.0.1/ http://100.100.100.200/ http://192.0.0.192/
http://168.63.129.16/ http://192.88.99.1/ http://198.18.0.1/ http://224.0.0.1/ http://239.255.255.250:1900/
http://240.0.0.1/ http://255.255.255.255/ http://192.0.2.1/ http://198.51.100.1/ http://203.0.113.1/ http://[::]/
http://[::1]/ http://[0:0:0:0:0:0:0:1]/ http://[0000:0000:0000:0000:0000:0000:0000:0001]/ http://[::127.0.0.1]/
http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]:80/ http://[::ffff:0:127.0.0.1]/ http://[::ffff:10.0.0.1]/
http://[64:ff9b::7f00:1]/ http://[64:ff9b::8.8.8.8]/ http://[64:ff9b:1::7f00:1]/ http://[2002:7f00:1::]/
http://[2002:808:808::]/ http://[2001::1]/ http://[2001:db8::1]/ http://[2001:20::1]/
http://[2606:4700::5efe:127.0.0.1]/ http://[3fff::1]/ http://[fec0::1]/ http://[fe80::1]/ http://[fc00::1]/
http://[fd00:ec2::254]/ http://[fd20:ce::254]/ http://[100::1]/ http://[5f00::1]/ http://[4000::1]/
http://[ff02::1]/ http://[ff0e::1]/ http://[::1%25lo]/ http://[fe80::1%25eth0]/ http://metadata/
http://metadata.google.internal/computeMetadata/v1/ http://METADATA.google.internal./ http://metadata.goog/
http://127.0.0.1:80@8.8.8.8/ http://8.8.8.8@127.0.0.1/ http://user:secret@8.8.8.8/ http://8.8.8.8:80\\@127.0.0.1/
http://8.8.8.8?@127.0.0.1/ http://8.8.8.8#@127.0.0.1/ http://127.0.0.1%2f@8.8.8.8/ http://8.8.8.8\\.example.com/
http:\\\\127.0.0.1\\ http:/127.0.0.1/ http:127.0.0.1/ http:8.8.8.8 http:///127.0.0.1/ http:////8.8.8.8/ //127.0.0.1/
//8.8.8.8/ /etc/passwd 127.0.0.1 8.8.8.8 8.8.8.8:80 [::1] http://8.8.8.8:0/ http://8.8.8.8:65536/
http://8.8.8.8:99999/ http://8.8.8.8:8a/ http://8.8.8.8:-1/ http:// https:// http://. http://a..b/ http://?x
http://#x http://8.8.8.8.8/ http://256.8.8.8/ http://[8.8.8.8]/ http://[::1/ http://exa<mple.com/
http://exa%mple.com/ file:///etc/passwd FILE:///etc/passwd file://localhost/etc/passwd view-source:http://8.8.8.8/
view-source:file:///etc/passwd data:text/html,x javascript:alert(1) JaVaScRiPt:alert(1) blob:http://8.8.8.8/1
filesystem:http://8.8.8.8/temporary/x about:blank about:version chrome://version chrome-extension://abc/x.html
devtools://devtools/bundled/inspector.html ftp://8.8.8.8/ ws://8.8.8.8/ wss://8.8.8.8/ gopher://8.8.8.8:70/_x
jar:http://8.8.8.8!/x intent://8.8.8.8/#Intent;end mailto:a@example.com
""".split()  # noqa: SIM905  a list would be three times as long
HOSTILE += [
    "http://loc\u00adalhost/", "http://8.8.8.8/\\..\\x", "\u0020http://8.8.8.8/", "http://8.8.8.8/\u0020",
    "\thttp://8.8.8.8/", "h\ttp://8.8.8.8/", "http://8.8.8.8\t/", "http://8.8.8.8/\x00", "http://8.8.8.8/\x7f",
    "http://8.8.8.8/\u0085", "http://8.8.8.8/\ud800", "http://8.8.8.8 /",
]  # fmt: skip

PUBLIC_V4 = ["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"]
PUBLIC_V4 += ["128.0.0.0", "168.63.129.15", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0"]
PUBLIC_V4 += ["192.88.98.255", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"]
PUBLIC_V6 = ["2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450:4001:800::200e", "2003::1", "3ffd::1"]


def refused(rule: Rule, host: str, port: int = 80) -> bool:
    try:
        rule.check(host, port)
    except AddressForbidden:
        return True
    return False


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_addresses_are_refused(text: str) -> None:
    """Reading an address and judging its host refuses all that does not plainly name a public host."""
    with pytest.raises((InvalidRequest, AddressForbidden)):
        visit(text)


def visit(text: str) -> None:
    address = parse_address(text)
    Rule().check(address.host, address.port)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://Example.COM", Address("https://example.com/", "https", "example.com", 443)),
        ("HTTP://example.com:80/a", Address("http://example.com/a", "http", "example.com", 80)),
        ("http://example.com:443/", Address("http://example.com:443/", "http", "example.com", 443)),
        ("https://example.com:/x", Address("https://example.com/x", "https", "example.com", 443)),
        ("https://example.com./x", Address("https://example.com./x", "https", "example.com", 443)),
        ("https://bücher.de/ü?ü", Address("https://xn--bcher-kva.de/%C3%BC?%C3%BC", "https", "xn--bcher-kva.de", 443)),
        ("https://例え.jp/", Address("https://xn--r8jz45g.jp/", "https", "xn--r8jz45g.jp", 443)),
        ("http://[2606:4700:0:0::1111]:81/", Address("http://[2606:4700::1111]:81/", "http", "2606:4700::1111", 81)),
        ("http://0x08080808/", Address("http://8.8.8.8/", "http", "8.8.8.8", 80)),
        ("https://example.com/a b", Address("https://example.com/a%20b", "https", "example.com", 443)),
        ("https://example.com/@user?q=a@b", Address("https://example.com/@user?q=a@b", "https", "example.com", 443)),
        ("https://example.com/?q=a\\b", Address("https://example.com/?q=a\\b", "https", "example.com", 443)),
        ("https://a_b.example.com/", Address("https://a_b.example.com/", "https", "a_b.example.com", 443)),
    ],
)  # fmt: skip
def test_addresses_come_in_canonical_form(text: str, address: Address) -> None:
    """What is read is what a browser would visit."""
    assert parse_address(text) == address
    Rule().check(address.host, address.port)


@pytest.mark.parametrize("text", ["example.com", "example.com/x?y", "example.com:8080", "localhost:3000/x"])
def test_a_bare_host_gets_a_hint(text: str) -> None:
    """Who forgets the scheme is told what to write."""
    with pytest.raises(InvalidRequest) as fault:
        parse_address(text)
    assert fault.value.hint == f"Write https://{text}"


def test_the_length_is_limited() -> None:
    """An address may have as many characters as the limit says, and no more."""
    longest = "https://example.com/".ljust(MAX_LENGTH, "x")
    assert parse_address(longest).url == longest
    with pytest.raises(InvalidRequest, match="limit is 8192"):
        parse_address(longest + "x")


@pytest.mark.parametrize("text", ["http://u:topsecret@example.com/", "u:topsecret@example.com", "ftp://u:topsecret@x/"])
def test_credentials_are_not_repeated(text: str) -> None:
    """A refusal does not repeat a password that stood in the address."""
    with pytest.raises(TabwrightError) as fault:
        parse_address(text)
    assert "topsecret" not in f"{fault.value.detail} {fault.value.hint}"


@pytest.mark.parametrize("text", ["https://u@example.com/", "https://example.com?a=b@c"])
def test_an_at_sign_before_the_path_is_forbidden(text: str) -> None:
    """Parsers disagree on where the host is in such an address, so it is refused even when its host is public."""
    with pytest.raises(AddressForbidden, match="@"):
        parse_address(text)


@pytest.mark.parametrize("host", PUBLIC_V4 + PUBLIC_V6)
def test_public_addresses_are_open(host: str) -> None:
    """The neighbours of the refused prefixes, and well-known public addresses, are open."""
    Rule().check(host, 80)
    Rule().check_answers("example.com", 80, [host])


@pytest.mark.parametrize(
    "prefix",
    [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16",
        "3fff::/20", "64:ff9b::/96", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ],
)  # fmt: skip
def test_special_prefixes_are_shut_from_end_to_end(prefix: str) -> None:
    """The first and the last address of each special-purpose prefix are refused, as literals and as answers."""
    network = ip_network(prefix)
    for ip in (str(network[0]), str(network[-1])):
        assert refused(Rule(), ip)
        with pytest.raises(AddressForbidden):
            Rule().check_answers("example.com", 80, [ip])


def test_every_answer_must_be_allowed() -> None:
    """One private address among public ones refuses the name, and so does no address at all or nonsense."""
    rule = Rule()
    rule.check_answers("example.com", 443, ["8.8.8.8", "2606:4700::1111"])
    for answers in (["8.8.8.8", "10.0.0.1"], ["::ffff:10.0.0.1"], ["fe80::1%2"], ["nonsense"], []):
        with pytest.raises(AddressForbidden):
            rule.check_answers("example.com", 443, answers)


def test_a_refusal_does_not_say_what_a_name_resolved_to() -> None:
    """Private, metadata and denied answers are refused in the same words, so that nobody can map the network."""
    words = set()
    for answer in ("10.1.2.3", "169.254.169.254", "8.8.8.8"):
        with pytest.raises(AddressForbidden) as fault:
            Rule(deny=["8.8.8.0/24"]).check_answers("intranet.example", 80, [answer])
        words.add((fault.value.detail, fault.value.hint))
    assert len(words) == 1
    assert "TABWRIGHT_NETWORK__ALLOW" in str(words)


@pytest.mark.parametrize(
    ("entry", "opened", "shut"),
    [
        ("10.0.0.0/8", [("10.9.8.7", 80), ("10.0.0.1", 9)], [("192.168.0.1", 80)]),
        ("10.0.0.5", [("10.0.0.5", 80)], [("10.0.0.6", 80)]),
        ("127.0.0.1:8000", [("127.0.0.1", 8000), ("localhost", 8000)], [("127.0.0.1", 80), ("localhost", 80)]),
        ("127.1:8000", [("127.0.0.1", 8000)], [("127.0.0.2", 8000)]),
        ("localhost", [("localhost", 80)], [("127.0.0.1", 80), ("a.localhost", 80)]),
        ("*.localhost:81", [("a.localhost", 81)], [("localhost", 81), ("a.localhost", 80)]),
        ("fd00:1::/32", [("fd00:1::5", 80)], [("fd00:2::5", 80)]),
        ("[fd00::1]:81", [("fd00::1", 81)], [("fd00::1", 80)]),
        ("fd00::1", [("fd00::1", 80)], [("fd00::2", 80)]),
        ("::ffff:10.0.0.0/104", [("10.0.0.5", 80), ("::ffff:10.0.0.5", 80)], [("192.168.0.1", 80)]),
        ("0.0.0.0/0", [("127.0.0.1", 80), ("10.0.0.1", 80)], [("::1", 80)]),
    ],
)  # fmt: skip
def test_allow_opens_what_it_names(entry: str, opened: list[tuple[str, int]], shut: list[tuple[str, int]]) -> None:
    """An entry opens the addresses and ports that it covers, and no others."""
    rule = Rule(allow=[entry])
    assert not [each for each in opened if refused(rule, *each)]
    assert all(refused(rule, *each) for each in shut)


@pytest.mark.parametrize(
    ("entry", "host", "port", "opens"),
    [
        ("wiki.corp", "wiki.corp", 80, True),
        ("WIKI.corp.", "wiki.corp", 80, True),
        ("wiki.corp:81", "wiki.corp", 81, True),
        ("wiki.corp:81", "wiki.corp", 80, False),
        ("wiki.corp", "a.wiki.corp", 80, False),
        ("*.corp", "a.b.corp", 80, True),
        ("*.corp", "corp", 80, False),
        ("*.corp", "evilcorp", 80, False),
        ("bücher.example", "xn--bcher-kva.example", 80, True),
        ("10.0.0.0/8", "wiki.corp", 80, True),
        ("10.0.0.5:80", "wiki.corp", 81, False),
    ],
)
def test_allow_opens_names_with_private_answers(entry: str, host: str, port: int, opens: bool) -> None:
    """A name in the list, or a prefix that covers its answers, opens a name that resolves to a private address."""
    rule = Rule(allow=[entry])
    rule.check(host, port)
    if opens:
        rule.check_answers(host, port, ["10.0.0.5"])
    else:
        with pytest.raises(AddressForbidden):
            rule.check_answers(host, port, ["10.0.0.5"])


@pytest.mark.parametrize(
    "ip",
    [
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254",
        "2002:a9fe:a9fe::", "::169.254.169.254", "fe80::a9fe:a9fe", "2606:4700::5efe:169.254.169.254",
    ],
)  # fmt: skip
def test_metadata_stays_shut(ip: str) -> None:
    """No entry of `allow` opens the addresses where clouds hand out credentials, nor a name that leads there."""
    rule = Rule(allow=[ip, "0.0.0.0/0", "::/0", "name.corp", "*.internal", "metadata.google.internal"])
    assert refused(rule, ip)
    assert refused(rule, "metadata.google.internal")
    with pytest.raises(AddressForbidden):
        rule.check_answers("name.corp", 80, [ip])


def test_embedded_addresses_are_judged_twice() -> None:
    """An operator may open a translation prefix; what lies behind it is still judged as itself."""
    rule = Rule(allow=["64:ff9b::/96"])
    rule.check("64:ff9b::8.8.8.8", 80)
    assert refused(rule, "64:ff9b::10.0.0.1")
    assert not refused(Rule(allow=["64:ff9b::/96", "10.0.0.0/8"]), "64:ff9b::10.0.0.1")


def test_deny_wins() -> None:
    """What `deny` covers is refused, public or allowed as it may be, by name and by answer."""
    rule = Rule(allow=["10.0.0.0/8", "a.corp"], deny=["10.0.0.5", "*.example.com", "a.corp:81", "8.8.0.0/16"])
    assert refused(rule, "10.0.0.5")
    assert not refused(rule, "10.0.0.6")
    assert refused(rule, "www.example.com", 443)
    assert refused(rule, "a.corp", 81)
    assert not refused(rule, "a.corp", 80)
    with pytest.raises(AddressForbidden):
        rule.check_answers("dns.google", 443, ["8.8.8.8"])


@pytest.mark.parametrize(
    "entry",
    ["", " ", "http://x", "x/y", "a:0", "a:b", "a:65536", "a:", ":80", "*", "*.", "*.*.x", "a*", "a b", "u@x",
     "10.0.0.1/8", "10.0.0.0/33", "::1/129", "[::1", "[::1]x", "[fd00::2:80", "::1]:80", "a..b"],
)  # fmt: skip
def test_a_malformed_entry_is_named(entry: str) -> None:
    """A typing error in the settings is refused with the entry in the message, in both lists."""
    for lists in ({"allow": ["ok.corp", entry]}, {"deny": [entry]}):
        with pytest.raises(ValueError, match="is not a host") as fault:
            Rule(**lists)
        assert repr(entry) in str(fault.value)


def test_exact_entries_are_recognised() -> None:
    """Only an entry with this host and port counts as meant for the port."""
    rule = Rule(allow=["127.0.0.1:8330", "a.corp:81", "10.0.0.0/8", "b.corp"])
    assert rule.allows_exactly("127.0.0.1", 8330)
    assert rule.allows_exactly("a.corp", 81)
    assert not rule.allows_exactly("127.0.0.1", 8331)
    assert not rule.allows_exactly("10.0.0.1", 80)
    assert not rule.allows_exactly("b.corp", 80)


@pytest.mark.parametrize("host", ["", "a/b", "a?b", "a#b", "a@b", "a:80", "[::1", "a b", ".", "..", "a" * 254])
def test_what_is_no_host(host: str) -> None:
    """Text that is not a host alone is not taken for one."""
    with pytest.raises(ValueError, match=r".*"):
        canonical_host(host)
