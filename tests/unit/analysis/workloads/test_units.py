"""Units: Prometheus' base units, otherwise UCUM's with a reason; the documents name the accepted ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.units import TABLE, unit_of
from perfanalysis.workloads.kinds import shipped

HISTORY = Path(__file__).resolve().parents[4] / "docs" / "history.md"


def test_units_of_all_kpis_are_accepted() -> None:
    used = {kpi.unit for kind in shipped().all.values() for kpi in kind.kpis}
    assert used == {unit_of(unit).name for unit in used}
    assert {"seconds", "ratio", "tokens/s", "GiB"} <= used


@pytest.mark.parametrize(
    ("text", "name", "ucum", "metric"),
    [
        ("s", "seconds", "s", "seconds"),
        ("By", "bytes", "By", "bytes"),
        ("1", "ratio", "1", "ratio"),
        ("GPU-hours", "GPU-hours", "{GPU}.h", "gpu_hours"),
        ("workloads/s", "workloads/s", "{workload}/s", "workloads_per_second"),
        ("{pod}/s", "pods/s", "{pod}/s", "pods_per_second"),
        ("By/s", "bytes/s", "By/s", "bytes_per_second"),
        ("{house call}", "{house call}", "{house call}", "house_call"),
        ("{widget}/s", "{widget}/s", "{widget}/s", "widget_per_second"),
    ],
)
def test_unit_is_found_by_name_or_code(text: str, name: str, ucum: str, metric: str) -> None:
    unit = unit_of(text)
    assert (unit.name, unit.ucum, unit.metric) == (name, ucum, metric)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ms", "convert the values to seconds"),
        ("%", "convert the values to ratio"),
        ("MiB", "convert the values to bytes"),
        ("second", "did you mean seconds"),
        ("widgets", "name what you count in braces"),
        ("{}", "name what you count in braces"),
        ("bytes/s/s", "use a base unit of Prometheus"),
        ("ms/s", "convert the values to seconds"),
        ("/s", "use a base unit of Prometheus"),
        ("", "use a base unit of Prometheus"),
    ],
)
def test_other_unit_is_refused_with_valid_ones(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unit_of(text)


def test_units_table_of_the_page_is_complete() -> None:
    rows = [line.split("|")[1:4] for line in HISTORY.read_text().splitlines() if line.startswith("| `")]
    documented = {tuple(cell.strip().strip("`") for cell in row) for row in rows}
    assert {(unit.name, unit.ucum, unit.reason) for unit in TABLE} <= documented
