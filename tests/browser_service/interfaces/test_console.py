"""The console in a real browser: the settings dialog, by mouse and by keyboard, and who may use it."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, expect

from browser_service.service import Service
from tests.browser_service.searxng import Instance, instance
from tests.browser_service.tab.chromium import launched
from tests.conftest import serving, settings_for
from tests.site import Site

__all__ = ["instance"]

CANARY = "canary-4711"
KEYS = '[{"name": "boss", "key": "admin-key-1", "scopes": ["admin"]}, {"key": "plain-key-1"}]'


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """The light one: nothing here depends on the kind."""
    async with launched("light") as browser:
        yield browser


class Console:
    """The page of settings of a service of its own."""

    def __init__(self, page: Page, base: str, service: Service) -> None:
        self.page = page
        self.base = base
        self.service = service
        self.faults: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda fault: self.faults.append(str(fault)))

    def _note(self, message: ConsoleMessage) -> None:
        refused = "status of 422" in message.text  # Chromium reports that by itself
        if message.type == "error" and not refused:
            self.faults.append(message.text)

    async def open(self) -> None:
        """Open the page and, from the toolbar, the dialog."""
        await self.page.goto(self.base + "/ui/settings")
        await self.page.get_by_role("banner").get_by_role("button", name="SearXNG").click()

    async def saved(self) -> dict[str, Any]:
        """What is in force for the service."""
        return (await self.service.saved.search_settings()).model_dump()


@pytest.fixture
async def console(browser: Browser, site: Site, tmp_path: Path) -> AsyncIterator[Console]:
    """Of a service without keys, whose environment fixes one setting."""
    service = Service(settings_for(site, tmp_path, search={"searxng_language": "fr"}))
    context = await browser.new_context(color_scheme="dark", viewport={"width": 375, "height": 740})
    async with serving(service) as base:
        console = Console(await context.new_page(), base, service)
        yield console
        await context.close()
    assert console.faults == []


async def test_the_switch_saves_at_once_and_wants_an_address(console: Console, instance: Instance) -> None:
    """Without one it goes back and says why; with one the dot is green and the badge says so."""
    await console.open()
    page = console.page
    switch, address = page.get_by_role("switch", name="Use SearXNG"), page.get_by_label("Address", exact=True)
    await switch.click()
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("an address is needed")
    await expect(switch).not_to_be_checked()
    await expect(address).to_have_attribute("aria-invalid", "true")
    await address.fill(instance.url)
    await switch.click()
    await expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("Saved.")
    await expect(page.get_by_role("dialog").get_by_text("enabled", exact=True)).to_be_visible()
    await expect(page.locator("header .dot")).to_have_css("background-color", "rgb(76, 197, 128)")
    assert (await console.saved())["searxng_enabled"] is True
    await switch.click()
    await expect(page.locator("header .dot")).to_have_css("background-color", "rgb(106, 117, 131)")
    assert (await console.saved())["searxng_enabled"] is False


async def test_everything_in_the_dialog_is_saved(console: Console) -> None:
    """Each control under its own name; what was not touched is not saved."""
    await console.open()
    page = console.page
    await page.get_by_label("Address", exact=True).fill("https://searx.example/")
    await page.get_by_label("Engines", exact=True).fill("google, bing")
    for name, words in {
        "Safe search": "2 – strict",
        "Time range": "Week",
        "Format": "HTML (raw)",
        "Order": "Random",
        "Authentication": "Basic (user:password)",
    }.items():
        await page.get_by_label(name, exact=True).select_option(words)
    await page.get_by_label("Results", exact=True).fill("20")
    await page.get_by_label("Pages to fetch").fill("4")
    await page.get_by_label("Key", exact=True).fill(CANARY)
    await page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("Saved.")
    saved = await console.saved()
    assert saved["searxng_auth_key"].get_secret_value() == CANARY
    del saved["searxng_auth_key"]
    wanted = {
        "searxng_url": "https://searx.example/",
        "searxng_engines": "google,bing",
        "searxng_safesearch": 2,
        "searxng_time_range": "week",
        "searxng_format": "html",
        "fetch_mode": "random",
        "searxng_auth_type": "basic",
        "searxng_max_results": 20,
        "fetch_count": 4,
    }
    assert wanted.items() <= saved.items()
    sources = (await console.service.saved.effective()).sources
    assert {name for name, source in sources.items() if source == "saved"} == {*wanted, "searxng_auth_key"}
    await page.reload()
    assert CANARY not in await page.content()
    await expect(page.locator("#searxng_auth_key")).to_have_attribute("placeholder", re.compile("^set"))


async def test_wrong_values_are_listed_and_lead_to_their_fields(console: Console) -> None:
    """Those that the browser knows and those that only the service knows."""
    await console.open()
    page = console.page
    save = page.get_by_role("dialog").get_by_role("button", name="Save", exact=True)
    await page.get_by_label("Pages to fetch").fill("9")
    await save.click()
    alert = page.get_by_role("dialog").get_by_role("alert")
    await alert.get_by_role("link", name="Pages to fetch").click()
    await expect(page.get_by_label("Pages to fetch")).to_be_focused()
    await page.get_by_label("Pages to fetch").fill("0")
    await page.get_by_label("Address", exact=True).fill("ftp://searx.example")
    await save.click()
    await expect(alert.get_by_role("link", name="Address")).to_be_visible()
    await expect(page.get_by_label("Address", exact=True)).to_have_accessible_description(re.compile("ftp:"))
    assert (await console.saved())["searxng_url"] == ""


async def test_the_connection_is_tried_with_what_is_typed(console: Console, instance: Instance) -> None:
    """Its time and advice are shown; nothing is saved."""
    await console.open()
    page = console.page
    status = page.get_by_role("dialog").get_by_role("status")
    await page.get_by_label("Address", exact=True).fill(instance.url)
    await page.get_by_label("Key", exact=True).fill(CANARY)
    await page.get_by_role("button", name="Test connection").click()
    await expect(status).to_contain_text(re.compile(r"✓ .* HTTP 200 · \d+ ms"))
    assert instance.authorizations == [f"Bearer {CANARY}"]
    await page.get_by_label("Address", exact=True).fill("http://127.0.0.1:9")
    await page.get_by_role("button", name="Test connection").click()
    await expect(status).to_contain_text("✗")
    await expect(status.locator(".advice")).not_to_be_empty()
    assert (await console.saved())["searxng_url"] == ""


async def test_what_the_environment_fixes_is_shown_and_cannot_be_changed(console: Console) -> None:
    """With the reason, as its description."""
    await console.open()
    language = console.page.get_by_label("Language")
    await expect(language).to_be_disabled()
    await expect(language).to_have_value("fr")
    await expect(language).to_have_accessible_description(re.compile("TABWRIGHT_SEARCH__SEARXNG_LANGUAGE"))


async def test_the_dialog_is_used_by_keyboard(console: Console) -> None:
    """Opened, filled, saved by Enter, left by Escape; the focus returns to where it was."""
    page = console.page
    await page.goto(console.base + "/ui/settings")
    opener = page.get_by_role("banner").get_by_role("button", name="SearXNG")
    await opener.focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Engines", exact=True).focus()
    await page.keyboard.type("google")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("Saved.")
    assert (await console.saved())["searxng_engines"] == "google"
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(opener).to_be_focused()


async def test_nothing_is_wider_than_a_small_screen(console: Console) -> None:
    """Page and dialog at 375 pixels; every control has a name."""
    await console.open()
    assert await console.page.evaluate("document.documentElement.scrollWidth") == 375
    assert await console.page.evaluate("(d => d.scrollWidth <= d.clientWidth)(document.querySelector('dialog'))")
    unnamed = "[...document.querySelectorAll('input, select')].filter(each => !each.labels.length).map(each => each.id)"
    assert await console.page.evaluate(unnamed) == []


async def test_markup_in_a_setting_stays_text(console: Console) -> None:
    """Values are escaped, and the policy lets no script in."""
    await console.service.saved.change({"searxng_engines": '"><script>document.title = "owned"</script>'})
    await console.open()
    assert await console.page.title() == "Settings · Tabwright"
    await expect(console.page.get_by_label("Engines", exact=True)).to_have_value(re.compile("<script>"))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://127.0.0.1:9"},
        {"Origin": "http://localhost"},
        {"Origin": "{base}", "Sec-Fetch-Site": "same-site"},
    ],
)
async def test_calls_of_other_pages_are_refused(console: Console, headers: dict[str, str]) -> None:
    """Also of those on another port of the same host, which a browser calls the same site."""
    given = {name: value.replace("{base}", console.base) for name, value in headers.items()}
    async with httpx.AsyncClient(base_url=console.base, headers=given) as http:
        for method, path in (("PATCH", "/ui/v1/settings"), ("POST", "/ui/v1/settings/searxng/test")):
            answer = await http.request(method, path, json={"searxng_url": "http://127.0.0.1:9"})
            assert answer.status_code == 403, path
        assert (await http.post("/ui/logout")).status_code == 403
    assert (await console.saved())["searxng_url"] == ""


async def test_bodies_that_are_no_json_are_refused(console: Console) -> None:
    """A form of another site can send nothing else without being asked first."""
    async with httpx.AsyncClient(base_url=console.base, headers={"Origin": console.base}) as http:
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            answer = await http.patch("/ui/v1/settings", content='{"fetch_count": 3}', headers={"Content-Type": kind})
            assert answer.status_code == 422
    assert (await console.saved())["fetch_count"] == 0


async def test_pages_say_what_they_may_load(console: Console) -> None:
    """Nothing inline, nothing of others, in no frame, kept by no cache."""
    async with httpx.AsyncClient(base_url=console.base) as http:
        for path in ("/ui/settings", "/ui/login"):
            headers = (await http.get(path)).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["cache-control"] == "no-store"


async def test_a_key_is_exchanged_for_a_cookie(browser: Browser, site: Site, tmp_path: Path) -> None:
    """Wrong keys and keys without admin are told; the cookie is for /ui alone and ends with the logout."""
    service = Service(settings_for(site, tmp_path, api_keys=KEYS))
    context = await browser.new_context()
    page = await context.new_page()
    async with serving(service) as base:
        await page.goto(base + "/ui/settings")
        for key, said in (("wrong-key", "not known"), ("plain-key-1", "scope admin"), ("admin-key-1", None)):
            await page.get_by_label("API key").fill(key)
            await page.get_by_role("button", name="Log in").click()
            if said:
                await expect(page.get_by_role("alert")).to_contain_text(said)
        await expect(page).to_have_url(base + "/ui/settings")
        (cookie,) = await context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/ui")
        assert "admin-key-1" not in cookie["value"]
        await page.get_by_label("Ranking").select_option("weighted")
        await page.get_by_role("button", name="Save").first.click()
        await expect(page.get_by_role("status").first).to_have_text("Saved.")
        given = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        async with httpx.AsyncClient(base_url=base, headers=given | {"Origin": base}) as http:
            assert (await http.get("/v1/settings")).status_code == 401
            assert (await http.patch("/ui/v1/settings", json={"fetch_count": 1})).status_code == 200
            await page.get_by_role("button", name="Log out").click()
            await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
            assert (await http.patch("/ui/v1/settings", json={"fetch_count": 2})).status_code == 401
    await context.close()
    assert (await service.saved.search_settings()).fetch_count == 1
