"""How many machines of a type hold so many pods: a pure function over a table of machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import parse_quantity

# what the system takes of each node, and how many pods of a test it holds
RESERVED_CPUS, RESERVED_GIB, PODS_PER_NODE = 2.0, 4.0, 235
# how many volumes AWS attaches to a machine beside its own
VOLUMES_PER_NODE = 26
_GIBI = 1024**3


@dataclass(frozen=True, slots=True)
class Machine:
    """What an instance type has."""

    cpus: int
    memory_gib: int
    gpus: int = 0


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
    """What each pod requests."""

    cpus: float = 0.25
    memory_gib: float = 2
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of a cell that are there at once, and what each requests; CPU and memory are Kubernetes quantities."""

    count: int
    cpu: str
    memory: str
    gpus: int

    @property
    def requests(self) -> Requests:
        """What each of them requests, in numbers."""
        return Requests(float(parse_quantity(self.cpu)), float(parse_quantity(self.memory) / _GIBI), self.gpus)


def most_gpus(cells: Iterable[Iterable[Pods]]) -> int:
    """The most that a pod of any cell requests, 0 when none does."""
    return max((kind.gpus for cell in cells for kind in cell), default=0)


@dataclass(frozen=True, slots=True)
class Size:
    """How many nodes, and by what that is decided: ``cpu``, ``memory``, ``gpus`` or ``pods``."""

    nodes: int
    by: str
    warnings: list[str] = field(default_factory=list)


def nodes_for(machine: Machine, pods: int, requests: Requests, *, volumes: int = 0) -> Size:
    """The nodes that *pods* need, none of which is split over two.

    :param volumes: of each pod.
    :raises UsageError: for a wish that is negative, and a pod that no such machine holds beside the system.
    """
    if min(pods, requests.cpus, requests.memory_gib, requests.gpus, volumes) < 0:
        raise UsageError("pods, CPUs, memory, GPUs and volumes cannot be negative")
    free = _free(machine)
    held = _held(free, _wanted(requests))
    by = min(held, key=lambda name: held[name])
    if not held[by]:
        raise UsageError(
            f"no such machine holds a pod of {requests.cpus:g} CPUs, {requests.memory_gib:g} GiB and {requests.gpus} "
            f"GPUs: beside the system it has {free['cpu']:g}, {free['memory']:g} and {free['gpus']}, too little {by}"
        )
    nodes = math.ceil(pods / held[by])
    attached = min(pods, held[by]) * volumes
    crowded = f"{attached} volumes on a node, of which AWS attaches {VOLUMES_PER_NODE}: some pods will not start"
    return Size(nodes, by, [crowded] if attached > VOLUMES_PER_NODE else [])


def nodes_for_all(machine: Machine, kinds: Sequence[Pods]) -> int:
    """The nodes that pods of several kinds need that are there at once: the largest first, each where it fits first.

    :raises UsageError: as :func:`nodes_for` does, and for a quantity that is none.
    """
    nodes: list[dict[str, float]] = []
    for requests, left in sorted(((kind.requests, kind.count) for kind in kinds), key=_size, reverse=True):
        # and what no node holds is refused
        new = [_free(machine) for _node in range(nodes_for(machine, left, requests).nodes)]
        wanted = _wanted(requests)
        for node in (nodes := nodes + new):
            placed = min(left, *_held(node, wanted).values())
            node.update({name: free - placed * wanted[name] for name, free in node.items()})
            left -= placed
        nodes = [node for node in nodes if node["pods"] < PODS_PER_NODE]
    return len(nodes)


def _size(kind: tuple[Requests, int]) -> tuple[float, ...]:
    requests, _count = kind
    return requests.gpus, requests.memory_gib, requests.cpus


def _free(machine: Machine) -> dict[str, float]:
    """What a node has for pods, by resource."""
    cpus, memory_gib = machine.cpus - RESERVED_CPUS, machine.memory_gib - RESERVED_GIB
    return {"cpu": cpus, "memory": memory_gib, "gpus": machine.gpus, "pods": PODS_PER_NODE}


def _wanted(requests: Requests) -> dict[str, float]:
    """What a pod requests, by resource."""
    return {"cpu": requests.cpus, "memory": requests.memory_gib, "gpus": requests.gpus, "pods": 1}


def _held(free: Mapping[str, float], wanted: Mapping[str, float]) -> dict[str, int]:
    """How many pods each of the resources that they request suffices for."""
    # a quotient of decimals is a little less than it should be
    return {name: math.floor(round(max(free[name], 0) / each, 9)) for name, each in wanted.items() if each}


def machine_of(instance_type: str, more: Mapping[str, Mapping[str, int]] | None = None) -> Machine:
    """The machine of a type.

    :param more: types that the table lacks, or has otherwise, each with ``cpus``, ``memory_gib``, and ``gpus`` if any.
    :raises UsageError: for a type that neither knows.
    """
    given = (more or {}).get(instance_type)
    if given is not None:
        try:
            return Machine(int(given["cpus"]), int(given["memory_gib"]), int(given.get("gpus", 0)))
        except (KeyError, ValueError) as error:
            raise UsageError(f"the size of {instance_type!r} needs whole numbers of cpus and memory_gib") from error
    if instance_type not in MACHINES:
        raise UsageError(f"the size of {instance_type!r} is not known; there are {', '.join(sorted(MACHINES))}")
    return MACHINES[instance_type]
