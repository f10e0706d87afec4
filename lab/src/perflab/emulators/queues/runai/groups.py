"""The pod grouper: a PodGroup for the pods that belong together, made when the first of them is there."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import (
    conditions_of,
    is_leaving,
    own_annotations,
    own_labels,
    phase_of,
    with_condition,
)
from perflab.emulators.framework.resources import PODS, PYTORCH_JOBS, RUNAI_JOBS, RUNAI_POD_GROUPS, Resource
from perflab.emulators.framework.store import Key, Store, key_of, owner_of
from perflab.emulators.queues.runai.specs import GATE, GROUP_ANNOTATION, WORKLOAD_NAME


class Groups:
    """Which pods are in which group, and how far the groups are."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's pods, their jobs and the groups."""
        self._cluster = cluster
        self._pods = cluster.store(PODS, WORKLOAD_NAME)
        self._groups = cluster.store(RUNAI_POD_GROUPS)
        self._jobs: dict[str, tuple[Resource, Store]] = {
            each.kind: (each, cluster.store(each)) for each in (RUNAI_JOBS, PYTORCH_JOBS)
        }
        self.grouper = Controller("pod grouper", self._put_into_group)
        self.controller = Controller("PodGroup", self._tell_status)
        self._pods.listen(self._pod_changed)
        self.controller.follow(self._groups)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old or {}
        group = _group_of(pod)
        if group:
            self.controller.enqueue((pod["metadata"]["namespace"], group))
        elif new is not None:
            self.grouper.enqueue(key_of(new))

    async def _put_into_group(self, key: Key) -> float | None:
        pod = self._pods.get(key)
        if pod is None or _group_of(pod) or is_leaving(pod):
            return None
        owner = owner_of(pod)
        kind, store = self._jobs.get(owner["kind"] if owner else "", (None, None))
        job = store.get((key[0], owner["name"])) if store and owner else None
        if kind is None or job is None:
            return None
        name = _group_name(pod, kind, job)
        if self._groups.get((key[0], name)) is None:
            await self._groups.create(self._group(name, pod, kind, job))
        await self._pods.patch(key, _grouped(pod, name))
        return None

    def _group(self, name: str, pod: Document, kind: Resource, job: Document) -> Document:
        spec = {"minMember": _members(kind, job), "queue": pod["metadata"]["labels"].get("runai/queue")}
        if pod["spec"].get("priorityClassName"):
            spec["priorityClassName"] = pod["spec"]["priorityClassName"]
        return {
            "metadata": {
                "name": name,
                "namespace": pod["metadata"]["namespace"],
                "labels": own_labels(job),
                "annotations": self._cluster.mark(),
                "ownerReferences": [owner_reference(kind, job)],
            },
            "spec": spec,
        }

    async def _tell_status(self, key: Key) -> float | None:
        group = self._groups.get(key)
        owner = owner_of(group) if group else None
        if group is None or owner is None or is_leaving(group):
            return None
        pods = [pod for pod in self._pods.owned_by(owner["uid"]) if _group_of(pod) == key[1]]
        if pods:
            await self._groups.patch_status(key, _status(group, pods))
        return None


def _group_of(pod: Document) -> str | None:
    group: str | None = own_annotations(pod).get(GROUP_ANNOTATION)
    return group


def _group_name(pod: Document, kind: Resource, job: Document) -> str:
    """As Run:ai's grouper names it: a RunaiJob has one for each of its pods, whatever their attempt."""
    name = pod["metadata"]["name"].rpartition("-")[0] if kind is RUNAI_JOBS else job["metadata"]["name"]
    return f"pg-{name}-{job['metadata']['uid']}"


def _members(kind: Resource, job: Document) -> int:
    if kind is RUNAI_JOBS:
        return 1
    return sum(int(replica.get("replicas", 1)) for replica in job["spec"]["pytorchReplicaSpecs"].values())


def _grouped(pod: Document, group: str) -> Document:
    others = [gate for gate in pod["spec"].get("schedulingGates") or () if gate["name"] != GATE]
    return {
        "metadata": {"annotations": {GROUP_ANNOTATION: group}},
        "spec": {"schedulingGates": others or None},
    }


def _status(group: Document, pods: list[Document]) -> Document:
    phases = [phase_of(pod) or "Pending" for pod in pods]
    counts = {phase: phases.count(phase) for phase in ("Pending", "Running", "Succeeded", "Failed")}
    needed = group["spec"]["minMember"]
    status: Document = {phase.lower(): count for phase, count in counts.items()}
    conditions = conditions_of(group)
    if sum(bool(pod["spec"].get("nodeName")) for pod in pods) >= needed:
        conditions = with_condition(conditions, "Scheduled", True, "Scheduled", f"{needed} of its pods have a node")
    return {**status, "phase": _phase(counts, needed), "conditions": conditions}


def _phase(counts: dict[str, int], needed: int) -> str:
    if counts["Succeeded"] >= needed:
        return "Succeeded"
    if counts["Failed"] and not counts["Running"] + counts["Pending"]:
        return "Failed"
    return "Running" if counts["Running"] + counts["Succeeded"] >= needed else "Pending"
