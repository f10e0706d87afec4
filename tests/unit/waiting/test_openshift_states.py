"""When OpenShift's operators are ready, and since when."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.waiting.openshift_states import unchanged_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for


def operator(changed: dict[str, str] | None = None, age_s: float = 0) -> dict[str, Any]:
    since = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
    values = {"Available": "True", "Progressing": "False", "Degraded": "False", **(changed or {})}
    conditions = [
        {"type": kind, "status": status, "lastTransitionTime": since, "reason": "Why", "message": "in words"}
        for kind, status in values.items()
    ]
    return {"metadata": {"name": "dns"}, "status": {"conditions": conditions}}


def test_ready_operator_is_available_and_not_progressing_or_degraded() -> None:
    assert predicate_for("ClusterOperator", "ready")(operator()).reached


@pytest.mark.parametrize(
    ("kind", "status"),
    [("Available", "False"), ("Progressing", "True"), ("Degraded", "True"), ("Available", "Unknown")],
)
def test_unready_operator_reports_why(kind: str, status: str) -> None:
    verdict = predicate_for("ClusterOperator", "ready")(operator({kind: status}))
    assert (verdict.reached, verdict.note) == (False, f"{kind} is {status}, Why: in words")


def test_operator_without_status_is_not_ready() -> None:
    verdict = predicate_for("ClusterOperator", "ready")({"metadata": {"name": "dns"}})
    assert (verdict.reached, verdict.note) == (False, "Available is not set yet")


def test_available_api_service_is_ready() -> None:
    assert predicate_for("APIService", "ready")(operator()).reached


def test_recently_changed_object_is_not_stable() -> None:
    assert unchanged_for(300)(operator(age_s=400)).reached
    verdict = unchanged_for(300)(operator(age_s=100))
    assert not verdict.reached
    assert verdict.note.endswith("of 300 s")


def test_object_without_times_is_never_stable() -> None:
    assert unchanged_for(1)({"status": {}}).note == "its conditions have no time of a change"


@pytest.mark.parametrize(
    ("status", "reached", "hopeless", "note"),
    [
        ({}, False, False, "phase New"),
        ({"phase": "Pending", "reason": "PushSecretPending"}, False, False, "phase Pending, PushSecretPending"),
        ({"phase": "Complete"}, True, False, "phase Complete"),
        ({"phase": "Cancelled"}, False, True, "phase Cancelled"),
        (
            {"phase": "Failed", "reason": "DockerBuildFailed", "message": "it failed", "logSnippet": "a\n\n  b\n"},
            False,
            True,
            "phase Failed, DockerBuildFailed: it failed; its log ends: a / b",
        ),
    ],
)
def test_build_ends_with_its_image_or_the_end_of_its_log(
    status: dict[str, str], reached: bool, hopeless: bool, note: str
) -> None:
    verdict = predicate_for("Build", "completed")({"metadata": {"name": "a"}, "status": status})
    assert (verdict.reached, verdict.hopeless, verdict.note) == (reached, hopeless, note)
