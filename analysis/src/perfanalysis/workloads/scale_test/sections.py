"""A scale test's part of the report: its sections, tables and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from perfanalysis.drawing.blocks import Cell, Field, Note, Section, Table, duration, number
from perfanalysis.drawing.charts import Figure
from perfanalysis.files.tables import TableSpec
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.percentiles import STATED, STATISTICS
from perfanalysis.workloads.scale_test import (
    activity,
    api_latency,
    devices,
    evictions,
    fairness,
    nodes,
    outcomes,
    plots,
    plots_over_time,
    pods,
    section_tables,
)
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.milestones import ELSEWHERE
from perfanalysis.workloads.scale_test.plots import queues_figure
from perfanalysis.workloads.scale_test.plots_cluster import control_plane_figure, evictions_figure, placement_figure
from perfanalysis.workloads.scale_test.plots_over_time import ramp_figure
from perfanalysis.workloads.scale_test.section_tables import formulas_table
from perfanalysis.workloads.scale_test.steps import (
    ANOMALIES_TITLE,
    CLOCKS,
    STEPS,
    LatencyStep,
    pods_elsewhere,
)
from perfanalysis.workloads.shown import data_table, value_cell

NOTHING = Note("Nothing was submitted or seen: nothing to draw.")
PODS_ELSEWHERE = Note(f"Not drawn: {ELSEWHERE}.")


def sections(measures: Measures, kpis: tuple[KpiValue, ...], marks: tuple[str, ...]) -> tuple[Section, ...]:
    """Return all sections of one recording, in reading order; without absent features (queues, …)."""

    def figures(make: Callable[[Measures, Window], Figure]) -> tuple[Figure | Note, ...]:
        if measures.window is None:
            return (NOTHING,)
        return (_drawn(make(measures, measures.window), marks),)

    def of_pods(make: Callable[[Measures, Window], Figure]) -> tuple[Figure | Note, ...]:
        return (PODS_ELSEWHERE,) if pods_elsewhere(measures.workloads) else figures(make)

    changed = _shown(measures, "Changes of nodes", nodes.NODE_CHANGES)
    phases = _shown(measures, "Ramp, steady part and drain", activity.PHASES)
    submitters = _shown(measures, "Submitting processes", api_latency.SUBMITTERS)
    found = (
        Section("latency", "Latency", "", figures(plots.general_figure)),
        Section(
            "percentiles",
            "Percentiles",
            (
                "By the client's clock, from every workload that reached both ends of a step. "
                f"{STATED[measures.method]} Below each value is its 95\u00a0% bootstrap interval; if it is "
                "missing, point at the words for the reason."
            ),
            (percentile_table(measures), server_table(measures), anomaly_block(measures)),
        ),
        Section("distributions", "Distributions", "", figures(lambda of, _: plots.distribution_figure(of))),
        Section("steps", "Steps", "", figures(plots.detailed_figure)),
        Section("throughput", "Throughput", "", (*figures(ramp_figure), *phases, *submitters)),
        Section("scheduling", "Scheduling", "", (formulas_table(kpis),)),
        Section("queues", "Queues", "", (*_if_any(measures, marks, queues_figure), *_queue_tables(measures))),
        Section("evictions", "Evictions", "", _evictions(measures, marks)),
        Section("placement", "Placement", "", _if_any(measures, marks, placement_figure)),
        Section("churn", "Churn", "", _shown(measures, "Rounds of churn", pods.ROUNDS)),
        Section("concurrency", "Concurrency", "", of_pods(lambda of, _: plots.concurrency_figure(of))),
        Section("gpus", "GPU occupation", "", of_pods(plots.gpu_figure)),
        Section("devices", "Devices", "", _claims(measures)),
        Section("nodes", "Nodes", "", (*figures(plots_over_time.occupation_figure), *changed)),
        Section("control_plane", "Control plane", "", _control_plane(measures, marks)),
        Section("accounting", "Accounting", "", (accounting_table(measures), *_answers(measures))),
        Section("failures", "Failures", "", failure_blocks(measures, marks)),
    )
    return tuple(section for section in found if section.blocks)


def _shown(measures: Measures, title: str, spec: TableSpec, chosen: pd.DataFrame | None = None) -> tuple[Table, ...]:
    """Return a derived table, or its selected rows; empty if there are none."""
    frame = getattr(measures, spec.name) if chosen is None else chosen
    note = STATED[measures.method] if any(column.name.endswith(("p50_s", "p99_s")) for column in spec.columns) else ""
    return (data_table(title, frame, spec.columns, note),) if len(frame) else ()


def _queue_tables(measures: Measures) -> tuple[Table, ...]:
    several = measures.fairness if len(measures.fairness) > 1 else measures.fairness.head(0)
    inverted = measures.inversions[measures.inversions["pairs"] > 0]
    return (
        *_shown(measures, "Worker clusters", outcomes.CLUSTERS),
        *_shown(measures, "What each queue held while it competed", fairness.FAIRNESS, several),
        *_shown(measures, "Starts out of the order of submission", fairness.INVERSIONS, inverted),
    )


def _evictions(measures: Measures, marks: tuple[str, ...]) -> tuple[Figure | Table | Note, ...]:
    return (
        *_if_any(measures, marks, evictions_figure),
        *_shown(measures, "Preemption by priority", evictions.BY_PRIORITY),
        *_shown(measures, "Preemption by queue", evictions.BY_TENANT),
        *_shown(measures, "Preemption by workload", evictions.PREEMPTIONS),
    )


def _claims(measures: Measures) -> tuple[Table, ...]:
    """Return the claims that leaked; the table of all claims has a row for each pod."""
    claims = measures.device_claims
    return _shown(measures, "Claims that leaked", devices.DEVICE_CLAIMS, claims[claims["leaked"] == True])  # noqa: E712


def _control_plane(measures: Measures, marks: tuple[str, ...]) -> tuple[Figure | Table | Note, ...]:
    if not len(measures.control_plane_measures):
        return ()
    return (*_if_any(measures, marks, control_plane_figure), section_tables.control_plane_table(measures))


def _answers(measures: Measures) -> tuple[Table | Note, ...]:
    """Return the API server's final responses, and all requests."""
    missing = Note("No submissions were recorded: another program submitted the workloads.")
    return (
        *(_shown(measures, "Final answers to the submitter", api_latency.ANSWERS) or (missing,)),
        *_shown(measures, "All requests, each try counted", api_latency.REQUESTS),
    )


