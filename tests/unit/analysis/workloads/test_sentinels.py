"""Missing is null with a reason: no number of a KPI replaces a missing file."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import perfanalysis
import pytest
from perfanalysis.workloads.kpis import Kpi, KpiValue, evaluate
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.fine_tuning_runs import matrix, write_tuning_run
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow

SOURCES = Path(perfanalysis.__file__).parent
MEASURED_AS_NONE = {("workloads/scale_test/kpis_control_plane.py", 0.0)}
"""A ratio of requests: none of the counted ones was refused."""


def kpis(run: Path, output: Path) -> dict[str, KpiValue]:
    return {value.series: value for each in analyse_run(run, output).analyses for value in each.kpis}


def without_each_file(run: Path, folder: Path) -> Iterator[tuple[str, dict[str, KpiValue]]]:
    """Yield each file of the recording with the KPIs that remain without it."""
    for path in sorted(run.rglob("artifacts/**/*")):
        if path.is_file():
            copy = folder / f"without {path.name}"
            shutil.copytree(run, copy)
            (copy / path.relative_to(run)).unlink()
            yield path.name, kpis(copy, copy / "report")


@pytest.mark.parametrize("kind", ["scale test", "fine tuning"])
def test_missing_file_yields_no_numbers(tmp_path: Path, kind: str) -> None:
    if kind == "scale test":
        shape = Shape(workloads=40, nodes=4, pods=2, kind="TrainingWorkload", everything=True)
        run = write_run(tmp_path / "run", [shape])
    else:
        run = write_tuning_run(tmp_path / "run", matrix()[:1])
    whole = kpis(run, tmp_path / "whole")
    assert sum(value.number is not None for value in whole.values()) > 10
    tried = 0
    for name, found in without_each_file(run, tmp_path):
        tried += 1
        sentinels = [
            key for key, value in found.items() if value.number in (0, -1) and value.number != whole[key].number
        ]
        assert sentinels == [], name
        assert [key for key, value in found.items() if value.number is None and not value.reason] == [], name
    assert tried >= 2


def test_missing_file_is_not_reported_as_zero() -> None:
    zero: Kpi[None] = Kpi("lost", "how many", "pods", "lower", lambda _: Value(0.0))
    one: Kpi[None] = Kpi("seen", "how many", "pods", "lower", lambda _: Value(1.0))
    assert [value.number for value in evaluate((zero, one), None)] == [0.0, 1.0]
    lost, seen = evaluate((zero, one), None, ["a.jsonl"])
    assert (lost.number, lost.reason, seen.number) == (None, "not seen: a.jsonl is missing", 1.0)


def test_no_kpi_function_returns_a_literal() -> None:
    found = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Value" and node.args:
                try:
                    number = ast.literal_eval(node.args[0])
                except ValueError:
                    continue
                if number is not None:
                    found.add((str(path.relative_to(SOURCES)), number))
    assert found == MEASURED_AS_NONE
