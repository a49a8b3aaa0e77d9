"""Saved settings: what is in force, where it came from, and what becomes of secrets."""

import asyncio
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from browser_service.errors import InvalidRequest
from browser_service.saved import FRESH_S, Saved
from browser_service.settings import load_settings
from browser_service.store import FILE

KEY = "a key that encrypts"
CANARY = "canary-4711"
HERE, THERE = "https://searx.example", "https://other.example"


def saved_in(folder: Path, key: str | None = None, **search: Any) -> Saved:
    """Those of a service of its own on this folder; `search` is what its environment fixes."""
    return Saved(load_settings(data_dir=folder, secret_key=key, search=search))


def bytes_in(folder: Path) -> bytes:
    """All that lies on the disk."""
    return b"".join(each.read_bytes() for each in folder.iterdir())


async def test_environment_wins_over_saved_and_saved_over_default(tmp_path: Path) -> None:
    """Each value says where it came from; one that the environment fixes is saved all the same."""
    saved = saved_in(tmp_path, ranking="weighted")
    found, warnings = await saved.change({"ranking": "rrf", "fetch_count": 3})
    assert (found.settings.ranking, found.settings.fetch_count, found.settings.engines) == ("weighted", 3, "")
    assert [found.sources[name] for name in ("ranking", "fetch_count", "engines")] == [
        "environment",
        "saved",
        "default",
    ]
    assert "TABWRIGHT_SEARCH__RANKING in the environment wins" in warnings[0]
    assert (await saved_in(tmp_path).search_settings()).ranking == "rrf"


async def test_a_change_acts_at_once_and_in_another_process_soon(tmp_path: Path) -> None:
    """Here without a wait, there when what it knows is no longer fresh."""
    ours, theirs = saved_in(tmp_path), saved_in(tmp_path)
    assert (await theirs.search_settings()).fetch_count == 0
    await ours.change({"fetch_count": 5})
    assert (await ours.search_settings()).fetch_count == 5
    async with asyncio.timeout(FRESH_S + 1):
        while (await theirs.search_settings()).fetch_count != 5:
            await asyncio.sleep(0.01)


async def test_what_does_not_go_together_is_not_saved(tmp_path: Path) -> None:
    """Nothing of it; and the address cannot be taken away while it is needed."""
    saved = saved_in(tmp_path)
    with pytest.raises(InvalidRequest, match="searxng_url: an address is needed"):
        await saved.change({"searxng_enabled": True, "fetch_count": 5})
    assert (await saved.search_settings()).fetch_count == 0
    await saved.change({"searxng_enabled": True, "searxng_url": HERE})
    with pytest.raises(InvalidRequest, match="searxng_url"):
        await saved.change({"searxng_url": None})
    assert (await saved.search_settings()).searxng_url == HERE


async def test_none_brings_back_the_default(tmp_path: Path) -> None:
    """Of a secret, too."""
    saved = saved_in(tmp_path)
    await saved.change({"fetch_count": 5, "brave_api_key": SecretStr(CANARY)})
    found, _ = await saved.change({"fetch_count": None, "brave_api_key": None})
    assert (found.settings.fetch_count, found.sources["fetch_count"]) == (0, "default")
    assert found.settings.brave_api_key.get_secret_value() == ""
    assert CANARY.encode() not in bytes_in(tmp_path)


async def test_secrets_are_encrypted_under_a_key(tmp_path: Path) -> None:
    """And come back with it alone."""
    await saved_in(tmp_path, KEY).change({"brave_api_key": SecretStr(CANARY)})
    assert CANARY.encode() not in bytes_in(tmp_path)
    assert (await saved_in(tmp_path, KEY).search_settings()).brave_api_key.get_secret_value() == CANARY


@pytest.mark.parametrize(("key", "said"), [(None, "TABWRIGHT_SECRET_KEY is not set"), ("another key", "under another")])
async def test_under_another_key_a_secret_counts_as_not_set(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, key: str | None, said: str
) -> None:
    """It says why, and is there again when the key is; other settings are not touched by it."""
    await saved_in(tmp_path, KEY).change({"brave_api_key": SecretStr(CANARY), "fetch_count": 2})
    saved = saved_in(tmp_path, key)
    found, warnings = await saved.change({"ranking": "weighted"})
    assert found.settings.brave_api_key.get_secret_value() == ""
    assert found.settings.fetch_count == 2
    assert said in found.notes["brave_api_key"]
    assert any(said in each for each in warnings)
    assert sum(said in each.message for each in caplog.records) == 1
    assert (await saved_in(tmp_path, KEY).search_settings()).brave_api_key.get_secret_value() == CANARY


