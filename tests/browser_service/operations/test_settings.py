"""Settings over REST: shown without secrets, changed all or not at all, tried before they are saved."""

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from browser_service.interfaces.logs import configure
from browser_service.service import Service
from browser_service.store import FILE
from search.settings import SECRETS, SearchSettings
from tests.browser_service.searxng import Instance, instance
from tests.conftest import Api, serving, settings_for
from tests.site import Site

__all__ = ["instance"]

CANARY = "canary-4711"
TEST = "/v1/settings/searxng/test"
TWELVE = {
    "searxng_enabled": False,
    "searxng_url": "",
    "searxng_engines": "",
    "searxng_language": "zh-CN",
    "searxng_safesearch": 1,
    "searxng_time_range": "",
    "searxng_max_results": 0,
    "searxng_auth_type": "bearer",
    "searxng_format": "json",
    "fetch_count": 0,
    "fetch_mode": "sequential",
}


class Client(Api):
    """A client of a service that has no browsers: settings need none."""

    async def change(self, values: dict[str, Any], status: int = 200) -> dict[str, Any]:
        """PATCH; the JSON of the answer, which must have this status."""
        answer = await self.http.patch("/v1/settings", json=values)
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    async def settings(self) -> dict[str, Any]:
        """GET: the settings by name."""
        return dict((await self.http.get("/v1/settings")).json()["settings"])


@pytest.fixture
async def client(site: Site, tmp_path: Path) -> AsyncIterator[Client]:
    """Of a service with no saved settings."""
    async with (
        serving(Service(settings_for(site, tmp_path, search={"engines": "bing"}))) as base,
        httpx.AsyncClient(base_url=base) as http,
    ):
        yield Client(http)


async def test_all_settings_have_value_source_and_description(client: Client) -> None:
    """The twelve of SearXNG by their names and defaults; of secrets only whether they are set."""
    shown = await client.settings()
    assert shown.keys() == SearchSettings.model_fields.keys()
    assert {name: shown[name]["value"] for name in TWELVE} == TWELVE
    assert shown["searxng_auth_key"]["set"] is False
    assert (shown["engines"]["source"], shown["ranking"]["source"]) == ("environment", "default")
    for name, item in shown.items():
        assert item["description"]
        assert item["variable"].startswith("TABWRIGHT_SEARCH__")
        assert ("value" in item) != (name in SECRETS)


async def test_a_change_is_saved_and_shown(client: Client, tmp_path: Path) -> None:
    """Null brings the default back; where the environment wins, the answer says so."""
    changed = await client.change({"searxng_time_range": "1w", "fetch_count": 3, "engines": "sogou"})
    assert (
        changed["settings"]["searxng_time_range"] | {"value": "week", "source": "saved"}
        == changed["settings"]["searxng_time_range"]
    )
    assert "TABWRIGHT_SEARCH__ENGINES" in changed["warnings"][0]
    assert (await client.settings())["fetch_count"]["value"] == 3
    assert (await client.change({"fetch_count": None}))["settings"]["fetch_count"]["source"] == "default"
    assert (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("searxng_url", "ftp://searx.example", "ftp:"),
        ("searxng_url", "https://u:p@searx.example", "@"),
        ("searxng_url", "https://searx.example/#x", "#"),
        ("searxng_url", "searx.example", "scheme"),
        ("searxng_url", "http://169.254.169.254/", "metadata"),
        ("searxng_url", 5, "string"),
        ("searxng_safesearch", 3, "0, 1 or 2"),
        ("searxng_safesearch", True, "0, 1 or 2"),
        ("searxng_time_range", "decade", "'day', 'week', 'month' or 'year'"),
        ("searxng_language", "zh CN", "zh-TW"),
        ("searxng_auth_key", f"{CANARY}\r\nX: y", "one line"),
        ("searxng_auth_key", [CANARY], "string"),
        ("searxng_auth_type", "digest", "'bearer' or 'basic'"),
        ("searxng_format", "xml", "'json' or 'html'"),
        ("fetch_count", 9, "less than or equal to 8"),
        ("fetch_mode", "best", "'sequential' or 'random'"),
        ("adapter", "altavista", "'tavily', 'brave'"),
        ("searxng_enabled", "perhaps", "boolean"),
        ("searxng_ulr", "x", "is searxng_url meant?"),
    ],
)
async def test_a_wrong_value_is_named_and_nothing_is_saved(client: Client, name: str, value: Any, said: str) -> None:
    """With what is allowed, also for programs; what was sent is not repeated."""
    problem = await client.change({"ranking": "weighted", name: value}, 422)
    assert name in problem["detail"]
    assert said in problem["detail"]
    assert problem["errors"][0]["field"] in {name, ""}
    assert CANARY not in json.dumps(problem)
    assert (await client.settings())["ranking"]["value"] == "rrf"


