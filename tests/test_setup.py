"""The files that set a machine up agree with each other."""

import itertools
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def names(requirements: list[str]) -> set[str]:
    """The normalised names of requirements."""
    return {re.split(r"[\[<>=!~; ]", each)[0].lower().replace("_", "-") for each in requirements}


def pinned(lock: str) -> set[str]:
    """The packages that a lock file pins."""
    return names(re.findall(r"^[a-z0-9].*==\S+", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize(
    ("lock", "groups"), [("requirements.lock", ["build"]), ("requirements-dev.lock", ["build", "dev"])]
)
def test_locks_pin_every_dependency(lock: str, groups: list[str]) -> None:
    """A dependency that was added to pyproject.toml without `make lock` is noticed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"]]
    for group in groups:
        wanted += project["dependency-groups"][group]
    assert names(wanted) <= pinned(lock)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_name_no_place(lock: str) -> None:
    """Packages come from whatever index the machine uses; everything pinned has a hash."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    assert not any("://" in line for line in lines)
    for line, after in itertools.pairwise(lines):
        if not line.startswith((" ", "#")):
            assert after.lstrip().startswith("--hash=sha256:"), line


def test_the_image_holds_every_package() -> None:
    """Each package of the project is copied into the image and let through to its build."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    let_through = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert f"COPY {package} ./{package}" in image
        assert f"!{package}" in let_through
