"""Each identity is one that exists: what it says of itself agrees with itself, and the first is our own Chromium."""

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from browser_service import finder
from stealth.headers import Header, navigation_headers
from stealth.identity import LANGUAGES, Identity, brands, identities
from stealth.launch import Kind, launch_options, prepare_profile

AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
FIVE = identities("156.0.8078.114", AGENT)
EACH = pytest.mark.parametrize("identity", FIVE, ids=lambda identity: identity.name)
SECURE = "https://example.com/a"
ADDED = {"Pragma", "Cache-Control", "DNT"}  # what a reload sends, and a wish for privacy


def headers(identity: Identity, url: str = SECURE, referer: str | None = None) -> dict[str, str]:
    """Its headers by name, in lower case."""
    language = identity.accept_language(LANGUAGES[0])
    return {name.lower(): value for name, value in navigation_headers(identity, language, url, referer)}


async def sent_by_chromium(kind: Kind, folder: Path, *urls: str) -> tuple[Identity, list[list[Header]]]:
    """What the installed browser itself sends for these, and the identity that is made from what it says of itself."""
    heads: dict[str, str] = {}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, _, rest = (await reader.readuntil(b"\r\n\r\n")).decode().partition("\r\n")
        heads[line.split()[1]] = rest
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server, async_playwright() as playwright:
        executable = finder.find(kind).executable
        options = launch_options(
            kind,
            executable,
            sandbox=finder.sandbox_likely(executable)[0],
            proxy_server=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}",
            profile=prepare_profile(folder),
        )
        browser = await playwright.chromium.launch(**options)
        page = await browser.new_page()
        for url in urls:
            await page.goto(url)
        first = identities(browser.version, str(await page.evaluate("navigator.userAgent")))[0]
        await browser.close()
    lines = [[line.split(": ", 1) for line in heads[url].split("\r\n") if line] for url in urls]
    return first, [
        [(name, value) for name, value in each if name not in {"Host", "Proxy-Connection"}] for each in lines
    ]


@pytest.mark.parametrize("kind", ["full", "light"])
async def test_the_first_is_our_own_chromium(kind: Kind, tmp_path: Path) -> None:
    """Names, order and values are those that the browser of phase 3 sends, to trustworthy sites and to others."""
    urls = ("http://127.0.0.1:81/", "http://example.test/")
    identity, sent = await sent_by_chromium(kind, tmp_path, *urls)
    for url, theirs in zip(urls, sent, strict=True):
        ours = [each for each in navigation_headers(identity, "en-US,en;q=0.9", url) if each[0] not in ADDED]
        if kind == "light":  # the headless shell has no languages
            ours = [each for each in ours if each[0] != "Accept-Language"]
        assert ours == theirs


def test_there_are_five() -> None:
    """Desktop Chromium, Edge, Safari, Firefox and mobile Chrome, no two the same."""
    assert [each.name for each in FIVE] == ["chromium", "edge", "safari", "firefox", "mobile_chrome"]
    assert len({each.user_agent for each in FIVE}) == 5
    assert FIVE[0].user_agent == AGENT
    assert [each.mobile for each in FIVE] == [False, False, False, False, True]


@EACH
def test_client_hints_agree_with_the_user_agent(identity: Identity) -> None:
    """Only Chromium's family has them; version, platform and form agree with the user agent."""
    sent = headers(identity)
    assert ("sec-ch-ua" in sent) == (identity.family == "chromium")
    if identity.family == "chromium":
        assert f'"Chromium";v="{identity.version}"' in sent["sec-ch-ua"]
        assert f"Chrome/{identity.version}." in sent["user-agent"]
        assert sent["sec-ch-ua-mobile"] == ("?1" if "Mobile" in sent["user-agent"] else "?0")
        assert sent["sec-ch-ua-platform"].strip('"') in sent["user-agent"]
    assert ("Microsoft Edge" in sent.get("sec-ch-ua", "")) == ("Edg/" in sent["user-agent"])


@EACH
def test_headers_of_a_navigation(identity: Identity) -> None:
    """All say that a person entered the address; none invents a page that they came from; DNT is not Safari's."""
    sent = headers(identity)
    assert (sent["sec-fetch-dest"], sent["sec-fetch-mode"], sent["sec-fetch-site"]) == ("document", "navigate", "none")
    assert sent["accept"].startswith("text/html,application/xhtml+xml,")
    assert (sent["cache-control"], sent["pragma"]) == ("no-cache", "no-cache")
    assert "referer" not in sent
    assert ("dnt" in sent) == (identity.family != "safari")
    assert sent["accept-encoding"].startswith("gzip, deflate, br")


@EACH
def test_what_can_be_listened_to_gets_less(identity: Identity) -> None:
    """To plain http elsewhere no browser sends client hints or fetch metadata; on this machine it does."""
    sent = headers(identity, "http://example.com/")
    assert not [name for name in sent if name.startswith(("sec-", "priority"))]
    assert sent["accept-encoding"] == "gzip, deflate"
    for local in ("http://localhost:8000/", "http://127.0.0.1/", "http://[::1]/", "http://a.localhost/"):
        assert headers(identity, local)["sec-fetch-mode"] == "navigate"


@pytest.mark.parametrize(
    ("referer", "site"),
    [
        ("https://example.com/b", "same-origin"),
        ("https://www.example.com/", "same-site"),
        ("http://other.example/", "cross-site"),
    ],
)
@EACH
def test_a_referer_is_no_contradiction(identity: Identity, referer: str, site: str) -> None:
    """Where the visitor comes from another page, the metadata says how the two are related."""
    sent = headers(identity, referer=referer)
    assert (sent["referer"], sent["sec-fetch-site"]) == (referer, site)


def test_languages_as_each_browser_weighs_them() -> None:
    """Chromium and Safari take a tenth off for each language, Firefox spreads the weights evenly."""
    mixed = LANGUAGES[1]
    for identity in FIVE:
        assert re.fullmatch(r"zh-CN(,[A-Za-z-]+;q=0\.[0-9])+", identity.accept_language(mixed))
    assert FIVE[0].accept_language(LANGUAGES[0]) == "en-US,en;q=0.9"
    assert FIVE[0].accept_language(mixed) == "zh-CN,zh;q=0.9,en-US;q=0.8,en;q=0.7"
    assert FIVE[3].accept_language(LANGUAGES[0]) == "en-US,en;q=0.5"
    assert FIVE[3].accept_language(mixed) == "zh-CN,zh;q=0.8,en-US;q=0.5,en;q=0.3"


def test_brands_by_version() -> None:
    """Order and made-up name change with the version as Chromium's do."""
    assert brands(156) == (("Not:A-Brand", "8"), ("Chromium", "156"))
    assert brands(131, "Google Chrome") == (("Google Chrome", "131"), ("Chromium", "131"), ("Not_A Brand", "24"))


@pytest.mark.parametrize("version", ["120.0", "156.0.8078.114", "200.1.2.3"])
def test_versions_go_together(version: str) -> None:
    """The others are as new as the Chromium beside them."""
    major = int(version.partition(".")[0])
    for identity in identities(version, AGENT):
        assert identity.version in identity.user_agent or identity.name == "chromium"
        if identity.family != "safari":
            assert abs(int(identity.version.partition(".")[0]) - major) <= 2
