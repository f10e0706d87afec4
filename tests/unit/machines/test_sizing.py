"""How many machines so many users need."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import (
    MACHINES,
    PODS_PER_NODE,
    RESERVED_CPUS,
    RESERVED_GIB,
    Machine,
    machine_of,
    nodes_for,
)
from hypothesis import given
from hypothesis import strategies as st

TYPES = st.sampled_from(sorted(MACHINES)).map(machine_of)
USERS, CPUS, MEMORY = st.integers(0, 5000), st.floats(0, 4), st.floats(0, 64)


@pytest.mark.parametrize(
    ("count", "cpus", "memory", "nodes", "by"),
    [(300, 0.25, 2, 22, "memory"), (24, 0.25, 0.1, 1, "cpu"), (25, 0.25, 0.1, 2, "cpu"), (236, 0, 0, 2, "pods")],
)
def test_what_is_scarcest_decides(count: int, cpus: float, memory: float, nodes: int, by: str) -> None:
    size = nodes_for(machine_of("m6i.2xlarge"), count, cpus, memory)
    assert (size.nodes, size.by, size.warnings) == (nodes, by, ())


@given(TYPES, USERS, CPUS, MEMORY)
def test_all_fit_and_one_node_less_would_not_do(machine: Machine, count: int, cpus: float, memory: float) -> None:
    nodes = nodes_for(machine, count, cpus, memory).nodes
    free = (machine.cpus - RESERVED_CPUS, machine.memory_gib - RESERVED_GIB, PODS_PER_NODE)
    wanted = (count * cpus, count * memory, count)

    def holds(number: int) -> bool:
        return all(need <= number * have * (1 + 1e-6) + 1e-6 for need, have in zip(wanted, free, strict=True))

    assert holds(nodes)
    assert (
        nodes == 0
        or not holds(nodes - 1)
        or any(abs(need - (nodes - 1) * have) < 1e-3 for need, have in zip(wanted, free, strict=True))
    )


@given(TYPES, USERS, CPUS, MEMORY)
def test_more_users_never_need_fewer_nodes(machine: Machine, count: int, cpus: float, memory: float) -> None:
    assert nodes_for(machine, count, cpus, memory).nodes <= nodes_for(machine, count + 1, cpus, memory).nodes


def test_more_volumes_than_a_machine_takes_are_told() -> None:
    (warning,) = nodes_for(machine_of("m6i.2xlarge"), 24, 0.25, 0.1, volumes=2).warnings
    assert warning.startswith("48 volumes on a node")


def test_a_type_is_known_or_given() -> None:
    assert machine_of("own", {"own": {"cpus": 8, "memory_gib": 32}}) == machine_of("m6i.2xlarge")
    with pytest.raises(UsageError, match="the size of 'own' is not known"):
        machine_of("own")


@pytest.mark.parametrize(("machine", "count"), [(Machine(2, 32), 1), (Machine(8, 4), 1), (Machine(8, 32), -1)])
def test_what_cannot_be_is_refused(machine: Machine, count: int) -> None:
    with pytest.raises(UsageError):
        nodes_for(machine, count, 1, 1)
