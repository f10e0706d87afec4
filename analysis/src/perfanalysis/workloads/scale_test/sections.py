"""A scale test's part of the report: its sections, tables and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from perfanalysis.drawing.blocks import DASH, Cell, Field, Note, Section, Table, duration, number
from perfanalysis.drawing.charts import Figure
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.percentiles import STATED, STATISTICS
from perfanalysis.workloads.scale_test import plots, plots_over_time, section_tables
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.plots import queues_figure
from perfanalysis.workloads.scale_test.plots_cluster import control_plane_figure, evictions_figure
from perfanalysis.workloads.scale_test.plots_over_time import ramp_figure
from perfanalysis.workloads.scale_test.section_tables import TableColumn, derived_table, formulas_table
from perfanalysis.workloads.scale_test.steps import CLOCKS, STEPS, Step

ANSWER_STATISTICS = ("p50", "p99", "max")
NOTHING = Note("Nothing was submitted or seen, so there is nothing to draw.")


def sections(measures: Measures, kpis: tuple[KpiValue, ...], marks: tuple[str, ...]) -> tuple[Section, ...]:
    """All sections of one recording, in reading order; what did not occur (queues, evictions, …) has none."""

    def figures(make: Callable[[Measures, Window], Figure]) -> tuple[Figure | Note, ...]:
        return _figures(measures, marks, make)

    found = (
        Section("latency", "Latency", "", figures(plots.general_figure)),
        Section(
            "percentiles",
            "Percentiles",
            "By the client's clock, from every workload that reached both ends of a step. "
            f"{STATED[measures.method]} Below each value its 95\u00a0% bootstrap interval; where there is none, "
            "point at the words to see why.",
            (percentile_table(measures), server_table(measures), anomaly_block(measures)),
        ),
        Section("distributions", "Distributions", "", figures(_distributions)),
        Section("steps", "Steps", "", figures(plots.detailed_figure)),
        Section("throughput", "Throughput", "", (*figures(ramp_figure), *_throughput_tables(measures))),
        Section("scheduling", "Scheduling", "", (formulas_table(kpis),)),
        Section("queues", "Queues", "", (*_if_any(measures, marks, queues_figure), *_queue_tables(measures))),
        Section("evictions", "Evictions", "", _evictions(measures, marks)),
        Section("churn", "Churn", "", _tables(measures, ("Rounds of churn", measures.rounds, section_tables.ROUNDS))),
        Section("concurrency", "Concurrency", "", figures(_concurrency)),
        Section("gpus", "GPU occupation", "", figures(plots.gpu_figure)),
        Section("nodes", "Nodes", "", (*figures(plots_over_time.occupation_figure), *_node_tables(measures))),
        Section("control_plane", "Control plane", "", _control_plane(measures, marks)),
        Section("accounting", "Accounting", "", (accounting_table(measures), *_answers(measures))),
        Section("failures", "Failures", "", failure_blocks(measures, marks)),
    )
    return tuple(section for section in found if section.blocks)


def _tables(measures: Measures, *given: tuple[str, pd.DataFrame, tuple[TableColumn, ...]]) -> tuple[Table, ...]:
    """Those of the derived tables that have rows."""
    return tuple(derived_table(title, frame, columns, measures.method) for title, frame, columns in given if len(frame))


def _throughput_tables(measures: Measures) -> tuple[Table, ...]:
    submitters = measures.submitters if len(measures.submitters) > 1 else measures.submitters.head(0)
    return _tables(
        measures,
        ("Ramp, steady part and drain", measures.phases, section_tables.PHASES),
        ("Submitting processes", submitters, section_tables.SUBMITTERS),
    )


def _queue_tables(measures: Measures) -> tuple[Table, ...]:
    several = measures.fairness if len(measures.fairness) > 1 else measures.fairness.head(0)
    inverted = measures.inversions[measures.inversions["pairs"] > 0]
    return _tables(
        measures,
        ("What each queue held while it competed", several, section_tables.FAIRNESS),
        ("Starts out of the order of submission", inverted, section_tables.INVERSIONS),
    )


def _evictions(measures: Measures, marks: tuple[str, ...]) -> tuple[Figure | Table | Note, ...]:
    return (
        *_if_any(measures, marks, evictions_figure),
        *_tables(
            measures,
            ("Preemption by priority", measures.preemptions_by_priority, section_tables.BY_PRIORITY),
            ("Preemption by queue", measures.preemptions_by_tenant, section_tables.BY_TENANT),
            ("Preemption by workload", measures.preemptions, section_tables.PREEMPTIONS),
        ),
    )


def _node_tables(measures: Measures) -> tuple[Table, ...]:
    return _tables(measures, ("Changes of nodes", measures.node_changes, section_tables.NODE_CHANGES))


def _control_plane(measures: Measures, marks: tuple[str, ...]) -> tuple[Figure | Table | Note, ...]:
    if not len(measures.control_plane_measures):
        return ()
    return (*_if_any(measures, marks, control_plane_figure), section_tables.control_plane_table(measures))


def _answers(measures: Measures) -> tuple[Table | Note, ...]:
    requests = _tables(measures, ("All requests, each try counted", measures.requests, section_tables.REQUESTS))
    return (answers_block(measures), *requests)


def _distributions(measures: Measures, window: Window) -> Figure:
    del window
    return plots.distribution_figure(measures)


def _concurrency(measures: Measures, window: Window) -> Figure:
    del window
    return plots.concurrency_figure(measures)


def _figures(
    measures: Measures, marks: tuple[str, ...], make: Callable[[Measures, Window], Figure]
) -> tuple[Figure | Note, ...]:
    if measures.window is None:
        return (NOTHING,)
    return (_drawn(make(measures, measures.window), marks),)


def _if_any(
    measures: Measures, marks: tuple[str, ...], make: Callable[[Measures, Window], Figure]
) -> tuple[Figure | Note, ...]:
    """The figure, where what it shows occurred."""
    figure = make(measures, measures.window) if measures.window is not None else None
    return (_drawn(figure, marks),) if figure is not None and figure.rows else ()


def _drawn(figure: Figure, marks: tuple[str, ...]) -> Figure | Note:
    if not any(chart.layers for row in figure.rows for chart in row):
        return Note(f"{figure.title}: no workload has come far enough to be drawn.")
    return replace(figure, marks=marks)


def percentile_table(measures: Measures) -> Table:
    """Statistics of each step on the client's clock, with intervals."""
    fields = (
        Field("Step", help="from one milestone to another"),
        *(Field(statistic.upper() if statistic != "max" else "Max", "number") for statistic in STATISTICS),
        Field("Workloads", "number"),
        Field("Missing", "number", help="workloads that did not reach both ends"),
    )
    rows = tuple(_percentile_row(measures, step) for step in measures.steps)
    return Table("Latency per step", fields, rows)


