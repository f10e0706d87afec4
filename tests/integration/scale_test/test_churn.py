"""Churn on a real control plane: the right workloads are replaced, and the accounting is correct even after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan

from tests.polling import PATIENCE_S, wait_until

from .conftest import Lab, Submission, read_rows

pytestmark = pytest.mark.lab


def test_running_jobs_are_churned(submission: Submission) -> None:
    # workloads that are replaced have their pod by then, and have not ended
    submission.count, submission.duration_s = 10, 10.0
    submission.churn = ChurnPlan(percent=30, period_s=2.0, rounds=2)
    accounting = submission.submit().accounting
    assert accounting.sentence() == "16 of 16 workloads submitted: 10 completed, 0 failed, 0 lost, 6 churned"
    assert accounting.identity_holds
    left = [row["name"] for row in submission.rows("churn")]
    gone = [row for row in submission.rows("transitions") if row["transition"] == "deleted"]
    assert len(left) == 6
    assert {row["name"] for row in gone if row["kind"] == "Job"} == set(left)
    assert {row["workload"] for row in gone if row["kind"] == "Pod"} == set(left)


@pytest.mark.deep
def test_serving_deployments_leave_as_completed(submission: Submission) -> None:
    submission.kind, submission.count, submission.pods = "deployment", 4, 2
    # long enough for all of them to serve by then, even on a busy machine
    submission.churn = ChurnPlan(percent=50, period_s=10.0, rounds=1)
    accounting = submission.submit().accounting
    assert accounting.sentence() == "6 of 6 workloads submitted: 6 completed, 0 failed, 0 lost"
    left = sorted((row["index"], row["outcome"]) for row in submission.rows("churn"))
    assert left == [(0, "deleted"), (1, "deleted")]
    assert {row["index"]: row["replaces"] for row in submission.rows("submissions") if row["round"] == 1} == {
        4: 0,
        5: 1,
    }


@pytest.mark.deep
def test_gangs_leave_with_their_groups(submission: Submission) -> None:
    submission.count, submission.pods, submission.duration_s, submission.gang = 2, 2, 6.0, True
    submission.churn = ChurnPlan(percent=50, period_s=1.0, rounds=1)
    accounting = submission.submit().accounting
    assert (accounting.completed, accounting.churned, accounting.identity_holds) == (2, 1, True)
    (left,) = [row["name"] for row in submission.rows("churn")]
    groups = [row for row in submission.rows("transitions") if row["kind"] == "PodGroup"]
    assert [row["name"] for row in groups if row["transition"] == "deleted"] == [left]


@pytest.mark.deep
def test_stop_during_churn_keeps_accounts_correct(lab: Lab, tmp_path: Path) -> None:
    arguments = {
        "scale_test_submit_count": 20,
        "scale_test_submit_duration": "60s",
        "scale_test_submit_namespace": "churn-stop",
        "scale_test_submit_churn_percent": 20.0,
        "scale_test_submit_churn_period": "500ms",
        "scale_test_submit_churn_rounds": 1000,
    }
    process = lab.playbook(tmp_path, "scale_test_submit", **arguments)
    rows = "*/001__*/artifacts/churn.jsonl"
    wait_until(lambda: any(len(read_rows(path)) >= 6 for path in tmp_path.glob(rows)))
    next(tmp_path.iterdir()).joinpath("stop").touch()
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert "interrupted: " in output
    assert " churned" in output
    artifacts = next(tmp_path.glob(rows)).parent
    accounting = json.loads((artifacts / "accounting.json").read_text())
    assert (accounting["identity_holds"], accounting["lost"], accounting["asked"]) == (True, 0, 4020)
    assert accounting["churned"] == len(read_rows(artifacts / "churn.jsonl")) >= 6
    assert accounting["submitted"] == accounting["churned"] + accounting["running"]
