"""Compute the number of machines of a type that pods need, by a pure function over a table of machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import parse_quantity

# resources of each node that the system uses, and the maximum number of a test's pods
RESERVED_CPUS, RESERVED_GIB, PODS_PER_NODE = 2.0, 4.0, 235
# volumes that AWS attaches to a machine in addition to its root volume
VOLUMES_PER_NODE = 26
_GIBI = 1024**3


@dataclass(frozen=True, slots=True)
class Machine:
    """The resources of an instance type."""

    cpus: int
    memory_gib: int
    gpus: int = 0


# instance types as their clouds describe them; an argument adds others
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
    "g4dn.xlarge": Machine(4, 16, 1),
    "g4dn.2xlarge": Machine(8, 32, 1),
    "g5.2xlarge": Machine(8, 32, 1),
    "g6.2xlarge": Machine(8, 32, 1),
    "g6e.12xlarge": Machine(48, 384, 4),
    "p4d.24xlarge": Machine(96, 1152, 8),
    "p5.48xlarge": Machine(192, 2048, 8),
}


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a pod."""

    cpus: float = 0.25
    memory_gib: float = 2
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of a cell that exist concurrently, and the requests of each; CPU and memory are Kubernetes quantities."""

    count: int
    cpu: str
    memory: str
    gpus: int

    @property
    def requests(self) -> Requests:
        """Return the requests of each pod as numbers."""
        return Requests(float(parse_quantity(self.cpu)), float(parse_quantity(self.memory) / _GIBI), self.gpus)


def most_gpus(cells: Iterable[Iterable[Pods]]) -> int:
    """Return the maximum number of GPUs that a pod of any cell requests."""
    return max((kind.gpus for cell in cells for kind in cell), default=0)


@dataclass(frozen=True, slots=True)
class Size:
    """The number of nodes, and the limiting resource (*by*): ``cpu``, ``memory``, ``gpus`` or ``pods``."""

    nodes: int
    by: str
    warnings: list[str] = field(default_factory=list)


def nodes_for(machine: Machine, pods: int, requests: Requests, *, volumes: int = 0) -> Size:
    """Return the number of nodes that *pods* need.

    Args:
        volumes: Volumes of each pod.

    Raises:
        UsageError: If a number is negative, or a pod does not fit on such a machine.
    """
    if min(pods, requests.cpus, requests.memory_gib, requests.gpus, volumes) < 0:
        raise UsageError("pods, CPUs, memory, GPUs and volumes cannot be negative")
    free = _free(machine)
    held = _pods_by_resource(free, _amounts(requests))
    by = min(held, key=lambda name: held[name])
    if not held[by]:
        raise UsageError(
            f"a pod of {requests.cpus:g} CPUs, {requests.memory_gib:g} GiB and {requests.gpus} GPUs does not fit on "
            f"such a machine: without the system's share it has {free['cpu']:g}, {free['memory']:g} and "
            f"{free['gpus']}, too little {by}"
        )
    nodes = math.ceil(pods / held[by])
    attached = min(pods, held[by]) * volumes
    crowded = f"{attached} volumes on a node, but AWS attaches at most {VOLUMES_PER_NODE}: some pods will not start"
    return Size(nodes, by, [crowded] if attached > VOLUMES_PER_NODE else [])


def nodes_for_all(machine: Machine, kinds: Sequence[Pods]) -> int:
    """Return the number of nodes that concurrent pods of several kinds need: the largest first, each on the first fit.

    Raises:
        UsageError: As :func:`nodes_for`, and for an invalid quantity.
    """
    nodes: list[dict[str, float]] = []
    for requests, left in sorted(((kind.requests, kind.count) for kind in kinds), key=_size, reverse=True):
        # also refuses a pod that fits on no node
        new = [_free(machine) for _node in range(nodes_for(machine, left, requests).nodes)]
        wanted = _amounts(requests)
        for node in (nodes := nodes + new):
            placed = min(left, *_pods_by_resource(node, wanted).values())
            node.update({name: free - placed * wanted[name] for name, free in node.items()})
            left -= placed
        nodes = [node for node in nodes if node["pods"] < PODS_PER_NODE]
    return len(nodes)


def _size(kind: tuple[Requests, int]) -> tuple[float, ...]:
    requests, _count = kind
    return requests.gpus, requests.memory_gib, requests.cpus


def _free(machine: Machine) -> dict[str, float]:
    """Return the resources of a node for pods."""
    cpus, memory_gib = machine.cpus - RESERVED_CPUS, machine.memory_gib - RESERVED_GIB
    return {"cpu": cpus, "memory": memory_gib, "gpus": machine.gpus, "pods": PODS_PER_NODE}


def _amounts(requests: Requests) -> dict[str, float]:
    """Return the requests of a pod by resource."""
    return {"cpu": requests.cpus, "memory": requests.memory_gib, "gpus": requests.gpus, "pods": 1}


def _pods_by_resource(free: Mapping[str, float], wanted: Mapping[str, float]) -> dict[str, int]:
    """Return the number of pods for which each requested resource suffices."""
    # rounded, since a quotient of decimals may be slightly too small
    return {name: math.floor(round(max(free[name], 0) / each, 9)) for name, each in wanted.items() if each}


def machine_of(instance_type: str, more: Mapping[str, Mapping[str, int]] | None = None) -> Machine:
    """Return the machine of a type.

    Args:
        more: Types to add to the table or replace, each with ``cpus``, ``memory_gib``, and ``gpus`` if any.

    Raises:
        UsageError: If the type is unknown.
    """
    given = (more or {}).get(instance_type)
    if given is not None:
        try:
            return Machine(int(given["cpus"]), int(given["memory_gib"]), int(given.get("gpus", 0)))
        except (KeyError, ValueError) as error:
            raise UsageError(f"the size of {instance_type!r} needs whole numbers of cpus and memory_gib") from error
    if instance_type not in MACHINES:
        raise UsageError(f"the size of {instance_type!r} is unknown; known: {', '.join(sorted(MACHINES))}")
    return MACHINES[instance_type]
