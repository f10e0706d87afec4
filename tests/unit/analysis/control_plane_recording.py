"""One recording of a few workloads and a scraped control plane, in which all numbers are distinct.

A value read from the wrong component, label or phase differs from the value computed by hand.
"""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.scale_test.tables import ScaleTestTables

from tests.unit.analysis.hand_made import life, submission, tables, transition

APISERVER, SCHEDULER, CONTROLLERS, ETCD = "kube-apiserver", "kube-scheduler", "kube-controller-manager", "etcd"
SCRAPES = (102.0, 110.0, 120.0)
HISTOGRAMS: list[tuple[str, str, float, dict[str, str]]] = [
    (APISERVER, "apiserver_request_duration_seconds", 0.001, {"verb": "GET"}),
    (APISERVER, "apiserver_request_duration_seconds", 0.002, {"verb": "LIST"}),
    (APISERVER, "apiserver_request_duration_seconds", 0.005, {"verb": "PUT"}),
    (APISERVER, "apiserver_request_duration_seconds", 0.006, {"verb": "PATCH"}),
    (APISERVER, "apiserver_request_duration_seconds", 0.007, {"verb": "DELETE"}),
    # Requests to bind are POST requests too: all POST requests are 150 below 3 ms, 350 below 12 ms, 400 in total.
    (APISERVER, "apiserver_request_duration_seconds", 0.003, {"verb": "POST", "subresource": "binding"}),
    (APISERVER, "apiserver_request_duration_seconds", 0.012, {"verb": "POST"}),
    (APISERVER, "etcd_request_duration_seconds", 0.009, {"operation": "create"}),
    (SCHEDULER, "scheduler_scheduling_attempt_duration_seconds", 0.010, {"result": "scheduled"}),
    (SCHEDULER, "scheduler_scheduling_attempt_duration_seconds", 0.5, {"result": "unschedulable"}),
    (SCHEDULER, "scheduler_scheduling_algorithm_duration_seconds", 0.011, {}),
    (SCHEDULER, "scheduler_framework_extension_point_duration_seconds", 0.013, {"extension_point": "Bind"}),
    (SCHEDULER, "scheduler_framework_extension_point_duration_seconds", 0.6, {"extension_point": "Filter"}),
    (SCHEDULER, "scheduler_pod_scheduling_sli_duration_seconds", 0.014, {}),
    (ETCD, "etcd_disk_wal_fsync_duration_seconds", 0.015, {}),
    (ETCD, "etcd_disk_backend_commit_duration_seconds", 0.7, {}),
]
"""Each grows by 200 values: 150 of them below the given bound, 50 between it and four times the bound."""
LEVELS: list[tuple[str, str, tuple[float, float, float], dict[str, str]]] = [
    (APISERVER, "process_cpu_seconds_total", (50.0, 54.0, 61.0), {}),
    (SCHEDULER, "process_cpu_seconds_total", (20.0, 24.8, 32.5), {}),
    (CONTROLLERS, "process_cpu_seconds_total", (5.0, 13.0, 19.5), {}),
    (ETCD, "process_cpu_seconds_total", (1.0, 3.0, 15.0), {}),
    (APISERVER, "process_resident_memory_bytes", (1100.0, 1300.0, 1200.0), {}),
    (SCHEDULER, "process_resident_memory_bytes", (700.0, 500.0, 600.0), {}),
    (CONTROLLERS, "process_resident_memory_bytes", (400.0, 410.0, 420.0), {}),
    (ETCD, "process_resident_memory_bytes", (900.0, 950.0, 910.0), {}),
    (APISERVER, "apiserver_request_total", (1000.0, 1020.0, 1060.0), {"verb": "GET", "code": "200"}),
    (APISERVER, "apiserver_request_total", (10.0, 20.0, 35.0), {"verb": "POST", "code": "201"}),
    (APISERVER, "apiserver_request_total", (2.0, 6.0, 12.0), {"verb": "GET", "code": "503"}),
    (APISERVER, "apiserver_request_total", (3.0, 3.0, 8.0), {"verb": "POST", "code": "429"}),
    (APISERVER, "apiserver_current_inflight_requests", (2.0, 4.0, 6.0), {"request_kind": "mutating"}),
    (APISERVER, "apiserver_current_inflight_requests", (3.0, 9.0, 5.0), {"request_kind": "readOnly"}),
    (SCHEDULER, "scheduler_pending_pods", (1.0, 20.0, 4.0), {"queue": "active"}),
    (SCHEDULER, "scheduler_pending_pods", (2.0, 3.0, 5.0), {"queue": "backoff"}),
    (SCHEDULER, "scheduler_scheduling_attempt_duration_seconds_count", (5.0, 90.0, 205.0), {"result": "scheduled"}),
    (SCHEDULER, "scheduler_scheduling_attempt_duration_seconds_count", (1.0, 9.0, 18.0), {"result": "unschedulable"}),
    (SCHEDULER, "scheduler_scheduling_attempt_duration_seconds_count", (0.0, 2.0, 2.0), {"result": "error"}),
    (CONTROLLERS, "workqueue_depth", (30.0, 31.0, 32.0), {"name": "job"}),
    (ETCD, "etcd_mvcc_db_total_size_in_bytes", (1000.0, 5000.0, 4000.0), {}),
]


