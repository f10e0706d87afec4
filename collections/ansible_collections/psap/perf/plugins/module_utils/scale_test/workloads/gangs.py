"""Gangs: all pods of a workload start together or none does, by a pod group for each workload."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import group_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, find
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import runai
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.topology import REQUIRED, Placement

KIND = "PodGroup"
# API groups of Kubernetes and of the scheduler plugins' coscheduling; the first that is served is used.
# The fields used here are the same in all versions: v1alpha2 of Kubernetes 1.36, v1alpha3 and v1beta1 of 1.37
NATIVE = "scheduling.k8s.io"
PLUGINS = "scheduling.x-k8s.io"

_PLUGINS_LABEL = "scheduling.x-k8s.io/pod-group"
# a lab adds pods with this label to the group of that name
_LAB_LABEL = "lab.psap.perf/pod-group"
# groups whose pod templates have the field by which a pod joins a native group; other definitions drop it silently
_KUBERNETES = ("", "apps", "batch")
# kinds whose pods do not start together: the pod that submits a job to a Ray cluster waits until the cluster is ready
_IN_STAGES = ("RayJob",)
_CONSTRAINTS = "schedulingConstraints"

Manifest = dict[str, Any]


async def discover_pod_groups(client: ApiClient) -> ResourceKind:
    """Return the kind of the cluster's pod groups.

    Raises:
        ClusterError: If it serves no supported kind.
    """
    for group in (NATIVE, PLUGINS):
        found = await find(client, group, KIND)
        if found is not None:
            return found
    raise ClusterError(
        f"the cluster at {client.endpoint.server} serves no PodGroup, which gangs need: neither of {NATIVE} "
        "(Kubernetes 1.36 and later, with the feature gate GenericWorkload and the API enabled) nor of "
        f"{PLUGINS} (the scheduler plugins); enable one, or disable the gang"
    )


def check_kinds(kinds: Iterable[tuple[str, str]], pod_groups: str, *, lab: bool) -> None:
    """Check that pods of *kinds* (each an API version and a name) can join groups of the API version *pod_groups*.

    Raises:
        UsageError: If pods of a kind cannot.
    """
    for api_version, kind in kinds:
        if runai.is_runai_version(api_version):
            raise UsageError(f"Run:ai creates pod groups by itself; disable the gang for workloads of kind {kind}")
        if kind in _IN_STAGES:
            raise UsageError(f"a pod of a {kind} starts after the others; choose RayCluster, or disable the gang")
        if group_of(pod_groups) == NATIVE and not lab and not _has_native_field(api_version):
            raise UsageError(
                f"pods of a {kind} ({api_version}) cannot join a pod group of {NATIVE}: the kind's definition drops "
                "the field; choose Job, IndexedJob, Deployment or Pod, or disable the gang"
            )


def join(manifest: Manifest, templates: list[Manifest], pod_groups: str) -> None:
    """Add the pods of *templates*, those of the workload *manifest*, to the group with the workload's name.

    Raises:
        UsageError: If it has no pod template.
    """
    name = manifest["metadata"]["name"]
    if not templates:
        raise UsageError(
            f"a {manifest['kind']} has no pod template whose pods could join a pod group; disable the gang"
        )
    for template in templates:
        if group_of(pod_groups) == NATIVE and _has_native_field(manifest["apiVersion"]):
            template["spec"]["schedulingGroup"] = {"podGroupName": name}
        else:
            label = _LAB_LABEL if group_of(pod_groups) == NATIVE else _PLUGINS_LABEL
            template.setdefault("metadata", {}).setdefault("labels", {})[label] = name


def level_of(pod_groups: str, placement: Placement | None, *, queued: bool) -> str | None:
    """Return the level of *placement* if pod groups of this API version, empty without gangs, place the pods.

    They know no preferred topology, and Kueue places the pods of a queue.
    """
    if placement is None or placement.constraint != REQUIRED or queued or group_of(pod_groups) != NATIVE:
        return None
    return placement.level


async def check_topology(client: ApiClient, group: Manifest, kind: ResourceKind) -> None:
    """Check that the cluster keeps the topology of a pod group, if it has one.

    The PriorityClass that it names must exist.

    Raises:
        ClusterError: If the cluster refuses the group, or drops its topology.
    """
    wanted = group["spec"].get(_CONSTRAINTS)
    if not wanted:
        return
    path = kind.collection(group["metadata"]["namespace"])
    answer = await client.request("POST", path, body=json.dumps(group).encode(), params={"dryRun": "All"})
    if not answer.succeeded or answer.document()["spec"].get(_CONSTRAINTS) != wanted:
        reason = "drops the field" if answer.succeeded else answer.message()
        raise ClusterError(
            f"the cluster at {client.endpoint.server} does not place pod groups in a topology: {reason}; enable the "
            "feature gate TopologyAwareWorkloadScheduling of the API server and of the scheduler, or set the topology "
            "to preferred or none, or disable the gang"
        )


def pod_group(
    workload: Manifest, pods: int, priority_class: str | None, pod_groups: str, level: str | None = None
) -> Manifest:
    """Return the group of a workload's *pods* pods, with the workload's name and labels.

    Args:
        level: Label of nodes that names the domains in one of which the scheduler places all pods; None for any.
    """
    metadata = {key: workload["metadata"][key] for key in ("name", "namespace", "labels")}
    group = {"apiVersion": pod_groups, "kind": KIND, "metadata": metadata}
    if group_of(pod_groups) == PLUGINS:
        return {**group, "spec": {"minMember": pods}}
    spec: Manifest = {"schedulingPolicy": {"gang": {"minCount": pods}}}
    if priority_class:
        # preemption for a gang uses the group's priority
        spec["priorityClassName"] = priority_class
    if level:
        spec[_CONSTRAINTS] = {"topology": [{"key": level}]}
    return {**group, "spec": spec}


def _has_native_field(api_version: str) -> bool:
    return group_of(api_version) in _KUBERNETES
