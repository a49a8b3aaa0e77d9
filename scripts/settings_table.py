#!/usr/bin/env python3
"""Write docs/settings.md from the settings classes: `python scripts/settings_table.py`. A test compares the two."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from browser_service.settings import Settings
from search.settings import ALIASES

TARGET = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
_HEAD = """# Settings

All settings come from the environment. Lists are written as JSON (`["127.0.0.1:8080"]`), durations in milliseconds.
This page is written by `scripts/settings_table.py`.

Those of search (`TABWRIGHT_SEARCH__…`) can also be saved, by their names in lower case without the prefix: with
`tabwright settings`, at `/ui/settings`, or over `PATCH /v1/settings`. They take effect at once. What a call gives wins
over the environment, the environment over what is saved, that over the default; an empty variable counts as not set.
%s
Saved values are in `tabwright.db` in the data folder, which only its owner may read. Keys are encrypted there when
`TABWRIGHT_SECRET_KEY` is set; when it changes or is gone, saved keys count as not set until they are given again. A
saved key is sent to the address it was saved with, and to no other.

| variable | default | meaning |
|---|---|---|
"""


def rows(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """One line for every setting, groups unfolded."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from rows(kind, f"{prefix}{name.upper()}__")
        else:
            yield f"| `{prefix}{name.upper()}` | {default(field)} | {field.description} |"


def default(field: FieldInfo) -> str:
    """How a default is shown."""
    if field.default_factory is not None:
        return "the platform's data folder"
    return "none" if field.default in (None, (), "", SecretStr("")) else f"`{field.default}`"


def aliases() -> str:
    """Which variables of other programs count, too."""
    names = ", ".join(f"`{other}`" for others in ALIASES.values() for other in others)
    return f"Where the variable of this program is not set, the usual one of others counts: {names}."


def table() -> str:
    """The whole page."""
    return _HEAD % aliases() + "\n".join(rows(Settings, "TABWRIGHT_")) + "\n"


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
    sys.exit(0)
