# make run: the main job on the embedded lab. make test: everything CI runs. make check: the quick part. docs/testing.md
# lists what runs where.
# the oldest supported Python on PATH
PYTHON ?= $(or $(firstword $(foreach minor,11 12 13,$(shell command -v python3.$(minor) 2>/dev/null))),python3.11)
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-stamp
DEV := $(VENV)/.dev-stamp
DOCS := $(VENV)/.docs-stamp
# stages of make test that run in parallel: they mostly wait for a lab
STAGES ?= 3
# pytest's selection of the integration tests; empty: those that are not deep
DEPTH :=
GUIDELLM := 0.8.1
VLLM := 0.32.0
ACTIONLINT := 1.7.12
MLFLOW := 3.17.2
SINCE ?=
ON_PATH := PATH="$(CURDIR)/$(BIN):$$PATH"
PYTEST := $(ON_PATH) $(BIN)/python -m pytest --quiet
# The integration tests that need operators of OpenShift, those of the lab itself, and those that need its real node;
# those of the commands, which need at most a lab of the profile kubernetes, and of the driver; all others use a second
# lab of that profile
MANIFESTS := commands/test_strict_manifests.py
REAL_PODS := commands/test_real_pods.py
FINE_TUNING := $(addprefix fine_tuning/test_,flow_on_openshift.py rayjobs.py rights_on_openshift.py)
OPENSHIFT_TESTS := $(addprefix tests/integration/,clusters $(FINE_TUNING) gpu_operator lab prometheus rhoai users $(MANIFESTS) $(REAL_PODS))
DRIVER_TESTS := $(addprefix tests/integration/,awx commands driver machines settings)
# pods of these scenarios run programs, so that they need a lab with a real node: make test-deep-molecule
REAL_SCENARIOS := local_ci pipelines
SCENARIOS := $(filter-out $(REAL_SCENARIOS),$(patsubst molecule/%/molecule.yml,%,$(wildcard molecule/*/molecule.yml)))
# each scenario declares the lab that it needs
ON_OPENSHIFT = $(patsubst molecule/%/molecule.yml,%,$(shell grep -l 'PERF_LAB_PROFILE: openshift' molecule/*/molecule.yml))
ON_REAL_NODE = $(filter $(REAL_SCENARIOS),$(SCENARIOS))
# run scenarios on a separate lab: its name, its options, the scenarios
molecule_on_lab = $(if $(3),@$(ON_PATH) sh tests/scripts/on_lab.sh $(1) $(2) molecule test --report $(addprefix --scenario-name ,$(3)))

# keep Python's compiled modules: a test starts thousands of programs, each of which would compile its imports again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help docs run dev release lint-workflows changelog image-context lint-ansible sanity galaxy test test-labs test-deep test-deep-tests test-deep-unit test-deep-kubernetes test-deep-driver test-deep-openshift test-deep-molecule test-deep-fuzz test-deep-installed test-deep-release installed test-changed test-matrix check env lint types unit unit-slow fuzz integration integration-driver integration-kubernetes integration-openshift programs llama-cpp argo keda guidellm mlflow vllm molecule molecule-kubernetes molecule-openshift molecule-real browser bench bench-analysis coverage clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@echo "Creating the Python environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

$(RUNTIME): pyproject.toml requirements/constraints.txt | $(BIN)/python
	@echo "Installing psap-perf and Ansible's community collections (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt --editable '.[collections]'
	@touch $@

$(DEV): $(RUNTIME)
	@echo "Installing the development tools"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt --editable '.[collections,dev,docs]'
	@touch $@ $(DOCS)

$(DOCS): $(RUNTIME)
	@echo "Installing the tools that build the documentation"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt --editable '.[collections,docs]'
	@touch $@

env: $(DEV) ## create the development environment

dev: $(DEV) ## create the development environment, and install the hook that checks each commit
	@$(BIN)/pre-commit install
	@echo "Activate the environment: . $(VENV)/bin/activate"
	@echo 'Complete commands: eval "$$(perfdrv completion bash)"'

docs: $(DOCS) ## build the documentation site: build/site/index.html opens from disk
	@sh tests/scripts/install_debian.sh graphviz dot
	@$(BIN)/python -m docs.website

run: $(RUNTIME) ## measure the embedded lab: 300 one-GPU workloads on 100 simulated nodes
	@$(ON_PATH) perfdrv demo

check: $(DEV) ## the quick part of make test: lint, types, unit tests except the slow ones
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types unit

lint: $(DEV)
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(ON_PATH) yamllint --strict .
	@PYTHONPATH=collections $(BIN)/lint-imports --no-logo
	@$(ON_PATH) $(BIN)/python -m tests.scripts.changed --lint $(SINCE)

# 80 s of CPU; make check lints only changed files
lint-ansible: $(DEV)
	@echo "== ansible-lint"
	@$(ON_PATH) ansible-lint --offline -q

lint-workflows: build/tools/actionlint ## check the workflows of GitHub Actions
	@echo "== actionlint"
	@build/tools/actionlint

build/tools/actionlint:
	@GOBIN="$(CURDIR)/build/tools" go install github.com/rhysd/actionlint/cmd/actionlint@v$(ACTIONLINT)

release: $(DEV) ## build, verify and tag a release: make release VERSION=x.y.z; docs/releasing.md publishes it
	@$(ON_PATH) sh tests/scripts/release.sh "$(VERSION)"

changelog: $(DEV) ## check the changelog's fragments, and that the changes since SINCE have one
	@cd collections/ansible_collections/psap/perf && $(CURDIR)/$(BIN)/antsibull-changelog lint
	@$(BIN)/python -m tests.scripts.changed --changelog $(SINCE)

image-context: $(DEV) ## the build context of the image for AWX and CI, in build/image
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@$(ON_PATH) sh tests/scripts/builder.sh ansible-builder create --file execution-environment.yml --context build/image --output-filename Containerfile

sanity: $(DEV) ## check the collection with ansible-test sanity
	@echo "== ansible-test sanity"
	@$(ON_PATH) sh tests/scripts/sanity.sh

galaxy: $(DEV) ## build the collection into dist, and check it as Galaxy does on import
	@echo "== Galaxy's import"
	@$(ON_PATH) sh tests/scripts/galaxy.sh

types: $(DEV)
	@echo "== types"
	@$(BIN)/mypy

unit: $(DEV)
	@echo "== unit tests"
	@$(PYTEST) --numprocesses 2 -m "not slow and not deep" tests/unit

unit-slow: programs
	@echo "== unit tests that start processes or write whole reports"
	@$(PYTEST) -m "slow and not deep" tests/unit

fuzz: $(DEV) ## damaged inputs of every kind, 1,000 of them
	@echo "== damaged inputs"
	@$(PYTEST) tests/fuzz

# built once, before the stages of a run
programs: $(DEV)
	$(if $(BUILT),,@sh tests/scripts/install_debian.sh "gcc libc6-dev" gcc)
	$(if $(BUILT),,@$(ON_PATH) perflab build --profile openshift --with kueue --with ray --with kserve --with worker --with s3)

# only for the deep tests; 500 s of CPU the first time
# a separate environment, because it needs torch: 6 GB
guidellm: build/guidellm/bin/guidellm

build/guidellm/bin/guidellm:
	@echo "Installing guidellm, which takes some minutes"
	@$(PYTHON) -m venv build/guidellm
	@build/guidellm/bin/python -m pip install --quiet --disable-pip-version-check guidellm==$(GUIDELLM)

# only for the deep tests: a real server on CPUs, and its load generator; 6 GB
vllm: build/vllm/.installed

build/vllm/.installed:
	@echo "Installing vLLM, which takes some minutes"
	@$(PYTHON) -m venv build/vllm
	@build/vllm/bin/python tests/scripts/install_vllm.py $(VLLM)
	@touch $@

# only for the deep tests; a separate environment, because its server needs some 60 packages: 1 GB
mlflow: build/mlflow/bin/mlflow

build/mlflow/bin/mlflow:
	@echo "Installing MLflow, which takes some minutes"
	@$(PYTHON) -m venv build/mlflow
	@build/mlflow/bin/python -m pip install --quiet --disable-pip-version-check mlflow==$(MLFLOW) --editable '.[mlflow]'

llama-cpp: $(DEV)
	@sh tests/scripts/install_debian.sh "cmake ninja-build g++" cmake ninja c++
	@$(ON_PATH) perflab build --with llama-cpp

# only for the deep tests; 330 s of CPU the first time
argo: $(DEV)
	@$(ON_PATH) perflab build --with argo --with worker

# only for the deep tests; 1,560 s of CPU the first time
keda: $(DEV)
	@$(ON_PATH) perflab build --with keda

integration: programs ## settings, commands, driver, lab and flows against real processes
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target BUILT=yes integration-kubernetes integration-driver integration-openshift

integration-kubernetes: programs
	@echo "== integration tests on a lab of the profile kubernetes"
	@sh tests/scripts/install_debian.sh "maven default-jdk-headless" mvn javac
	@$(PYTEST) $(DEPTH) --durations=10 tests/integration $(DRIVER_TESTS:%=--ignore=%) $(OPENSHIFT_TESTS:%=--ignore=%)

integration-driver: programs
	@echo "== integration tests of commands, settings and the driver"
	@$(PYTEST) $(DEPTH) --durations=10 $(DRIVER_TESTS) $(addprefix --ignore=tests/integration/,$(MANIFESTS) $(REAL_PODS))

integration-openshift: programs
	@echo "== integration tests on a lab of the profile openshift"
	@sh tests/scripts/install_debian.sh "nftables iproute2" nft ip
	@$(PYTEST) $(DEPTH) --durations=10 $(OPENSHIFT_TESTS)

molecule: programs ## every command twice, and its failing cases, on a lab of each profile
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target BUILT=yes molecule-kubernetes molecule-openshift molecule-real

molecule-kubernetes: programs
	@echo "== molecule on a lab of the profile kubernetes"
	$(call molecule_on_lab,molecule,"--nodes 4 --with kueue --with ray --with training-operator --with kserve --with models --emulate modelmesh",$(filter-out $(ON_OPENSHIFT) $(REAL_SCENARIOS),$(SCENARIOS)))

molecule-openshift: programs
	@echo "== molecule on a lab of the profile openshift"
	$(call molecule_on_lab,molecule-openshift,"--nodes 4 --profile openshift",$(filter $(ON_OPENSHIFT),$(SCENARIOS)))

molecule-real: programs
	$(if $(ON_REAL_NODE),@echo "== molecule on a lab with a real node")
	$(if $(ON_REAL_NODE),@sh tests/scripts/install_debian.sh "nftables iproute2" nft ip)
	$(call molecule_on_lab,molecule-real,"--nodes 2 --with argo --with worker",$(ON_REAL_NODE))

browser: $(DEV) ## the report and the documentation in Chromium
	@echo "== browser tests"
	@sh tests/scripts/install_debian.sh "chromium graphviz" chromium dot
	@$(PYTEST) tests/browser

installed: programs ## the wheel in a new environment and an empty folder: projects, flows with and without the driver
	@echo "== installed from a wheel"
	@$(ON_PATH) sh tests/scripts/installed.sh $(PYTHON)

test: check programs ## everything CI runs
	@bash tests/scripts/stages.sh $(MAKE) --no-print-directory --keep-going --jobs $(STAGES) --output-sync=target BUILT=yes test-labs
	@echo "== all tests passed"

test-matrix: ## unit tests, settings, commands, main job, with every installed supported pair of Python and Ansible
	@sh tests/scripts/test_matrix.sh $(PAIRS)

# the longest first, so that short ones fill the remaining time
test-labs: integration-openshift integration-kubernetes integration-driver molecule-openshift molecule-kubernetes unit-slow lint-ansible sanity installed fuzz browser

test-deep: galaxy test-deep-tests test-deep-molecule test-deep-fuzz test-deep-installed test-deep-release ## the tests that make test omits, in parts of up to an hour

test-deep-tests: test-deep-unit test-deep-kubernetes test-deep-driver test-deep-openshift ## long runs, and faults at every step of them

test-deep-unit: $(DEV)
	@sh tests/scripts/install_debian.sh "maven default-jdk-headless" mvn javac
	@$(PYTEST) -m deep tests/unit

test-deep-kubernetes test-deep-driver test-deep-openshift: programs llama-cpp argo keda guidellm mlflow vllm
	@$(MAKE) --no-print-directory BUILT=yes DEPTH="-m deep" $(@:test-deep-%=integration-%)

test-deep-molecule: programs llama-cpp argo ## every failing case of every command, and the scenarios on a real node
	@PERF_TEST_DEEP=true $(MAKE) --no-print-directory molecule SCENARIOS="$(SCENARIOS) $(REAL_SCENARIOS)"

test-deep-fuzz: $(DEV) ## 10,000 damaged inputs
	@$(BIN)/python tests/bench/fuzz.py

# servers and clients of package indexes, which the project does not need
.venv/registries/bin/twine:
	@$(PYTHON) -m venv .venv/registries
	@.venv/registries/bin/python -m pip install --quiet --disable-pip-version-check 'pypiserver>=2.3' 'twine>=6'

# the base of the image in the tests: no registry of images can be reached there
build/image-base:
	@sh tests/scripts/install_debian.sh "podman buildah debootstrap docker-registry" podman buildah debootstrap docker-registry
	@mkdir -p build
	@debootstrap --variant=minbase --include=ca-certificates,git,python3-pip,python3-venv bookworm $@.partial
	@mv $@.partial $@

test-deep-release: programs .venv/registries/bin/twine build/image-base ## publish to registries on this machine, install from them, run
	@$(PYTEST) -m deep tests/release

# on PATH, or among pyenv's versions
test-deep-installed: programs ## installed from a wheel, on Python 3.12 and 3.13
	@for version in 3.12 3.13; do \
		echo "== installed from a wheel, Python $$version"; \
		python=$$(ls -d $$HOME/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); \
		PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/scripts/installed.sh $${python:-python$$version} || exit 1; \
	done

test-changed: $(DEV) ## the tests of the changes since SINCE (a commit; default: the branch point from main)
	@$(ON_PATH) $(BIN)/python -m tests.scripts.changed $(SINCE)

bench: $(DEV) ## measure the scale test in one run, about half an hour, without assertions; tests/bench has more
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/bench/scale_test.sh

bench-analysis: $(DEV) ## measure the analysis against its targets, about ten minutes, without assertions
	@$(BIN)/python tests/bench/analysis.py

coverage: $(DEV) ## branch coverage of each package by the unit tests; fails below a package's minimum
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m coverage run -m pytest --quiet --numprocesses 2 tests/unit
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python tests/scripts/coverage_report.py

clean: ## remove the environment and the caches of tools; labs and runs remain
	rm -rf $(VENV) .grimp_cache .import_linter_cache .mypy_cache .ruff_cache .pytest_cache .ansible dist build
