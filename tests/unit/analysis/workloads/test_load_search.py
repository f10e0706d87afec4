"""The kind of a search for the highest load within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.load_searches import load, write_load_search


def highest(place: Path, *loads: dict[str, Any]) -> KpiValue:
    write_load_search(place / "000__cell", loads)
    (analysis,) = analyse_run(place, place / "out").analyses
    (kpi,) = analysis.kpis
    return kpi


def test_interval_is_between_certain_loads(tmp_path: Path) -> None:
    kpi = highest(tmp_path, load(1, 0.1), load(8, 0.25), load(10, 0.295), load(12, 0.305), load(16, 0.5))
    assert (kpi.number, kpi.low, kpi.high) == (10, 8, 16)


def test_search_without_a_miss_has_no_interval(tmp_path: Path) -> None:
    kpi = highest(tmp_path, load(1, 0.1), load(64, 0.2))
    assert (kpi.number, kpi.low, kpi.high) == (64, None, None)
    assert kpi.reason
    assert "no interval" in kpi.reason


def test_search_without_a_load_within_limits_has_no_value(tmp_path: Path) -> None:
    kpi = highest(tmp_path, load(1, 0.5))
    assert (kpi.number, kpi.reason) == (None, "no load was within the limits")


def test_report_draws_measures_as_shares_of_their_limits(tmp_path: Path) -> None:
    write_load_search(tmp_path / "000__cell")
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    measures = analysis.frames["load_search_measures"]
    shares = measures[measures["measure"] == "ttft_p95"]["share"]
    assert list(shares) == pytest.approx([1 / 3, 4 / 3])
    titles = {getattr(block, "title", "") for section in analysis.sections for block in section.blocks}
    assert "Measures as a share of their limits" in titles