def _percentile_row(measures: Measures, step: Step) -> tuple[Cell, ...]:
    found = measures.estimates(step.name)
    cells = [Cell(step.label, step.formula)]
    for statistic in STATISTICS:
        estimate = found[statistic]
        if estimate.number is None:
            cells.append(Cell("", reason=estimate.reason or ""))
        elif estimate.low is None or estimate.high is None:
            reason = "" if statistic == "max" else estimate.reason or ""
            cells.append(Cell(duration(estimate.number), reason=reason))
        else:
            cells.append(Cell(duration(estimate.number), f"{duration(estimate.low)} {DASH} {duration(estimate.high)}"))
    count = found["max"].count or 0
    return (*cells, Cell(number(count)), Cell(number(len(measures.workloads) - count)))


def server_table(measures: Measures) -> Table:
    """The same by the server's stamps, beside the client's, with the resolution that limits them."""
    fields = (
        Field("Step"),
        Field("P50, client", "number"),
        Field("P50, server", "number"),
        Field("P99, client", "number"),
        Field("P99, server", "number"),
        Field("Resolution, server", "number", help="sum of both stamps' resolutions"),
    )
    rows = tuple(_server_row(measures, step) for step in measures.steps if step.name != "answer")
    note = "The server stamps most conditions with whole seconds; a step shorter than the resolution cannot be told. "
    note += STATED[measures.method]
    return Table("Client's clock beside the server's stamps", fields, rows, note)


