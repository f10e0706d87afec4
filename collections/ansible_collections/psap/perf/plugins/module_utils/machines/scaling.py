"""What changes so that a cluster has so many machines of an instance type: a pure function of what there is."""

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
    in_line,
)
from ansible_collections.psap.perf.plugins.module_utils.machines.clouds import cloud_of, value_of

_ROLE_LABEL = "machine.openshift.io/cluster-api-machine-role"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    :param scale: how many machines of the shape's type there shall be: in the set called *name* if that is not empty,
        else in all sets of the type together.
    :param base: the set to clone when there is none of the type; empty for the first of workers.
    :param force: whether sets of the type beyond the first may be emptied.
    :param ibm: what the user says of the provider; None for nothing.
    """

    shape: Shape
    scale: int
    name: str = ""
    base: str = ""
    force: bool = False
    ibm: bool | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A set that is there, and what is merged into it; *replicas* is what it then asks for."""

    name: str
    replicas: int
    change: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in this order, and what to wait for.

    :param clone: a set to create; None for none.
    :param changes: of sets that are there.
    :param removed: sets that this command once made, of which no machine shall be left.
    :param awaited: all sets that hold machines of the request in the end, or just gave theirs up.
    """

    clone: Manifest | None = None
    changes: tuple[Change, ...] = ()
    removed: tuple[str, ...] = ()
    awaited: tuple[str, ...] = field(default=())


def plan(machine_sets: Iterable[Manifest], request: Request) -> Plan:
    """How *machine_sets*, all of the cluster, come to what *request* asks for.

    :raises UsageError: when the request contradicts the cluster, or would do more than it may.
    :raises ClusterError: when there is nothing to scale and nothing to clone.
    """
    present = sorted(machine_sets, key=_name)
    staying = [item for item in present if not item["metadata"].get("deletionTimestamp")]
    _check_provider(staying, request)
    matching = _matching(staying, request)
    if not matching:
        return _cloned(present, request) if request.scale else Plan()
    if not request.scale:
        return _emptied(matching, request)
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
            f"ibm: {str(request.ibm).lower()} is asked for, but the cluster's MachineSets are {cloud.name}'s; leave it "
            "out, the provider is read from them"
        )


def _matching(machine_sets: Sequence[Manifest], request: Request) -> list[Manifest]:
    wanted = request.shape.instance_type
    if not request.name:
        return [item for item in machine_sets if _type(item) == wanted]
    named = [item for item in machine_sets if _name(item) == request.name]
    for item in named:
        if _type(item) != wanted:
            raise UsageError(
                f"name: the MachineSet {request.name} is of type {_type(item)}, not {wanted}; give another name, or "
                "remove it first"
            )
    return named


def _type(machine_set: Manifest) -> str | None:
    """Its instance type; None where the provider is not known, which is another's set."""
    try:
        return cloud_of(machine_set).type_of(value_of(machine_set))
    except ClusterError:
        return None


def _distribution(matching: Sequence[Manifest], request: Request) -> dict[str, int]:
    """How many machines each set shall have: the first takes up the difference, or with force has them all."""
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
            f"{request.scale} asked for; force: true scales them to 0, name: chooses one set alone"
        )
    return {**replicas, _name(first): request.scale - elsewhere}


def _emptied(matching: Sequence[Manifest], request: Request) -> Plan:
    first, *others = matching
    holding = [_name(item) for item in others if _replicas(item)]
    if holding and not request.force:
        raise UsageError(
            f"scale: {', '.join([_name(first), *holding])} all hold machines of type {request.shape.instance_type}; "
            "force: true scales them to 0, name: chooses one set alone"
        )
    ours = [item for item in matching if _is_ours(item)]
    kept = [item for item in matching if item not in ours]
    changes = [_change(item, 0, None) for item in kept]
    return Plan(
        changes=tuple(item for item in changes if item.change),
        removed=tuple(map(_name, ours)),
        awaited=tuple(map(_name, kept)),
    )


def _is_ours(machine_set: Manifest) -> bool:
    return MANAGED_BY.items() <= (machine_set["metadata"].get("labels") or {}).items()


def _change(machine_set: Manifest, replicas: int, request: Request | None) -> Change:
    """What to merge into *machine_set*, nothing when all is well; *request* where its shape is to be as asked for."""
    spec: dict[str, Any] = {} if _replicas(machine_set) == replicas else {"replicas": replicas}
    if request is not None:
        cloud = cloud_of(machine_set)
        lacking = differences(machine_set, cloud, request.shape)
        if lacking and _replicas(machine_set):
            raise UsageError(
                f"the MachineSet {_name(machine_set)} of {_replicas(machine_set)} machines {' and '.join(lacking)}, "
                "and what is there cannot be changed; give another name, or scale it to 0 first"
            )
        if lacking:
            spec["template"] = in_line(machine_set, cloud, request.shape)
    return Change(_name(machine_set), replicas, {"spec": spec} if spec else {})


def _cloned(machine_sets: Sequence[Manifest], request: Request) -> Plan:
    base = _base(machine_sets, request.base)
    name = request.name or default_name(_name(base), request.shape.instance_type)
    if name in map(_name, machine_sets):
        raise UsageError(f"name: there is a MachineSet {name} of another type, or that is being deleted; give another")
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
