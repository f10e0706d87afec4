"""Placement of a workload's pods in one domain of the nodes' topology: by Kueue in a queue, else by pod affinity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import WORKLOAD
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import runai
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import replicas_of

NONE, PREFERRED, REQUIRED = "none", "preferred", "required"
# the smallest domain: a node
HOSTNAME = "kubernetes.io/hostname"

_KUEUE = "kueue.x-k8s.io/podset"
# Kueue places the pods of a master and of its workers together if they have the same name of a group, which may have
# two pod templates, one of them with one pod
_PAIR = 2
_GROUP = {f"{_KUEUE}-group-name": "gang"}
_HEAVIEST = 100
_LABEL = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Placement:
    """The level of the topology, a label of nodes, in one of whose domains all pods of a workload belong.

    The constraint is `preferred` or `required`.
    """

    constraint: str
    level: str


def check_labels(labels: Sequence[str], level: str) -> None:
    """Check the labels of the topology's levels, the largest domains first, and the *level* of the placement, if any.

    Raises:
        UsageError: If one is invalid, or the level is none of them.
    """
    for label in (*labels, level):
        if label and not _LABEL.fullmatch(label):
            raise UsageError(f"{label!r} is not a valid label of nodes")
    if len(set(labels)) < len(labels):
        raise UsageError(f"the labels {', '.join(labels)} are not distinct")
    if HOSTNAME in labels[:-1]:
        raise UsageError(f"{HOSTNAME} is the smallest level of a topology; list it last, or not at all")
    if labels and level and level not in (*labels, HOSTNAME):
        raise UsageError(f"the level {level} is none of the topology's labels {', '.join(labels)}")


def placement_of(constraint: str, level: str, labels: Sequence[str]) -> Placement | None:
    """Return the placement at *level*, by default the last of *labels*; None without a constraint.

    Raises:
        UsageError: If the level is unknown, or none of *labels*.
    """
    if constraint == NONE:
        return None
    chosen = level or next(reversed(labels), "")
    if not chosen:
        raise UsageError(
            f"the topology is {constraint}, but its levels are unknown: set topology_labels to the labels of nodes "
            "that name their domains, the largest first (a lab has them with: perflab up --topology block=4,rack=8)"
        )
    check_labels(labels, chosen)
    return Placement(constraint, chosen)


def complete(levels: Sequence[str], placement: Placement | None) -> tuple[str, ...]:
    """Return all levels of a topology for *placement*, from the largest domains to the nodes; none without one."""
    return tuple(dict.fromkeys((*(levels or [placement.level]), HOSTNAME))) if placement else ()


def check_kinds(kinds: Iterable[tuple[str, str]]) -> None:
    """Check that pods of *kinds* (each an API version and a name) can be placed.

    Raises:
        UsageError: If Run:ai places pods of a kind.
    """
    for api_version, kind in kinds:
        if runai.is_runai_version(api_version):
            raise UsageError(f"Run:ai places the pods of a {kind} itself; set the topology to {NONE}")


def place(manifest: Manifest, templates: list[Manifest], placement: Placement, *, queued: bool) -> None:
    """Make Kueue, if *queued*, or the scheduler place the pods of *templates*, those of the workload *manifest*.

    Raises:
        UsageError: If it has no pod template, or Kueue cannot place its templates in one domain.
    """
    if not templates:
        raise UsageError(f"a {manifest['kind']} has no pod template whose pods could be placed; set no topology")
    together = _together(manifest, templates) if queued else {}
    for template in templates:
        if queued:
            annotations = {f"{_KUEUE}-{placement.constraint}-topology": placement.level}
            metadata = template.setdefault("metadata", {})
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations, **together}
        else:
            _attract(template["spec"], manifest["metadata"]["name"], placement)


def _together(manifest: Manifest, templates: list[Manifest]) -> dict[str, str]:
    """Return the annotation with which Kueue places the pods of all *templates* in one domain."""
    if len(templates) == 1:
        return {}
    counts = replicas_of(manifest) or [1]
    if len(templates) != _PAIR or min(counts) != 1:
        raise UsageError(
            f"Kueue cannot place the {len(templates)} pod templates of this {manifest['kind']} in one domain: it "
            "places two together if one of them has one pod; choose another kind or patch, or set no topology"
        )
    return _GROUP


def _attract(spec: Manifest, workload: str, placement: Placement) -> None:
    """Add the affinity of a pod to the other pods of its workload."""
    term: Any = {"labelSelector": {"matchLabels": {WORKLOAD: workload}}, "topologyKey": placement.level}
    if placement.constraint == PREFERRED:
        term = {"weight": _HEAVIEST, "podAffinityTerm": term}
    name = f"{placement.constraint}DuringSchedulingIgnoredDuringExecution"
    affinity = spec.get("affinity") or {}
    own = affinity.get("podAffinity") or {}
    spec["affinity"] = {**affinity, "podAffinity": {**own, name: [*(own.get(name) or ()), term]}}
