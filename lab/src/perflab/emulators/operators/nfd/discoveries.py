"""NodeFeatureDiscovery objects: the workers and the master that the operator runs for each, and their end."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import conditions_of, is_leaving, with_condition
from perflab.emulators.framework.operator_deployments import Operator
from perflab.emulators.framework.resources import DAEMON_SETS, DEPLOYMENTS, NODE_FEATURE_DISCOVERIES
from perflab.emulators.framework.store import Key, Store, key_of
from perflab.emulators.operators.nfd.labels import APP, COLLECTOR, MASTER, WORKER, Labels

_FINALIZER = "nfd-finalizer"
_UNMET = "ConditionNotBeingMetCurrently"
# from taking labels to looking whether a label came after, from a worker that was at it
_UNTIL_PRUNED_S = 0.2


class Discoveries:
    """The NFD operator."""

    def __init__(self, cluster: Cluster, labels: Labels) -> None:
        """Over the cluster's NodeFeatureDiscovery objects and what is made for them."""
        self._cluster = cluster
        self._labels = labels
        self._operator = Operator(cluster, "nfd")
        self._discoveries = cluster.store(NODE_FEATURE_DISCOVERIES)
        self._workers = cluster.store(DAEMON_SETS, f"{APP}={WORKER}")
        self._masters = cluster.store(DEPLOYMENTS, f"{APP}={MASTER}")
        self._collectors = cluster.store(DEPLOYMENTS, f"{APP}={COLLECTOR}")
        self.controller = Controller("NodeFeatureDiscovery", self._reconcile)
        self.controller.follow(self._discoveries)
        for store in (self._workers, self._masters, self._collectors):
            store.listen(self.controller.enqueue_all)
        self._operator.listen(self.controller.enqueue_all)
        labels.workers.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        discovery = self._discoveries.get(key)
        if discovery is None or not self._operator.running:
            return None
        if is_leaving(discovery):
            return await self._end(discovery)
        finalizers = discovery["metadata"].get("finalizers") or []
        if _FINALIZER not in finalizers:
            await self._discoveries.patch(key, {"metadata": {"finalizers": [*finalizers, _FINALIZER]}})
        await self._run(discovery)
        await self._patch_status(discovery)
        return None

    def _parts(self) -> tuple[tuple[str, Store], ...]:
        return (WORKER, self._workers), (MASTER, self._masters), (COLLECTOR, self._collectors)

    async def _run(self, discovery: Document) -> None:
        namespace = discovery["metadata"]["namespace"]
        for name, store in self._parts():
            if store.get((namespace, name)) is None:
                await store.create(self._part(discovery, name))

    def _part(self, discovery: Document, name: str) -> Document:
        labels = {APP: name}
        image = (discovery["spec"].get("operand") or {}).get("image") or "registry.example/node-feature-discovery:v4.18"
        pod = {
            "containers": [{"name": name, "image": image}],
            # workers look at nodes that are reserved, too
            "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}] if name == WORKER else [],
        }
        return {
            "metadata": {
                "name": name,
                "namespace": discovery["metadata"]["namespace"],
                "labels": labels,
                "annotations": self._cluster.mark(),
                "ownerReferences": [owner_reference(NODE_FEATURE_DISCOVERIES, discovery)],
            },
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels, "annotations": self._cluster.mark()}, "spec": pod},
            },
        }

    async def _end(self, discovery: Document) -> float | None:
        """As the operator does: its parts go; then labels, if they are to be pruned, which no worker may set again."""
        metadata = discovery["metadata"]
        namespace = metadata["namespace"]
        for name, store in self._parts():
            if store.get((namespace, name)) is not None:
                await store.delete((namespace, name))
        if discovery["spec"].get("prunerOnDelete"):
            if self._labels.are_set_from(namespace):
                return None
            if await self._labels.prune():
                return _UNTIL_PRUNED_S
        kept = [each for each in metadata.get("finalizers") or [] if each != _FINALIZER]
        await self._discoveries.patch(key_of(discovery), {"metadata": {"finalizers": kept}})
        return None

    async def _patch_status(self, discovery: Document) -> None:
        key = key_of(discovery)
        conditions = conditions_of(discovery)
        unready = self._unready(key[0])
        for kind, true, reason in (
            ("Available", not unready, "AllInstanceComponentsAreDeployedSuccessfuly"),
            ("Upgradeable", not unready, "CanBeUpgraded"),
            ("Progressing", bool(unready), "NFDWorkerDaemonSetProgressing"),
            ("Degraded", False, _UNMET),
        ):
            conditions = with_condition(conditions, kind, true, reason if true else _UNMET, unready if true else "")
        await self._discoveries.patch_status(key, {"conditions": conditions})

    def _unready(self, namespace: str) -> str:
        """What is not there yet; empty when all is."""
        status = (self._workers.get((namespace, WORKER)) or {}).get("status") or {}
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        if not wanted or ready < wanted:
            return f"{ready} of {wanted} workers are ready"
        for name, store in ((MASTER, self._masters), (COLLECTOR, self._collectors)):
            if not ((store.get((namespace, name)) or {}).get("status") or {}).get("availableReplicas"):
                return f"{name} is not available"
        return ""