def _server_row(measures: Measures, step: Step) -> tuple[Cell, ...]:
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
    """Missing and negative latencies by cause."""
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
    return Table("Missing and negative latencies", fields, rows, "Negative values are kept as they are, never clipped.")


def accounting_table(measures: Measures) -> Table:
    """Where every workload went, as recounted here and as the recorder stated."""
    counted = measures.accounting
    stated = counted.stated
    lines = (
        ("Asked for", None, "asked"),
        ("Submitted", counted.submitted, "submitted"),
        ("Completed", counted.completed, "completed"),
        ("Failed or refused", counted.failed, "failed"),
        ("Churned: deleted by the test", counted.churned, "churned"),
        ("Deleted otherwise before their end", counted.deleted, None),
        ("Never seen", counted.unseen, "lost"),
        ("Seen, not ended", counted.unfinished, "running"),
    )
    rows = tuple((Cell(label), _count_cell(count), _stated_cell(stated, key)) for label, count, key in lines)
    parts = (
        ("completed", counted.completed),
        ("failed", counted.failed),
        ("churned", counted.churned),
        ("deleted", counted.deleted),
        ("never seen", counted.unseen),
        ("not ended", counted.unfinished),
    )
    words = " + ".join(f"{name} {count}" for name, count in parts)
    note = f"Submitted {counted.submitted} = {words} = {sum(count for _, count in parts)}."
    fields = (Field("Workloads"), Field("Recounted", "number"), Field("Recorder's accounting", "number"))
    return Table("Every workload accounted for", fields, rows, note)


def _count_cell(count: int | None) -> Cell:
    return Cell("", reason="not part of the recording") if count is None else Cell(number(count))


def _stated_cell(stated: dict[str, Any], key: str | None) -> Cell:
    if key is None:
        return Cell("", reason="the recorder counts these as lost")
    value = stated.get(key)
    return Cell(number(value)) if isinstance(value, int) else Cell("", reason="the recorder has not stated it")


def answers_block(measures: Measures) -> Table | Note:
    """The API server's final answers."""
    if not len(measures.answers):
        return Note("No submissions were recorded here: the workloads were submitted by someone else.")
    rows = tuple(
        (
            Cell("no answer" if pd.isna(row["status"]) else str(row["status"])),
            Cell(str(row["outcome"])),
            Cell(number(int(row["count"]))),
            Cell(number(int(row["retried"]))),
            *(_duration_cell(_known(row[f"{name}_s"]), "too few values") for name in ANSWER_STATISTICS),
        )
        for row in measures.answers.to_dict("records")
    )
    fields = (
        Field("HTTP status"),
        Field("Outcome"),
        Field("Workloads", "number"),
        Field("Sent again", "number"),
        *(Field(f"Answer, {name.upper()}", "number") for name in ANSWER_STATISTICS),
    )
    return Table("Final answers to the submitter", fields, rows)


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def failure_blocks(measures: Measures, marks: tuple[str, ...]) -> tuple[Figure | Table | Note, ...]:
    """Failures as bars and as a table."""
    table = measures.failures
    if not len(table):
        return (Note("No submission, workload or pod failed, and no Warning event was seen."),)
    rows = tuple(
        (Cell(str(row["stage"])), Cell(str(row["cause"])), Cell(number(int(row["count"]))))
        for row in table.to_dict("records")
    )
    fields = (Field("Seen at"), Field("Cause"), Field("Occurrences", "number"))
    return (replace(plots.failures_figure(measures), marks=marks), Table("Failures by cause", fields, rows))
