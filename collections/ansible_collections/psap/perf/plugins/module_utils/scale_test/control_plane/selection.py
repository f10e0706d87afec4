"""The metrics to keep, and their labels; the rest of a page is skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

APISERVER = "kube-apiserver"
SCHEDULER = "kube-scheduler"
CONTROLLERS = "kube-controller-manager"
ETCD = "etcd"
KUEUE = "kueue"
COMPONENTS = (APISERVER, SCHEDULER, CONTROLLERS, ETCD, KUEUE)
# components that not every cluster has
OPTIONAL = (KUEUE,)

COUNTER = "counter"
GAUGE = "gauge"
HISTOGRAM = "histogram"

# the API server's resources that a scale test uses
_RESOURCES = frozenset(
    {
        "bindings",
        "deployments",
        "distributedworkloads",
        "events",
        "interactiveworkloads",
        "jobs",
        "nodes",
        "persistentvolumeclaims",
        "persistentvolumes",
        "podgroups",
        "pods",
        "pytorchjobs",
        "replicasets",
        "runaijobs",
        "trainingworkloads",
        "workloads",
    }
)
# queues of controllers that process workloads
_QUEUES = frozenset(
    {
        "claims",
        "deployment",
        "ephemeral_volume",
        "garbage_collector_attempt_to_delete",
        "garbage_collector_graph_changes",
        "job",
        "job_orphan_pod",
        "noexec_taint_pod_queue",
        "pvcs",
        "replicaset",
        "ttl_jobs_to_delete",
        "volumes",
    }
)
_NO_WATCH = frozenset({"WATCH", "WATCHLIST", "CONNECT"})


@dataclass(frozen=True, slots=True)
class Metric:
    """One family and its kept labels; values are summed over the other labels.

    A series is kept if its labels have one of the values in *only*, and none of the values in *without*.
    """

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    only: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    without: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def samples(self) -> tuple[str, ...]:
        """The names at the beginning of its lines."""
        if self.kind != HISTOGRAM:
            return (self.name,)
        return f"{self.name}_bucket", f"{self.name}_sum", f"{self.name}_count"


_PROCESS = (Metric("process_cpu_seconds_total", COUNTER), Metric("process_resident_memory_bytes", GAUGE))

SELECTION: Mapping[str, tuple[Metric, ...]] = MappingProxyType(
    {
        APISERVER: (
            *_PROCESS,
            Metric(
                "apiserver_request_duration_seconds",
                HISTOGRAM,
                ("verb", "resource", "subresource"),
                only={"resource": _RESOURCES},
                without={"verb": _NO_WATCH},
            ),
            Metric("apiserver_request_total", COUNTER, ("verb", "code")),
            Metric("apiserver_current_inflight_requests", GAUGE, ("request_kind",)),
            # the older and the newer name of the same metric
            Metric("apiserver_storage_objects", GAUGE, ("resource",), only={"resource": _RESOURCES}),
            Metric("apiserver_resource_objects", GAUGE, ("resource",), only={"resource": _RESOURCES}),
            Metric("etcd_request_duration_seconds", HISTOGRAM, ("operation",)),
        ),
        SCHEDULER: (
            *_PROCESS,
            Metric("scheduler_pod_scheduling_sli_duration_seconds", HISTOGRAM),
            Metric("scheduler_scheduling_attempt_duration_seconds", HISTOGRAM, ("result",)),
            Metric("scheduler_scheduling_algorithm_duration_seconds", HISTOGRAM),
            Metric("scheduler_framework_extension_point_duration_seconds", HISTOGRAM, ("extension_point",)),
            Metric("scheduler_pending_pods", GAUGE, ("queue",)),
            Metric("scheduler_queue_incoming_pods_total", COUNTER, ("queue",)),
            Metric("scheduler_preemption_attempts_total", COUNTER),
            Metric("scheduler_preemption_victims", HISTOGRAM),
        ),
        CONTROLLERS: (*_PROCESS, Metric("workqueue_depth", GAUGE, ("name",), only={"name": _QUEUES})),
        ETCD: (
            *_PROCESS,
            Metric("etcd_disk_wal_fsync_duration_seconds", HISTOGRAM),
            Metric("etcd_disk_backend_commit_duration_seconds", HISTOGRAM),
            Metric("etcd_mvcc_db_total_size_in_bytes", GAUGE),
        ),
        KUEUE: (
            *_PROCESS,
            Metric("kueue_admission_attempt_duration_seconds", HISTOGRAM, ("result",)),
            Metric("kueue_admission_wait_time_seconds", HISTOGRAM),
            Metric("kueue_admitted_workloads_total", COUNTER),
            Metric("kueue_evicted_workloads_total", COUNTER),
        ),
    }
)
