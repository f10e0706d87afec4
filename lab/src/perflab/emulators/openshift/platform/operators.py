"""The ClusterOperators: all present from the start, and Available unless their step is set otherwise."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import conditions_of, with_condition
from perflab.emulators.framework.resources import CLUSTER_OPERATORS
from perflab.emulators.framework.store import Key

VERSION = "4.18.14"

NAMES = (
    "authentication",
    "baremetal",
    "cloud-controller-manager",
    "cloud-credential",
    "cluster-autoscaler",
    "config-operator",
    "console",
    "control-plane-machine-set",
    "csi-snapshot-controller",
    "dns",
    "etcd",
    "image-registry",
    "ingress",
    "insights",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-storage-version-migrator",
    "machine-api",
    "machine-approver",
    "machine-config",
    "marketplace",
    "monitoring",
    "network",
    "node-tuning",
    "openshift-apiserver",
    "openshift-controller-manager",
    "openshift-samples",
    "operator-lifecycle-manager",
    "operator-lifecycle-manager-catalog",
    "operator-lifecycle-manager-packageserver",
    "service-ca",
    "storage",
)
_STEP = "operator"


class Operators:
    """Says of each operator that it is well, or what its step says."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's ClusterOperators."""
        self._cluster = cluster
        self._operators = cluster.store(CLUSTER_OPERATORS)
        self.controller = Controller("operator", self._reconcile)
        self.controller.follow(self._operators)
        cluster.steps.listen(self._enqueue_all)
        self._enqueue_all()

    def _enqueue_all(self) -> None:
        for name in NAMES:
            self.controller.enqueue(("", name))

    async def _reconcile(self, key: Key) -> float | None:
        operator = self._operators.get(key)
        if operator is None:
            # also one that somebody deleted: the version operator would make it again
            metadata = {"name": key[1], "annotations": self._cluster.mark()}
            await self._operators.create({"metadata": metadata, "spec": {}})
            return None
        wait_s = self._cluster.steps.wait_s(_STEP, operator)
        failure = self._cluster.steps.failure(_STEP, operator)
        is_well = wait_s == 0 and failure is None
        why = "" if is_well else (failure if wait_s == 0 and failure else "the operator is not ready yet")
        await self._operators.patch_status(key, self._status(operator, why, is_degraded=wait_s == 0 and not is_well))
        return wait_s if wait_s else None

    def _status(self, operator: Document, why: str, *, is_degraded: bool) -> Document:
        conditions = conditions_of(operator)
        reason = "AsExpected" if not why else ("SyncError" if is_degraded else "NotReady")
        message = why or "All is well"
        for kind, true in (
            ("Degraded", is_degraded),
            ("Progressing", bool(why) and not is_degraded),
            ("Available", not why),
            ("Upgradeable", True),
        ):
            conditions = with_condition(conditions, kind, true, reason, message)
        return {
            "conditions": conditions,
            "versions": [{"name": "operator", "version": VERSION}],
            "relatedObjects": [],
        }
