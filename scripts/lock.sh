#!/bin/sh
# Pin all dependencies, with hashes, for every supported system and Python. Needs uv (`pip install uv`).
set -eu
cd "$(dirname "$0")/.."
command -v uv >/dev/null || { echo "uv is needed: pip install uv" >&2; exit 1; }
compile() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --upgrade \
        --custom-compile-command "make lock" --group build "$@" pyproject.toml
}
compile --output-file requirements.lock
compile --group dev --constraint requirements.lock --output-file requirements-dev.lock
