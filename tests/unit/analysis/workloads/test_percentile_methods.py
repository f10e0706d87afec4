"""The method of percentiles can be chosen, and is stated wherever a percentile is shown."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfanalysis.__main__ import run
from perfanalysis.workloads.percentiles import STATED, Method

from tests.data.synthetic_runs import Shape, write_run
from tests.schemas import check

pytestmark = pytest.mark.slow

STATED_IN = {"report": {"report.md": 6, "index.html": 6}, "compare": {"comparison.md": 1, "comparison.html": 3}}
"""Number of statements in tables and plots of these runs with percentiles; comparison.md has no plots."""


@pytest.fixture(name="even", scope="module")
def _even(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 60 workloads: the linear median is between two values, kube-burner's is the 30th."""
    return write_run(tmp_path_factory.mktemp("even"), [Shape(workloads=60, nodes=8, duration=1.0)], run="even")


def _write(command: str, run_directory: Path, output: Path, method: str | None) -> None:
    words = [command, str(run_directory), "--output", str(output)]
    if command == "compare":
        words.insert(2, str(run_directory))
    assert run([*words, *(() if method is None else ("--percentiles", method))]) == 0


def test_kpis_use_the_requested_percentile_method(
    even: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str | None, dict[str, Any]] = {}
    for method in (None, "linear", "kube-burner"):
        _write("kpi", even, tmp_path, method)
        document = json.loads((tmp_path / "kpis.json").read_text())
        assert check(document) == "psap.perf/kpis/1"
        assert document["percentiles"] == (method or "linear")
        found[method] = {kpi["name"]: kpi["value"] for kpi in document["kpis"]}
    capsys.readouterr()
    assert found[None] == found["linear"]
    values = np.sort(pd.read_parquet(tables_of(even, tmp_path) / "latencies.parquet")["scheduling_s"].to_numpy())
    assert found["linear"]["scheduling_p50"] == pytest.approx((values[29] + values[30]) / 2, abs=1e-12)
    assert found["kube-burner"]["scheduling_p50"] == pytest.approx(values[29], abs=1e-12)


def tables_of(run_directory: Path, output: Path) -> Path:
    assert run(["tables", str(run_directory), "--output", str(output)]) == 0
    return output / "tables"


@pytest.mark.parametrize(("method", "other"), [("linear", "kube-burner"), ("kube-burner", "linear")])
def test_tables_and_plots_state_the_percentile_method(
    even: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], method: Method, other: Method
) -> None:
    for command, files in STATED_IN.items():
        _write(command, even, tmp_path / method, method)
        for name, times in files.items():
            text = html.unescape((tmp_path / method / name).read_text()).replace("\\", "")
            assert text.count(STATED[method]) >= times
            assert STATED[other] not in text
    document = json.loads((tmp_path / method / "comparison.json").read_text())
    assert check(document) == "psap.perf/comparison/1"
    assert document["percentiles"] == method
    capsys.readouterr()


def test_runs_of_a_history_have_linear_percentiles(
    even: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["history", "add", str(even), "--into", str(tmp_path / "h")]) == 0
    words = ["compare", str(even), "even", "--history", str(tmp_path / "h"), "--output", str(tmp_path)]
    assert run(words) == 0
    assert run([*words, "--percentiles", "kube-burner"]) == 2
    assert "even is in a history, which has only linear percentiles; pass its directory" in capsys.readouterr().err
