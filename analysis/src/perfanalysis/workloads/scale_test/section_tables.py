"""Derived tables as a report shows them: which columns, under which heading, in which form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from perfanalysis.drawing.blocks import Cell, Field, Table, number, quantity
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.percentiles import STATED, Method

if TYPE_CHECKING:
    from perfanalysis.workloads.scale_test.measures import Measures

Form = Literal["text", "count", "number", "seconds", "percentile", "rate", "share"]
"""How values are written; a percentile is one of seconds, and the table says how it was made."""
MOST_ROWS = 200
TOO_FEW = "too few values, or none"


@dataclass(frozen=True)
class TableColumn:
    """A column of a derived table, its heading and how its values are written."""

    column: str
    heading: str
    form: Form = "text"
    help: str = ""


def derived_table(title: str, frame: pd.DataFrame, columns: tuple[TableColumn, ...], method: Method) -> Table:
    """The columns of a derived table, at most MOST_ROWS rows of it; a null says that there was too little for it."""
    fields = tuple(Field(one.heading, "text" if one.form == "text" else "number", help=one.help) for one in columns)
    rows = tuple(
        tuple(_cell(row[one.column], one.form) for one in columns) for row in frame.head(MOST_ROWS).to_dict("records")
    )
    note = ""
    if any(one.form == "percentile" for one in columns):
        note = STATED[method]
    if len(frame) > MOST_ROWS:
        note = f"{note} The first {MOST_ROWS} of {len(frame)} rows; the Parquet file has all.".strip()
    return Table(title, fields, rows, note)


def _cell(value: Any, form: Form) -> Cell:
    if pd.isna(value):
        return Cell("", reason="none" if form == "text" else TOO_FEW)
    if form == "text":
        return Cell(str(value))
    if form == "count" or (form == "number" and float(value).is_integer()):
        return Cell(number(int(value)))
    units = {"seconds": "seconds", "percentile": "seconds", "rate": "workloads/s", "share": "ratio"}
    return Cell(quantity(float(value), units[form]) if form in units else number(float(value)))


PHASES = (
    TableColumn("phase", "Phase"),
    TableColumn("time_s", "Begins at", "seconds"),
    TableColumn("length_s", "Lasts", "seconds"),
    TableColumn("sent", "Sent", "count"),
    TableColumn("scheduled", "Scheduled", "count"),
    TableColumn("completed", "Completed", "count"),
    TableColumn("scheduling_rate", "Scheduled per second", "rate"),
    TableColumn("completion_rate", "Completed per second", "rate"),
    TableColumn("mean_running", "Running, mean", "number"),
)
SUBMITTERS = (
    TableColumn("submitter", "Process", "count"),
    TableColumn("workloads", "Workloads", "count"),
    TableColumn("first_s", "First sent at", "seconds"),
    TableColumn("last_s", "Last sent at", "seconds"),
    TableColumn("rate", "Rate", "rate"),
    TableColumn("p50_s", "Answer, P50", "percentile"),
    TableColumn("p99_s", "Answer, P99", "percentile"),
)
FAIRNESS = (
    TableColumn("tenant", "Queue", help="or namespace, of workloads without a queue"),
    TableColumn("workloads", "Workloads", "count"),
    TableColumn("asked", "Asked for", "number"),
    TableColumn("demand_share", "Weight", "share", "its share of what all asked for"),
    TableColumn("contended_s", "Contended for", "seconds", "time in which it and another one had work waiting"),
    TableColumn("mean_held", "Held, mean", "number", "during that time"),
    TableColumn("per_demand", "Held by weight", "number", "mean held, divided by the weight"),
)
INVERSIONS = (
    TableColumn("tenant", "Queue"),
    TableColumn("priority", "Priority", "count"),
    TableColumn("gpus", "GPUs", "number"),
    TableColumn("pods", "Pods", "number"),
    TableColumn("workloads", "Workloads", "count"),
    TableColumn("pairs", "Inversions", "count", "pairs of which the one submitted later started first"),
    TableColumn("overtaking", "Overtaking", "count"),
    TableColumn("overtaken", "Overtaken", "count"),
)
BY_PRIORITY = (
    TableColumn("victim_priority", "Priority of victims", "count"),
    TableColumn("preemptor_priority", "Made place for", "count"),
    TableColumn("pods", "Pods", "count"),
    TableColumn("victims", "Workloads that lost pods", "count"),
    TableColumn("preemptors", "Workloads that took their place", "count"),
)
BY_TENANT = (
    TableColumn("victim_tenant", "Queue of victims"),
    TableColumn("preemptor_tenant", "Made place for"),
    TableColumn("pods", "Pods", "count"),
)
PREEMPTIONS = (
    TableColumn("workload", "Workload"),
    TableColumn("tenant", "Queue"),
    TableColumn("priority", "Priority", "count"),
    TableColumn("preempted", "Pods lost", "count"),
    TableColumn("preempting", "Pods taken", "count"),
)
ROUNDS = (
    TableColumn("round", "Round", "count"),
    TableColumn("submitted", "Submitted", "count"),
    TableColumn("deleted", "Deleted", "count"),
    TableColumn("completed", "Completed", "count"),
    TableColumn("time_to_scheduled_p50_s", "Sent to scheduled, P50", "percentile"),
    TableColumn("time_to_scheduled_p99_s", "Sent to scheduled, P99", "percentile"),
    TableColumn("time_to_running_p50_s", "Sent to running, P50", "percentile"),
    TableColumn("time_to_running_p99_s", "Sent to running, P99", "percentile"),
)
NODE_CHANGES = (
    TableColumn("time_s", "Seen at", "seconds", "since the first submission"),
    TableColumn("node", "Node"),
    TableColumn("change", "Change"),
    TableColumn("reason", "Reason"),
)
REQUESTS = (
    TableColumn("what", "Try"),
    TableColumn("cause", "What came of it"),
    TableColumn("count", "Requests", "count"),
)
MEBIBYTE = 2**20


def control_plane_table(measures: Measures) -> Table:
    """What the control plane's metrics say, in units for readers."""
    fields = (
        Field("Component"),
        Field("Measure"),
        Field("Of"),
        Field("Statistic"),
        Field("Value", "number"),
        Field("From", "number", help="values, or scrapes, that it was made from"),
    )
    rows = tuple(
        (
            Cell(str(row["component"])),
            Cell(str(row["measure"]).replace("_", " ")),
            Cell("all" if pd.isna(row["detail"]) else str(row["detail"])),
            Cell(str(row["statistic"])),
            _value_cell(row["value"], str(row["unit"]), row["reason"]),
            Cell("" if pd.isna(row["count"]) else number(int(row["count"]))),
        )
        for row in measures.control_plane_measures.to_dict("records")
    )
    return Table("Control plane: all measures", fields, rows, search=True)


