# make run: the main job on the embedded lab. make test: everything CI runs. make check: the quick part.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-stamp
DEV := $(VENV)/.dev-stamp
# the scenarios that run on a lab of the profile openshift; all others run on one of the profile kubernetes
OPENSHIFT_SCENARIOS := cluster gpu_operator nfd_operator rhods
# the integration tests of its operators and of the flow that stands on them; all others need the profile kubernetes only
OPENSHIFT_TESTS := $(addprefix tests/integration/,fine_tuning gpu_operator lab prometheus rhoai)
SCENARIOS := $(patsubst molecule/%/molecule.yml,%,$(wildcard molecule/*/molecule.yml))
ON_OPENSHIFT = $(addprefix --scenario-name ,$(filter $(OPENSHIFT_SCENARIOS),$(SCENARIOS)))
ON_KUBERNETES = $(addprefix --scenario-name ,$(filter-out $(OPENSHIFT_SCENARIOS),$(SCENARIOS)))

.PHONY: help run test test-matrix check env lint types unit fuzz integration integration-kubernetes integration-openshift molecule molecule-kubernetes molecule-openshift browser bench bench-analysis coverage clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@echo "Making the Python environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

$(RUNTIME): pyproject.toml requirements/constraints.txt | $(BIN)/python
	@echo "Installing psap-perf and Ansible's community collections (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt --editable '.[collections]'
	@touch $@

$(DEV): $(RUNTIME)
	@echo "Installing the development tools"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt --editable '.[collections,dev]'
	@touch $@

env: $(DEV) ## make the development environment

run: $(RUNTIME) ## measure the embedded lab: 300 one-GPU workloads on 100 simulated nodes
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/main_job.sh

check: $(DEV) ## the quick part of make test
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types
	@$(MAKE) --no-print-directory unit

lint: $(DEV)
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@PATH="$(CURDIR)/$(BIN):$$PATH" yamllint --strict .
	@PATH="$(CURDIR)/$(BIN):$$PATH" ansible-lint --offline -q --exclude molecule/

types: $(DEV)
	@echo "== types"
	@$(BIN)/mypy

unit: $(DEV)
	@echo "== unit tests"
	@$(BIN)/python -m pytest --quiet --numprocesses 3 tests/unit
	@$(BIN)/perfdrv settings check

fuzz: $(DEV) ## damaged inputs of every kind, 1,000 of them
	@echo "== damaged inputs"
	@$(BIN)/python -m pytest --quiet --numprocesses 2 tests/fuzz

# Most of their time is waiting for what happens on a lab, so two sessions with labs of their own are half as long.
integration: $(DEV) ## settings, commands, driver, lab and flows against real processes
	@echo "== integration tests"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/perflab build --profile openshift
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target integration-kubernetes integration-openshift

integration-kubernetes: $(DEV)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest --quiet --durations=10 tests/integration $(OPENSHIFT_TESTS:%=--ignore=%)

integration-openshift: $(DEV)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest --quiet --durations=10 $(OPENSHIFT_TESTS)

molecule: $(DEV) ## every command twice, on a lab of each kind
	@echo "== molecule"
	@PATH="$(CURDIR)/$(BIN):$$PATH" ansible-lint --offline -q molecule/
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target molecule-kubernetes molecule-openshift

molecule-kubernetes: $(DEV)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/on_lab.sh molecule "--nodes 4 --emulate kueue --emulate ray" molecule test --report $(ON_KUBERNETES)

molecule-openshift: $(DEV)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/on_lab.sh molecule-openshift "--nodes 4 --profile openshift" molecule test --report $(ON_OPENSHIFT)

browser: $(DEV) ## the report in Chromium
	@echo "== browser tests"
	@sh tests/install_chromium.sh
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest --quiet tests/browser

test: check fuzz integration molecule browser ## everything CI runs
	@echo "== all tests passed"

test-matrix: ## unit tests, settings, commands, main job: every supported pair of Python and Ansible that is here
	@sh tests/test_matrix.sh $(PAIRS)

bench: $(DEV) ## figures of the scale test in one run, about half an hour; never asserted, tests/bench has more
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/bench/scale_test.sh

bench-analysis: $(DEV) ## figures of the analysis that have an aim, about ten minutes; never asserted
	@$(BIN)/python tests/bench/analysis.py

coverage: $(DEV) ## branch coverage of the analysis by its unit tests, at least 90 %
	@$(BIN)/python -m coverage run -m pytest --quiet tests/unit/analysis
	@$(BIN)/python -m coverage report

clean: ## remove the environment and the caches of tools; labs and runs stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .ansible dist build
