"""Secrets at rest: sealed under a key, bound to their name."""

import pytest
from pydantic import SecretStr

from browser_service.vault import Kept, Vault, WrongKey

SALT = b"0123456789abcdef"
SECRET = Kept("canary", "https://a.example:443")


def test_what_is_sealed_opens_with_the_same_key_and_salt_alone() -> None:
    """And shows nothing of itself."""
    sealed = Vault(SecretStr("a long key")).seal("a", SECRET, SALT)
    assert "canary" not in sealed
    assert Vault(SecretStr("a long key")).unseal("a", sealed, SALT) == SECRET
    for vault, salt in (
        (Vault(SecretStr("another")), SALT),
        (Vault(None), SALT),
        (Vault(SecretStr("a long key")), b"x"),
    ):
        with pytest.raises(WrongKey):
            vault.unseal("a", sealed, salt)


@pytest.mark.parametrize("key", [None, SecretStr("a long key")])
def test_a_row_cannot_pose_as_another(key: SecretStr | None) -> None:
    """The name is sealed with it."""
    vault = Vault(key)
    with pytest.raises(WrongKey):
        vault.unseal("b", vault.seal("a", SECRET, SALT), SALT)


@pytest.mark.parametrize(
    "text", ["", "fernet:", "fernet:gAAAA", "plain:", "plain:[]", "plain:{}", "rot13:x", "fernet:é"]
)
def test_what_is_not_sealed_so_is_refused(text: str) -> None:
    """In one way, whatever lies there."""
    with pytest.raises(WrongKey):
        Vault(SecretStr("a long key")).unseal("a", text, SALT)


def test_a_secret_does_not_show_itself() -> None:
    """In a traceback, say."""
    assert "canary" not in repr(SECRET)
