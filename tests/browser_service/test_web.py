"""What fetching shares between calls: ways out, clearances."""

import asyncio
import time

from browser_service.egress import Egress, Rotation
from browser_service.settings import FetchSettings
from browser_service.web import Web
from fetch.address import Rule
from fetch.http import Errand
from fetch.page import Cookie
from stealth.identity import identities
from tests.site import Site
from tests.stealth.recording_proxy import RecordingProxy

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
RULE = Rule(allow=["127.0.0.1"])


async def test_proxies_of_the_settings_carry_plain_http_too(site: Site) -> None:
    """Each call takes the next one; none goes past them, and no way out is left open."""
    url = site.page("<p>Through a proxy</p>")
    async with RecordingProxy() as one, RecordingProxy() as two, Egress(RULE) as egress:
        rotation = Rotation([one.server, two.server])
        async with Web(FetchSettings(), egress, RULE, rotation) as web:
            for _ in range(2):
                async with web.route(None) as route:
                    errand = Errand(url, route, identities("156.0", CHROME))
                    page = await web.http.fetch(errand, deadline=asyncio.get_running_loop().time() + 10)
                assert page.status == 200
        assert (len(one.asked), len(two.asked)) == (1, 1)


async def test_a_clearance_is_kept_until_its_cookies_expire() -> None:
    """For the caller, host and proxy that it was given to."""
    now = time.time()
    cookies = (Cookie("old", "1", "a.example", expires=now - 1), Cookie("new", "2", "a.example", expires=now + 60))
    async with Egress(RULE) as egress, Web(FetchSettings(), egress, RULE, Rotation([])) as web:
        web.keep_clearance(("me", "a.example"), cookies)
        assert [each.name for each in web.clearance(("me", "a.example"))] == ["new"]
        assert web.clearance(("you", "a.example")) == ()
