"""Real labs in a temporary home: `pytest tests/integration/lab` (builds missing programs)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from perflab.building.build import ensure_binaries
from perflab.building.sets import Binaries
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import Lab

from .labs import Cluster, Labs
from .serving import NAME, create_runtime


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("lab")


@pytest.fixture(scope="package")
def binaries() -> Binaries:
    return ensure_binaries(places.cache_root(), print)


@pytest.fixture(scope="package")
def labs(tmp_path_factory: pytest.TempPathFactory, binaries: Binaries) -> Iterator[Labs]:
    made = Labs(tmp_path_factory.mktemp("labs").resolve())
    yield made
    for name in state.names(made.home):
        assert made.run("down", "--name", name).returncode == 0


@pytest.fixture(scope="package")
def lab(labs: Labs) -> Lab:
    """Start a lab of 4 nodes of 8 GPUs that tests share and leave running."""
    return labs.up("shared", "--nodes", "4", "--audit", "--with", "training-operator")


@pytest.fixture(scope="package")
def cluster(lab: Lab) -> Cluster:
    return Cluster.of(lab)


@pytest.fixture(scope="package")
def queues_lab(labs: Labs) -> Lab:
    """Start a lab of 2 nodes of 8 GPUs with all products that queue workloads; tests share it and leave it empty."""
    return labs.up("queues", "--nodes", "2", "--with", "kueue", "--with", "ray", "--emulate", "runai")


@pytest.fixture(scope="package")
def openshift_lab(labs: Labs) -> Lab:
    """Start a lab of the profile openshift with 2 nodes that tests share and leave running."""
    return labs.up("openshift", "--profile", "openshift", "--nodes", "2")


@pytest.fixture(scope="package")
def openshift(openshift_lab: Lab) -> Cluster:
    return Cluster.of(openshift_lab)


@pytest.fixture(scope="package")
def kserve(labs: Labs) -> Cluster:
    """Start a shared lab of 2 nodes of 8 GPUs with KServe, model servers, and a runtime of `vllm`."""
    cluster = Cluster.of(labs.up(NAME, "--nodes", "2", "--with", "kserve", "--with", "models"))
    create_runtime(cluster, "vllm")
    return cluster


@pytest.fixture
def lab_steps(labs: Labs, openshift_lab: Lab) -> Iterator[Callable[..., None]]:
    """Return a function that sets steps of the lab; clear them at the end."""

    def step(*words: str) -> None:
        done = labs.run("step", "--name", openshift_lab.name, *words)
        assert done.returncode == 0, done.stderr

    yield step
    step("--clear")
