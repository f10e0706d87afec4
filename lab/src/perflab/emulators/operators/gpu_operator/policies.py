"""ClusterPolicies: the DaemonSets that one wants, and its state."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import conditions_of, is_leaving, own_annotations, with_condition
from perflab.emulators.framework.operator_deployments import Operator
from perflab.emulators.framework.resources import CLUSTER_POLICIES, NODES
from perflab.emulators.framework.resources import DAEMON_SETS as DAEMON_SET
from perflab.emulators.framework.store import Key, key_of, owner_of
from perflab.emulators.operators.gpu_operator import operands
from perflab.emulators.operators.gpu_operator.hardware import has_features, is_gpu_node
from perflab.emulators.operators.gpu_operator.operands import HASH, VALIDATED, Operand

# the steps whose delay and failure can be set
STEP_DAEMON_SETS, STEP_VALIDATION = "daemonsets", "validation"
_READY, _NOT_READY, _IGNORED = "ready", "notReady", "ignored"


class Policies:
    """Reconciles the oldest ClusterPolicy; further ones are ignored."""

    def __init__(self, cluster: Cluster, operator: Operator) -> None:
        """Over the cluster's ClusterPolicies, DaemonSets and nodes."""
        self._cluster = cluster
        self._operator = operator
        self._policies = cluster.store(CLUSTER_POLICIES)
        self._daemon_sets = cluster.store(DAEMON_SET)
        self._nodes = cluster.store(NODES)
        # the uids of those that are ready
        self._validated: set[str] = set()
        self.controller = Controller("ClusterPolicy", self._reconcile)
        self.controller.follow(self._policies)
        # when the oldest goes, another one is
        self._policies.listen(self.controller.enqueue_all)
        self._daemon_sets.listen(self._daemon_set_changed)
        self._nodes.listen(self._node_changed)
        operator.listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    def _daemon_set_changed(self, old: Document | None, new: Document | None) -> None:
        owner = owner_of(new or old or {"metadata": {}})
        if owner is not None and owner["kind"] == CLUSTER_POLICIES.kind:
            self.controller.enqueue_all()

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if _discovered(old) != _discovered(new):
            self.controller.enqueue_all()

    async def _reconcile(self, key: Key) -> float | None:
        policy = self._policies.get(key)
        namespace = self._operator.namespace
        if policy is None or is_leaving(policy) or not self._operator.running or not namespace:
            return None
        if policy["metadata"]["uid"] != self._oldest():
            await self._policies.patch_status(key, {"state": _IGNORED})
            return None
        waiting = [await self._bring(policy, namespace, operand) for operand in operands.wanted(policy)]
        await self._remove_unwanted(policy, namespace)
        wait_s = min((left for left in waiting if left), default=math.inf)
        return await self._patch_status(policy, namespace, wait_s)

    def _oldest(self) -> str:
        policies = self._policies.values()
        first = min(policies, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["uid"]))
        return str(first["metadata"]["uid"])

    async def _bring(self, policy: Document, namespace: str, operand: Operand) -> float:
        """Have the operand's DaemonSet be as it shall; seconds that are left until then."""
        desired = operands.daemon_set(policy, operand, self._cluster.mark())
        present = self._daemon_sets.get((namespace, operand.name))
        if present is None:
            awaited = _awaited(policy, operand)
            wait_s = self._cluster.steps.wait_s(STEP_DAEMON_SETS, awaited)
            if wait_s or self._cluster.steps.failure(STEP_DAEMON_SETS, awaited):
                return wait_s
            desired["metadata"]["ownerReferences"] = [owner_reference(CLUSTER_POLICIES, policy)]
            desired["metadata"]["namespace"] = namespace
            await self._daemon_sets.create(desired)
        elif own_annotations(present).get(HASH) != desired["metadata"]["annotations"][HASH]:
            await self._daemon_sets.patch(key_of(present), desired)
        return 0.0

    async def _remove_unwanted(self, policy: Document, namespace: str) -> None:
        names = {operand.name for operand in operands.wanted(policy)}
        for present in tuple(self._daemon_sets.owned_by(policy["metadata"]["uid"])):
            name = present["metadata"]["name"]
            if name not in names:
                await self._daemon_sets.delete((namespace, name))

    async def _patch_status(self, policy: Document, namespace: str, wait_s: float) -> float | None:
        """Write the state; seconds after which to look again."""
        uid = policy["metadata"]["uid"]
        broken = self._broken(policy, namespace)
        missing = [each.state for each in operands.wanted(policy) if not self._is_ready(namespace, each)]
        if broken or missing:
            self._validated.discard(uid)
        elif uid not in self._validated:
            wait_s = self._cluster.steps.wait_s(STEP_VALIDATION, policy)
            broken = self._cluster.steps.failure(STEP_VALIDATION, policy) if not wait_s else None
            missing = [VALIDATED.state] if wait_s else []
        if not broken and not missing:
            self._validated.add(uid)
        await self._write(policy, namespace, broken or _not_ready(missing))
        return None if math.isinf(wait_s) or not wait_s else wait_s

    def _broken(self, policy: Document, namespace: str) -> str | None:
        """What keeps an operand from being made at all."""
        for operand in operands.wanted(policy):
            awaited = _awaited(policy, operand)
            told = self._cluster.steps.failure(STEP_DAEMON_SETS, awaited)
            if told and self._daemon_sets.get((namespace, operand.name)) is None:
                return (
                    None
                    if self._cluster.steps.wait_s(STEP_DAEMON_SETS, awaited)
                    else f"Failed to reconcile {operand.state}: {told}"
                )
        return None

    def _is_ready(self, namespace: str, operand: Operand) -> bool:
        """As the operator sees it: a DaemonSet that no node wants is ready."""
        found = self._daemon_sets.get((namespace, operand.name))
        if found is None:
            return False
        status = found.get("status") or {}
        wanted = status.get("desiredNumberScheduled", 0)
        if status.get("observedGeneration", 0) < found["metadata"]["generation"]:
            return False
        return bool(status.get("numberAvailable", 0) == wanted == status.get("updatedNumberScheduled", 0))

    async def _write(self, policy: Document, namespace: str, error: str) -> None:
        conditions = conditions_of(policy)
        if error:
            conditions = with_condition(conditions, "Ready", False, "Error", "")
            conditions = with_condition(conditions, "Error", True, _reason(error), error)
        else:
            conditions = with_condition(conditions, "Ready", True, *self._well())
            conditions = with_condition(conditions, "Error", False, "Ready", "")
        state = _NOT_READY if error else _READY
        await self._policies.patch_status(
            key_of(policy), {"state": state, "namespace": namespace, "conditions": conditions}
        )

    def _well(self) -> tuple[str, str]:
        """Reason and message of a ClusterPolicy that is ready, which it is without any GPU too."""
        nodes = self._nodes.values()
        if not any(map(has_features, nodes)):
            return "NFDLabelsMissing", "No NFD labels found"
        if not any(map(is_gpu_node, nodes)):
            return "NoGPUNodes", "No GPU node found, watching for new nodes to join the cluster."
        return "Reconciled", "ClusterPolicy is ready as all resources have been successfully reconciled"


def _awaited(policy: Document, operand: Operand) -> Document:
    """A DaemonSet that is not there yet, for the steps to count from when it was first wanted."""
    return {"metadata": {"name": operand.name, "uid": f"{policy['metadata']['uid']}/{operand.name}"}}


def _not_ready(missing: list[str]) -> str:
    return f"ClusterPolicy is not ready, states not ready: [{' '.join(missing)}]" if missing else ""


def _reason(error: str) -> str:
    return "OperandNotReady" if error.startswith("ClusterPolicy is not ready") else "ReconcileFailed"


def _discovered(node: Document | None) -> tuple[bool, bool]:
    return (has_features(node), is_gpu_node(node)) if node is not None else (False, False)
