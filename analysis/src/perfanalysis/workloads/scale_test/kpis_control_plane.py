"""KPIs of the control plane: rows of the table of its measures, or why they are missing."""

from __future__ import annotations

import pandas as pd

from perfanalysis.workloads.kpis import Direction, Kpi
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.scale_test.measures import Measures

PROGRAMS = {
    "apiserver": "kube-apiserver",
    "scheduler": "kube-scheduler",
    "controllers": "kube-controller-manager",
    "etcd": "etcd",
}
"""The first word of a KPI's name, and its component."""
VERBS = ("get", "list", "post", "put", "patch", "delete")
WORDS = {"p50": "median", "p99": "p99"}
"""A histogram's median ends in `median`: a name in `p50` would imply other statistics, which it does not have."""
NOT_SCRAPED = "the control plane was not scraped"
NONE_OF_IT = "reported none of it between the scrapes"
NO_FSYNC = (
    "reported no synchronisation of its log with the disk between the scrapes; a lab without --fsync does not "
    "synchronise"
)


def _kpi(
    name: str,
    text: str,
    unit: str,
    better: Direction,
    measure: str,
    statistic: str,
    detail: str | None = None,
    absent: str = NONE_OF_IT,
) -> Kpi[Measures]:
    """Return a row of the table control_plane_measures; *absent* is the reason if it is missing."""
    component = PROGRAMS[name.partition("_")[0]]

    def function(measures: Measures) -> Value:
        table = measures.control_plane_measures
        if not len(table):
            return Value(None, NOT_SCRAPED)
        of_component = table[table["component"] == component]
        if not len(of_component):
            return Value(None, f"{component} was not scraped")
        of_detail = of_component["detail"].isna() if detail is None else of_component["detail"] == detail
        same = (of_component["measure"] == measure) & (of_component["statistic"] == statistic)
        found = of_component[same & of_detail]
        if not len(found) and statistic == "total" and same.any():
            # others of its kind were counted: this one never occurred
            return Value(0.0)
        if not len(found):
            return Value(None, f"{component} {absent}")
        [number], [reason] = found["value"], found["reason"].astype("object")
        count = None if pd.isna(found["count"].iloc[0]) else int(found["count"].iloc[0])
        return Value(None, str(reason), count=count) if pd.isna(number) else Value(float(number), count=count)

    return Kpi(name, text, unit, better, function)


def _latency(
    name: str, text: str, measure: str, detail: str | None = None, absent: str = NONE_OF_IT
) -> tuple[Kpi[Measures], ...]:
    """Return median and P99 of a histogram."""
    return tuple(
        _kpi(f"{name}_{word}", f"{word} of {text}", "seconds", "lower", measure, statistic, detail, absent)
        for statistic, word in WORDS.items()
    )


def _load(word: str) -> tuple[Kpi[Measures], ...]:
    """Return processor time and memory of a program."""
    of = PROGRAMS[word]
    memory = f"Largest resident memory of {of} at a scrape"
    return (
        _kpi(f"{word}_cpu", f"Processor time of {of}", "CPU-seconds", "lower", "cpu", "total"),
        _kpi(f"{word}_memory_peak", memory, "bytes", "lower", "memory", "peak"),
    )


def _requests(verb: str) -> tuple[Kpi[Measures], ...]:
    text = f"{verb.upper()} requests, inside the API server"
    return _latency(f"apiserver_{verb}", text, "request_latency", verb.upper())


CONTROL_PLANE_KPIS: tuple[Kpi[Measures], ...] = (
    *(kpi for verb in VERBS for kpi in _requests(verb)),
    *_latency("apiserver_bind", "requests that bind a pod, inside the API server", "bind_request_latency"),
    _kpi("apiserver_requests", "Requests that the API server answered", "requests", "neither", "requests", "total"),
    _kpi("apiserver_error_ratio", "Requests answered with 5xx, of all", "ratio", "lower", "errors", "ratio"),
    _kpi("apiserver_throttled_ratio", "Requests rejected with 429, of all", "ratio", "lower", "throttled", "ratio"),
    _kpi("apiserver_inflight_peak", "Most requests in flight at a scrape", "requests", "lower", "inflight", "peak"),
    *_latency(
        "scheduler_attempt",
        "the scheduler's attempts that scheduled a pod, with its binding",
        "attempt_latency",
        "scheduled",
    ),
    *_latency("scheduler_algorithm", "the scheduler's choice of a node", "algorithm_latency"),
    *_latency("scheduler_bind", "the scheduler's binding of a pod", "extension_point_latency", "Bind"),
    *_latency(
        "scheduler_pod",
        "a pod's time in the scheduler, over all attempts, without waiting as unschedulable",
        "scheduling_latency",
    ),
    _kpi(
        "scheduler_pending_peak",
        "Most pods in the scheduler's queues at a scrape",
        "pods",
        "lower",
        "pending_pods",
        "peak",
    ),
    _kpi(
        "scheduler_failed_attempts",
        "Attempts that found no node for a pod",
        "attempts",
        "lower",
        "attempts",
        "total",
        "unschedulable",
    ),
    _kpi("scheduler_errors", "Attempts that ended with an error", "attempts", "lower", "attempts", "total", "error"),
    *_latency("etcd_fsync", "etcd's writes to its log, to the disk", "fsync_latency", absent=NO_FSYNC),
    _kpi(
        "etcd_db_growth",
        "Growth of etcd's database from the first scrape to the last",
        "bytes",
        "lower",
        "db_size",
        "growth",
    ),
    *(kpi for word in PROGRAMS for kpi in _load(word)),
)
