"""Tables of a scale test's report that are no derived table: the control plane's measures, and formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from perfanalysis.drawing.blocks import Cell, Field, Table, number, quantity
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.shown import value_cell


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
            value_cell(_value(row["value"], row["reason"]), str(row["unit"])),
            Cell("" if pd.isna(row["count"]) else number(int(row["count"]))),
        )
        for row in measures.control_plane_measures.to_dict("records")
    )
    return Table("Control plane: all measures", fields, rows)


def _value(number: Any, reason: Any) -> Value:
    return Value(None, "not known" if pd.isna(reason) else str(reason)) if pd.isna(number) else Value(float(number))


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
        "evictions for another workload: for its priority, by the scheduler or by Kueue, or for what its queue lent",
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
        return value_cell(kpi, kpi.unit)
    return Cell(quantity(kpi.number, kpi.unit), _in_other_words(kpi.number, kpi.unit))


def _in_other_words(value: float, unit: str) -> str:
    """The same by the minute or by the hour, as schedulers and GPUs are spoken of."""
    if unit == "workloads/s":
        return f"{number(SECONDS_A_MINUTE * value)} a minute"
    return f"{number(value / SECONDS_AN_HOUR)} GPU-hours" if unit == "GPU-seconds" else ""
