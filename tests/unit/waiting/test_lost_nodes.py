"""Pods whose node is gone, does not answer, or evicts them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.lost_nodes import lost_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.stuck_pods import stuck_pod

NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)
JOB = {"kind": "PyTorchJob", "metadata": {"name": "j", "namespace": "x"}, "spec": {}}
RAY_JOB = {**JOB, "kind": "RayJob", "status": {"rayClusterName": "j-raycluster-1"}}
TAKEN = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "no toleration"}


def pod(name: str, node: str | None, phase: str = "Running", *conditions: dict[str, str]) -> Manifest:
    spec: dict[str, Any] = {"containers": [], **({"nodeName": node} if node else {})}
    return {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase, "conditions": list(conditions)}}


def node(name: str, status: str, ago_s: float) -> Manifest:
    since = (NOW - timedelta(seconds=ago_s)).isoformat()
    ready = {"type": "Ready", "status": status, "reason": "NodeStatusUnknown", "lastTransitionTime": since}
    return {"metadata": {"name": name}, "status": {"conditions": [ready]}}


class Cluster:
    """Pods and nodes."""

    def __init__(self, pods: list[Manifest], *nodes: Manifest) -> None:
        self.pods = pods
        self.nodes = {each["metadata"]["name"]: each for each in nodes}
        self.asked: list[Query] = []

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        self.asked.append(query)
        if query.kind == "Pod":
            return self.pods, "1"
        found = self.nodes.get(query.name or "")
        return ([found] if found else []), "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Any:
        raise NotImplementedError


def test_deleted_node_is_reported_once_with_each_of_its_pods() -> None:
    pods = [pod("a", "n1"), pod("b", "n1"), pod("c", "n2"), pod("waits", None, "Pending")]
    cluster = Cluster(pods, node("n2", "True", 9_000))
    assert lost_pods(cluster, pods, NOW) == {"a": "its node n1 is gone", "b": "its node n1 is gone"}
    assert [query.name for query in cluster.asked] == ["n1", "n2"]


@pytest.mark.parametrize(
    ("status", "ago_s", "lost"), [("Unknown", 70, True), ("False", 70, True), ("Unknown", 20, False)]
)
def test_unready_node_is_lost_after_a_minute(status: str, ago_s: float, lost: bool) -> None:
    found = lost_pods(Cluster([], node("n1", status, ago_s)), [pod("a", "n1")], NOW)
    assert found == ({"a": "its node n1 has not been ready for 70 s: NodeStatusUnknown"} if lost else {})


def test_ended_pod_needs_no_node() -> None:
    assert lost_pods(Cluster([]), [pod("a", "n1", "Succeeded"), pod("b", "n1", "Failed")], NOW) == {}


def test_pod_evicted_from_its_node_reports_why_even_if_failed() -> None:
    for phase in ("Running", "Failed"):
        found = lost_pods(Cluster([], node("n1", "True", 5)), [pod("a", "n1", phase, TAKEN)], NOW)
        assert found == {"a": "taken from its node n1: DeletionByTaintManager no toleration"}


@pytest.mark.parametrize(
    ("job", "selector"),
    [(JOB, "training.kubeflow.org/job-name=j"), (RAY_JOB, "ray.io/cluster=j-raycluster-1")],
)
def test_training_with_a_pod_on_a_lost_node_is_not_awaited(job: Manifest, selector: str) -> None:
    cluster = Cluster([pod("j-worker-0", "n1")])
    assert stuck_pod(cluster, job) == "pod j-worker-0: its node n1 is gone"
    assert cluster.asked[0].label_selector == selector


def test_ray_job_without_a_cluster_has_no_pods() -> None:
    assert stuck_pod(Cluster([pod("other", "n1")]), {**RAY_JOB, "status": {}}) == ""


def test_deployment_creates_another_pod_elsewhere() -> None:
    template: Manifest = {"spec": {"containers": []}}
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template}
    deployment = {"kind": "Deployment", "metadata": {"name": "d", "namespace": "x"}, "spec": spec}
    assert stuck_pod(Cluster([pod("a", "n1")]), deployment) == ""
