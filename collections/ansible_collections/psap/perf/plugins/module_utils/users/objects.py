"""The objects of one Job of users in the cluster."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.users.accounts import UserState, parse_reports, user_states
from ansible_collections.psap.perf.plugins.module_utils.users.clocks import ClusterClock
from ansible_collections.psap.perf.plugins.module_utils.users.plan import LABEL, UsersPlan, parse_plan
from ansible_collections.psap.perf.plugins.module_utils.waiting.lost_nodes import lost_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import stuck_containers

# a registry may not answer once
_STUCK_FOR_S = 20.0
# nodes are asked less often than pods
_NODES_INTERVAL_S = 10.0


class UsersJob:
    """Reads and writes the objects of one Job."""

    def __init__(self, cluster: Cluster, namespace: str, job: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._job = job
        self.clock = ClusterClock()
        self._reported: set[int] = set()
        self._stuck_since: dict[str, float] = {}
        self._lost_nodes: dict[str, str] = {}
        self._next_nodes_s = 0.0

    def plan(self) -> UsersPlan:
        """Return the plan.

        Raises:
            UsageError: If the plan is missing.
        """
        found = self._config_map("plan")
        if found is None:
            raise UsageError(
                f"namespace {self._namespace} has no users of Job {self._job}: start them with local_ci run_multi, "
                "or check job_name and namespace"
            )
        return parse_plan(found["data"]["plan.json"])

    def go_at_s(self) -> float | None:
        """Return the instant of the start, by the cluster's clock; None before it is set."""
        go = self._data("start").get("go")
        return float(go) if go else None

    def set_go(self, at_s: float) -> None:
        """Let the users start at *at_s*, by the cluster's clock."""
        self._write({"go": f"{at_s:.3f}"})

    def stop(self, reason: str) -> None:
        """End all users."""
        self._write({"stop": reason})

    def states(self, count: int) -> list[UserState]:
        """Return the state of each user."""
        reports = parse_reports(self._data("states"))
        self._observe_clock({index: report.get("ready_at_s") for index, report in reports.items()})
        selector = f"{LABEL}={self._job}"
        pods, _version = self._cluster.list(Query("v1", "Pod", self._namespace, label_selector=selector))
        job = self._cluster.get(Query("batch/v1", "Job", self._namespace, self._job))
        return user_states(count, reports, pods, job, self._lost(pods))

    def _observe_clock(self, ready: dict[int, float | None]) -> None:
        now = time.time()
        self.clock.observe(now, self._cluster.now().timestamp())
        for index, at_s in ready.items():
            if at_s is not None and index not in self._reported:
                self._reported.add(index)
                self.clock.observe(now, at_s)

    def _lost(self, pods: list[Manifest]) -> dict[str, str]:
        """Return the cause of each pod that is lost, by its name."""
        now = time.monotonic()
        if now >= self._next_nodes_s:
            self._next_nodes_s = now + _NODES_INTERVAL_S
            self._lost_nodes = dict.fromkeys(lost_pods(self._cluster, pods, datetime.now(UTC)), "node lost")
        reasons = {pod["metadata"]["name"]: _stuck(pod) for pod in pods}
        self._stuck_since = {name: self._stuck_since.get(name, now) for name, reason in reasons.items() if reason}
        stuck = {name: reasons[name] for name, since in self._stuck_since.items() if now - since >= _STUCK_FOR_S}
        return {**stuck, **self._lost_nodes}

    def _data(self, name: str) -> dict[str, str]:
        return dict((self._config_map(name) or {}).get("data") or {})

    def _config_map(self, name: str) -> Manifest | None:
        return self._cluster.get(Query("v1", "ConfigMap", self._namespace, f"{self._job}-{name}"))

    def _write(self, data: dict[str, str]) -> None:
        query = Query("v1", "ConfigMap", self._namespace, f"{self._job}-start")
        self._cluster.merge(query, {"data": data})


def _stuck(pod: Manifest) -> str:
    """Return the reason of a container that waits hopelessly; empty without one."""
    found = next(stuck_containers(pod), None)
    return str(found[1]["state"]["waiting"]["reason"]) if found else ""
