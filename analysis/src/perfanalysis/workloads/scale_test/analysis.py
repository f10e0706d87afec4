"""From a scale test's tables to the contents of a report.

Also the declaration of scale tests in the registry of workload kinds.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from perfanalysis.files.discovery import Place, lab_of
from perfanalysis.files.documents import Document, number_or
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kpis import evaluate
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.scale_test import (
    activity,
    api_latency,
    control_plane,
    devices,
    evictions,
    fairness,
    milestones,
    nodes,
    outcomes,
    placements,
    pods,
    steps,
)
from perfanalysis.workloads.scale_test.kpis import KPIS, on_top
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.outcomes import accounting_findings
from perfanalysis.workloads.scale_test.parser import ALWAYS, FILES, parse
from perfanalysis.workloads.scale_test.sections import sections
from perfanalysis.workloads.scale_test.tables import ScaleTestTables, select
from perfanalysis.workloads.workload_type import Analysis, Sample, WorkloadType

SPECS = {
    spec.name: spec
    for spec in (
        milestones.WORKLOADS,
        pods.PODS,
        steps.LATENCIES,
        steps.PERCENTILES,
        steps.ANOMALIES,
        activity.THROUGHPUT,
        activity.CONCURRENCY,
        outcomes.FAILURES,
        outcomes.DATA_QUALITY,
        api_latency.ANSWERS,
        api_latency.SUBMITTERS,
        api_latency.REQUESTS,
        evictions.EVICTIONS,
        evictions.PREEMPTIONS,
        evictions.BY_PRIORITY,
        evictions.BY_TENANT,
        fairness.INVERSIONS,
        fairness.FAIRNESS,
        outcomes.CLUSTERS,
        fairness.TENANT_ACTIVITY,
        activity.PHASES,
        pods.ROUNDS,
        nodes.NODE_CHANGES,
        placements.PLACEMENTS,
        devices.DEVICE_CLAIMS,
        control_plane.MEASURES,
        control_plane.SERIES,
    )
}
COMPARED = ("time_to_scheduled", "time_to_running")


def analyse(tables: ScaleTestTables, place: Place, method: Method) -> Analysis:
    """Measure a recording and lay out its section of the report."""
    source = RecordingFiles(place)
    recording = source.document("recording.json", "recording")
    stated = _accounting(source, recording)
    measures = measure(tables, recording, stated, method)
    lab = lab_of(recording)
    phrases = (*lab.phrases, place.part) if place.part else lab.phrases
    frames: dict[str, pd.DataFrame] = {name: getattr(measures, name) for name in SPECS}
    findings = (
        *source.findings,
        *_of_accounting(measures, place),
        *_findings(tables, measures, place),
    )
    kpis = on_top(evaluate(KPIS, measures, _absent(place, stated)), gangs=len(measures.placements) > 0)
    return Analysis(
        place=place,
        title="Scale test",
        lab=lab,
        frames=frames,
        specs=SPECS,
        kpis=kpis,
        samples=_samples(measures),
        make_sections=partial(sections, measures, kpis, phrases),
        findings=findings,
        period=_period(recording),
        method=method,
    )


def _period(recording: Document) -> tuple[float, float] | None:
    began, ended = (number_or(recording.get(name), 0.0) for name in ("started_s", "ended_s"))
    return (began, ended) if 0 < began <= ended else None


def _absent(place: Place, stated: Document) -> tuple[str, ...]:
    """Return expected files that are missing; the file of churn only if the accounting has churn."""
    needed = (*ALWAYS, "churn.jsonl") if stated.get("churned") else ALWAYS
    return tuple(name for name in needed if not (place.directory / name).is_file())


def _accounting(source: RecordingFiles, recording: Document) -> Document:
    """Return an empty accounting: the recorder's covers all workloads, so a selection cannot be compared with it."""
    place = source.place
    stated = recording.get("ended_s") is not None or (place.directory / "accounting.json").is_file()
    return source.document("accounting.json", "accounting") if stated and not place.part else {}


def _of_accounting(measures: Measures, place: Place) -> tuple[Finding, ...]:
    if place.part:
        return (Finding("note", place.relative, f"{place.part}; the full report has the accounting of all workloads"),)
    return accounting_findings(measures.accounting, f"{place.relative}/accounting.json")


def _findings(tables: ScaleTestTables, measures: Measures, place: Place) -> tuple[Finding, ...]:
    found: list[Finding] = []
    recording = measures.recording
    if recording and recording.get("ended_s") is None:
        text = "the recorder has not ended: the report shows the data so far"
        found.append(Finding("warning", f"{place.relative}/recording.json", text))
    if recording.get("error"):
        found.append(Finding("warning", f"{place.relative}/recording.json", f"the recorder: {recording['error']}"))
    unattributed = int((tables.transitions["workload"].isna() & (tables.transitions["kind"] == "Pod")).sum())
    if unattributed:
        text = f"{unattributed} transitions of pods that belong to no workload were left out"
        found.append(Finding("note", f"{place.relative}/transitions.jsonl", text))
    if nodes.lost_nodes(measures.node_changes):
        found.append(Finding("warning", place.relative, nodes.lost_text(measures.node_changes)))
    negative = (measures.anomalies["problem"] == "negative") & (measures.anomalies["clock"] == "seen")
    if negative.any():
        # equal texts in every recording, so that a report shows them once
        text = f"some latencies are negative and kept unchanged; the table {steps.ANOMALIES_TITLE} has their causes"
        found.append(Finding("note", place.relative, text))
    for name in ("reconnects", "relists"):
        if recording.get(name):
            text = f"the watches had {recording[name]} {name}; arrival times around them are late"
            found.append(Finding("note", f"{place.relative}/recording.json", text))
    return tuple(found)


def _samples(measures: Measures) -> tuple[Sample, ...]:
    chosen = [step for step in steps.STEPS if step.name in COMPARED]
    found = [Sample(step.name, step.label, "seconds", steps.values_of(measures.latencies, step)) for step in chosen]
    again = measures.evictions["rescheduling_s"].to_numpy(dtype=float)
    if np.isfinite(again).any():
        found.append(Sample("rescheduling", "Eviction to replacement scheduled", "seconds", again))
    gangs = placements.at_smallest_level(measures.placements)["admission_s"].to_numpy(dtype=float)
    if np.isfinite(gangs).any():
        found.append(Sample("gang_admission", "Sent to gang admitted", "seconds", gangs))
    return tuple(found)


WORKLOAD = WorkloadType(
    name="scale_test",
    version=3,
    files=FILES,
    tables=ScaleTestTables,
    parse=parse,
    analyse=analyse,
    select=select,
    kpis=KPIS,
)
