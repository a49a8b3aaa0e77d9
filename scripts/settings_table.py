#!/usr/bin/env python3
"""Write docs/settings.md from the settings classes: `python scripts/settings_table.py`. A test compares the two."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from browser_service.settings import Settings

TARGET = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
_HEAD = """# Settings

All settings come from the environment. Lists are written as JSON (`["127.0.0.1:8080"]`), durations in milliseconds.
This page is written by `scripts/settings_table.py`.

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
    return f"`{field.default}`" if field.default not in (None, ()) else "none"


def table() -> str:
    """The whole page."""
    return _HEAD + "\n".join(rows(Settings, "TABWRIGHT_")) + "\n"


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
    sys.exit(0)
