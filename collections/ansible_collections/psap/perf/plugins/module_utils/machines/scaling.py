"""Plan the changes to MachineSets for a number of machines of an instance type, by a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.machines.cloning import (
    Shape,
    clone,
    default_name,
    differences,
    updated_template,
)
from ansible_collections.psap.perf.plugins.module_utils.machines.clouds import cloud_of, value_of

_ROLE_LABEL = "machine.openshift.io/cluster-api-machine-role"


@dataclass(frozen=True, slots=True)
class Request:
    """A request for machines.

    Args:
        scale: Number of machines of the shape's type, in the set *name* or, if empty, in all sets of the type.
        base: Set to clone if none has the type; empty for the first set of workers.
        force: Scale other sets of the type than the first to 0.
        ibm: Whether the user expects IBM Cloud; None for no expectation.
    """

    shape: Shape
    scale: int
    name: str = ""
    base: str = ""
    force: bool = False
    ibm: bool | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """An existing set, the *change* to merge into it, and its *replicas* after that."""

    name: str
    replicas: int
    change: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes, in this order, and sets to wait for.

    Args:
        clone: A set to create.
        changes: Changes of existing sets.
        removed: Sets to delete with all machines, which this command created before.
        awaited: All sets that have machines of the request in the end, or are scaled to 0.
    """

    clone: Manifest | None = None
    changes: tuple[Change, ...] = ()
    removed: tuple[str, ...] = ()
    awaited: tuple[str, ...] = field(default=())


def plan(machine_sets: Iterable[Manifest], request: Request) -> Plan:
    """Return the changes to *machine_sets*, all of the cluster, that fulfil *request*.

    Raises:
        UsageError: If the request contradicts the cluster, or needs *force*.
        ClusterError: If the cluster has no set to scale or to clone.
    """
    present = sorted(machine_sets, key=_name)
    staying = [item for item in present if not item["metadata"].get("deletionTimestamp")]
    _check_provider(staying, request)
    matching = _select_sets(staying, request)
    if not matching:
        return _plan_clone(present, request) if request.scale else Plan()
    if not request.scale:
        return _plan_removal(matching, request)
    replicas = _distribution(matching, request)
    chosen = matching[0]
    changes = [_change(item, replicas[_name(item)], request if item is chosen else None) for item in matching]
    return Plan(changes=tuple(item for item in changes if item.change), awaited=tuple(map(_name, matching)))


def _name(machine_set: Manifest) -> str:
    return str(machine_set["metadata"]["name"])


def _replicas(machine_set: Manifest) -> int:
    return int(machine_set["spec"].get("replicas", 1))


def _check_provider(machine_sets: Sequence[Manifest], request: Request) -> None:
    if request.ibm is None or not machine_sets:
        return
    cloud = cloud_of(machine_sets[0])
    if request.ibm != (cloud.name == "IBM Cloud"):
        raise UsageError(
            f"ibm: {str(request.ibm).lower()} contradicts the cluster's MachineSets, which are for {cloud.name}; leave "
            "it out, the provider is read from them"
        )


def _select_sets(machine_sets: Sequence[Manifest], request: Request) -> list[Manifest]:
    wanted = request.shape.instance_type
    if not request.name:
        return [item for item in machine_sets if _type(item) == wanted]
    named = [item for item in machine_sets if _name(item) == request.name]
    for item in named:
        if _type(item) != wanted:
            raise UsageError(
                f"name: the MachineSet {request.name} is of type {_type(item)}, not {wanted}; choose another name, or "
                "remove it first"
            )
    return named


def _type(machine_set: Manifest) -> str | None:
    """Return the instance type; None if the provider is unknown."""
    try:
        return cloud_of(machine_set).type_of(value_of(machine_set))
    except ClusterError:
        return None


def _distribution(matching: Sequence[Manifest], request: Request) -> dict[str, int]:
    """Return the number of machines of each set: only the first changes, or with force has them all."""
    replicas = {_name(item): _replicas(item) for item in matching}
    if sum(replicas.values()) == request.scale:
        return replicas
    first, *others = matching
    elsewhere = sum(map(_replicas, others))
    if request.force:
        return {**dict.fromkeys(replicas, 0), _name(first): request.scale}
    if elsewhere > request.scale:
        names = ", ".join(_name(item) for item in others if _replicas(item))
        raise UsageError(
            f"scale: {names} hold {elsewhere} machines of type {request.shape.instance_type}, more than the "
            f"{request.scale} requested; force: true scales them to 0, name: chooses one set alone"
        )
    return {**replicas, _name(first): request.scale - elsewhere}


def _plan_removal(matching: Sequence[Manifest], request: Request) -> Plan:
    first, *others = matching
    holding = [_name(item) for item in others if _replicas(item)]
    if holding and not request.force:
        raise UsageError(
            f"scale: {', '.join([_name(first), *holding])} all hold machines of type {request.shape.instance_type}; "
            "force: true scales them to 0, name: chooses one set alone"
        )
    managed = [item for item in matching if _is_managed(item)]
    others_of_type = [item for item in matching if item not in managed]
    changes = [_change(item, 0, None) for item in others_of_type]
    return Plan(
        changes=tuple(item for item in changes if item.change),
        removed=tuple(map(_name, managed)),
        awaited=tuple(map(_name, others_of_type)),
    )


def _is_managed(machine_set: Manifest) -> bool:
    return MANAGED_BY.items() <= (machine_set["metadata"].get("labels") or {}).items()


def _change(machine_set: Manifest, replicas: int, request: Request | None) -> Change:
    """Return the change of *machine_set* to *replicas* and, with *request*, to its shape; may be empty."""
    spec: dict[str, Any] = {} if _replicas(machine_set) == replicas else {"replicas": replicas}
    if request is not None:
        cloud = cloud_of(machine_set)
        found = differences(machine_set, cloud, request.shape)
        if found and _replicas(machine_set):
            raise UsageError(
                f"the MachineSet {_name(machine_set)} of {_replicas(machine_set)} machines {' and '.join(found)}, "
                "and existing machines cannot be changed; choose another name, or scale it to 0 first"
            )
        if found:
            spec["template"] = updated_template(machine_set, cloud, request.shape)
    return Change(_name(machine_set), replicas, {"spec": spec} if spec else {})


def _plan_clone(machine_sets: Sequence[Manifest], request: Request) -> Plan:
    base = _base(machine_sets, request.base)
    name = request.name or default_name(_name(base), request.shape.instance_type)
    if name in map(_name, machine_sets):
        raise UsageError(f"name: the MachineSet {name} is of another type, or is being deleted; choose another name")
    made = clone(base, cloud_of(base), name, request.shape, request.scale)
    return Plan(clone=made, awaited=(name,))


def _base(machine_sets: Sequence[Manifest], wanted: str) -> Manifest:
    workers = [item for item in machine_sets if (_name(item) == wanted if wanted else _is_of_workers(item))]
    if workers:
        return workers[0]
    if wanted:
        names = ", ".join(map(_name, machine_sets)) or "none"
        raise UsageError(f"base_machineset: unknown MachineSet {wanted}; known: {names}")
    raise ClusterError(
        "no MachineSet of workers to clone: the cluster's machines are created by other means, as on bare metal and "
        "with hosted control planes; add them there, or name base_machineset"
    )


def _is_of_workers(machine_set: Manifest) -> bool:
    template = machine_set["spec"]["template"].get("metadata") or {}
    labels = {**(machine_set["metadata"].get("labels") or {}), **(template.get("labels") or {})}
    return labels.get(_ROLE_LABEL) == "worker" and not machine_set["metadata"].get("deletionTimestamp")