async def test_without_a_key_secrets_are_kept_in_plain_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Once in the log; never the secret itself."""
    saved = saved_in(tmp_path)
    with caplog.at_level(logging.DEBUG):
        for _ in range(2):
            _, warnings = await saved.change({"brave_api_key": SecretStr(CANARY)})
            assert "TABWRIGHT_SECRET_KEY" in warnings[0]
    assert sum("not encrypted" in each.message for each in caplog.records) == 1
    assert CANARY not in caplog.text
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


async def test_a_key_that_is_set_later_encrypts_what_is_there(tmp_path: Path) -> None:
    """At the next start, and nothing of the plain text is left in the file."""
    await saved_in(tmp_path).change({"brave_api_key": SecretStr(CANARY)})
    assert CANARY.encode() in bytes_in(tmp_path)
    await saved_in(tmp_path, KEY).protect()
    assert CANARY.encode() not in bytes_in(tmp_path)
    assert (await saved_in(tmp_path, KEY).search_settings()).brave_api_key.get_secret_value() == CANARY


async def test_a_secret_goes_only_to_the_host_it_was_saved_with(tmp_path: Path) -> None:
    """With another address it counts as not set, until the first is back or it is given again."""
    saved = saved_in(tmp_path)
    await saved.change({"searxng_url": HERE + "/a", "searxng_auth_key": SecretStr(CANARY)})
    moved, warnings = await saved.change({"searxng_url": THERE})
    assert moved.settings.searxng_auth_key.get_secret_value() == ""
    assert "searxng.example" not in warnings[0]
    assert HERE in warnings[0]
    back, _ = await saved.change({"searxng_url": HERE + "/b"})
    assert back.settings.searxng_auth_key.get_secret_value() == CANARY
    fixed = await saved_in(tmp_path, searxng_url=THERE).search_settings()
    assert fixed.searxng_auth_key.get_secret_value() == ""


async def test_a_secret_that_came_before_its_address_belongs_to_the_first_one(tmp_path: Path) -> None:
    """It is no key for whatever comes later."""
    saved = saved_in(tmp_path, KEY)
    await saved.change({"searxng_auth_key": SecretStr(CANARY)})
    first, _ = await saved.change({"searxng_url": HERE})
    second, _ = await saved.change({"searxng_url": THERE})
    assert first.settings.searxng_auth_key.get_secret_value() == CANARY
    assert second.settings.searxng_auth_key.get_secret_value() == ""


async def test_a_gateway_that_is_saved_later_does_not_get_the_key(tmp_path: Path) -> None:
    """The same for the other services."""
    saved = saved_in(tmp_path)
    await saved.change({"tavily_api_key": SecretStr(CANARY)})
    found, _ = await saved.change({"tavily_base_url": THERE})
    assert found.settings.tavily_api_key.get_secret_value() == ""


@pytest.mark.parametrize(("auth_type", "said"), [("basic", "is refused"), ("bearer", "can be read on the way")])
async def test_a_key_over_plain_http_is_warned_of(tmp_path: Path, auth_type: str, said: str) -> None:
    """Beyond this machine."""
    saved = saved_in(tmp_path, KEY)
    given = {"searxng_auth_key": SecretStr("u:p"), "searxng_auth_type": auth_type}
    _, here = await saved.change(given | {"searxng_url": "http://127.0.0.1:8888"})
    _, beyond = await saved.change(given | {"searxng_url": "http://searx.example"})
    assert here == []
    assert said in beyond[0]


async def test_rows_that_are_not_valid_count_as_not_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One row of another version, or of a hand that slipped, spoils nothing else."""
    saved = saved_in(tmp_path)
    await saved.change({"fetch_count": 5, "ranking": "weighted"})
    with sqlite3.connect(saved._store.path) as connection:
        rows = [("fetch_count", "99"), ("engines", "{no json"), ("brave_api_key", "plain:[1]"), ("unknown", "1")]
        connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)
    connection.close()
    settings = await saved_in(tmp_path).search_settings()
    assert (settings.fetch_count, settings.engines, settings.ranking) == (0, "", "weighted")
    assert "fetch_count is not valid" in caplog.text


async def test_a_damaged_file_leaves_the_defaults_and_says_so(tmp_path: Path) -> None:
    """Searching goes on."""
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    found = await saved_in(tmp_path).effective()
    assert found.settings.searxng_language == "zh-CN"
    assert "cannot be read" in found.trouble
