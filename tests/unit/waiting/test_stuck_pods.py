"""Reasons in pods why a workload will never be ready."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.stuck_pods import stuck_pod
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError, wait_for

DEPLOYMENT: Manifest = {
    "kind": "Deployment",
    "metadata": {"name": "redis", "namespace": "x", "uid": "d"},
    "spec": {
        "selector": {"matchLabels": {"app": "redis", "tier": "a"}},
        "template": {"spec": {"containers": [{"name": "redis", "image": "redis:2"}]}},
    },
}


def pod(reason: str, image: str = "redis:2", restarts: int = 0, **metadata: Any) -> Manifest:
    waiting = {"reason": reason, "message": "as it is"}
    return {
        "metadata": {"name": "redis-1", "uid": "p", **metadata},
        "spec": {"containers": [{"name": "redis", "image": image}]},
        "status": {"containerStatuses": [{"name": "redis", "restartCount": restarts, "state": {"waiting": waiting}}]},
    }


class Cluster:
    """One workload and its pods."""

    def __init__(self, *pods: Manifest) -> None:
        self.pods = list(pods)
        self.asked: list[Query] = []

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        self.asked.append(query)
        return (self.pods if query.kind == "Pod" else [DEPLOYMENT]), "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        yield from ()

    def serves(self, api_version: str, kind: str) -> bool:
        return True


def test_unpullable_image_is_reported_with_pod_and_container() -> None:
    cluster = Cluster(pod("ImagePullBackOff"))
    assert stuck_pod(cluster, DEPLOYMENT) == "pod redis-1: container redis: ImagePullBackOff as it is"
    assert cluster.asked == [Query("v1", "Pod", namespace="x", label_selector="app=redis,tier=a")]


@pytest.mark.parametrize(
    "harmless",
    [
        pod("ContainerCreating"),
        pod("ImagePullBackOff", image="redis:1"),
        pod("ImagePullBackOff", deletionTimestamp="2026-11-21T00:00:00Z"),
        pod("CrashLoopBackOff", restarts=1),
    ],
    ids=["still starting", "of the former template", "on its way out", "crashed once"],
)
def test_pods_without_a_hopeless_state_do_not_count(harmless: Manifest) -> None:
    assert stuck_pod(Cluster(harmless), DEPLOYMENT) == ""


def test_crash_looping_pod_counts_as_stuck() -> None:
    assert "CrashLoopBackOff" in stuck_pod(Cluster(pod("CrashLoopBackOff", restarts=3)), DEPLOYMENT)


def test_pods_are_not_requested_for_kinds_without_pods() -> None:
    cluster = Cluster(pod("ErrImagePull"))
    assert stuck_pod(cluster, {"kind": "Node", "metadata": {"name": "n"}}) == ""
    assert cluster.asked == []


def test_wait_gives_up_long_before_its_timeout() -> None:
    goal = Goal(
        query=Query("apps/v1", "Deployment", namespace="x", name="redis"),
        described="Deployment redis: ready",
        states=(predicate_for("Deployment", "ready"),),
        timeout_s=3600.0,
        surrender=stuck_pod,
    )
    with pytest.raises(NotReachedError, match="ready will not be: redis: pod redis-1: container redis: ErrImagePull"):
        wait_for(Cluster(pod("ErrImagePull")), goal, lambda: None, lambda _progress: None)


def test_pods_of_a_training_job_have_its_name() -> None:
    cluster = Cluster(pod("ErrImagePull", image="any"))
    training = {"kind": "PyTorchJob", "metadata": {"name": "granite", "namespace": "x"}, "spec": {"template": {}}}
    assert stuck_pod(cluster, training) == "pod redis-1: container redis: ErrImagePull as it is"
    selector = "training.kubeflow.org/job-name=granite"
    assert cluster.asked == [Query("v1", "Pod", namespace="x", label_selector=selector)]


def test_operator_is_stuck_with_a_pod_of_its_deployments() -> None:
    version: Manifest = {
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "redis.v2", "namespace": "x"},
        "spec": {"install": {"spec": {"deployments": [{"name": "redis", "spec": DEPLOYMENT["spec"]}]}}},
    }
    cluster = Cluster(pod("ErrImagePull"))
    assert stuck_pod(cluster, version) == "pod redis-1: container redis: ErrImagePull as it is"
    assert cluster.asked == [Query("v1", "Pod", namespace="x", label_selector="app=redis,tier=a")]
    # A copy describes none.
    assert stuck_pod(cluster, {**version, "spec": {}}) == ""


def test_pods_of_a_served_model_are_found_by_its_name() -> None:
    cluster = Cluster(pod("ErrImagePull"))
    model = {"kind": "InferenceService", "metadata": {"name": "granite", "namespace": "x"}, "spec": {"predictor": {}}}
    assert stuck_pod(cluster, model) == "pod redis-1: container redis: ErrImagePull as it is"
    assert cluster.asked[0].label_selector == "serving.kserve.io/inferenceservice=granite"


def test_failing_prefill_leader_or_worker_of_llm_d_is_found() -> None:
    cluster = Cluster(pod("ErrImagePull"))
    model = {"kind": "LLMInferenceService", "metadata": {"name": "opt", "namespace": "x"}, "spec": {"template": {}}}
    assert stuck_pod(cluster, model) == "pod redis-1: container redis: ErrImagePull as it is"
    # The labels that KServe gives to pods of every component
    selector = "app.kubernetes.io/part-of=llminferenceservice,app.kubernetes.io/name=opt"
    assert cluster.asked[0].label_selector == selector
