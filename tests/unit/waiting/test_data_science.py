"""When a DataScienceCluster matches its newest generation, even if its status is outdated."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for

MANAGED, REMOVED, UNMANAGED = ({"managementState": state} for state in ("Managed", "Removed", "Unmanaged"))


def cluster(components: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "dsc", "generation": 2}, "spec": {"components": components}, "status": status}


def note(obj: dict[str, Any]) -> str:
    verdict = predicate_for("DataScienceCluster", "ready")(obj)
    assert not verdict.reached
    assert not verdict.hopeless
    return verdict.note


def test_requested_and_observed_generation_is_ready() -> None:
    installed = {"ray": True, "kueue": False, "data-science-pipelines-operator": True}
    components = {"ray": MANAGED, "kueue": REMOVED, "datasciencepipelines": MANAGED}
    conditions = [{"type": "RayReady", "status": "True"}, {"type": "KueueReady", "status": "False"}]
    obj = cluster(components, phase="Ready", observedGeneration=2, installedComponents=installed, conditions=conditions)
    assert predicate_for("DataScienceCluster", "ready")(obj).reached


def test_readiness_of_an_earlier_generation_does_not_count() -> None:
    assert "newest generation" in note(cluster({"ray": MANAGED}, phase="Ready", observedGeneration=1))


@pytest.mark.parametrize(
    ("components", "installed", "reason"),
    [
        ({"ray": MANAGED}, {"ray": False}, "ray is not installed yet"),
        ({"modelmeshserving": REMOVED}, {"model-mesh": True}, "modelmeshserving is still installed"),
        ({"trustyai": MANAGED}, {}, "trustyai is not installed yet"),
    ],
)
def test_operator_without_generations_is_judged_by_components(
    components: dict[str, Any], installed: dict[str, bool], reason: str
) -> None:
    assert reason in note(cluster(components, phase="Ready", installedComponents=installed))


def test_unready_component_is_reported_with_the_operators_message() -> None:
    conditions = [
        {"type": "KserveReady", "status": "False", "message": "the service mesh is missing"},
        {"type": "RayReady", "status": "False", "reason": "Removed"},
        {"type": "Ready", "status": "False", "message": "Some components are not ready: kserve"},
    ]
    obj = cluster({"kserve": MANAGED, "ray": REMOVED}, phase="Not Ready", observedGeneration=2, conditions=conditions)
    assert note(obj) == "phase Not Ready; KserveReady is False: the service mesh is missing"


@pytest.mark.parametrize("installed", [{}, {"installedComponents": {"kueue": False}}], ids=["v2", "v1"])
def test_unmanaged_component_is_awaited(installed: dict[str, Any]) -> None:
    message = "Kueue operator not installed, install it or change kueue component state to Removed"
    waiting = [{"type": "KueueReady", "status": "False", "message": message}]
    status = {"phase": "Ready", "observedGeneration": 2, **installed}
    assert message in note(cluster({"kueue": UNMANAGED}, **status, conditions=waiting))
    ready = cluster({"kueue": UNMANAGED}, **status, conditions=[{"type": "KueueReady", "status": "True"}])
    assert predicate_for("DataScienceCluster", "ready")(ready).reached


def test_initialization_reports_why_it_failed() -> None:
    failed = [{"type": "ReconcileComplete", "status": "False", "message": "no such namespace"}]
    obj = {"metadata": {"name": "default-dsci", "generation": 1}, "status": {"phase": "Error", "conditions": failed}}
    verdict = predicate_for("DSCInitialization", "ready")(obj)
    assert (verdict.reached, verdict.note) == (False, "phase Error; ReconcileComplete is False: no such namespace")
    assert predicate_for("DSCInitialization", "ready")({**obj, "status": {"phase": "Ready"}}).reached


def test_missing_operator_reports_nothing() -> None:
    assert "does it run?" in note(cluster({"ray": MANAGED}))
    gone = cluster({}, phase="Ready", observedGeneration=2)
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert note(gone) == "it is being deleted"
