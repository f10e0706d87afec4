"""Each KPI of the control plane, and each ratio and rate, has the value that its name states: numbers by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from perfanalysis.workloads.kpis import KpiValue, evaluate
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.evictions import EVICTIONS, by_priority_table
from perfanalysis.workloads.scale_test.fairness import activity_table, tenants_of
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.kpis_control_plane import CONTROL_PLANE_KPIS
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.pods import pods_table
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.control_plane_recording import (
    APISERVER,
    CONTROLLERS,
    ETCD,
    SCHEDULER,
    control_plane,
    recording,
)
from tests.unit.analysis.hand_made import frame, life, submission, tables

# Of 200 values 150 are below the bound b, the rest below 4 b: the 100th is at 100/150 of b, the 198th at b + 3 b 48/50.
BOUNDS = {
    "apiserver_get": 0.001,
    "apiserver_list": 0.002,
    "apiserver_bind": 0.003,
    "apiserver_put": 0.005,
    "apiserver_patch": 0.006,
    "apiserver_delete": 0.007,
    "scheduler_attempt": 0.010,
    "scheduler_algorithm": 0.011,
    "scheduler_bind": 0.013,
    "scheduler_pod": 0.014,
    "etcd_fsync": 0.015,
}
OF_CONTROL_PLANE = {
    **{f"{name}_median": bound * 2 / 3 for name, bound in BOUNDS.items()},
    **{f"{name}_p99": bound * 3.88 for name, bound in BOUNDS.items()},
    # 400 values, 150 below 3 ms and 350 below 12 ms: the 200th and the 396th
    "apiserver_post_median": 0.003 + 0.009 * 50 / 200,
    "apiserver_post_p99": 0.012 + 0.036 * 46 / 50,
    "apiserver_requests": 100.0,
    "apiserver_error_ratio": 0.10,
    "apiserver_throttled_ratio": 0.05,
    "apiserver_inflight_peak": 4.0 + 9.0,
    "scheduler_pending_peak": 20.0 + 3.0,
    "scheduler_failed_attempts": 17.0,
    "scheduler_errors": 2.0,
    "etcd_db_growth": 3000.0,
    "apiserver_cpu": 11.0,
    "scheduler_cpu": 12.5,
    "controllers_cpu": 14.5,
    "etcd_cpu": 14.0,
    "apiserver_memory_peak": 1300.0,
    "scheduler_memory_peak": 700.0,
    "controllers_memory_peak": 420.0,
    "etcd_memory_peak": 950.0,
}
# The ramp lasts from 100 to 107, the steady part of three to 115; four GPUs for 20 s are 80 GPU-seconds.
OF_WORKLOADS = {
    "completed_ratio": 4 / 6,
    "failed_ratio": 1 / 6,
    "lost_ratio": 2 / 6,
    "workloads_churned": 1.0,
    "makespan": 20.0,
    "gpu_allocation_ratio": (12 + 13 + 12 + 10 + 1.5) / 80,
    "gpu_running_ratio": (10 + 9 + 10 + 6) / 80,
    "peak_running": 3.0,
    "ramp_time": 7.0,
    "ramp_scheduling_rate": 3 / 7,
    "steady_scheduling_rate": 2 / 8,
    "steady_completion_rate": 1 / 8,
}


@pytest.fixture(scope="module")
def measures() -> Measures:
    return measure(recording(), {}, {"lost": 2})


@pytest.fixture(scope="module")
def kpi_values(measures: Measures) -> dict[str, KpiValue]:
    return {value.name: value for value in evaluate(KPIS, measures)}


@pytest.mark.parametrize(("name", "expected"), [*OF_CONTROL_PLANE.items(), *OF_WORKLOADS.items()])
def test_kpi_computes_what_its_name_states(kpi_values: dict[str, KpiValue], name: str, expected: float) -> None:
    assert kpi_values[name].number == pytest.approx(expected), kpi_values[name].reason


def test_control_plane_kpis_are_complete_and_distinct() -> None:
    assert {kpi.name for kpi in CONTROL_PLANE_KPIS} == set(OF_CONTROL_PLANE)
    for numbers in (OF_CONTROL_PLANE, OF_WORKLOADS):
        assert len({round(number, 9) for number in numbers.values()}) == len(numbers)


def test_etcd_without_disk_sync_has_no_sync_latency() -> None:
    samples = [{**row, "value": 0.0} if "wal_fsync" in row["metric"] else row for row in control_plane()]
    value = evaluate(KPIS, measure(tables([submission("a", 1.0)], [], control_plane=samples), {}, {}))
    reasons = {one.reason for one in value if one.name.startswith("etcd_fsync")}
    assert reasons == {
        "etcd reported no synchronisation of its log with the disk between the scrapes; a lab without --fsync does not "
        "synchronise"
    }


COURSES = {
    (APISERVER, "cpu", None): [(10.0, 4 / 8), (20.0, 7 / 10)],
    (SCHEDULER, "cpu", None): [(10.0, 4.8 / 8), (20.0, 7.7 / 10)],
    (CONTROLLERS, "cpu", None): [(10.0, 8 / 8), (20.0, 6.5 / 10)],
    (ETCD, "cpu", None): [(10.0, 2 / 8), (20.0, 12 / 10)],
    (APISERVER, "memory", None): [(2.0, 1100.0), (10.0, 1300.0), (20.0, 1200.0)],
    (SCHEDULER, "memory", None): [(2.0, 700.0), (10.0, 500.0), (20.0, 600.0)],
    (CONTROLLERS, "memory", None): [(2.0, 400.0), (10.0, 410.0), (20.0, 420.0)],
    (ETCD, "memory", None): [(2.0, 900.0), (10.0, 950.0), (20.0, 910.0)],
    (APISERVER, "requests", None): [(10.0, 34 / 8), (20.0, 66 / 10)],
    (APISERVER, "errors", None): [(10.0, 4 / 8), (20.0, 6 / 10)],
    (APISERVER, "inflight", "mutating"): [(2.0, 2.0), (10.0, 4.0), (20.0, 6.0)],
    (APISERVER, "inflight", "readOnly"): [(2.0, 3.0), (10.0, 9.0), (20.0, 5.0)],
    (APISERVER, "inflight", None): [(2.0, 5.0), (10.0, 13.0), (20.0, 11.0)],
    (SCHEDULER, "pending_pods", "active"): [(2.0, 1.0), (10.0, 20.0), (20.0, 4.0)],
    (SCHEDULER, "pending_pods", "backoff"): [(2.0, 2.0), (10.0, 3.0), (20.0, 5.0)],
    (SCHEDULER, "pending_pods", None): [(2.0, 3.0), (10.0, 23.0), (20.0, 9.0)],
    (CONTROLLERS, "queue_depth", "job"): [(2.0, 30.0), (10.0, 31.0), (20.0, 32.0)],
    (CONTROLLERS, "queue_depth", None): [(2.0, 30.0), (10.0, 31.0), (20.0, 32.0)],
    (ETCD, "db_size", None): [(2.0, 1000.0), (10.0, 5000.0), (20.0, 4000.0)],
}


def test_control_plane_course_matches_hand_computation(measures: Measures) -> None:
    courses: dict[tuple[str, str, str | None], list[tuple[float, float]]] = {}
    for row in measures.control_plane_series.to_dict("records"):
        detail = None if pd.isna(row["detail"]) else str(row["detail"])
        courses.setdefault((row["component"], row["measure"], detail), []).append((row["time_s"], row["value"]))
    assert courses.keys() == COURSES.keys()
    for name, points in COURSES.items():
        assert [time for time, _ in courses[name]] == pytest.approx([time for time, _ in points]), name
        assert [value for _, value in courses[name]] == pytest.approx([value for _, value in points]), name


def test_cost_of_preemption_is_listed_by_priority() -> None:
    pairs = [("a", "x"), ("a", "x"), ("b", "x"), ("c", "y")]
    rows = [
        {"workload": victim, "priority": 10, "preempted": True, "by_workload": by, "by_priority": 100}
        for victim, by in pairs
    ]
    rows.append({"workload": "d", "priority": 20, "preempted": True})
    rows.append({"workload": "e", "priority": 10, "preempted": False})
    table = by_priority_table(frame(EVICTIONS, rows)).astype("object")
    names = ["victim_priority", "preemptor_priority", "pods", "victims", "preemptors"]
    assert table[names].where(table.notna(), None).to_numpy().tolist() == [[20, None, 1, 1, 0], [10, 100, 4, 3, 2]]


def test_tenants_have_usage_and_waiting_over_time() -> None:
    sent = [submission("a", 100.0, queue="blue", gpus=3.0), submission("b", 100.0, queue="red", gpus=2.0)]
    seen = life("a", created=105.0, pod_created=106.0, scheduled=110.5, succeeded=150.0, completed=150.0)
    seen += life("b", created=108.0, pod_created=108.0, scheduled=130.0, succeeded=160.0, completed=160.0)
    workloads = workloads_table(tables(sent, seen))
    pods = pods_table(tables(sent, seen).transitions, workloads)
    # 200 intervals of one second
    table = activity_table(tenants_of(workloads, pods, 300.0), Window(100.0, 300.0))
    at = {(str(row["tenant"]), row["time_s"]): (row["held"], row["waiting"]) for row in table.to_dict("records")}
    assert [at["blue", time] for time in (4, 5, 10, 11, 49, 50)] == [(0, 0), (0, 3), (1.5, 1.5), (3, 0), (3, 0), (0, 0)]
    assert [at["red", time] for time in (7, 8, 29, 30, 59, 60)] == [(0, 0), (0, 2), (0, 2), (2, 0), (2, 0), (0, 0)]
