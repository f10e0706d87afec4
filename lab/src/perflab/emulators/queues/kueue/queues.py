"""ClusterQueues: admit what fits, evict what has to make room, and count."""

from __future__ import annotations

from perflab.cluster.api import Document, in_bulk
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import conditions_of, with_condition
from perflab.emulators.framework.resources import CLUSTER_QUEUES, KUEUE_WORKLOADS, LOCAL_QUEUES, RESOURCE_FLAVORS
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.queues.kueue import specs
from perflab.emulators.queues.kueue.admission import Demand, Plan, decide
from perflab.emulators.queues.kueue.specs import ADMITTED, EVICTED, PREEMPTED, QUOTA_RESERVED

# counts are for people: not at each change
_COUNT_AFTER_S = 0.5
# as long as thousands of Workloads come and go, they are looked at together
_TOGETHER_S = 0.02


class Queues:
    """Admission to all ClusterQueues, one after the other each."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's queues, flavors and Workloads."""
        self._cluster = cluster
        self._workloads = cluster.store(KUEUE_WORKLOADS)
        self._queues = cluster.store(CLUSTER_QUEUES)
        self._local_queues = cluster.store(LOCAL_QUEUES)
        self._flavors = cluster.store(RESOURCE_FLAVORS)
        # what waits or holds quota, by LocalQueue: read once at each change, not at each look
        self._live: dict[Key, dict[Key, Demand]] = {}
        self._to_admit: set[Key] = set()
        self._to_count: set[Key] = set()
        self.controller = Controller("ClusterQueue", self._admit)
        self.counter = Controller("counts of queues", self._count)
        self._workloads.listen(self._workload_changed)
        self._queues.listen(lambda _, new: self._queue_changed(new))
        self._local_queues.listen(lambda _, new: self._enqueue(new["spec"]["clusterQueue"]) if new else None)
        self._flavors.listen(lambda _old, _new: self._flavor_changed())

    def _queue_changed(self, queue: Document | None) -> None:
        if queue is not None:
            self._enqueue(queue["metadata"]["name"])

    def _flavor_changed(self) -> None:
        for queue in self._queues.values():
            self._enqueue(queue["metadata"]["name"])

    def _workload_changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            if document is not None:
                self._live.get(_local_queue(document), {}).pop(key_of(document), None)
        if new is not None and specs.is_live(new):
            self._live.setdefault(_local_queue(new), {})[key_of(new)] = specs.demand(new)
        local = self._local_queues.get(_local_queue(new or old or {}))
        if local is not None:
            self._enqueue(local["spec"]["clusterQueue"])

    def _enqueue(self, name: str) -> None:
        key = ("", name)
        for planned, controller, wait_s in (
            (self._to_admit, self.controller, _TOGETHER_S),
            (self._to_count, self.counter, _COUNT_AFTER_S),
        ):
            if key not in planned:
                planned.add(key)
                controller.enqueue_after(key, wait_s)

    async def _admit(self, key: Key) -> float | None:
        self._to_admit.discard(key)
        queue = self._queues.get(key)
        if queue is None or self._inactive(queue):
            return None
        demands = self._demands(key[1])
        holding = [each for each in demands if each.flavors]
        pending = [each for each in demands if not each.flavors]
        plan = decide(specs.rules(queue), pending, holding)
        await self._carry_out(queue, plan)
        return None

    def _inactive(self, queue: Document) -> str:
        """Why nothing is admitted; empty when something may be."""
        missing = sorted(name for name in specs.flavors_of(queue) if self._flavors.get(("", name)) is None)
        if missing:
            return f"references missing ResourceFlavor(s): {', '.join(missing)}"
        stop: str = queue["spec"].get("stopPolicy") or "None"
        return "" if stop == "None" else f"is stopped ({stop})"

    def _local_keys(self, name: str) -> list[Key]:
        return [key_of(each) for each in self._local_queues.values() if each["spec"]["clusterQueue"] == name]

    def _demands(self, name: str) -> list[Demand]:
        return [demand for key in self._local_keys(name) for demand in self._live.get(key, {}).values()]

    async def _carry_out(self, queue: Document, plan: Plan) -> None:
        await in_bulk(list(plan.preempted.items()), lambda each: self._evict(*each))
        await in_bulk(list(plan.admitted.items()), lambda each: self._reserve(queue, *each))
        await in_bulk(list(plan.waiting.items()), lambda each: self._let_wait(*each))

    async def _reserve(self, queue: Document, key: Key, flavors: dict[str, str]) -> None:
        workload = self._workloads.get(key)
        if workload is None:
            return
        name = queue["metadata"]["name"]
        conditions = conditions_of(workload)
        for ended in (EVICTED, PREEMPTED):
            if any(item["type"] == ended for item in conditions):
                conditions = with_condition(conditions, ended, False, QUOTA_RESERVED, "it has quota again")
        message = f"Quota reserved in ClusterQueue {name}"
        conditions = with_condition(conditions, QUOTA_RESERVED, True, QUOTA_RESERVED, message)
        conditions = with_condition(conditions, ADMITTED, True, ADMITTED, "The workload is admitted")
        admission = {"clusterQueue": name, "podSetAssignments": specs.assignments(workload, flavors)}
        await self._workloads.patch_status(key, {"admission": admission, "conditions": conditions})

    async def _evict(self, key: Key, preemptor: Key) -> None:
        workload, winner = self._workloads.get(key), self._workloads.get(preemptor)
        if workload is None or winner is None:
            return
        message = f"Preempted to accommodate a workload (UID: {winner['metadata']['uid']})"
        conditions = list(workload["status"]["conditions"])
        conditions = with_condition(conditions, EVICTED, True, PREEMPTED, message)
        conditions = with_condition(conditions, PREEMPTED, True, "InClusterQueue", message)
        await self._workloads.patch_status(key, {"conditions": conditions})
        await self._cluster.event(KUEUE_WORKLOADS, workload, PREEMPTED, message)

    async def _let_wait(self, key: Key, why: str) -> None:
        workload = self._workloads.get(key)
        if workload is not None:
            conditions = conditions_of(workload)
            conditions = with_condition(conditions, QUOTA_RESERVED, False, "Pending", why)
            await self._workloads.patch_status(key, {"conditions": conditions})

    async def _count(self, key: Key) -> float | None:
        self._to_count.discard(key)
        queue = self._queues.get(key)
        if queue is None:
            return None
        for local in self._local_keys(key[1]):
            counts = _counts(list(self._live.get(local, {}).values()))
            await self._local_queues.patch_status(local, counts)
        why = self._inactive(queue)
        conditions = with_condition(
            conditions_of(queue),
            "Active",
            not why,
            "FlavorNotFound" if "missing" in why else ("Stopped" if why else "Ready"),
            f"It {why}" if why else "Can admit new workloads",
        )
        await self._queues.patch_status(key, {**_counts(self._demands(key[1])), "conditions": conditions})
        return None


def _local_queue(workload: Document) -> Key:
    return workload["metadata"]["namespace"], workload["spec"].get("queueName", "")


def _counts(demands: list[Demand]) -> Document:
    holding = sum(bool(each.flavors) for each in demands)
    admitted = sum(bool(each.flavors) and not each.is_leaving for each in demands)
    return {
        "pendingWorkloads": len(demands) - holding,
        "reservingWorkloads": holding,
        "admittedWorkloads": admitted,
    }
