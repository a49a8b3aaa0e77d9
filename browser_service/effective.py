"""Which settings are in force: environment over saved over default, each with where it came from."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import SecretStr, ValidationError

from browser_service.vault import Vault, WrongKey
from search.settings import HOMES, SECRETS, SearchSettings, origin

_log = logging.getLogger(__name__)

Source = Literal["environment", "saved", "default"]


@dataclass(frozen=True)
class Effective:
    """The values in force and where each came from.

    `notes`: why a saved secret does not count; `trouble`: why nothing that was saved does.
    """

    settings: SearchSettings
    sources: Mapping[str, Source]
    notes: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""


class Reader:
    """Makes them of what the environment fixed and of saved rows."""

    def __init__(self, fixed: SearchSettings, vault: Vault) -> None:
        self._fixed = fixed
        self._vault = vault
        self._said: set[str] = set()

    def effective(self, rows: Mapping[str, str], salt: bytes, trouble: str = "") -> Effective:
        """Rows that are not valid, or cannot be decrypted, count as not there."""
        values: dict[str, Any] = {}
        sources: dict[str, Source] = dict.fromkeys(SearchSettings.model_fields, "default")
        notes: dict[str, str] = {}
        for name in SearchSettings.model_fields:
            if name in self._fixed.model_fields_set:
                values[name], sources[name] = getattr(self._fixed, name), "environment"
            elif name in rows and name not in SECRETS and (value := self._value(name, rows[name])) is not None:
                values[name], sources[name] = value, "saved"
        addresses = SearchSettings.model_construct(**values)
        for name in sorted(SECRETS & rows.keys() - values.keys()):
            secret, note = self._secret(name, rows[name], salt, addresses)
            if note:
                notes[name] = note
            else:
                values[name], sources[name] = SecretStr(secret), "saved"
        return Effective(SearchSettings.model_construct(**values), sources, notes, trouble)

    def _value(self, name: str, text: str) -> Any:
        """A saved value; None, with a warning in the log, where this version does not take it."""
        try:
            value: Any = getattr(SearchSettings.model_validate({name: json.loads(text)}), name)
        except (ValueError, ValidationError, RecursionError):
            self.warn_once(f"the saved value of {name} is not valid; its default counts")
            return None
        return value

    def _secret(self, name: str, kept: str, salt: bytes, now: SearchSettings) -> tuple[str, str]:
        """A saved secret, or why it does not count."""
        try:
            secret = self._vault.unseal(name, kept, salt)
        except WrongKey:
            if self._vault.locked:
                why = "it was saved under another TABWRIGHT_SECRET_KEY; set that one again, or save the value anew."
            else:
                why = "it was saved encrypted and TABWRIGHT_SECRET_KEY is not set; set it, or save the value anew."
            self.warn_once(f"{name} counts as not set: {why}")
            return "", f"Not used: {why}"
        home = HOMES.get(name)
        if home and secret.home and secret.home != origin(getattr(now, home)):
            return "", f"Not used: it was saved for {secret.home}, and {home} is another host now; save it anew."
        return secret.value, ""

    def warn_once(self, text: str) -> None:
        """Log it, the first time."""
        if text not in self._said:
            self._said.add(text)
            _log.warning("%s", text)
