"""Settings that are saved: the ones in force, and changing them.

A process sees its own change at once, another's within `FRESH_S`.
"""

import asyncio
import json
import logging
import secrets
import sqlite3
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import SecretStr

from browser_service.effective import Effective, Reader
from browser_service.errors import InvalidRequest
from browser_service.settings import Settings, variable
from browser_service.store import StorageFailed, Store
from browser_service.vault import SALT_BYTES, Kept, Vault, WrongKey
from fetch.address import parse_address
from search.channels.exchange import is_open_http
from search.settings import HOMES, SECRETS, SearchSettings, origin

_log = logging.getLogger(__name__)

FRESH_S: Final = 0.5
_PLAIN_NOTE: Final = "Saved secrets are not encrypted; set TABWRIGHT_SECRET_KEY to have them encrypted."


class Saved:
    """`await saved.search_settings()` is cheap enough for every search."""

    def __init__(self, settings: Settings) -> None:
        self._store = Store(settings.data_dir)
        self._vault = Vault(settings.secret_key)
        self._reader = Reader(settings.search, self._vault)
        self._known: Effective | None = None
        self._read_at = 0.0
        self._changes = 0
        self._changing = asyncio.Lock()

    async def search_settings(self) -> SearchSettings:
        """The settings of search that are in force."""
        return (await self.effective()).settings

    async def effective(self) -> Effective:
        """The same with sources and notes."""
        if self._known is not None and time.monotonic() - self._read_at < FRESH_S:
            return self._known
        changes, began = self._changes, time.monotonic()
        found = await self._store.read(self._read, otherwise=None)
        found = found or self._reader.effective({}, b"", self._store.trouble)
        if changes == self._changes:  # else what this process changed meanwhile is newer
            self._known, self._read_at = found, began
        return found

    async def change(self, values: Mapping[str, Any]) -> tuple[Effective, list[str]]:
        """Save these (None: back to the default), all or none; what is in force then, and warnings.

        Raises InvalidRequest where they do not go together, StorageFailed where they cannot be written.
        """
        async with self._changing:  # so that the last to be saved is the last to be known
            found = await self._store.write(lambda connection: self._write(connection, values))
            self._changes += 1
            self._known, self._read_at = found, time.monotonic()
        _log.info("settings saved: %s", ", ".join(sorted(values)) or "none")
        return found, self._warnings(found, values)

    async def protect(self) -> None:
        """Encrypt what was saved before there was a TABWRIGHT_SECRET_KEY."""
        if self._vault.locked and await self._store.read(self._has_plain, otherwise=False):
            try:
                await self.change({})
            except StorageFailed as fault:
                _log.warning("saved secrets stay unencrypted: %s", fault.detail)

    def in_trial(self, now: Effective, values: Mapping[str, Any]) -> tuple[SearchSettings, list[str]]:
        """The values in force with these in their place, nothing saved. A secret stays with the host it was set for."""
        trial = now.settings.model_copy(update=dict(values))
        warnings = []
        for name, home in HOMES.items():
            elsewhere = origin(getattr(now.settings, home)) != origin(getattr(trial, home))
            if elsewhere and name not in values and getattr(trial, name).get_secret_value():
                trial = trial.model_copy(update={name: SecretStr("")})
                warnings.append(f"{name} was left out: it was set for another host; give it anew for this one.")
        return trial, warnings

    # In a thread of the store

    def _read(self, connection: sqlite3.Connection) -> Effective:
        return self._reader.effective(*_load(connection))

    def _has_plain(self, connection: sqlite3.Connection) -> bool:
        rows, _ = _load(connection)
        return any(self._vault.outdated(rows[name]) for name in SECRETS & rows.keys())

    def _write(self, connection: sqlite3.Connection, values: Mapping[str, Any]) -> Effective:
        rows, salt = _load(connection)
        if not salt:
            salt = secrets.token_bytes(SALT_BYTES)
            connection.execute("INSERT INTO meta (name, value) VALUES ('salt', ?)", (salt,))
        kept = {name: text for name, text in rows.items() if values.get(name, text) is not None}
        kept |= {name: json.dumps(value) for name, value in values.items() if value is not None and name not in SECRETS}
        addresses = self._reader.effective(kept, salt).settings
        for name in SECRETS:
            home = origin(getattr(addresses, HOMES[name])) if name in HOMES else ""
            if (given := values.get(name)) is not None:
                kept[name] = self._vault.seal(name, Kept(given.get_secret_value(), home), salt)
            elif name in kept:
                kept[name] = self._kept_anew(name, kept[name], home, salt)
        found = self._reader.effective(kept, salt)
        _check(found.settings, values)
        _store(connection, rows, kept)
        return found

    def _kept_anew(self, name: str, text: str, home: str, salt: bytes) -> str:
        """A saved secret, sealed again where it had no host yet or was not encrypted."""
        try:
            secret = self._vault.unseal(name, text, salt)
        except WrongKey:
            return text
        homeless = bool(home) and not secret.home
        if homeless or self._vault.outdated(text):
            return self._vault.seal(name, Kept(secret.value, secret.home or home), salt)
        return text

    def _warnings(self, found: Effective, values: Mapping[str, Any]) -> list[str]:
        said = [
            f"{name} is saved, but {variable(name)} in the environment wins over it."
            for name in values
            if found.sources[name] == "environment"
        ]
        said += [f"{name}: {note}" for name, note in found.notes.items()]
        said += _sent_openly(found.settings)
        if not self._vault.locked and any(values.get(name) is not None for name in SECRETS):
            self._reader.warn_once(_PLAIN_NOTE)
            said.append(_PLAIN_NOTE)
        return said


def _load(connection: sqlite3.Connection) -> tuple[dict[str, str], bytes]:
    """All saved values, and the salt of the file."""
    rows = dict(connection.execute("SELECT name, value FROM settings").fetchall())
    salt = connection.execute("SELECT value FROM meta WHERE name = 'salt'").fetchone()
    return rows, salt[0] if salt else b""


def _store(connection: sqlite3.Connection, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Write what differs."""
    gone = [(name,) for name in before.keys() - after.keys()]
    new = [(name, value) for name, value in after.items() if before.get(name) != value]
    connection.executemany("DELETE FROM settings WHERE name = ?", gone)
    connection.executemany("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", new)


def _check(now: SearchSettings, touched: Iterable[str]) -> None:
    """Refuse what does not go together, where this change brings it about."""
    if now.searxng_enabled and not now.searxng_url and {"searxng_enabled", "searxng_url"} & set(touched):
        said = "an address is needed while searxng_enabled is true"
        raise InvalidRequest(
            f"searxng_url: {said}.",
            hint="Give the address of the instance, or set searxng_enabled to false.",
            about={"errors": [{"field": "searxng_url", "message": said}]},
        )


def _sent_openly(now: SearchSettings) -> list[str]:
    """What to say about a key that goes over plain http to another machine."""
    key = now.searxng_auth_key.get_secret_value()
    if not key or not now.searxng_url or not is_open_http(parse_address(now.searxng_url)):
        return []
    if now.searxng_auth_type == "basic" or key.lower().startswith("basic "):
        return ["searxng_auth_type: basic over plain http is refused beyond this machine; use https, or bearer."]
    return ["searxng_auth_key can be read on the way, as searxng_url is plain http; use https."]
