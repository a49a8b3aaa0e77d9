"""All settings, from the environment: `TABWRIGHT_` and the name, nested by two underscores (`TABWRIGHT_POOL__SIZE`)."""

import hashlib
import hmac
import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
import psutil
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from browser_service.errors import InvalidRequest
from fetch.address import Rule
from search.settings import ALIASES, SearchSettings

Scope = Literal["read", "act", "eval", "admin"]
Kind = Literal["full", "light"]
MEMORY_PER_CONTEXT = 200 * 2**20


class Section(BaseModel):
    """One group of settings; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PoolSettings(Section):
    """Browsers and contexts. 0 means: chosen from this machine's cores and memory."""

    size: int = Field(0, ge=0, le=64, description="full browsers kept running; 0: one for every two cores, at most 4")
    light_size: int = Field(1, ge=0, le=64, description="light browsers, started when first asked for")
    contexts: int = Field(
        0, ge=0, le=1000, description="contexts in one browser; 0: by memory, 200 MiB each, at most 64"
    )
    warm: int = Field(2, ge=0, le=20, description="contexts of each browser kept ready before they are asked for")
    browser_path: Path | None = Field(None, description="the full Chromium or Chrome to use")
    light_path: Path | None = Field(None, description="the headless shell to use")
    sandbox: Literal["auto", "require", "off"] = Field(
        "auto", description="Chromium's sandbox: used where it works; `require` refuses to start without it"
    )
    install: bool = Field(True, description="install a browser at the start when none is found")
    launch_timeout_ms: int = Field(30_000, ge=1000, le=300_000, description="limit for one start of a browser")
    health_timeout_ms: int = Field(5_000, ge=100, le=60_000, description="limit for the page load that proves health")
    health_interval_ms: int = Field(15_000, ge=500, le=3_600_000, description="pause between two such page loads")
    recycle_contexts: int = Field(1_000, ge=1, description="a browser is replaced, by draining, after so many contexts")
    recycle_age_ms: int = Field(4 * 3_600_000, ge=10_000, description="a browser older than this is replaced")
    renderer_memory: int = Field(
        2 * 2**30, ge=64 * 2**20, description="bytes that one renderer may hold; then it is ended"
    )
    memory_share: float = Field(0.85, gt=0, le=1, description="no new contexts above this share of the memory in use")
    one_shot: int = Field(0, ge=0, le=1000, description="one-shot captures at a time; 0: two for every core")
    queue: int = Field(64, ge=0, le=10_000, description="one-shot calls that may wait for a place")

    def full_browsers(self) -> int:
        """How many full browsers to run."""
        return self.size or max(1, min(4, (os.cpu_count() or 1) // 2))

    def contexts_each(self) -> int:
        """How many contexts one browser may hold."""
        fits = psutil.virtual_memory().total // 2 // MEMORY_PER_CONTEXT
        return self.contexts or max(4, min(64, fits // self.full_browsers()))

    def one_shot_places(self) -> int:
        """How many one-shot captures run at a time."""
        return self.one_shot or 2 * (os.cpu_count() or 1)


class SessionSettings(Section):
    """Limits of sessions."""

    limit: int = Field(64, ge=1, le=10_000, description="sessions at a time")
    per_key: int = Field(16, ge=1, le=10_000, description="sessions of one key at a time")
    tabs: int = Field(10, ge=1, le=100, description="tabs in one session; more are closed as they open")
    queue: int = Field(8, ge=0, le=1000, description="calls that may wait for their turn in one session")
    remember_ms: int = Field(3_600_000, ge=0, description="how long an ended session is remembered with its reason")


class NetworkSettings(Section):
    """What the service may reach, and through what."""

    allow: tuple[str, ...] = Field((), description="hosts, host:port or CIDRs that are reachable though private")
    deny: tuple[str, ...] = Field((), description="hosts, host:port or CIDRs that are refused though public")
    proxy_url: SecretStr | None = Field(None, description="upstream proxy (http, https, socks5) for all traffic")
    proxy_list: tuple[SecretStr, ...] = Field((), description="upstream proxies taken in turn, one for each context")
    remote_dns: bool = Field(False, description="let the upstream proxy resolve names: a weaker guarantee")

    @field_validator("allow", "deny")
    @classmethod
    def _parses(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        Rule(allow=entries)
        return entries


class FetchSettings(Section):
    """Fetching addresses as text."""

    concurrency: int = Field(32, ge=1, le=1000, description="fetches at a time")
    queue: int = Field(256, ge=0, le=10_000, description="fetches that may wait for a place")
    per_host: int = Field(4, ge=1, le=100, description="requests at a time to one host")
    workers: int = Field(0, ge=0, le=64, description="processes that read pages; 0: one for each core, at most 4")
    max_bytes: int = Field(10 * 2**20, ge=1024, le=2**30, description="largest body, its encoding undone")
    cache_entries: int = Field(100, ge=1, le=100_000, description="results that are kept")
    cache_ms: int = Field(600_000, ge=1, description="how long they are kept")

    def worker_processes(self) -> int:
        """How many processes read pages."""
        return self.workers or max(1, min(4, os.cpu_count() or 1))


class Key(BaseModel):
    """One API key: only its SHA-256 is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    digest: bytes
    scopes: frozenset[Scope]

    def fits(self, given: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(hashlib.sha256(given.encode()).digest(), self.digest)


_ALL_BUT_ADMIN: frozenset[Scope] = frozenset({"read", "act", "eval"})
_INCLUDED: dict[str, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "act": frozenset({"read", "act"}),
    "eval": _ALL_BUT_ADMIN,
    "admin": _ALL_BUT_ADMIN | {"admin"},
}


class Settings(BaseSettings):
    """The whole configuration. `Settings()` reads the environment; keyword arguments win over it."""

    model_config = SettingsConfigDict(
        env_prefix="TABWRIGHT_", env_nested_delimiter="__", extra="ignore", frozen=True, hide_input_in_errors=True
    )

    host: str = Field("127.0.0.1", description="address to listen on; beyond loopback TABWRIGHT_API_KEYS is needed")
    port: int = Field(8330, ge=0, le=65535, description="port to listen on; 0: any free one")
    api_keys: Annotated[tuple[Key, ...], NoDecode] = Field(
        (), description='keys separated by commas, or a JSON list of {"name", "key", "scopes"}'
    )
    allowed_hosts: tuple[str, ...] = Field(
        (), description="further names of this service (Host header), whose pages may call it, too (Origin)"
    )
    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("tabwright")), description="where data is kept"
    )
    secret_key: SecretStr | None = Field(
        None, min_length=8, description="encrypts the saved secrets; 8 characters at least, better 32"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least level that is logged")
    log_format: Literal["console", "json"] = Field("console", description="how log lines look")
    max_body_bytes: int = Field(10 * 2**20, ge=1024, description="largest request body")
    shutdown_ms: int = Field(30_000, ge=0, description="how long running work may go on after SIGTERM")
    pool: PoolSettings = PoolSettings()
    sessions: SessionSettings = SessionSettings()
    network: NetworkSettings = NetworkSettings()
    fetch: FetchSettings = FetchSettings()
    search: SearchSettings = SearchSettings()

    @model_validator(mode="before")
    @classmethod
    def _search(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Variables that other programs read count where ours are not set; an empty variable is not set."""
        own = given.get("search", {})
        if not isinstance(own, dict):
            return given
        set_here = {name: value for name, value in own.items() if value != ""}
        found = {name: value for name in ALIASES if (value := _alias(name))}
        return given | {"search": found | set_here}

    @field_validator("secret_key", mode="before")
    @classmethod
    def _no_key(cls, given: object) -> object:
        return None if given == "" else given

    @field_validator("api_keys", mode="before")
    @classmethod
    def _keys(cls, given: object) -> object:
        return parse_keys(given) if isinstance(given, str) else given


def variable(name: str) -> str:
    """The environment variable that sets a setting of search: the one that is there, else ours."""
    own = f"TABWRIGHT_SEARCH__{name.upper()}"
    others = (other for other in ALIASES.get(name, ()) if os.environ.get(other))
    return own if os.environ.get(own) else next(others, own)


def _alias(name: str) -> str | None:
    return next((value for other in ALIASES[name] if (value := os.environ.get(other))), None)


def load_settings(**given: Any) -> Settings:
    """`Settings(**given)`; a wrong value raises InvalidRequest naming its variable, without the value itself."""
    try:
        return Settings(**given)
    except ValidationError as fault:
        raise InvalidRequest(_explain(fault), hint="Correct the variable and start again.") from None


def _explain(fault: ValidationError) -> str:
    lines = []
    for error in fault.errors(include_input=False, include_context=False, include_url=False):
        place = [str(part) for part in error["loc"]]
        of_search = place[0] == "search" and len(place) > 1
        name = variable(place[1]) if of_search else "TABWRIGHT_" + "__".join(place).upper()
        lines.append(f"{name}: {error['msg'].removeprefix('Value error, ').removesuffix('.')}")
    return "; ".join(lines) + "."


def parse_keys(text: str) -> tuple[Key, ...]:
    """Read `TABWRIGHT_API_KEYS`: keys separated by commas, or a JSON list of `{name, key, scopes}`."""
    text = text.strip()
    if not text:
        return ()
    if not text.startswith("["):
        keys = [each.strip() for each in text.split(",") if each.strip()]
        return tuple(_key(f"key{number}", each, _ALL_BUT_ADMIN) for number, each in enumerate(keys, 1))
    try:
        entries = json.loads(text)
    except ValueError:
        raise ValueError("begins like a JSON list but is not valid JSON") from None
    return tuple(_entry(number, entry) for number, entry in enumerate(entries, 1))


def _entry(number: int, entry: Any) -> Key:
    if not isinstance(entry, dict) or not isinstance(entry.get("key"), str):
        raise ValueError(f'entry {number} must be an object with a string "key"')  # noqa: TRY004  pydantic wants ValueError
    unknown = set(entry) - {"name", "key", "scopes"}
    if unknown:
        raise ValueError(f"entry {number} has fields that are not supported: {', '.join(sorted(unknown))}")
    scopes: frozenset[Scope] = frozenset()
    for scope in entry.get("scopes", ["eval"]):
        if scope not in _INCLUDED:
            raise ValueError(f"entry {number}: scopes are read, act, eval, admin")
        scopes |= _INCLUDED[scope]
    return _key(str(entry.get("name") or f"key{number}"), entry["key"], scopes)


def _key(name: str, key: str, scopes: frozenset[Scope]) -> Key:
    if len(key) < 8:
        raise ValueError(f"the key of {name} is shorter than 8 characters")
    return Key(name=name, digest=hashlib.sha256(key.encode()).digest(), scopes=scopes)
