"""The tables of one or several jobs of kube-burner, from its documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from perfanalysis.files.documents import finite_number, listing, mapping, text_or_none
from perfanalysis.files.source import Source
from perfanalysis.workloads.kube_burner.documents import (
    ALERTS,
    CONDITIONS,
    PODS,
    QUANTILES,
    SUMMARY,
    job_of,
    milliseconds,
    moment,
)
from perfanalysis.workloads.kube_burner.quantiles import disagreements, document_row, quantile_rows, read_quantiles

Row = dict[str, Any]


def tables_of(source: Source) -> dict[str, list[Row]]:
    """Every table of the kind; what the documents contradict or lack is found."""
    jobs = [_job(record) for record in source.records(SUMMARY)]
    pods = [_pod(record) for record in source.records(f"{PODS}*.json")]
    found = list(read_quantiles(source.records(f"*{QUANTILES}*.json"), pods))
    for text in (text for document in found for text in disagreements(document)):
        source.find("warning", f"*{QUANTILES}*.json", text)
    _find_zeros(source, pods)
    if not jobs:
        source.find("error", SUMMARY, "it holds no job")
    return {
        "jobs": jobs,
        "pods": pods,
        "documents": [document_row(document) for document in found],
        "quantiles": [row for document in found for row in quantile_rows(document)],
        "alerts": list(_alerts(source)),
    }


def _job(record: Mapping[str, Any]) -> Row:
    config = mapping(record.get("jobConfig"))
    passed = record.get("passed")
    errors = record.get("executionErrors")
    return {
        "job": job_of(record),
        "uuid": text_or_none(record.get("uuid")),
        "type": text_or_none(config.get("jobType")),
        "started_s": moment(record),
        "ended_s": moment(record, "endTimestamp"),
        "churn_started_s": moment(record, "churnStartTimestamp"),
        "churn_ended_s": moment(record, "churnEndTimestamp"),
        "elapsed_s": _not_negative(record.get("elapsedTime")),
        "iterations": _not_negative(config.get("jobIterations")),
        "qps": _not_negative(config.get("qps")),
        "passed": passed if isinstance(passed, bool) else None,
        "errors": "; ".join(map(str, listing(errors))) or text_or_none(errors) or None,
    }


def _pod(record: Mapping[str, Any]) -> Row:
    created_s = moment(record)
    delays = {
        column: None if value is None else value / 1000
        for field, column in CONDITIONS.values()
        for value in (milliseconds(PODS, record.get(field)),)
    }
    ready = delays["ready_after_s"]
    return {
        "job": job_of(record),
        "namespace": text_or_none(record.get("namespace")),
        "pod": text_or_none(record.get("podName")),
        "node": text_or_none(record.get("nodeName")),
        "iteration": _whole(record.get("jobIteration")),
        "replica": _whole(record.get("replica")),
        "churn": record.get("churnMetric") is True,
        "created_s": created_s,
        "ready_s": None if created_s is None or ready is None else created_s + ready,
        **delays,
    }


def _not_negative(value: object) -> float | None:
    number = finite_number(value)
    return None if number is None or number < 0 else number


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _alerts(source: Source) -> Iterable[Row]:
    for record in source.records(ALERTS, optional=True):
        yield {
            "at_s": moment(record),
            "severity": text_or_none(record.get("severity")),
            "description": text_or_none(record.get("description")),
        }


def _find_zeros(source: Source, pods: list[Row]) -> None:
    """kube-burner writes 0 for what would be negative, so that a 0 is no measurement of an interval."""
    for name, (_, column) in CONDITIONS.items():
        zeros = sum(pod[column] == 0 for pod in pods)
        if zeros and name in ("Ready", "ContainersReady"):
            text = (
                f"{zeros} of {len(pods)} pods have the latency 0 until {name}: kube-burner writes 0 for negative ones"
            )
            source.find("note", f"{PODS}*.json", text)
