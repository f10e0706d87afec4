"""Latencies, their resolution, and missing or negative ones, computed by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.steps import (
    STEPS,
    anomalies_table,
    latencies_table,
    negative_cause,
    percentiles_table,
    step_estimates,
)
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables, transition

TIMES = {
    "created": 100.75,
    "pod_created": 101.0,
    "scheduled": 102.5,
    "initialized": 103.0,
    "running": 105.0,
    "ready": 105.25,
    "completed": 115.0,
}


def latencies(recorded: ScaleTestTables) -> pd.DataFrame:
    return latencies_table(workloads_table(recorded))


def anomalies(recorded: ScaleTestTables) -> list[tuple[Any, ...]]:
    workloads = workloads_table(recorded)
    table = anomalies_table(workloads, latencies_table(workloads))
    return list(table.astype("object").itertuples(index=False, name=None))


def test_every_step_matches_hand_computation() -> None:
    row = latencies(tables([submission("a", 100.5)], life("a", **TIMES))).iloc[0]
    expected = {
        "answer": 0.01,
        "creation": 0.25,
        "first_pod": 0.25,
        "scheduling": 1.5,
        "initialization": 0.5,
        "start": 2.0,
        "readiness": 0.25,
        "execution": 10.0,
        "pod_ready": 4.25,
        "time_to_scheduled": 2.0,
        "time_to_running": 4.5,
        "time_to_ready": 4.75,
        "time_to_completed": 14.5,
    }
    assert {name: row[f"{name}_s"] for name in expected} == pytest.approx(expected)
    assert pd.isna(row["all_pods_s"])
    chain = {step.name for step in STEPS if not (step.several or step.optional)}
    assert set(expected) == chain


def test_server_timestamps_have_the_sum_of_both_resolutions() -> None:
    row = latencies(tables([submission("a", 100.5)], life("a", **TIMES))).iloc[0]
    # The server stamps created 100.75 as 100 and scheduled 102.5 as 102; sent is the client's own timestamp.
    assert (row["scheduling_server_s"], row["scheduling_resolution_s"]) == (1.0, 2.0)
    assert row["time_to_scheduled_server_s"] == pytest.approx(1.5)
    assert row["time_to_scheduled_resolution_s"] == pytest.approx(1.000001)
    assert pd.isna(row["answer_server_s"])


def test_gang_spread_matches_hand_computation() -> None:
    pods = [transition("Pod", f"a-{pod}", "created", 10.0 + 2 * pod) for pod in range(3)]
    assert latencies(tables([submission("a", 9.0, pods=3.0)], pods)).iloc[0]["all_pods_s"] == 4.0


def test_negative_latencies_are_kept_and_counted_by_cause() -> None:
    seen = life("a", created=101.0, pod_created=100.9, scheduled=101.5)
    recorded = tables([submission("a", 100.5)], seen)
    assert latencies(recorded).iloc[0]["first_pod_s"] == pytest.approx(-0.1)
    found = [row for row in anomalies(recorded) if row[2] == "negative"]
    assert found == [("first_pod", "seen", "negative", "two watches deliver in no common order", 1)]


def test_server_difference_within_resolution_is_no_anomaly() -> None:
    # sent 100.5, created stamped 100: -0.5 s, but the timestamp has a resolution of one second.
    recorded = tables([submission("a", 100.5)], life("a", created=100.75))
    assert latencies(recorded).iloc[0]["creation_server_s"] == -0.5
    assert [row for row in anomalies(recorded) if row[2] == "negative"] == []


def test_server_difference_beyond_resolution_is_counted() -> None:
    created = transition("Job", "a", "created", 100.75, server_s=90.0)
    found = [row for row in anomalies(tables([submission("a", 100.5)], [created])) if row[2] == "negative"]
    assert found == [("creation", "server", "negative", "clocks of client and server differ", 1)]


def test_negative_latencies_have_a_cause() -> None:
    steps = {step.name: step for step in STEPS}
    assert negative_cause(steps["creation"], "seen") == "seen before the client sent it"
    assert negative_cause(steps["scheduling"], "seen") == "one watch out of order"
    assert negative_cause(steps["execution"], "seen") == "two watches deliver in no common order"
    assert negative_cause(steps["scheduling"], "server") == "server timestamps out of order"
    late = "clocks differ, or the watch reported the pod after the scheduler had bound it"
    assert negative_cause(steps["decision"], "seen") == late


def test_missing_latencies_are_counted_by_cause() -> None:
    sent = [submission("a", 1.0), submission("b", 2.0), submission("c", 3.0, outcome="failed", status=403)]
    seen = life("a", created=1.5, pod_created=1.6) + life("b", created=2.5, pod_created=2.6, scheduled=3, failed=9.0)
    found = {row[3]: row[4] for row in anomalies(tables(sent, seen)) if row[0] == "time_to_running"}
    assert found == {
        "refused by the API server": 1,
        "the workload failed before": 1,
        "not seen: all pods running": 1,
    }


def test_step_statistics_have_a_value_or_a_reason() -> None:
    sent = [submission(f"w{number}", float(number)) for number in range(30)]
    seen = [row for number in range(30) for row in life(f"w{number}", created=number + 0.25)]
    frame = latencies(tables(sent, seen))
    table = percentiles_table(frame, step_estimates(frame, "linear"))
    # By default every step, so that tables of several recordings can be concatenated
    assert len(table) == len(STEPS) * 2 * 5
    assert (table["value"].notna() | table["reason"].notna()).all()
    creation = table[(table["step"] == "creation") & (table["clock"] == "seen")].set_index("statistic")
    assert creation.loc["p95", "value"] == pytest.approx(0.25)
    assert creation.loc["p99", "reason"] == "needs 100 values, found 30"
    assert creation.loc["p50", "resolution_s"] == pytest.approx(2e-6)
    missing = table[table["step"] == "execution"]
    assert set(missing["reason"]) == {"no values"}
