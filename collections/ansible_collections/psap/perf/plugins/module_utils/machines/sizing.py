"""How many machines of a type hold so many users or pods: a pure function over a table of machines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

# what the system takes of each node, and how many pods of a test it holds
RESERVED_CPUS, RESERVED_GIB, PODS_PER_NODE = 2.0, 4.0, 235
# how many volumes AWS attaches to a machine beside its own
VOLUMES_PER_NODE = 26


@dataclass(frozen=True, slots=True)
class Machine:
    """What an instance type has."""

    cpus: int
    memory_gib: int


# instance types as their clouds describe them; more come by an argument
MACHINES: Mapping[str, Machine] = {
    "m5.xlarge": Machine(4, 16),
    "m5.2xlarge": Machine(8, 32),
    "m5a.2xlarge": Machine(8, 32),
    "m6i.xlarge": Machine(4, 16),
    "m6i.2xlarge": Machine(8, 32),
    "m6i.4xlarge": Machine(16, 64),
    "m6a.2xlarge": Machine(8, 32),
    "c5.2xlarge": Machine(8, 16),
    "r5.2xlarge": Machine(8, 64),
    "g4dn.xlarge": Machine(4, 16),
    "g4dn.2xlarge": Machine(8, 32),
    "g5.2xlarge": Machine(8, 32),
    "g6.2xlarge": Machine(8, 32),
    "g6e.12xlarge": Machine(48, 384),
    "p4d.24xlarge": Machine(96, 1152),
    "p5.48xlarge": Machine(192, 2048),
}


@dataclass(frozen=True, slots=True)
class Size:
    """How many nodes, and by what that is decided: ``cpu``, ``memory`` or ``pods``."""

    nodes: int
    by: str
    warnings: tuple[str, ...] = ()


def nodes_for(machine: Machine, count: int, cpus: float, memory_gib: float, *, pods: int = 1, volumes: int = 0) -> Size:
    """The nodes that *count* users need, each with so many CPUs, so much memory, and so many pods and volumes.

    :raises UsageError: for a wish that is negative, and a machine that has nothing left for it.
    """
    if min(count, cpus, memory_gib, pods, volumes) < 0:
        raise UsageError("users, CPUs, memory, pods and volumes cannot be negative")
    free_cpus, free_gib = machine.cpus - RESERVED_CPUS, machine.memory_gib - RESERVED_GIB
    if free_cpus <= 0 or free_gib <= 0:
        raise UsageError(
            f"a machine of {machine.cpus} CPUs and {machine.memory_gib} GiB has nothing left beside the system"
        )
    needed = {
        "cpu": count * cpus / free_cpus,
        "memory": count * memory_gib / free_gib,
        "pods": count * pods / PODS_PER_NODE,
    }
    by = max(needed, key=lambda name: needed[name])
    # a sum of decimals is a little more than it should be
    nodes = math.ceil(round(needed[by], 9))
    attached = math.ceil(count * volumes / nodes) if nodes else 0
    crowded = (f"{attached} volumes on a node, of which AWS attaches {VOLUMES_PER_NODE}: some pods will not start",)
    return Size(nodes, by, crowded if attached > VOLUMES_PER_NODE else ())


def machine_of(instance_type: str, more: Mapping[str, Mapping[str, int]] | None = None) -> Machine:
    """The machine of a type.

    :param more: types that the table lacks, or has otherwise, each with ``cpus`` and ``memory_gib``.
    :raises UsageError: for a type that neither knows.
    """
    given = (more or {}).get(instance_type)
    if given is not None:
        return Machine(int(given["cpus"]), int(given["memory_gib"]))
    if instance_type not in MACHINES:
        raise UsageError(f"the size of {instance_type!r} is not known; there are {', '.join(sorted(MACHINES))}")
    return MACHINES[instance_type]
