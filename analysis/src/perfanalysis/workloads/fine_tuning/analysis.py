"""From the tables of a fine-tuning job to the contents of a report, and comparisons of several jobs.

Also the declaration of fine-tuning jobs in the registry of workload kinds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from msgspec import structs

from perfanalysis.files.discovery import Place, lab_of
from perfanalysis.files.findings import Finding, Severity
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.job import KIND, MARKER, job_of
from perfanalysis.workloads.fine_tuning.kpis import KPIS, on_top
from perfanalysis.workloads.fine_tuning.measures import THROUGHPUT, Measures, measure
from perfanalysis.workloads.fine_tuning.monitored import monitored
from perfanalysis.workloads.fine_tuning.parser import FILES, parse
from perfanalysis.workloads.fine_tuning.plots_of_matrix import matrix_figures
from perfanalysis.workloads.fine_tuning.scaling import SCALING_KPIS, jobs_of, scaling_kpis
from perfanalysis.workloads.fine_tuning.sections import SUMMARY, distinguishing_facts, sections, summary_table
from perfanalysis.workloads.fine_tuning.tables import FACTS, PROBLEMS, STEPS, FineTuningTables
from perfanalysis.workloads.kpis import evaluate
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.workload_type import Across, Analysis, Sample, WorkloadType

PLAIN = ("torn records", "restarted", "no log", "empty log", "benchmark failed")
"""Problems whose text needs no name before it."""
SPECS = {spec.name: spec for spec in (SUMMARY, STEPS, FACTS, PROBLEMS, THROUGHPUT)}


def analyse(tables: FineTuningTables, place: Place, method: Method) -> Analysis:
    """Measure a job and lay out its section of the report."""
    source = RecordingFiles(place)
    document = source.document(MARKER, KIND)
    measures = measure(tables, job_of(document), method)
    lab = lab_of(document)
    frames: dict[str, pd.DataFrame] = {
        SUMMARY.name: summary_table(measures),
        STEPS.name: tables.steps,
        FACTS.name: tables.facts,
        PROBLEMS.name: tables.problems,
        THROUGHPUT.name: measures.throughput,
    }
    benchmark = "benchmark" in str(document.get("mode") or "")
    return Analysis(
        place=place,
        title="Fine-tuning",
        lab=lab,
        frames=frames,
        specs=SPECS,
        kpis=on_top(evaluate(KPIS, measures), benchmark=benchmark),
        samples=_samples(measures),
        make_sections=partial(sections, measures, lab.phrases),
        findings=(*source.findings, *_findings(measures, place)),
        facts=distinguishing_facts(measures),
        period=measures.job.period,
        method=method,
    )


def across(analyses: tuple[Analysis, ...]) -> Across:
    """Return the comparison of the jobs of a run: speed-up and efficiency, and figures."""
    kpis = scaling_kpis(jobs_of(analyses))
    telling = {value.name for values in kpis.values() for value in values if value.number not in (None, 1)}
    kpis = {
        name: tuple(value if value.name in telling else structs.replace(value, headline=None) for value in values)
        for name, values in kpis.items()
    }
    whole = tuple(replace(analysis, kpis=(*analysis.kpis, *kpis[analysis.place.name])) for analysis in analyses)
    return Across(whole, lambda: matrix_figures(jobs_of(whole)))


def _samples(measures: Measures) -> tuple[Sample, ...]:
    times = measures.throughput["step_time_s"].to_numpy(dtype=float)
    return (Sample("step_time", "Time of a training step", "seconds", times[np.isfinite(times)], "steps"),)


def _findings(measures: Measures, place: Place) -> tuple[Finding, ...]:
    found: list[Finding] = []
    job = measures.job
    where = f"{place.relative}/{MARKER}"
    if job.why_not_whole:
        stated = job.exit_code is None or f"exit code {job.exit_code}" in (job.reason or "")
        code = "" if stated else f" (exit code {job.exit_code})"
        found.append(Finding("warning", where, f"{job.why_not_whole}{code}"))
    if measures.format is None:
        text = "no log of the job has output of a trainer"
        found.append(Finding("warning", where, text))
    for row in measures.problems.astype("object").to_dict("records"):
        plain = row["kind"] in PLAIN or str(row["kind"]).endswith("not finite")
        text = str(row["text"]) if plain else f"{row['kind']}: {row['text']}"
        counted = f" ({row['count']} times)" if row["count"] > 1 else ""
        line = f":{row['line']}" if row["line"] else ""
        severity: Severity = "note" if row["kind"] == "restarted" else "warning"
        found.append(Finding(severity, f"{place.relative}/{row['log']}{line}", f"{text}{counted}"))
    return tuple(found)


WORKLOAD = WorkloadType(
    name="fine_tuning",
    version=2,
    files=FILES,
    tables=FineTuningTables,
    parse=parse,
    analyse=analyse,
    kpis=(*KPIS, *SCALING_KPIS),
    across=across,
    monitored=monitored,
)
