"""Secrets at rest: encrypted where TABWRIGHT_SECRET_KEY is set, else readable to whoever may read the file.

Fernet (AES-128-CBC with HMAC-SHA256, github.com/fernet/spec) under a key that scrypt (RFC 7914) makes of the variable
and of the file's own salt. What is sealed holds the secret's name, so that no row can pose as another.
"""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Final

from cryptography.fernet import Fernet, InvalidToken
from pydantic import SecretStr

SALT_BYTES: Final = 16
# 16 MiB and about 50 ms, once for each process: what RFC 7914 gives for interactive use
_COST: Final = 2**14
_BLOCKS: Final = 8
_PLAIN: Final = "plain:"
_SEALED: Final = "fernet:"


class WrongKey(Exception):
    """It was sealed with a key that is not the one at hand, or was tampered with."""


@dataclass(frozen=True)
class Kept:
    """A secret and the origin that it was given for (empty where it has none)."""

    value: str = field(repr=False)
    home: str = ""


class Vault:
    """Seals and opens secrets with the key of the settings, if there is one."""

    def __init__(self, key: SecretStr | None) -> None:
        self._key = key.get_secret_value().encode() if key else b""
        self._derived: dict[bytes, bytes] = {}

    @property
    def locked(self) -> bool:
        """Whether it encrypts."""
        return bool(self._key)

    def seal(self, name: str, secret: Kept, salt: bytes) -> str:
        """The text to keep."""
        text = json.dumps({"name": name, "value": secret.value, "home": secret.home})
        if not self._key:
            return _PLAIN + text
        return _SEALED + Fernet(self._fernet_key(salt)).encrypt(text.encode()).decode()

    def unseal(self, name: str, kept: str, salt: bytes) -> Kept:
        """The secret. Raises WrongKey."""
        if kept.startswith(_PLAIN):
            return _read(name, kept.removeprefix(_PLAIN))
        if not self._key or not kept.startswith(_SEALED):
            raise WrongKey
        try:
            text = Fernet(self._fernet_key(salt)).decrypt(kept.removeprefix(_SEALED).encode())
        except InvalidToken:
            raise WrongKey from None
        return _read(name, text.decode())

    def outdated(self, kept: str) -> bool:
        """Whether it lies there in plain although there is a key now."""
        return self.locked and kept.startswith(_PLAIN)

    def _fernet_key(self, salt: bytes) -> bytes:
        if salt not in self._derived:
            derived = hashlib.scrypt(self._key, salt=salt, n=_COST, r=_BLOCKS, p=1, dklen=32)
            self._derived[salt] = base64.urlsafe_b64encode(derived)
        return self._derived[salt]


def _read(name: str, text: str) -> Kept:
    try:
        content = json.loads(text)
        if content["name"] == name:
            return Kept(str(content["value"]), str(content["home"]))
    except (ValueError, TypeError, KeyError):
        pass
    raise WrongKey
