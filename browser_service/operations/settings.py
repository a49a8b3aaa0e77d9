"""Looking at the saved settings, changing them, and trying a SearXNG instance before it is used."""

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, Field, SecretStr, create_model, model_validator

from browser_service.effective import Effective, Source
from browser_service.errors import InvalidRequest
from browser_service.operations.operation import Call, Operation, Result
from browser_service.searcher import config_of
from browser_service.sending import sending
from browser_service.settings import Scope, variable
from fetch.untrusted import Untrusted
from search.channels.searxng import probe
from search.settings import SECRETS, SearchSettings

Value = bool | int | str


class Setting(Result):
    """A setting that is no secret."""

    value: Value
    source: Source
    default: Value
    choices: list[int | str] = Field(description="all values it can have, where these are few; else empty")
    description: str
    variable: str = Field(description="the environment variable that sets it, and wins over what is saved")


class SecretSetting(Result):
    """A secret: what it is, is told to nobody."""

    set: bool
    source: Source
    description: str
    variable: str = Field(description="the environment variable that sets it, and wins over what is saved")
    note: str = Field(description="why a saved one does not count; else empty")


class SettingsList(Result):
    """All settings that can be saved, by name."""

    settings: dict[str, Setting | SecretSetting]
    warnings: list[str]


class SearxngTried(Result):
    """What came of trying a SearXNG instance."""

    ok: bool
    status: int | None = Field(description="of the HTTP answer; null where none came")
    elapsed_ms: int
    results: int = Field(description="results for the query `test`")
    engines: list[Untrusted] = Field(description="engines that gave results")
    message: Untrusted
    advice: Untrusted = Field(description="what to change; empty where all is well")
    warnings: list[str]


def _optional(names: frozenset[str]) -> type[BaseModel]:
    """A model with these settings, each of which can be left out or null."""
    fields: dict[str, Any] = {}
    for name in SearchSettings.model_fields:
        if name in names:
            field = SearchSettings.model_fields[name]
            kind: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
            fields[name] = (kind | None, Field(None, description=field.description))
    return create_model("Given", **fields)


_ALL = frozenset(SearchSettings.model_fields)
_OF_SEARXNG = frozenset(name for name in _ALL if name.startswith("searxng_") and name != "searxng_enabled")


class GetSettings(Operation[SettingsList]):
    """Show the settings that can be saved: value, where it came from, what it can be. Of secrets only whether set."""

    name: ClassVar[str] = "get_settings"
    method: ClassVar[Literal["GET"]] = "GET"
    path: ClassVar[str] = "/v1/settings"
    scope: ClassVar[Scope] = "admin"

    async def run(self, call: Call) -> SettingsList:
        """Show them."""
        return listed(await call.service.saved.effective())


class ChangeSettings(_optional(_ALL), Operation[SettingsList]):  # type: ignore[misc]
    """Save settings: all that are given or, where one is wrong, none. They take effect at once.

    null, or an empty text, brings a setting back to its default. A secret sent as asterisks stays as it is.
    """

    name: ClassVar[str] = "change_settings"
    method: ClassVar[Literal["PATCH"]] = "PATCH"
    path: ClassVar[str] = "/v1/settings"
    scope: ClassVar[Scope] = "admin"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"searxng_enabled": True, "searxng_url": "http://127.0.0.1:8888"},
        {"ranking": "weighted"},
    )

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        _refuse_unknown([str(name) for name in given if name not in _ALL])
        return {name: None if isinstance(value, str) and not value.strip() else value for name, value in given.items()}

    async def run(self, call: Call) -> SettingsList:
        """Save them."""
        found, warnings = await call.service.saved.change(_given(self))
        return listed(found, warnings)


class TrySearxng(_optional(_OF_SEARXNG), Operation[SearxngTried]):  # type: ignore[misc]
    """Ask a SearXNG instance for `test` and say how it went, and what to change. Nothing is saved.

    What is given counts in place of the settings in force. A key that is left out, or sent as asterisks, is the one
    that is set, but only for the host that it was set for.
    """

    name: ClassVar[str] = "test_searxng"
    path: ClassVar[str] = "/v1/settings/searxng/test"
    scope: ClassVar[Scope] = "admin"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"searxng_url": "http://127.0.0.1:8888"})

    async def run(self, call: Call) -> SearxngTried:
        """Try it."""
        defaults = SearchSettings()
        given = {name: getattr(defaults, name) if value is None else value for name, value in _given(self).items()}
        trial, warnings = call.service.saved.in_trial(await call.service.saved.effective(), given)
        return await _tried(call, trial, warnings)


def listed(found: Effective, warnings: list[str] | None = None) -> SettingsList:
    """The settings in force, as they are shown."""
    shown: dict[str, Setting | SecretSetting] = {}
    for name, field in SearchSettings.model_fields.items():
        about: dict[str, Any] = {
            "source": found.sources[name],
            "description": field.description or "",
            "variable": variable(name),
        }
        value = getattr(found.settings, name)
        if isinstance(value, SecretStr):
            is_set = bool(value.get_secret_value())
            shown[name] = SecretSetting(set=is_set, note=found.notes.get(name, ""), **about)
        else:
            shown[name] = Setting(value=value, default=field.default, choices=_choices(field.annotation), **about)
    if warnings is None:
        warnings = [found.trouble] if found.trouble else []
        warnings += [f"{name}: {note}" for name, note in found.notes.items()]
    return SettingsList(settings=shown, warnings=warnings)


def _choices(kind: Any) -> list[int | str]:
    return list(get_args(kind)) if get_origin(kind) is Literal else []


def _given(operation: BaseModel) -> dict[str, Any]:
    """What the caller gave, without masks of secrets."""
    values = {name: getattr(operation, name) for name in operation.model_fields_set}
    return {name: value for name, value in values.items() if name not in SECRETS or not _is_mask(value)}


def _is_mask(value: SecretStr | None) -> bool:
    text = value.get_secret_value() if value else ""
    return bool(text) and set(text) <= {"*", "•"}


def _refuse_unknown(names: list[str]) -> None:
    if not names:
        return
    said = []
    for name in names[:20]:
        near = difflib.get_close_matches(name, _ALL, 1)
        said.append(f"there is no setting {name[:60]!r}" + (f" (is {near[0]} meant?)" if near else ""))
    raise ValueError("; ".join(said) + "; the settings are " + ", ".join(sorted(_ALL)))


async def _tried(call: Call, trial: SearchSettings, warnings: list[str]) -> SearxngTried:
    """Probe the instance that these settings mean."""
    if not trial.searxng_url:
        said = "there is no address to try"
        about = {"errors": [{"field": "searxng_url", "message": said}]}
        raise InvalidRequest(f"searxng_url: {said}.", hint="Give searxng_url, or save it first.", about=about)
    async with sending(call.service.settings.network, trial.searxng_url) as send:
        found = await probe(config_of(trial), send)
    return SearxngTried(
        ok=found.ok,
        status=found.status,
        elapsed_ms=found.elapsed_ms,
        results=found.results,
        engines=list(found.engines),
        message=found.message,
        advice=found.advice,
        warnings=warnings,
    )
