"""What is written about the project is true of it."""

import re
import runpy
from pathlib import Path

from browser_service.errors import STATUS
from browser_service.operations import OPERATIONS

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_of_settings_is_current() -> None:
    """`python scripts/settings_table.py` writes it."""
    table = runpy.run_path(str(ROOT / "scripts" / "settings_table.py"))["table"]
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == table()


def test_every_operation_is_in_the_reference() -> None:
    """docs/api.md has a line for each route."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for operation in OPERATIONS:
        path = operation.path.replace("{session_id}", "{id}")
        assert f"{operation.method} {path}`" in text, operation.name


def test_every_error_is_in_the_reference() -> None:
    """docs/api.md lists each code with its status."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for kind, status in STATUS.items():
        assert re.search(rf"\| `{kind.code}` \| {status} \|", text), kind.code


def test_the_readme_names_files_that_exist() -> None:
    """Relative links lead somewhere."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)
