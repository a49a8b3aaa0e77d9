# `make` alone lists the targets. `make run` and `make test` set up all they need.
.DEFAULT_GOAL := help
.PHONY: help setup run test check bench lock clean
export PYTHON

BIN := .venv/bin

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS='	' read -r name text; do printf '  make %-8s %s\n' "$$name" "$$text"; done

setup: ## install everything: .venv, the pinned packages, a browser
	@scripts/setup.sh dev
	@scripts/setup.sh browser
	@echo "Ready: make run, make test"

run: ## start the service on http://127.0.0.1:8330 (ARGS="--port 9000" for options)
	@scripts/setup.sh run
	@scripts/setup.sh browser
	@exec $(BIN)/tabwright serve $(ARGS)

check: ## lint, format, types, layers, spelling
	@scripts/setup.sh dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

test: check ## all checks, then all tests (ARGS="-k sessions" to choose)
	@scripts/setup.sh browser
	$(BIN)/pytest $(ARGS)

bench: ## measure speed and size against raw Playwright and httpx
	@scripts/setup.sh dev
	@scripts/setup.sh browser
	@for name in actions sessions screenshots proxy settle fetch; do echo "== $$name"; $(BIN)/python -m benchmarks.$$name || exit 1; done

lock: ## pin the dependencies anew (needs uv)
	@scripts/lock.sh

clean: ## remove .venv and all caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