def sample(at: float, metric: str, value: float, component: str = APISERVER, **labels: str) -> dict[str, Any]:
    """Return one value of a scrape."""
    return {"at_s": at, "phase": "during", "component": component, "metric": metric, "value": value, **labels}


def _histogram(component: str, metric: str, bound: float, labels: dict[str, str]) -> list[dict[str, Any]]:
    found = []
    for at, grown in zip(SCRAPES, (0.0, 0.4, 1.0), strict=True):
        for le, number in ((bound, 150.0), (4 * bound, 200.0)):
            # The 7 values before the test must not count.
            text = f"{le:g}"
            found.append(sample(at, f"{metric}_bucket", 7 + grown * number, component, **labels, le=text))
    return found


def _requests_above_their_bounds() -> list[dict[str, Any]]:
    """Return the buckets that complete all POST requests: the last one for binding, the first one for the others."""
    metric = "apiserver_request_duration_seconds_bucket"
    binding = {"verb": "POST", "subresource": "binding", "le": "0.048"}
    other = {"verb": "POST", "le": "0.003"}
    return [
        sample(at, metric, value, **labels)
        for labels, values in ((binding, (7.0, 87.0, 207.0)), (other, (7.0, 7.0, 7.0)))
        for at, value in zip(SCRAPES, values, strict=True)
    ]


def control_plane() -> list[dict[str, Any]]:
    """Return all samples."""
    of_histograms = [row for one in HISTOGRAMS for row in _histogram(*one)]
    of_levels = [
        sample(at, metric, value, component, **labels)
        for component, metric, values, labels in LEVELS
        for at, value in zip(SCRAPES, values, strict=True)
    ]
    return of_histograms + _requests_above_their_bounds() + of_levels


def recording() -> ScaleTestTables:
    """Return six workloads of one GPU on a node of four, from 100 to 120: four complete, w4 fails, w5 is churned."""
    sent = [submission(f"w{place}", 100.0 + place / 10) for place in range(6)]
    seen = [
        *life("w0", created=100.5, pod_created=101.0, scheduled=102.0, running=104.0, succeeded=114.0, completed=114.0),
        *life("w1", created=100.5, pod_created=101.0, scheduled=102.0, running=106.0, succeeded=115.0, completed=115.0),
        *life("w2", created=100.5, pod_created=101.0, scheduled=105.0, running=107.0, succeeded=117.0, completed=117.0),
        *life("w3", created=100.5, pod_created=101.0, scheduled=110.0, running=114.0, succeeded=120.0, completed=120.0),
        *life("w4", created=100.5, pod_created=101.0, scheduled=111.0, failed=112.5),
        transition("Pod", "w4-0", "failed", 112.5),
        *life("w5", created=100.5),
        transition("Job", "w5", "deleted", 113.0),
    ]
    churned = {"round": 1, "index": 5, "namespace": "ns", "name": "w5", "sent_s": 112.8, "outcome": "deleted"}
    return tables(sent, seen, gpus=[4.0], churn=[churned], control_plane=control_plane())
