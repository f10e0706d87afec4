"""The control plane's metrics: increases, percentiles of histograms, peaks and courses, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.control_plane import control_plane_tables, quantile, with_increases

from tests.unit.analysis.control_plane_recording import sample
from tests.unit.analysis.hand_made import tables

BOUNDS = np.array([0.1, 0.2, 0.5, np.inf])


def compute(samples: list[dict[str, Any]], begin: float = 0.0) -> tuple[dict[tuple[Any, ...], Any], pd.DataFrame]:
    """Return (component, measure, detail, statistic) → value or reason, and the course over time."""
    frame = tables([], [], control_plane=samples).control_plane
    measures, series = control_plane_tables(frame, Window(begin, 100.0))
    rows = measures.astype("object").where(measures.notna(), None).to_dict("records")
    names = ("component", "measure", "detail", "statistic")
    return {
        tuple(row[name] for name in names): row["value"] if row["reason"] is None else row["reason"] for row in rows
    }, series


def test_histogram_percentiles_match_hand_computation() -> None:
    # 50 values up to 0.1, 40 more up to 0.2, 10 more up to 0.5
    counts = np.array([50.0, 90.0, 100.0, 100.0])
    assert quantile(BOUNDS, counts, 0.5) == Value(0.1, count=100)
    # The 70th of 100 is 20 of 40 into the second bucket.
    assert quantile(BOUNDS, counts, 0.7).number == pytest.approx(0.15)
    assert quantile(BOUNDS, counts, 0.99).number == pytest.approx(0.2 + 0.3 * 9 / 10)


def test_invalid_percentiles_are_refused() -> None:
    assert quantile(BOUNDS, np.array([50.0, 90.0, 99.0, 99.0]), 0.99).reason == "needs 100 values, found 99"
    beyond = quantile(BOUNDS, np.array([50.0, 90.0, 95.0, 200.0]), 0.99)
    assert beyond == Value(None, "above the largest bucket, 0.5 s", count=200)
    assert quantile(np.empty(0), np.empty(0), 0.5).reason == "needs 2 values, found 0"


def test_restarted_counter_continues_from_zero() -> None:
    values = [(0.0, 100.0), (10.0, 130.0), (20.0, 5.0), (30.0, 25.0)]
    samples = [sample(at, "process_cpu_seconds_total", value) for at, value in values]
    frame = with_increases(tables([], [], control_plane=samples).control_plane)
    assert frame["increase"].tolist() == [0.0, 30.0, 5.0, 20.0]
    found, series = compute(samples, begin=5.0)
    assert found["kube-apiserver", "cpu", None, "total"] == 55.0
    assert series[["time_s", "value"]].to_numpy().tolist() == [[5.0, 3.0], [15.0, 0.5], [25.0, 2.0]]


def test_series_that_appears_later_began_at_zero() -> None:
    samples = [sample(at, "apiserver_request_total", 10.0, verb="GET", code="200") for at in (0.0, 10.0)]
    samples += [sample(10.0, "apiserver_request_total", 2.0, verb="GET", code="503")]
    samples += [sample(10.0, "apiserver_request_total", 6.0, verb="POST", code="429")]
    found, _ = compute(samples)
    assert found["kube-apiserver", "requests", "POST", "total"] == 6.0
    assert found["kube-apiserver", "requests", None, "total"] == 8.0
    assert found["kube-apiserver", "answers", "503", "total"] == 2.0
    assert found["kube-apiserver", "errors", None, "ratio"] == 0.25
    assert found["kube-apiserver", "throttled", None, "ratio"] == 0.75


def test_latencies_by_verb_cover_the_test_only() -> None:
    name = "apiserver_request_duration_seconds_bucket"
    # Before the test 1000 slow requests; during it 100 for jobs, half of them below 0.1 s, and 100 for pods, below 0.2
    before = {"0.1": 0.0, "0.2": 0.0, "+Inf": 1000.0}
    during = {"jobs": {"0.1": 50.0, "0.2": 100.0, "+Inf": 100.0}, "pods": {"0.1": 0.0, "0.2": 100.0, "+Inf": 100.0}}
    samples = [sample(0.0, name, before[le], verb="POST", resource="jobs", le=le) for le in before]
    samples += [
        sample(9.0, name, before[le] + n, verb="POST", resource="jobs", le=le) for le, n in during["jobs"].items()
    ]
    samples += [
        sample(9.0, name, n, verb="POST", resource="pods", subresource="binding", le=le)
        for le, n in during["pods"].items()
    ]
    found, _ = compute(samples)
    # Of 200 requests 50 are below 0.1 s: the 100th is 50 of 150 into the second bucket.
    assert found["kube-apiserver", "request_latency", "POST", "p50"] == pytest.approx(0.1 + 0.1 / 3)
    assert found["kube-apiserver", "bind_request_latency", None, "p50"] == pytest.approx(0.15)


def test_peaks_and_growth_match_hand_computation() -> None:
    pending = {0.0: (0, 0), 5.0: (30, 5), 10.0: (10, 40)}
    samples = [
        sample(at, "scheduler_pending_pods", number, "kube-scheduler", queue=queue)
        for at, numbers in pending.items()
        for queue, number in zip(("active", "unschedulable"), numbers, strict=True)
    ]
    sizes = {0.0: 100.0, 5.0: 180.0, 10.0: 160.0}
    samples += [sample(at, "etcd_mvcc_db_total_size_in_bytes", size, "etcd") for at, size in sizes.items()]
    found, series = compute(samples)
    assert found["kube-scheduler", "pending_pods", "active", "peak"] == 30.0
    # All queues together were longest at 10, with 50.
    assert found["kube-scheduler", "pending_pods", None, "peak"] == 50.0
    assert found["etcd", "db_size", None, "peak"] == 180.0
    assert found["etcd", "db_size", None, "growth"] == 60.0
    of_all = series[(series["measure"] == "pending_pods") & series["detail"].isna()]
    assert of_all["value"].tolist() == [0.0, 35.0, 50.0]


def test_single_scrape_has_values_but_no_increase() -> None:
    found, _ = compute(
        [sample(1.0, "process_cpu_seconds_total", 7.0), sample(1.0, "process_resident_memory_bytes", 1e9)]
    )
    assert found["kube-apiserver", "cpu", None, "total"] == "scraped only once"
    assert found["kube-apiserver", "memory", None, "peak"] == 1e9


def test_run_without_scrapes_has_two_empty_tables() -> None:
    found, series = compute([])
    assert found == {}
    assert len(series) == 0


def test_parts_of_one_cycle_are_not_summed() -> None:
    name = "scheduler_framework_extension_point_duration_seconds_bucket"
    samples = []
    for point, median in (("Bind", "0.5"), ("Filter", "0.1")):
        for at, number in ((0.0, 0.0), (5.0, 40.0)):
            samples += [
                sample(at, name, number, "kube-scheduler", extension_point=point, le=le) for le in (median, "+Inf")
            ]
    found, _ = compute(samples)
    assert found["kube-scheduler", "extension_point_latency", "Bind", "p50"] == 0.25
    assert found["kube-scheduler", "extension_point_latency", "Filter", "p50"] == 0.05
    assert ("kube-scheduler", "extension_point_latency", None, "p50") not in found
