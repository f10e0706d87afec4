"""Tables of a scale test's report that are not derived tables: the control plane's measures, and formulas."""

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
    """Return the control plane's metrics, in units for readers."""
    fields = (
        Field("Component"),
        Field("Measure"),
        Field("Of"),
        Field("Statistic"),
        Field("Value", "number"),
        Field("From", "number", help="number of values or scrapes it was computed from"),
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
    """A measure: its name for readers, its KPI, its formula."""

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
        (
            "pairs (a, b) of one tenant, priority and size: the response to a came before b was sent, and b was "
            "bound before a"
        ),
    ),
    Formula(
        "Preemptions",
        "preemptions",
        (
            "evictions for another workload: by priority, by the scheduler or by Kueue, or to reclaim what its "
            "queue had lent"
        ),
    ),
    Formula("Reclaims", "reclaims", "preemptions whose event names a preemptor of another tenant"),
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
        "Device allocation",
        "allocation_p50",
        OF_STEP.format("devices of all claims allocated", "all claims created", "workloads with claims of devices"),
    ),
    Formula(
        "Fragmentation of free GPUs",
        "gpu_fragmentation",
        "1 \u2212 max f / min(\u03a3f, max c), f and c: free GPUs and GPUs of a node; mean while GPUs were free",
    ),
    Formula(
        "GPUs idle while work waits",
        "gpu_idle_while_waiting",
        "\u222b min(max(capacity \u2212 allocated, 0), waited for) dt, from first submission to last end",
    ),
)


def formulas_table(kpis: Iterable[KpiValue]) -> Table:
    """Return every measure with its value, or with the reason why it is missing."""
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
    """Return the same per minute or per hour, the usual units of schedulers and GPUs."""
    if unit == "workloads/s":
        return f"{number(SECONDS_A_MINUTE * value)} a minute"
    return f"{number(value / SECONDS_AN_HOUR)} GPU-hours" if unit == "GPU-seconds" else ""
