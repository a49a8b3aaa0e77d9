"""Where redirects lead, what is taken along, and what stays behind."""

from collections.abc import AsyncIterator

import pytest

from fetch.errors import AddressForbidden, NavigationFailed
from fetch.http import MAX_REDIRECTS
from fetch.page import Cookie
from tests.browser_service.egress_servers import Wire
from tests.fetch.http_server import Asked, Visitor, answer, raw_site, redirect, visitor


@pytest.fixture(scope="module")
async def guest() -> AsyncIterator[Visitor]:
    """A client that may go anywhere on this machine."""
    async with visitor() as guest:
        yield guest


async def reason(guest: Visitor, url: str) -> object:
    """Why the address could not be loaded."""
    with pytest.raises(NavigationFailed) as caught:
        await guest.get(url)
    return caught.value.about["reason"]


async def test_redirects_are_followed(guest: Visitor) -> None:
    """Relative and absolute, of every kind, to the page at their end; the fragment stays."""
    behaviours = {
        "/a/b": redirect("../c?d", status="301 Moved"),
        "/c?d": redirect("//127.0.0.1:PORT/e", status="307 Temporary Redirect"),
        "/e": answer("here"),
    }
    async with raw_site(behaviours) as site:
        behaviours["/c?d"] = redirect(f"//127.0.0.1:{site.port}/e", status="307 Temporary Redirect")
        page = await guest.get(f"{site.url}/a/b#f")
    assert (page.url, page.body) == (f"{site.url}/e#f", b"here")
    assert page.redirects == ((f"{site.url}/a/b#f", 301), (f"{site.url}/c?d#f", 307))
    assert len(site.wires) == 1


async def test_a_redirect_to_itself_with_a_cookie(guest: Visitor) -> None:
    """A site that sends us back with a cookie finds it, and the page tells which were set."""

    async def ask_back(wire: Wire, asked: Asked) -> None:
        known = asked["cookie"] == "seen=1"
        back = redirect("/", "Set-Cookie: seen=1; Path=/; HttpOnly", "Set-Cookie: gone=1; Max-Age=0")
        await wire.send((answer("welcome") if known else back).data)

    async with raw_site(ask_back) as site:
        page = await guest.get(f"{site.url}/")
        assert (page.body, page.redirects) == (b"welcome", ((f"{site.url}/", 302),))
        assert page.cookies == (Cookie("seen", "1", "127.0.0.1", http_only=True),)
        assert (await guest.get(f"{site.url}/", attempt=1)).cookies == ()
        assert [each["cookie"] for each in site.asked] == [None, "seen=1", None, "seen=1"]


async def test_redirects_without_an_end(guest: Visitor) -> None:
    """A circle is noticed early, a road that goes on and on after as many as a browser follows."""

    async def further(wire: Wire, asked: Asked) -> None:
        await wire.send(redirect(f"{asked.path}x").data)

    async with raw_site({"/": redirect("/b"), "/b": redirect("/")}) as site:
        assert await reason(guest, f"{site.url}/") == "redirect_loop"
        assert len(site.asked) < 8
    async with raw_site({"/" + "x" * number: further for number in range(50)}) as site:
        assert await reason(guest, f"{site.url}/") == "redirect_loop"
        assert len(site.asked) == MAX_REDIRECTS + 1


@pytest.mark.parametrize(
    "location", ["http://10.0.0.1/", "http://169.254.169.254/x", "file:///etc/passwd", "http://a:b@c/"]
)
async def test_redirects_to_where_nobody_may_go(guest: Visitor, location: str) -> None:
    """The rule is asked about each hop; the error names the way there."""
    async with raw_site(redirect(location)) as site:
        with pytest.raises(AddressForbidden, match=r"redirects elsewhere|refuses"):
            await guest.get(f"{site.url}/")
        assert len(site.asked) == 1


@pytest.mark.parametrize(("location", "kind"), [("http://", "bad_redirect"), ("http://a b/", "bad_redirect")])
async def test_redirects_to_nothing(guest: Visitor, location: str, kind: str) -> None:
    """A redirect to what is no address is a failure of the site."""
    async with raw_site(redirect(location)) as site:
        assert await reason(guest, f"{site.url}/") == kind


async def test_answers_that_are_no_redirects(guest: Visitor) -> None:
    """A redirect that names no place, and a Location with another status, are pages."""
    behaviours = {"/": answer("here", status="302 Found"), "/made": redirect("/x", status="201 Created")}
    async with raw_site(behaviours) as site:
        assert (await guest.get(f"{site.url}/")).body == b"here"
        assert (await guest.get(f"{site.url}/made")).status == 201


async def test_secrets_stay_with_their_site(guest: Visitor) -> None:
    """Another site gets neither credentials nor cookies nor headers that no browser sends; the same one does."""
    given = {"Authorization": "Basic eA==", "X-Api-Key": "k", "Cookie": "own=1", "Accept-Language": "fr"}
    routes = {"/": redirect("/same"), "/same": redirect("http://other.here:PORT/there"), "/there": answer("there")}
    async with raw_site(routes) as site:
        routes["/same"] = redirect(f"http://other.here:{site.port}/there", "Set-Cookie: set=1")
        cookies = [Cookie("given", "1", "one.here"), Cookie("wide", "1", ".here")]
        await guest.get(f"http://one.here:{site.port}/", headers=given, cookies=cookies)
    same, other = site.asked[1], site.asked[2]
    assert (same["authorization"], same["x-api-key"], same["cookie"]) == ("Basic eA==", "k", "own=1; given=1; wide=1")
    assert (other["authorization"], other["x-api-key"], other["cookie"]) == (None, None, "wide=1")
    assert other["accept-language"] == "fr"
