"""Settings: where they come from, and what a wrong one is told."""

import pytest

from browser_service.errors import InvalidRequest
from browser_service.settings import Settings, load_settings, parse_keys, variable


def test_the_environment_sets_nested_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two underscores lead into a group; a JSON list is a list."""
    monkeypatch.setenv("TABWRIGHT_POOL__SIZE", "3")
    monkeypatch.setenv("TABWRIGHT_NETWORK__ALLOW", '["127.0.0.1:8799","localhost:8799"]')
    settings = load_settings()
    assert settings.pool.size == 3
    assert settings.network.allow == ("127.0.0.1:8799", "localhost:8799")


def test_the_usual_names_of_search_count_where_ours_are_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is not set; which one counted is known."""
    for name, value in {
        "WEB_SEARCH_ADAPTER": "api",
        "BRAVE_API_KEY": "theirs",
        "TABWRIGHT_SEARCH__BRAVE_API_KEY": "",
        "TAVILY_API_KEY": "theirs",
        "TABWRIGHT_SEARCH__TAVILY_API_KEY": "ours",
        "TABWRIGHT_SEARCH__SEARXNG_SAFESEARCH": "2",
        "TABWRIGHT_SECRET_KEY": "",
    }.items():
        monkeypatch.setenv(name, value)
    search = load_settings().search
    assert (search.adapter, search.searxng_safesearch) == ("anthropic", 2)
    assert (search.brave_api_key.get_secret_value(), search.tavily_api_key.get_secret_value()) == ("theirs", "ours")
    assert search.model_fields_set == {"adapter", "brave_api_key", "tavily_api_key", "searxng_safesearch"}
    assert (variable("brave_api_key"), variable("ranking")) == ("BRAVE_API_KEY", "TABWRIGHT_SEARCH__RANKING")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TABWRIGHT_PORT", "eighty"),
        ("TABWRIGHT_POOL__SIZE", "-1"),
        ("TABWRIGHT_POOL__SANDBOX", "maybe"),
        ("TABWRIGHT_NETWORK__ALLOW", '["not a host!"]'),
        ("TABWRIGHT_API_KEYS", "short"),
        ("TABWRIGHT_SECRET_KEY", "short"),
        ("TABWRIGHT_SEARCH__FETCH_COUNT", "9"),
        ("TAVILY_BASE_URL", "ftp://tavily.example"),
    ],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """And does not repeat the value, which may be a secret."""
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidRequest) as fault:
        load_settings()
    assert name in fault.value.detail


def test_keys_are_kept_as_hashes() -> None:
    """Neither the settings nor a key shows what the key is."""
    settings = load_settings(api_keys="first-key-1, second-key-2")
    assert "first-key-1" not in repr(settings)
    assert [key.name for key in settings.api_keys] == ["key1", "key2"]
    assert settings.api_keys[0].fits("first-key-1")
    assert not settings.api_keys[0].fits("second-key-2")


def test_scopes_include_the_lesser_ones() -> None:
    """act reads too; plain keys have all but admin."""
    (act,) = parse_keys('[{"key": "12345678", "scopes": ["act"]}]')
    assert act.scopes == {"read", "act"}
    assert parse_keys("12345678")[0].scopes == {"read", "act", "eval"}


@pytest.mark.parametrize(
    "text",
    ["[", "[5]", '[{"name": "x"}]', '[{"key": "12345678", "scopes": ["root"]}]', '[{"key": "12345678", "x": 1}]'],
)
def test_malformed_keys_are_refused(text: str) -> None:
    """A key whose limits would be ignored must not be accepted."""
    with pytest.raises(ValueError, match=r"entry|JSON"):
        parse_keys(text)


def test_every_setting_is_described() -> None:
    """The table in the README is made of these."""
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        inner = getattr(kind, "model_fields", None)
        for each, described in (inner or {name: field}).items():
            assert described.description, each
