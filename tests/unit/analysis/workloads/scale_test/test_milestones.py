"""Milestones, from recordings made by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables, transition


def by_name(recorded: ScaleTestTables) -> dict[str, dict[str, Any]]:
    frame = workloads_table(recorded)
    return {str(row["workload"]): {str(k): v for k, v in row.items()} for row in frame.to_dict("records")}


def test_pod_passes_every_milestone() -> None:
    times = {"created": 101.0, "pod_created": 101.5, "scheduled": 102.25, "initialized": 103.0, "running": 104.0}
    row = by_name(tables([submission("a", 100.5)], life("a", **times, ready=104.5, completed=110.0)))["a"]
    expected = {"sent_s": 100.5, "answered_s": 100.51, "created_s": 101.0, "first_pod_created_s": 101.5}
    expected |= {"last_pod_created_s": 101.5, "scheduled_s": 102.25, "initialized_s": 103.0, "running_s": 104.0}
    expected |= {"ready_s": 104.5, "completed_s": 110.0}
    assert {name: row[name] for name in expected} == expected
    assert (row["scheduled_server_s"], row["scheduled_resolution_s"]) == (102.0, 1.0)
    assert pd.isna(row["failed_s"])


def test_gang_milestone_is_that_of_its_last_pod() -> None:
    pods = [transition("Pod", f"a-{pod}", "created", 10.0 + pod) for pod in range(3)]
    pods += [transition("Pod", f"a-{pod}", "scheduled", 20.0 - pod) for pod in range(3)]
    row = by_name(tables([submission("a", 9.0, pods=3.0)], pods))["a"]
    assert (row["first_pod_created_s"], row["last_pod_created_s"], row["scheduled_s"]) == (10.0, 12.0, 20.0)


def test_incomplete_gang_has_not_reached_a_milestone() -> None:
    pods = [transition("Pod", f"a-{pod}", "scheduled", 20.0 + pod) for pod in range(2)]
    row = by_name(tables([submission("a", 9.0, pods=3.0)], pods))["a"]
    assert pd.isna(row["scheduled_s"])


def test_replacement_pod_does_not_move_milestones() -> None:
    pods = [transition("Pod", f"a-{pod}", "scheduled", 20.0 + pod) for pod in range(2)]
    pods += [transition("Pod", "a-9", "scheduled", 99.0)]
    row = by_name(tables([submission("a", 9.0, pods=2.0)], pods))["a"]
    assert row["scheduled_s"] == 21.0


def test_transition_observed_twice_counts_once() -> None:
    pods = [transition("Pod", "a-0", "scheduled", 20.0), transition("Pod", "a-0", "scheduled", 50.0)]
    pods += [transition("Pod", "a-1", "scheduled", 30.0)]
    row = by_name(tables([submission("a", 9.0, pods=2.0)], pods))["a"]
    assert row["scheduled_s"] == 30.0


def test_watch_without_submission_finds_workloads_by_transitions() -> None:
    rows = life("b", created=5.0, pod_created=6.0) + life("a", created=3.0, pod_created=4.0)
    frame = workloads_table(tables([], rows))
    assert frame["workload"].tolist() == ["a", "b"]
    assert frame["pods"].tolist() == [1.0, 1.0]
    assert frame["kind"].tolist() == ["Job", "Job"]
    assert frame["sent_s"].isna().all()


def test_rows_follow_the_order_of_submission() -> None:
    frame = workloads_table(tables([submission("b", 2.0), submission("c", 3.0), submission("a", 1.0)], []))
    assert frame["workload"].tolist() == ["a", "b", "c"]


def test_equal_names_in_two_namespaces_are_two_workloads() -> None:
    sent = [submission("a", 1.0), submission("a", 2.0, namespace="other")]
    seen = [transition("Job", "a", "created", 5.0), transition("Job", "a", "created", 7.0, namespace="other", uid="2")]
    found = by_name(tables(sent, seen))
    assert {name: row["created_s"] for name, row in found.items()} == {"ns/a": 5.0, "other/a": 7.0}


def test_pod_without_a_controller_is_its_own_workload() -> None:
    words = {"created": 2.0, "scheduled": 3.0, "running": 4.0, "succeeded": 9.0, "deleted": 12.0}
    pods = [transition("Pod", "a", word, when) for word, when in words.items()]
    pods += [transition("Pod", "b-x", "succeeded", 8.0)]
    found = by_name(tables([submission("a", 1.0), submission("b", 1.5)], pods))
    row = found["a"]
    assert (row["created_s"], row["running_s"], row["completed_s"], row["deleted_s"]) == (2.0, 4.0, 9.0, 12.0)
    assert pd.isna(row["failed_s"])
    # The name of a controller's pod does not identify its workload.
    assert pd.isna(found["b"]["completed_s"])


def test_objects_of_no_workload_are_left_out() -> None:
    frame = workloads_table(tables([], [transition("Pod", "x-0", "created", 1.0, workload=None)]))
    assert len(frame) == 0


@pytest.mark.parametrize("given", [[], [submission("a", 1.0)]])
def test_empty_recording_yields_tables(given: list[dict[str, Any]]) -> None:
    assert len(workloads_table(tables(given, []))) == len(given)


def test_incomplete_rows_reach_no_milestone() -> None:
    nameless = {"transition": None}, {"kind": None}, {"workload": None}
    seen = [{**transition("Pod", "a-0", "succeeded", 5.0), **missing} for missing in nameless]
    [row] = by_name(tables([submission("a", 1.0)], [*seen, *life("a", created=2.0, scheduled=3.0)])).values()
    assert (row["created_s"], row["scheduled_s"]) == (2.0, 3.0)
    assert pd.isna(row["completed_s"])
    assert pd.isna(row["running_s"])