def _if_any(
    measures: Measures, marks: tuple[str, ...], make: Callable[[Measures, Window], Figure]
) -> tuple[Figure | Note, ...]:
    """Return the figure if it has content."""
    figure = make(measures, measures.window) if measures.window is not None else None
    return (_drawn(figure, marks),) if figure is not None and figure.rows else ()


def _drawn(figure: Figure, marks: tuple[str, ...]) -> Figure | Note:
    if not any(chart.layers for row in figure.rows for chart in row):
        return Note(f"{figure.title}: no workload reached a state to draw.")
    return replace(figure, marks=marks)


def percentile_table(measures: Measures) -> Table:
    """Return statistics of each step on the client's clock, with intervals."""
    fields = (
        Field("Step", help="from one milestone to another"),
        *(Field(statistic.upper() if statistic != "max" else "Max", "number") for statistic in STATISTICS),
        Field("Workloads", "number"),
        Field("Missing", "number", help="workloads that did not reach both ends"),
    )
    rows = tuple(_percentile_row(measures, step) for step in measures.steps)
    return Table("Latency per step", fields, rows)


def _percentile_row(measures: Measures, step: LatencyStep) -> tuple[Cell, ...]:
    found = measures.estimates(step.name)
    count = found["max"].count or 0
    values = (value_cell(found[statistic], "seconds") for statistic in STATISTICS)
    rest = Cell(number(count)), Cell(number(len(measures.workloads) - count))
    return (Cell(step.label, step.formula), *values, *rest)


def server_table(measures: Measures) -> Table:
    """Return the same by the server's timestamps, next to the client's, with the resolution that limits them."""
    fields = (
        Field("Step"),
        Field("P50, client", "number"),
        Field("P50, server", "number"),
        Field("P99, client", "number"),
        Field("P99, server", "number"),
        Field("Resolution, server", "number", help="sum of the resolutions of both timestamps"),
    )
    rows = tuple(_server_row(measures, step) for step in measures.steps if step.name != "answer")
    note = "The server rounds most timestamps to whole seconds; a step shorter than the resolution cannot be measured. "
    note += STATED[measures.method]
    return Table("Client's clock beside the server's stamps", fields, rows, note)


def _server_row(measures: Measures, step: LatencyStep) -> tuple[Cell, ...]:
    cells = [Cell(step.label)]
    for statistic in ("p50", "p99"):
        for clock in CLOCKS:
            found = measures.statistics[step.name, clock][statistic]
            cells.append(_duration_cell(found.number, found.reason or ""))
    resolution = measures.latencies[f"{step.name}_resolution_s"].median()
    cells.append(_duration_cell(None if pd.isna(resolution) else float(resolution), "no stamps"))
    return tuple(cells)


def _duration_cell(value: float | None, reason: str) -> Cell:
    return Cell("", reason=reason) if value is None else Cell(duration(value))


def anomaly_block(measures: Measures) -> Table | Note:
    """Return missing and negative latencies by cause."""
    table = measures.anomalies
    if not len(table):
        return Note("Every workload reached every milestone, and no latency is negative beyond its resolution.")
    labels = {step.name: step.label for step in STEPS}
    rows = tuple(
        (
            Cell(labels[row["step"]]),
            Cell({"seen": "client", "server": "server"}[row["clock"]]),
            Cell(str(row["problem"])),
            Cell(str(row["cause"])),
            Cell(number(int(row["count"]))),
        )
        for row in table.to_dict("records")
    )
    fields = (Field("Step"), Field("Clock"), Field("Problem"), Field("Cause"), Field("Workloads", "number"))
    return Table(ANOMALIES_TITLE, fields, rows, "Negative values are kept unchanged, never clipped.")


def accounting_table(measures: Measures) -> Table:
    """Return where every workload ended, as counted again here and as the recorder stated."""
    table = measures.data_quality
    names = ("completed", "failed", "churned", "deleted", "unseen", "unfinished")
    parts = {name: getattr(measures.accounting, name) for name in names}
    words = " + ".join(f"{name} {count}" for name, count in parts.items())
    note = f"Submitted {measures.accounting.submitted} = {words} = {sum(parts.values())}."
    places = table[~table["what"].astype("str").str.endswith("latencies")]
    return data_table("Every workload accounted for", places, outcomes.DATA_QUALITY.columns, note)


def failure_blocks(measures: Measures, marks: tuple[str, ...]) -> tuple[Figure | Table | Note, ...]:
    """Return failures as bars, and with Warning events as a table."""
    if not len(measures.failures):
        return (Note("No submission, workload or pod failed, and no Warning event was seen."),)
    table = _shown(measures, "Failures by cause", outcomes.FAILURES)
    if (measures.failures["stage"] == outcomes.WARNING).all():
        return (Note("No submission, workload or pod failed. The cluster wrote Warning events:"), *table)
    return (replace(plots.failures_figure(measures), marks=marks), *table)
