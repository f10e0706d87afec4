"""The controller of RayClusters: keeps their head and workers, and tells how far they are."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, is_true, now_s, phase_of, with_condition
from perflab.emulators.framework.resources import PODS, RAY_CLUSTERS, SERVICES
from perflab.emulators.framework.store import Key, key_of, owner_of
from perflab.emulators.operators.ray import pods
from perflab.emulators.operators.ray.pods import CLUSTER, HEAD, NODE_TYPE

# of a RayCluster's
READY = "ready"

# a pod of that name is still on its way out
_NAME_TAKEN_S = 0.2


class Clusters:
    """Pods and status of RayClusters."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the RayClusters and their pods."""
        self._cluster = cluster
        self._clusters = cluster.store(RAY_CLUSTERS)
        self._pods = cluster.store(PODS, CLUSTER)
        self.controller = Controller("RayCluster", self._reconcile)
        self.controller.follow(self._clusters)
        self._pods.listen(self._pod_changed)
        cluster.steps.listen(self.controller.enqueue_all)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old or {}
        owner = owner_of(pod)
        if owner and owner["kind"] == RAY_CLUSTERS.kind:
            self.controller.enqueue((pod["metadata"]["namespace"], owner["name"]))

    async def _reconcile(self, key: Key) -> float | None:
        cluster = self._clusters.get(key)
        if cluster is None or is_leaving(cluster):
            return None
        failure = self._cluster.steps.failure("cluster", cluster)
        wait_s = self._cluster.steps.wait_s("cluster", cluster)
        if wait_s > 0:
            return wait_s
        if failure:
            await self._clusters.patch_status(key, {"state": "failed", "reason": failure})
            return None
        if cluster["spec"].get("suspend"):
            return await self._suspend(key, cluster)
        again_s = await self._keep(cluster)
        there = list(self._pods.owned_by(cluster["metadata"]["uid"]))
        await self._clusters.patch_status(key, _status(cluster, there))
        return again_s

    async def _suspend(self, key: Key, cluster: Document) -> float | None:
        there = list(self._pods.owned_by(cluster["metadata"]["uid"]))
        for pod in there:
            if not is_leaving(pod):
                await self._pods.delete(key_of(pod))
        if not there:
            await self._clusters.patch_status(key, {"state": "suspended"})
        return None

    async def _keep(self, cluster: Document) -> float | None:
        """Make what is missing and remove what is too much or has failed; a wait when a name is not free yet."""
        mark = self._cluster.mark()
        if not cluster.get("status"):
            path = SERVICES.path(cluster["metadata"]["namespace"])
            await self._cluster.api.create(path, pods.service_of(cluster, mark))
        wanted = {member.name: member for member in pods.members(cluster)}
        there = {pod["metadata"]["name"]: pod for pod in self._pods.owned_by(cluster["metadata"]["uid"])}
        for name, pod in there.items():
            unwanted = name not in wanted or phase_of(pod) in ("Failed", "Succeeded")
            if unwanted and not is_leaving(pod):
                await self._pods.delete(key_of(pod))
        missing = [member for name, member in wanted.items() if name not in there]
        made = [await self._pods.create(pods.pod_of(cluster, member, mark)) for member in missing]
        return None if all(made) else _NAME_TAKEN_S


def _is_ready(pod: Document) -> bool:
    return is_true(pod, "Ready") and not is_leaving(pod)


def _status(cluster: Document, there: list[Document]) -> Document:
    old = cluster.get("status") or {}
    groups = cluster["spec"].get("workerGroupSpecs") or ()
    heads = [pod for pod in there if pod["metadata"]["labels"][NODE_TYPE] == HEAD]
    workers = [pod for pod in there if pod not in heads]
    ready = sum(map(_is_ready, workers))
    desired = sum(map(pods.replicas_of, groups))
    head_ready = any(map(_is_ready, heads))
    whole = head_ready and ready == desired
    conditions = with_condition(
        list(old.get("conditions") or []),
        "HeadPodReady",
        head_ready,
        "HeadPodRunningAndReady" if head_ready else "HeadPodNotFound",
        "",
    )
    if whole or old.get("state") == READY:
        message = "All Ray Pods are ready for the first time"
        conditions = with_condition(
            conditions, "RayClusterProvisioned", True, "AllPodRunningAndReadyFirstTime", message
        )
    status: Document = {
        "desiredWorkerReplicas": desired,
        "availableWorkerReplicas": sum(phase_of(pod) == "Running" for pod in workers),
        "readyWorkerReplicas": ready,
        "minWorkerReplicas": sum(group["minReplicas"] for group in groups),
        "maxWorkerReplicas": sum(group["maxReplicas"] for group in groups),
        "desiredCPU": pods.amount(cluster, "cpu"),
        "desiredMemory": pods.amount(cluster, "memory"),
        "desiredGPU": pods.amount(cluster, "nvidia.com/gpu"),
        "observedGeneration": cluster["metadata"]["generation"],
        "head": _head(cluster, heads),
        "conditions": conditions,
    }
    # it stays ready when a pod is lost later, as KubeRay's does
    if whole and old.get("state") != READY:
        moment = now_s()
        status |= {"state": READY, "lastUpdateTime": moment, "stateTransitionTimes": {READY: moment}}
    return status


def _head(cluster: Document, heads: list[Document]) -> Document:
    name = cluster["metadata"]["name"]
    pod = heads[0] if heads else None
    address = ((pod or {}).get("status") or {}).get("podIP", "")
    return {
        "podName": pod["metadata"]["name"] if pod else "",
        "podIP": address,
        "serviceIP": address,
        "serviceName": pods.head_service(name),
    }
