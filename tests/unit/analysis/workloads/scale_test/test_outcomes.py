"""Accounting and failures, counted by hand."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.measures import measure
from perfanalysis.workloads.scale_test.outcomes import account, accounting_findings, failures_table
from perfanalysis.workloads.scale_test.pods import churned_by_test
from perfanalysis.workloads.scale_test.sections import accounting_table
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables, transition

SENT = [
    submission("a", 1.0),
    submission("b", 2.0),
    submission("c", 3.0, outcome="failed", status=403, error='pods "c-0" forbidden: exceeded quota', attempts=2),
    submission("d", 4.0),
    submission("e", 5.0),
    submission("f", 6.0),
]
SEEN = [
    *life("a", created=1.5, completed=9.0),
    *life("b", created=2.5, failed=8.0),
    *life("d", created=4.5),
    transition("Job", "f", "created", 6.5),
    transition("Job", "f", "deleted", 7.0),
]
STATED = {"asked": 6, "submitted": 6, "completed": 1, "failed": 2, "lost": 0, "running": 3}


def test_every_workload_has_exactly_one_outcome() -> None:
    counted = account(workloads_table(tables(SENT, SEEN)), STATED)
    parts = (counted.completed, counted.failed, counted.deleted, counted.unseen, counted.unfinished)
    assert parts == (1, 2, 1, 1, 1)
    assert counted.submitted == sum(parts) == 6
    assert accounting_findings(counted, "x") == ()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"running": 1}, "submitted 6 is not completed + failed + lost + running = 4"),
        ({"lost": 1, "running": 2}, "1 workloads were lost"),
        ({"completed": 2, "running": 2}, "the recorder counted 2 completed, but its recording has 1"),
    ],
)
def test_inconsistent_accounting_is_an_error(change: dict[str, int], text: str) -> None:
    counted = account(workloads_table(tables(SENT, SEEN)), {**STATED, **change})
    assert [(finding.severity, finding.text) for finding in accounting_findings(counted, "x")] == [("error", text)]


def test_missing_accounting_is_a_warning() -> None:
    counted = account(workloads_table(tables(SENT, SEEN)), {})
    assert [finding.severity for finding in accounting_findings(counted, "x")] == ["warning"]
    assert counted.lost is None


def failures(recorded: ScaleTestTables) -> pd.DataFrame:
    return failures_table(recorded, workloads_table(recorded))


def test_failures_are_counted_by_stage_and_cause() -> None:
    seen = [
        transition("Job", "b", "failed", 8.0, reason="BackoffLimitExceeded"),
        transition("Pod", "b-0", "failed", 7.0, reason="OOMKilled"),
        transition("Pod", "b-0", "failed", 7.5, reason="OOMKilled"),
        transition("Pod", "d-0", "unschedulable", 5.0, reason="Insufficient nvidia.com/gpu"),
        transition("Pod", "d-1", "evicted", 5.0),
    ]
    mount = {"type": "Warning", "reason": "FailedMount", "kind": "Pod", "namespace": "ns", "seen_s": 1.0}
    events = [
        # One event that is repeated, one of another pod, one of another cell's workload, one that is no warning
        *({**mount, "name": "d-0", "workload": "d", "count": count} for count in (1, 2, 3)),
        {**mount, "name": "d-1", "workload": "d", "count": 1},
        {**mount, "name": "theirs-0", "workload": None, "count": 7},
        {**mount, "name": "d-0", "workload": "d", "count": 1, "type": "Normal"},
        {**mount, "name": "node-1", "kind": "Node", "reason": "NodeNotReady", "count": 1},
    ]
    table = failures(tables(SENT, seen, events))
    assert list(table.astype("object").itertuples(index=False, name=None)) == [
        ("submission", "HTTP 403: pods … forbidden: exceeded quota", 1),
        ("workload", "BackoffLimitExceeded", 1),
        ("pod", "OOMKilled", 1),
        ("pod", "evicted: no reason stated", 1),
        ("pod", "unschedulable: Insufficient nvidia.com/gpu", 1),
        ("warning", "FailedMount", 4),
        ("warning", "NodeNotReady", 1),
    ]


def test_run_without_failures_has_an_empty_table() -> None:
    assert len(failures(tables(SENT[:2], life("a", created=1.5)))) == 0


def test_refusals_that_differ_only_by_name_are_one_cause() -> None:
    sent = [
        submission(f"w-{place}", 1.0, outcome="failed", status=422, error=f'Job "w-{place}" is invalid: port 80{place}')
        for place in range(3)
    ]
    table = failures(tables(sent, []))
    assert table["count"].tolist() == [3]
    assert table["cause"].tolist() == ["HTTP 422: Job … is invalid: port …"]


def test_refusal_without_a_response_has_its_error_as_cause() -> None:
    sent = [submission("a", 1.0, outcome="failed", status=None, error="timeout"), submission("b", 1.0, status=201)]
    assert failures(tables(sent, []))["cause"].tolist() == ["no answer: timeout"]


CHURNED = {"round": 1, "index": 0, "namespace": "ns", "sent_s": 6.9, "answered_s": 7.0, "status": 200}


def test_workloads_deleted_by_the_test_are_churned() -> None:
    deleted = [
        {**CHURNED, "name": "a", "sent_s": 30.0, "outcome": "deleted"},
        {**CHURNED, "name": "f", "outcome": "deleted"},
    ]
    recorded = tables(SENT, SEEN, churn=[*deleted, {**CHURNED, "name": "e", "outcome": "absent"}])
    workloads = workloads_table(recorded)
    stated = {**STATED, "running": 2, "churned": 1}
    counted = account(workloads, stated, churned_by_test(recorded, workloads))
    # a completed before it was deleted; e did not exist any more.
    assert (counted.completed, counted.churned, counted.deleted, counted.unseen) == (1, 1, 0, 1)
    assert accounting_findings(counted, "x") == ()


def test_failures_caused_by_a_deletion_are_churned() -> None:
    seen = [*life("a", scheduled=2.0), transition("Job", "a", "failed", 7.2)]
    recorded = tables([submission("a", 1.0)], seen, churn=[{**CHURNED, "name": "a", "outcome": "deleted"}])
    workloads = workloads_table(recorded)
    counted = account(workloads, {}, churned_by_test(recorded, workloads))
    assert (counted.failed, counted.churned) == (0, 1)


def test_accounting_without_churned_workloads_is_inconsistent() -> None:
    counted = account(workloads_table(tables(SENT, SEEN)), {**STATED, "churned": 2})
    assert [finding.text for finding in accounting_findings(counted, "x")] == [
        "submitted 6 is not completed + failed + lost + running + churned = 8",
        "the recorder counted 2 churned, but its recording has 0",
    ]


def test_failure_after_deletion_counts_as_deleted_by_the_test() -> None:
    stopped = "Error (exit code 137)"
    seen = [
        transition("Pod", "a-0", "failed", 6.5, reason=stopped),
        transition("Pod", "a-1", "failed", 7.1, reason=stopped),
        transition("Job", "a", "failed", 7.2),
        transition("Pod", "b-0", "failed", 7.1, reason=stopped),
    ]
    recorded = tables(SENT[:2], seen, churn=[{**CHURNED, "name": "a", "outcome": "deleted"}])
    # Its first pod failed before the deletion was sent, at 6.9.
    assert list(failures(recorded).astype("object").itertuples(index=False, name=None)) == [
        ("workload", "deleted by the test", 1),
        ("pod", stopped, 2),
        ("pod", "deleted by the test", 1),
    ]


def test_report_includes_churned_workloads() -> None:
    recorded = tables(SENT, SEEN, churn=[{**CHURNED, "name": "f", "outcome": "deleted"}])
    table = accounting_table(measure(recorded, {}, {**STATED, "running": 2, "churned": 1}))
    shown = {row[0].text: (row[1].text, row[2].text) for row in table.rows}
    assert shown["churned"] == ("1", "1")
    left, *parts, right = (int(number) for number in re.findall(r"\d+", table.note))
    assert left == sum(parts) == right == len(SENT)
    places = ("completed", "failed", "churned", "deleted", "unseen", "unfinished")
    assert [int(shown[name][0]) for name in places] == parts
