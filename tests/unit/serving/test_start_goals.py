"""The message about a model whose pods cannot be scheduled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.start_goals import start_goals
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError, wait_for

pytestmark = pytest.mark.slow

KINDS = ("InferenceService", "LLMInferenceService")
SAID = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."


def pod(name: str, status: str) -> Manifest:
    condition = {"type": "PodScheduled", "status": status, "reason": "Unschedulable", "message": SAID}
    return {"metadata": {"name": name, "uid": name}, "spec": {}, "status": {"conditions": [condition]}}


class Cluster:
    """A model that is not ready, the awaited pods, and later ones."""

    def __init__(
        self, kind: str, awaited: list[Manifest], there: list[Manifest], events: list[Manifest] | None = None
    ) -> None:
        self.model: Manifest = {"kind": kind, "metadata": {"name": "opt", "namespace": "n", "uid": "m"}, "status": {}}
        self.awaited, self.there, self.events = awaited, there, events or []

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        if query.kind == "Event":
            assert query.field_selector == "involvedObject.uid=m,reason=ServerlessModeRejected"
            return self.events, "1"
        if query.kind != "Pod":
            return [self.model], "1"
        return self.awaited or self.there, "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        yield from ()


def goals(kind: str, timeout_s: float = 0.1) -> tuple[Goal, Goal]:
    return start_goals(Query("serving.kserve.io/v1", kind, "n", "opt"), (timeout_s, timeout_s), 0.0)


def reach(cluster: Cluster, goal: Goal) -> None:
    wait_for(cluster, goal, lambda: None, lambda _progress: None)


@pytest.mark.parametrize("kind", KINDS)
def test_unschedulable_pods_are_reported_with_the_reason(kind: str) -> None:
    scheduled, _ready = goals(kind)
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster(kind, [pod("opt-1", "True"), pod("opt-2", "False")], []), scheduled)
    message = str(raised.value)
    assert f"scheduled was not reached within 0.1 s: 1 of 2 there; opt-2: no node, not scheduled: {SAID}" in message
    reach(Cluster(kind, [pod("opt-1", "True"), pod("opt-2", "True")], []), scheduled)


@pytest.mark.parametrize("kind", KINDS)
def test_later_pod_is_reported_if_the_model_is_late(kind: str) -> None:
    _scheduled, ready = goals(kind)
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster(kind, [], [pod("opt-1", "True"), pod("prefill", "False")]), ready)
    assert f"; opt: pod prefill: no node, not scheduled: {SAID}" in str(raised.value)
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster(kind, [], [pod("opt-1", "True")]), ready)
    assert "node" not in str(raised.value)


def test_model_rejected_by_kserve_is_not_awaited() -> None:
    scheduled, _ready = goals("InferenceService", 300)
    rejected = {"metadata": {"name": "opt.1", "uid": "e"}, "message": "Knative Services are not available"}
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster("InferenceService", [], [], [rejected]), scheduled)
    assert "scheduled will not be: InferenceService opt: Knative Services are not available" in str(raised.value)
    assert "raw_deployment" in str(raised.value)


def test_model_that_reports_failure_is_not_awaited() -> None:
    scheduled, _ready = goals("InferenceService", 300)
    cluster = Cluster("InferenceService", [], [])
    cluster.model["status"] = {
        "modelStatus": {
            "transitionStatus": "InvalidSpec",
            "lastFailureInfo": {"reason": "RuntimeNotRecognized", "message": "No such runtime"},
        }
    }
    with pytest.raises(NotReachedError, match=r"will not be: InferenceService opt: .*No such runtime"):
        reach(cluster, scheduled)
