"""Throughput, concurrency and GPUs, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from perfanalysis.workloads.scale_test.activity import (
    Window,
    activity_of,
    concurrency_table,
    sustained_rate,
    throughput_table,
    window_of,
)
from perfanalysis.workloads.scale_test.pods import pods_table
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables, transition

# Two GPUs; three workloads of one GPU each: a and b run 2..12, c waits for a place from 3 and runs 12..20.
SENT = [submission("a", 1.0), submission("b", 1.0), submission("c", 2.0)]
SEEN = [
    *life("a", created=1.5, pod_created=1.5, scheduled=2, running=2, succeeded=12, completed=12),
    *life("b", created=1.5, pod_created=1.5, scheduled=2, running=2, succeeded=12, completed=12),
    *life("c", created=2.5, pod_created=3, scheduled=12, running=12, succeeded=20, completed=20),
]


@pytest.fixture
def recorded_tables() -> ScaleTestTables:
    return tables(SENT, SEEN, gpus=[1.0, 1.0])


def test_window_and_concurrency_match_hand_computation(recorded_tables: ScaleTestTables) -> None:
    workloads = workloads_table(recorded_tables)
    window = window_of(workloads, last_seen=20.0)
    assert window == Window(1.0, 20.0)
    activity = activity_of(workloads, pods_table(recorded_tables.transitions, workloads), recorded_tables.nodes)
    assert activity.running.at(np.array([1.0, 5.0, 12.0, 15.0, 20.0])).tolist() == [0, 2, 1, 1, 0]
    assert activity.pending.at(np.array([1.75, 5.0, 12.0])).tolist() == [2, 1, 0]
    assert activity.in_system.at(np.array([1.0, 2.0, 13.0])).tolist() == [2, 3, 1]


def test_gpu_time_matches_hand_computation(recorded_tables: ScaleTestTables) -> None:
    workloads = workloads_table(recorded_tables)
    activity = activity_of(workloads, pods_table(recorded_tables.transitions, workloads), recorded_tables.nodes)
    assert activity.gpu_capacity == 2.0
    # a and b hold a GPU for 10 s each, c for 8 s
    assert activity.gpus_allocated.integral(1.0, 20.0) == pytest.approx(28.0)
    # Waiting: two GPUs for 0.5 s with both free, then c from 3 to 12 with none free
    idle = activity.gpus_idle_while_waiting()
    assert idle is not None
    assert idle.integral(1.0, 20.0) == pytest.approx(1.0)


def test_gpus_are_spread_over_the_pods_of_a_workload() -> None:
    pods = [
        transition("Pod", f"a-{pod}", word, at) for pod in range(2) for word, at in (("created", 1), ("scheduled", 2))
    ]
    recorded_tables = tables([submission("a", 0.5, pods=2.0, gpus=8.0)], pods, gpus=[8.0])
    workloads = workloads_table(recorded_tables)
    table = pods_table(recorded_tables.transitions, workloads)
    assert table["gpus"].tolist() == [4.0, 4.0]
    assert activity_of(workloads, table, recorded_tables.nodes).gpus_allocated.maximum() == 8.0


def test_pod_ends_at_the_first_observed_end() -> None:
    rows = [
        transition("Pod", "a-0", "created", 1.0),
        transition("Pod", "a-0", "scheduled", 2.0, node="n1"),
        transition("Pod", "a-0", "evicted", 5.0),
        transition("Pod", "a-0", "deleted", 7.0),
        transition("Pod", "z-0", "created", 1.0, workload=None),
    ]
    recorded_tables = tables([submission("a", 0.5)], rows)
    [pod] = pods_table(recorded_tables.transitions, workloads_table(recorded_tables)).to_dict("records")
    assert (pod["pod"], pod["node"], pod["scheduled_s"], pod["ended_s"], pod["ending"]) == (
        "a-0",
        "n1",
        2,
        5,
        "evicted",
    )


def test_unknown_capacity_is_not_zero() -> None:
    recorded_tables = tables(SENT, SEEN)
    workloads = workloads_table(recorded_tables)
    activity = activity_of(workloads, pods_table(recorded_tables.transitions, workloads), recorded_tables.nodes)
    assert activity.gpu_capacity is None
    assert activity.gpus_idle_while_waiting() is None


def test_throughput_counts_each_milestone_once(recorded_tables: ScaleTestTables) -> None:
    table = throughput_table(workloads_table(recorded_tables), Window(1.0, 20.0))
    assert table["width_s"].iloc[0] == 0.5
    assert {name: int(table[name].sum()) for name in ("sent", "scheduled", "running", "completed", "failed")} == {
        "sent": 3,
        "scheduled": 3,
        "running": 3,
        "completed": 3,
        "failed": 0,
    }
    assert table.loc[table["time_s"] == 11.0, "completed"].tolist() == [2]


def test_concurrency_table_keeps_peaks(recorded_tables: ScaleTestTables) -> None:
    workloads = workloads_table(recorded_tables)
    activity = activity_of(workloads, pods_table(recorded_tables.transitions, workloads), recorded_tables.nodes)
    table = concurrency_table(activity, Window(1.0, 20.0))
    assert len(table) == 600
    assert (table["in_system"].max(), table["running"].max(), table["gpus_allocated"].max()) == (3, 2, 2)


def test_window_of_an_unfinished_test_ends_at_the_last_observation() -> None:
    workloads = workloads_table(tables([submission("a", 1.0)], life("a", created=2.0)))
    assert window_of(workloads, last_seen=9.0) == Window(1.0, 9.0)
    assert window_of(workloads_table(tables([], [])), last_seen=0.0) is None


def test_refused_workload_ends_with_its_response() -> None:
    workloads = workloads_table(tables([submission("a", 1.0, outcome="failed", answered_s=1.5)], []))
    assert window_of(workloads, last_seen=9.0) == Window(1.0, 1.5)


def test_sustained_rate_excludes_ramp_and_tail() -> None:
    # 20 events: two early stragglers, then one each 0.5 s, two late ones
    times = np.array([0.0, 1.0, *np.arange(10.0, 18.0, 0.5), 90.0, 95.0])
    # The 2nd of 20 is at 1.0, the 18th at 17.5: 16 events in 16.5 s
    rate, reason = sustained_rate(times)
    assert rate == pytest.approx(16 / 16.5)
    assert reason is None


def test_rates_of_too_few_events_have_a_reason() -> None:
    assert sustained_rate(np.arange(9.0)) == (None, "needs 10 events, found 9")
    assert sustained_rate(np.full(30, 4.0)) == (None, "all events at the same time")
