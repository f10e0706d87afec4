# make run: the main job on the embedded lab. make test: everything CI runs. make check: the quick part.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-stamp
DEV := $(VENV)/.dev-stamp

.PHONY: help run test check env lint types unit integration molecule bench clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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
