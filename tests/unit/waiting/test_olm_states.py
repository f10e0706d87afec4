"""When OLM's objects have reached the state that a command waits for, and the reasons until then."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for


def verdict(kind: str, until: str, status: dict[str, Any]) -> tuple[bool, bool, str]:
    found = predicate_for(kind, until)({"metadata": {"name": "x"}, "status": status})
    return found.reached, found.hopeless, found.note


def failed(kind: str, message: str = "no operators found") -> dict[str, Any]:
    return {"type": kind, "status": "True", "reason": "Constraints", "message": message}


def test_catalog_is_ready_when_its_connection_is() -> None:
    state = {"connectionState": {"lastObservedState": "READY"}}
    assert verdict("CatalogSource", "ready", state)[0]
    for word in ("CONNECTING", "TRANSIENT_FAILURE"):
        reached, hopeless, note = verdict("CatalogSource", "ready", {"connectionState": {"lastObservedState": word}})
        assert (reached, hopeless) == (False, False)
        assert word in note
    assert not verdict("CatalogSource", "ready", {})[0]


@pytest.mark.parametrize("kind", ["ResolutionFailed", "BundleUnpackFailed"])
def test_failed_subscription_ends_the_wait(kind: str) -> None:
    status = {"installedCSV": "old", "conditions": [failed(kind)]}
    assert verdict("Subscription", "resolved", status) == (False, True, f"{kind}: no operators found")


def test_subscription_is_resolved_by_its_plan_or_version() -> None:
    healthy = {"type": "ResolutionFailed", "status": "False"}
    assert verdict("Subscription", "resolved", {"conditions": [healthy]})[:2] == (False, False)
    assert verdict("Subscription", "resolved", {"installPlanRef": {"name": "install-1"}})[0]
    assert verdict("Subscription", "resolved", {"installedCSV": "a.v1"})[0]


@pytest.mark.parametrize(
    ("phase", "reached", "hopeless"),
    [
        ("Complete", True, False),
        ("Installing", False, False),
        ("RequiresApproval", False, False),
        ("Failed", False, True),
    ],
)
def test_install_plan_follows_its_phase(phase: str, reached: bool, hopeless: bool) -> None:
    condition = {"type": "Installed", "status": "False", "reason": "InstallCheckFailed", "message": "no group"}
    found = verdict("InstallPlan", "completed", {"phase": phase, "conditions": [condition]})
    assert found[:2] == (reached, hopeless)
    assert "InstallCheckFailed no group" in found[2]


@pytest.mark.parametrize(
    ("phase", "reached", "hopeless"),
    [("Succeeded", True, False), ("Replacing", False, False), ("Pending", False, False), ("Failed", False, True)],
)
def test_cluster_service_version_follows_its_phase(phase: str, reached: bool, hopeless: bool) -> None:
    status = {"phase": phase, "reason": "InstallComponentFailed", "message": "deployment x"}
    found = verdict("ClusterServiceVersion", "ready", status)
    assert found == (reached, hopeless, f"phase {phase}, InstallComponentFailed: deployment x")


@pytest.mark.parametrize(
    ("since", "hopeless"),
    [
        (["Failed", "Pending", "InstallReady"], True),
        (["Failed", "Pending", "InstallReady", "Installing"], False),
        (["Failed", "Succeeded", "Pending"], False),
        (["Pending", "InstallReady"], False),
    ],
    ids=["tried again", "is installed now", "after a success", "has not failed"],
)
def test_failure_lasts_until_the_version_progresses_further(since: list[str], hopeless: bool) -> None:
    conditions = [{"phase": phase, "reason": f"Was{phase}", "message": "why"} for phase in since]
    found = verdict("ClusterServiceVersion", "ready", {**conditions[-1], "conditions": conditions})
    shown = "Failed" if hopeless else since[-1]
    assert found == (False, hopeless, f"phase {shown}, Was{shown}: why")
