#!/bin/sh
# Set up what `make` needs, once: scripts/setup.sh run|dev|browser
#   run      .venv with the pinned dependencies and the project itself
#   dev      the same, with the tools for checks and tests
#   browser  a Chromium, if none is found
# Each part leaves a stamp in .venv; a part whose stamp is current costs a few milliseconds. A half-made or moved .venv
# is made anew, and a changed pyproject.toml, lock file or place of the folder repeats the installation.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd -P)
venv=$here/.venv

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "" "Setup failed: $1"
    shift
    for line; do say "  $line"; done
    exit 1
}

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$name" >/dev/null && is_recent "$name"; then
            command -v "$name"
            return
        fi
    done
    fail "no Python 3.11 or newer was found (looked for: ${PYTHON:-python3, python3.14 … python3.11})." \
        "Install one, for example: apt-get install python3 python3-venv" \
        "or name one that lies elsewhere: make setup PYTHON=/path/to/python3.12"
}

# A usable .venv starts, is recent, was made in this folder, and has a pip that works.
is_usable() {
    is_recent "$venv/bin/python" && head -n 1 "$venv/bin/pip" 2>/dev/null | grep -q "^#!$venv/bin/python" &&
        "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

make_venv() {
    python=$(find_python) || exit 1
    say "Making .venv with $python …"
    rm -rf "$venv"
    if ! "$python" -m ensurepip --version >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            say "Installing python$version-venv, which Debian keeps apart …"
            apt-get update -qq >/dev/null || true
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 "python$version-venv" >/dev/null || true
        fi
        "$python" -m ensurepip --version >/dev/null 2>&1 ||
            fail "$python comes without ensurepip, so it cannot make virtual environments." \
                "On Debian and Ubuntu: sudo apt-get install python$version-venv"
    fi
    "$python" -m venv "$venv" || fail "$python could not make .venv (its message is above)."
}

install_packages() { # LOCK
    say "Installing the packages of $1 (about a minute the first time) …"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r "$1" >&2 ||
        fail "pip could not install the dependencies (its message is above)." \
            "Without a direct way to the package index, set PIP_INDEX_URL or PIP_PROXY, then repeat: make setup"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-index --no-deps \
        --no-build-isolation --editable . >&2 || fail "the project itself could not be installed (message above)."
}

state() { # LOCK: whatever an installation depends on
    { cat pyproject.toml "$1"; echo "$here"; readlink "$venv/bin/python" || true; } | cksum
}

packages() { # STAMP LOCK
    if [ -x "$venv/bin/python" ] && [ "$(cat "$venv/$1" 2>/dev/null)" = "$(state "$2")" ]; then return; fi
    is_usable || make_venv
    rm -f "$venv/.setup-run" "$venv/.setup-dev"
    install_packages "$2"
    state "$2" >"$venv/$1"
}

browser() {
    if [ -e "$venv/.setup-browser" ]; then return; fi
    say "Looking for a browser …"
    "$venv/bin/python" -m browser_service.finder >&2 ||
        fail "there is no browser, and none could be installed (reasons above)." \
            "Any Chromium or Google Chrome will do. On Debian: sudo apt-get install chromium chromium-headless-shell" \
            "or name one: export TABWRIGHT_POOL__BROWSER_PATH=/path/to/chrome"
    touch "$venv/.setup-browser"
}

part=${1:-dev}
case $part in
    run) # the packages of `dev` include those of `run`
        if [ "$(cat "$venv/.setup-dev" 2>/dev/null)" != "$(state requirements-dev.lock)" ]; then
            packages .setup-run requirements.lock
        fi
        ;;
    dev) packages .setup-dev requirements-dev.lock ;;
    browser) browser ;;
    *) fail "unknown part: $part" ;;
esac
