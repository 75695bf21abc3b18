# Two commands on a fresh machine: `make demo` and `make test`. Both set up what they need.

VENV := .venv
BIN := $(VENV)/bin
LARA_DEMO_SECONDS ?= 60
SOURCES := assistant attribution deploy metrics streams tests

.PHONY: setup demo test prove lint check lock services clean

setup: $(VENV)/ready

$(VENV)/ready: requirements.lock pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

services:
	deploy/install-services.sh

# How long the demo runs: make demo LARA_DEMO_SECONDS=30
demo: setup
	$(BIN)/lara demo --seconds $(LARA_DEMO_SECONDS)

lint: setup
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

check: lint
	$(BIN)/pytest -q -n auto -m "not live and not prove and not slow"

test: setup services
	$(BIN)/python tests/suites.py test

prove: setup
	deploy/install-services.sh image
	$(BIN)/python tests/suites.py prove

lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --all-extras pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) deploy/kafka/target .mypy_cache .ruff_cache .pytest_cache .hypothesis
