"""The number of machines for a number of pods."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import (
    MACHINES,
    PODS_PER_NODE,
    RESERVED_CPUS,
    RESERVED_GIB,
    Machine,
    Pods,
    Requests,
    machine_of,
    nodes_for,
    nodes_for_all,
)
from hypothesis import given
from hypothesis import strategies as st

TYPES = st.sampled_from(sorted(MACHINES)).map(machine_of)
PODS = st.integers(0, 5000)
# Steps that floats represent exactly
REQUESTS = st.builds(
    Requests, st.integers(0, 8).map(lambda n: n / 4), st.integers(0, 24).map(lambda n: n / 2), st.just(0)
)


@pytest.mark.parametrize(
    ("instance_type", "pods", "requests", "nodes", "by"),
    [
        ("m6i.2xlarge", 300, Requests(0.25, 2), 22, "memory"),
        ("m6i.2xlarge", 24, Requests(0.25, 0.1), 1, "cpu"),
        ("m6i.2xlarge", 25, Requests(0.25, 0.1), 2, "cpu"),
        ("m6i.2xlarge", 236, Requests(0, 0), 2, "pods"),
        # Two pods do not share a machine, however much of both resources is left.
        ("m6i.2xlarge", 3, Requests(4, 1), 3, "cpu"),
        ("g6e.12xlarge", 3, Requests(1, 10, 3), 3, "gpus"),
        ("p5.48xlarge", 17, Requests(1, 10, 1), 3, "gpus"),
    ],
)
def test_scarcest_resource_decides(instance_type: str, pods: int, requests: Requests, nodes: int, by: str) -> None:
    size = nodes_for(machine_of(instance_type), pods, requests)
    assert (size.nodes, size.by, size.warnings) == (nodes, by, [])


@given(TYPES, PODS, REQUESTS)
def test_count_is_the_smallest_that_fits(machine: Machine, pods: int, requests: Requests) -> None:
    nodes = nodes_for(machine, pods, requests).nodes

    def holds(number: int) -> bool:
        """Return whether *number* nodes hold all pods, placed one by one."""
        placed = 0
        for _pod in range(PODS_PER_NODE):
            cpus, memory = (placed + 1) * requests.cpus, (placed + 1) * requests.memory_gib
            if cpus > machine.cpus - RESERVED_CPUS or memory > machine.memory_gib - RESERVED_GIB:
                break
            placed += 1
        return number * placed >= pods

    assert holds(nodes)
    assert nodes == 0 or not holds(nodes - 1)


@given(TYPES, PODS, REQUESTS)
def test_single_kind_needs_as_many_nodes_as_alone(machine: Machine, pods: int, requests: Requests) -> None:
    kind = Pods(pods, f"{requests.cpus}", f"{requests.memory_gib}Gi", requests.gpus)
    assert nodes_for_all(machine, [kind]) == nodes_for(machine, pods, requests).nodes


@pytest.mark.parametrize(
    ("instance_type", "kinds", "nodes"),
    [
        ("p5.48xlarge", [Pods(3, "4", "16Gi", 2), Pods(2, "8", "40Gi", 1)], 1),
        # Largest first: three of 4 GPUs on two nodes, and the others next to them
        ("p5.48xlarge", [Pods(4, "1", "1Gi", 1), Pods(3, "1", "1Gi", 4)], 2),
        ("p5.48xlarge", [Pods(5, "1", "1Gi", 1), Pods(3, "1", "1Gi", 4)], 3),
        # No GPUs are left, but CPUs.
        ("p5.48xlarge", [Pods(1, "1", "1Gi", 8), Pods(10, "4", "8Gi", 0)], 1),
        ("m6i.2xlarge", [Pods(2, "4000m", "1Gi", 0), Pods(2, "2", "1Gi", 0)], 2),
        ("m6i.2xlarge", [], 0),
        ("m6i.2xlarge", [Pods(0, "1", "1Gi", 0)], 0),
    ],
)
def test_pods_of_several_kinds_share_nodes(instance_type: str, kinds: list[Pods], nodes: int) -> None:
    assert nodes_for_all(machine_of(instance_type), kinds) == nodes


def test_pod_that_fits_no_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="too little gpus"):
        nodes_for_all(machine_of("g5.2xlarge"), [Pods(1, "1", "1Gi", 0), Pods(1, "1", "1Gi", 2)])


def test_too_many_volumes_for_a_machine_are_reported() -> None:
    (warning,) = nodes_for(machine_of("m6i.2xlarge"), 24, Requests(0.25, 0.1), volumes=2).warnings
    assert warning.startswith("48 volumes on a node")


def test_machine_type_is_known_or_given() -> None:
    assert machine_of("own", {"own": {"cpus": 8, "memory_gib": 32}}) == machine_of("m6i.2xlarge")
    with pytest.raises(UsageError, match="the size of 'own' is unknown"):
        machine_of("own")
    with pytest.raises(UsageError, match="needs whole numbers of cpus and memory_gib"):
        machine_of("own", {"own": {"cpus": 8}})


@pytest.mark.parametrize(
    ("machine", "pods", "requests", "why"),
    [
        (Machine(2, 32), 1, Requests(1, 1), "too little cpu"),
        (Machine(8, 4), 1, Requests(1, 1), "too little memory"),
        (Machine(8, 32, 1), 1, Requests(1, 1, 2), "too little gpus"),
        (Machine(8, 32), -1, Requests(), "cannot be negative"),
    ],
)
def test_invalid_sizing_is_refused(machine: Machine, pods: int, requests: Requests, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        nodes_for(machine, pods, requests)
