"""What is said of a model whose pods find no node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.start_goals import start_goals
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError, wait_for

KINDS = ("InferenceService", "LLMInferenceService")
SAID = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."


def pod(name: str, status: str) -> Manifest:
    condition = {"type": "PodScheduled", "status": status, "reason": "Unschedulable", "message": SAID}
    return {"metadata": {"name": name, "uid": name}, "spec": {}, "status": {"conditions": [condition]}}


class Cluster:
    """A model that is not ready, the pods that are awaited, and all that it has."""

    def __init__(self, kind: str, awaited: list[Manifest], there: list[Manifest]) -> None:
        self.model = {"kind": kind, "metadata": {"name": "opt", "namespace": "n", "uid": "m"}, "status": {}}
        self.awaited, self.there = awaited, there

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        if query.kind != "Pod":
            return [self.model], "1"
        return (self.awaited if query.label_selector == "awaited" else self.there), "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        yield from ()


def goals(kind: str) -> tuple[Goal, Goal]:
    pods = Query("v1", "Pod", "n", label_selector="awaited")
    return start_goals(pods, Query("serving.kserve.io/v1", kind, "n", "opt"), (0.1, 0.1), 0.0)


def reach(cluster: Cluster, goal: Goal) -> None:
    wait_for(cluster, goal, lambda: None, lambda _progress: None)


@pytest.mark.parametrize("kind", KINDS)
def test_pods_that_no_node_can_take_are_told_with_the_schedulers_reason(kind: str) -> None:
    scheduled, _ready = goals(kind)
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster(kind, [pod("opt-1", "True"), pod("opt-2", "False")], []), scheduled)
    told = str(raised.value)
    assert f"scheduled was not reached within 0.1 s: 1 of 2 there; opt-2: no node, not scheduled: {SAID}" in told
    reach(Cluster(kind, [pod("opt-1", "True"), pod("opt-2", "True")], []), scheduled)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_that_came_later_is_told_when_the_model_is_not_ready_in_time(kind: str) -> None:
    _scheduled, ready = goals(kind)
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster(kind, [], [pod("opt-1", "True"), pod("prefill", "False")]), ready)
    assert f"; opt: pod prefill: no node, not scheduled: {SAID}" in str(raised.value)
    with pytest.raises(NotReachedError) as raised:
        reach(Cluster(kind, [], [pod("opt-1", "True")]), ready)
    assert "node" not in str(raised.value)