def _value_cell(value: Any, unit: str, reason: Any) -> Cell:
    if pd.isna(value):
        return Cell("", reason="not known" if pd.isna(reason) else str(reason))
    if unit == "bytes":
        return Cell(f"{number(float(value) / MEBIBYTE)}\u202fMiB")
    return Cell(quantity(float(value), unit))


SECONDS_AN_HOUR, SECONDS_A_MINUTE = 3600, 60


@dataclass(frozen=True)
class Formula:
    """A measure: its name for readers, its KPI, how it is reckoned."""

    label: str
    kpi: str
    formula: str


OF_STEP = "median of {} \u2212 {}, of {}"
FORMULAS = (
    Formula("Queue wait", "queue_wait_p50", OF_STEP.format("released", "seen", "workloads that a queue held back")),
    Formula(
        "Decision time",
        "decision_p50",
        OF_STEP.format("event Scheduled of the last pod", "last pod seen", "all workloads"),
    ),
    Formula("Bind time", "bind_p50", OF_STEP.format("all pods seen bound", "that event's time", "all workloads")),
    Formula(
        "Gang completeness",
        "gang_completeness_p50",
        OF_STEP.format("last pod running", "first pod running", "workloads of several pods"),
    ),
    Formula(
        "Start-order inversions",
        "start_inversions",
        "pairs (a, b) of one tenant, priority and size: a answered before b was sent, and b bound before a",
    ),
    Formula(
        "Preemptions",
        "preemptions",
        "evictions for a higher priority, by the scheduler or by Kueue; the tables have victims and preemptors",
    ),
    Formula("Reclaims", "reclaims", "preemptions of which the event names a preemptor of another tenant"),
    Formula("Scheduled in the ramp", "ramp_scheduling_rate", "workloads fully scheduled in the ramp / its length"),
    Formula(
        "Scheduled in the steady part",
        "steady_scheduling_rate",
        "workloads fully scheduled between the first and the last time that 0.9 of the plateau ran / that time",
    ),
    Formula(
        "Fairness",
        "fairness_jain",
        "(\u03a3x)\u00b2 / (n \u03a3x\u00b2), x: GPUs that a tenant held on average while it and another waited",
    ),
    Formula(
        "GPUs idle while work waits",
        "gpu_idle_while_waiting",
        "\u222b min(max(capacity \u2212 allocated, 0), waited for) dt, from first submission to last end",
    ),
)


def formulas_table(kpis: Iterable[KpiValue]) -> Table:
    """Every measure with its value, or with the reason why there is none."""
    found = {kpi.name: kpi for kpi in kpis}
    fields = (Field("Measure"), Field("Value", "number"), Field("Formula"))
    rows = tuple((Cell(one.label), _kpi_cell(found, one.kpi), Cell(one.formula)) for one in FORMULAS)
    return Table("Measures of scheduling and their formulas", fields, rows)


def _kpi_cell(found: Mapping[str, KpiValue], name: str) -> Cell:
    kpi = found[name]
    if kpi.number is None:
        return Cell("", reason=kpi.reason or "")
    return Cell(quantity(kpi.number, kpi.unit), _in_other_words(kpi.number, kpi.unit))


def _in_other_words(value: float, unit: str) -> str:
    """The same by the minute or by the hour, as schedulers and GPUs are spoken of."""
    if unit == "workloads/s":
        return f"{number(SECONDS_A_MINUTE * value)} a minute"
    return f"{number(value / SECONDS_AN_HOUR)} GPU-hours" if unit == "GPU-seconds" else ""