async def test_a_file_that_cannot_be_written_is_named(client: Client, tmp_path: Path) -> None:
    """And shown as trouble where settings are listed."""
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    problem = await client.change({"ranking": "weighted"}, 500)
    assert "cannot be written" in problem["detail"]
    assert "cannot be read" in (await client.http.get("/v1/settings")).json()["warnings"][0]


async def test_secrets_are_in_no_answer_and_no_log_line(
    client: Client, capsys: pytest.CaptureFixture[str], instance: Instance
) -> None:
    """Whichever route is asked, and when it fails, too."""
    handlers, level = logging.getLogger().handlers, logging.getLogger().level
    configure("debug", "json")
    try:
        texts = [json.dumps(await client.change({name: f"{CANARY}-{name}" for name in SECRETS}))]
        await client.change({"searxng_url": instance.url})
        bodies: tuple[dict[str, str], ...] = (
            {},
            {"searxng_auth_key": CANARY},
            {"searxng_auth_key": CANARY, "searxng_url": "http://[::1"},
        )
        texts += [(await client.http.post(TEST, json=body)).text for body in bodies]
        texts += [(await client.http.get(path)).text for path in ("/v1/settings", "/ui/settings")]
        texts.append(json.dumps(await client.change({"searxng_auth_key": CANARY, "fetch_count": 99}, 422)))
    finally:
        logging.getLogger().handlers, logging.getLogger().level = handlers, level
    assert texts[0].count('"set": true') == len(SECRETS)
    assert CANARY not in "".join(texts)
    assert CANARY not in capsys.readouterr().err
    assert f"Bearer {CANARY}" in instance.authorizations


async def test_a_masked_secret_stays_as_it_is(client: Client, instance: Instance) -> None:
    """As forms send it back; an empty one is taken away."""
    await client.change({"searxng_url": instance.url, "searxng_auth_key": CANARY})
    assert (await client.change({"searxng_auth_key": "********"}))["settings"]["searxng_auth_key"]["set"]
    await client.post(TEST, {"searxng_auth_key": "••••••"})
    assert instance.authorizations == [f"Bearer {CANARY}"]
    assert not (await client.change({"searxng_auth_key": ""}))["settings"]["searxng_auth_key"]["set"]


async def test_the_test_tries_the_body_over_what_is_set(client: Client, instance: Instance) -> None:
    """And saves nothing of it."""
    tried = await client.post(
        TEST, {"searxng_url": instance.url, "searxng_auth_key": "u:p", "searxng_auth_type": "basic"}
    )
    assert tried["ok"]
    assert (tried["status"], tried["results"], tried["engines"]) == (200, 1, ["bing"])
    assert tried["elapsed_ms"] >= 0
    assert instance.authorizations == ["Basic dTpw"]
    assert "q=test" in instance.paths[0]
    assert "format=json" in instance.paths[0]
    assert (await client.settings())["searxng_url"]["value"] == ""


async def test_the_saved_secret_is_not_tried_on_another_host(client: Client, instance: Instance) -> None:
    """The same address under another name is another host."""
    await client.change({"searxng_url": instance.url, "searxng_auth_key": CANARY})
    other = instance.url.replace("127.0.0.1", "localhost")
    tried = await client.post(TEST, {"searxng_url": other})
    assert instance.authorizations == [None]
    assert "searxng_auth_key was left out" in tried["warnings"][0]
    await client.post(TEST, {"searxng_url": other, "searxng_auth_key": "given"})
    assert instance.authorizations[1] == "Bearer given"


async def test_a_failed_test_says_what_to_do(client: Client, site: Site) -> None:
    """It is a result, not an error; without any address it is one."""
    refused = await client.post(TEST, {"searxng_url": "http://127.0.0.1:9"})
    assert (refused["ok"], refused["status"]) == (False, None)
    assert refused["advice"]
    site.route(lambda request: request.answer("<h1>403</h1>", status=403), "/shut/search")
    forbidden = await client.post(TEST, {"searxng_url": site.base + "/shut"})
    assert (forbidden["ok"], forbidden["status"]) == (False, 403)
    assert forbidden["advice"]
    assert "no address" in (await client.fails(TEST, {}, "invalid_request"))["detail"]


async def test_settings_need_the_scope_admin(site: Site, tmp_path: Path) -> None:
    """All three routes, where keys are configured."""
    keys = '[{"key": "eval-key-1", "scopes": ["eval"]}, {"key": "admin-key-1", "scopes": ["admin"]}]'
    service = Service(settings_for(site, tmp_path, api_keys=keys))
    async with serving(service) as base, httpx.AsyncClient(base_url=base) as http:
        for method, path in (("GET", "/v1/settings"), ("PATCH", "/v1/settings"), ("POST", TEST)):
            statuses = []
            for headers in ({}, {"Authorization": "Bearer eval-key-1"}, {"Authorization": "Bearer admin-key-1"}):
                body = None if method == "GET" else {"searxng_language": "en"}
                statuses.append((await http.request(method, path, json=body, headers=headers)).status_code)
            assert statuses == [401, 403, 422 if path == TEST else 200], path
