# Everything runs from .venv, made here from requirements.lock. `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

MAKEFLAGS += --no-print-directory
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The pinned pyright is the wanted one: no look-up for a newer.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

# Much of a test is waiting for what it started. Each process has services of its own, and keeps a file's tests together;
# the files that take longest come first.
SIDE_BY_SIDE := --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo check up bench lock clean python

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(STAMP) ## Show the whole loop on the demo cases, then stop
	@$(BIN)/caselore demo

check: $(STAMP) ## Lint, import rule, types, then every test
	@echo "== ruff check"
	@$(BIN)/ruff check .
	@echo "== ruff format --check"
	@$(BIN)/ruff format --check .
	@echo "== lint-imports"
	@$(BIN)/lint-imports --no-logo
	@echo "== pyright"
	@$(BIN)/python -m pyright
	@echo "== pytest"
	@$(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

up: $(STAMP) ## Run everything on this machine until Ctrl-C
	@$(BIN)/caselore up

bench: $(STAMP) ## Measure quality and speed, into bench-results; ARGS="--only speed" and the like
	@$(BIN)/python -m tests.benchmarks $(ARGS)

# A fresh resolve of pyproject.toml. Names and versions only: each machine asks its own index. Where a package
# exists for some platforms only, the pin carries the marker that its dependent declares.
lock: python ## Resolve pyproject.toml anew into requirements.lock
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	echo "Resolving in a clean environment (a few minutes)..."; \
	$(PYTHON) -m venv "$$scratch/venv"; \
	$(PYTHON) -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; e = p["optional-dependencies"]; print(*p["dependencies"], *e["embedded"], *e["dev"], sep="\n")' > "$$scratch/wanted"; \
	"$$scratch/venv/bin/python" -m pip install -qq -r "$$scratch/wanted"; \
	{ \
	  echo "# Made by \`make lock\` from pyproject.toml: dependencies and the extras embedded and dev."; \
	  "$$scratch/venv/bin/python" -m pip freeze --exclude pip --exclude setuptools --exclude wheel \
	  | sed "/^hf-xet==/s/\$$/ ; platform_machine in 'x86_64 amd64 AMD64 arm64 aarch64'/"; \
	} > "$$scratch/lock"; \
	if grep -nE '@|://' "$$scratch/lock"; then echo "make: the lock would name an address (lines above)." >&2; exit 1; fi; \
	cp "$$scratch/lock" requirements.lock; \
	echo "requirements.lock: $$(grep -c '==' requirements.lock) packages"

clean: ## Remove .venv, caches and build output; data in .caselore stays
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "make: '$(PYTHON)' isn't there. Caselore needs Python 3.11 or newer." >&2; \
	  echo "      On Debian or Ubuntu: apt-get install python3 python3-venv. Another one: make PYTHON=python3.12 ..." >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Caselore needs Python 3.11 or newer." >&2; \
	  echo "      Name another one: make PYTHON=python3.12 ..." >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "make: '$(PYTHON)' can't make virtual environments: its venv package is missing." >&2; \
	  echo "      On Debian or Ubuntu: apt-get install python3-venv" >&2; \
	  exit 1; }

# The stamp is written last: an interrupted installation starts again.
$(STAMP): requirements.lock pyproject.toml
	@$(MAKE) python
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  echo "Making $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv --clear $(VENV); fi
	@echo "Installing $$(grep -c '==' requirements.lock) pinned packages (about 1 GB on disk; some minutes the first time)"
	@$(BIN)/python -m pip install -qq -r requirements.lock
	@echo "Installing Caselore from this folder"
	@$(BIN)/python -m pip install -qq --no-deps -e .
	@touch $@
