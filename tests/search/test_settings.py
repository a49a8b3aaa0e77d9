"""The settings of search: what they take, and how it is written down."""

from typing import Any

import pytest
from pydantic import ValidationError

from search.settings import ALIASES, HOMES, SECRETS, SearchSettings, origin


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("searxng_url", " http://127.0.0.1:8888 ", "http://127.0.0.1:8888"),
        ("searxng_url", "http://[::1]:8888/sx/search", "http://[::1]:8888/sx/search"),
        ("searxng_engines", "google news , bing,", "google news,bing"),
        ("searxng_time_range", "1d", "day"),
        ("searxng_time_range", "一周", "week"),
        ("searxng_time_range", "any", ""),
        ("searxng_safesearch", "2", 2),
        ("searxng_language", "zh-Hant-TW", "zh-Hant-TW"),
        ("adapter", "API", "anthropic"),
        ("engines", "Bing, so360", "bing,so360"),
        ("searxng_enabled", "true", True),
    ],
)
def test_values_are_read_as_they_are_meant(name: str, given: Any, kept: Any) -> None:
    """From the environment all of them come as text."""
    assert getattr(SearchSettings.model_validate({name: given}), name) == kept


@pytest.mark.parametrize(
    "url", ["gopher://x", "http://u@x/", "http://x/?q=1", "http://x/#a", "http://metadata.google.internal"]
)
def test_addresses_that_cannot_be_asked_are_refused(url: str) -> None:
    """In all settings that hold one."""
    for name in HOMES.values():
        with pytest.raises(ValidationError):
            SearchSettings.model_validate({name: url})


def test_secrets_are_not_shown() -> None:
    """Neither by the settings nor by what is said about a wrong one."""
    settings = SearchSettings.model_validate(dict.fromkeys(SECRETS, "canary-4711"))
    assert "canary-4711" not in repr(settings)
    with pytest.raises(ValidationError) as fault:
        SearchSettings.model_validate({"tavily_api_key": "canary-4711\x00"})
    assert "canary-4711" not in str(fault.value)


def test_the_tables_name_settings_that_exist() -> None:
    """And every secret that goes to a configured address is bound to it."""
    names = SearchSettings.model_fields.keys()
    assert {*SECRETS, *HOMES, *HOMES.values(), *ALIASES} <= names


def test_an_origin_is_scheme_host_and_port() -> None:
    """Two ways to write the same one are equal."""
    assert origin("http://127.1/a") == origin("HTTP://127.0.0.1:80/b") == "http://127.0.0.1:80"
    assert origin("https://a.example") != origin("http://a.example")
    assert origin("") == ""
