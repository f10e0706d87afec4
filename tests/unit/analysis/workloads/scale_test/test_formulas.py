"""The report states measures of scheduling with their formulas, and the completeness of the data in a table."""

from __future__ import annotations

import pandas as pd
import pytest
from perfanalysis.workloads.kpis import KpiValue, evaluate
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.section_tables import FORMULAS, formulas_table

from tests.unit.analysis.hand_made import life, submission, tables, transition

STATED = {"submitted": 3, "completed": 1, "failed": 0, "lost": 1, "running": 1}


@pytest.fixture(name="measures")
def _measures() -> Measures:
    """Return measures of one completed workload, one running, one never seen."""
    sent = [submission("a", 100.0), submission("b", 101.0), submission("c", 102.0)]
    seen = life("a", created=100.5, pod_created=101.0, scheduled=103.0, initialized=103.5, running=104.0)
    seen += [transition("Pod", "a-0", "succeeded", 110.0), transition("Job", "a", "completed", 110.5)]
    seen += life("b", created=101.5, pod_created=102.0, scheduled=104.0, initialized=104.5, running=105.0)
    return measure(tables(sent, seen), {}, dict(STATED))


def test_every_scheduling_measure_has_a_kpi_and_a_formula(measures: Measures) -> None:
    table = formulas_table(evaluate(KPIS, measures))
    assert len(table.rows) == len({one.kpi for one in FORMULAS}) == len(FORMULAS)
    for label, value, formula in table.rows:
        assert formula.text, label
        assert bool(value.text) != bool(value.reason), label


def test_values_are_shown_with_units_and_common_terms(measures: Measures) -> None:
    kpis = [
        *(kpi for kpi in evaluate(KPIS, measures) if kpi.name not in ("steady_scheduling_rate",)),
        *(_kpi_value(kpi.name, 7.5, kpi.unit) for kpi in KPIS if kpi.name == "steady_scheduling_rate"),
    ]
    cells = {row[0].text: row[1] for row in formulas_table(kpis).rows}
    assert cells["Scheduled in the steady part"].detail == "450 a minute"
    assert cells["Queue wait"].reason


def _kpi_value(name: str, number: float, unit: str) -> KpiValue:
    return KpiValue(number, name=name, help="help", unit=unit, direction="higher")


def test_data_quality_table_lists_every_place_and_gap(measures: Measures) -> None:
    rows = measures.data_quality.astype("object")
    found = {row["what"]: row for row in rows.where(rows.notna(), None).to_dict("records")}
    places = ("completed", "failed", "churned", "deleted", "unseen", "unfinished")
    assert found["submitted"]["count"] == sum(found[name]["count"] for name in places) == 3
    assert [found[name]["count"] for name in places] == [1, 0, 0, 0, 1, 1]
    assert (found["lost"]["count"], found["lost"]["stated"]) == (None, 1)
    assert found["lost"]["ratio"] == pytest.approx(1 / 3)
    assert (found["unfinished"]["stated"], found["churned"]["stated"]) == (1, None)
    missing = measures.anomalies.query("problem == 'missing'")["count"].sum()
    assert found["missing latencies"]["count"] == missing > 0
    assert found["negative latencies"]["count"] == 0
    assert pd.isna(measures.data_quality["ratio"].iloc[-1])
