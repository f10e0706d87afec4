"""A command does not create figures that it does not show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.kube_burner_folders import two_jobs
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow


def loaded_libraries(commands: list[list[str]]) -> str:
    """Return the drawing libraries that some commands loaded, in a process where creating figures fails."""
    code = f"""
import sys
from perfanalysis.__main__ import run
from perfanalysis.workloads.workload_type import Analysis
def refuse(*_):
    raise AssertionError("figures are made")
Analysis.sections = property(refuse)
for words in {commands!r}:
    assert run(words) == 0, words
print(*[name for name in ("matplotlib", "plotly") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_kpis_are_computed_without_plots(tmp_path: Path) -> None:
    scale_test = write_run(tmp_path / "a", [Shape(workloads=20, nodes=2, duration=1.0)])
    tuning = write_tuning_run(tmp_path / "b", [Training(gpus=1), Training(gpus=2)])
    commands = [["import", "kube-burner", str(two_jobs(tmp_path / "c")), "--into", str(tmp_path / "d")]]
    for run in (scale_test, tuning, tmp_path / "d"):
        history = ["history", "add", str(run), "--into", str(tmp_path / "history")]
        commands += [["kpi", str(run)], ["tables", str(run)], ["payload", str(run)], history]
    assert loaded_libraries(commands) == ""


@pytest.mark.deep
def test_comparison_draws_no_figures_of_its_runs(tmp_path: Path) -> None:
    runs = [str(write_run(tmp_path / name, [Shape(workloads=20, nodes=2, duration=1.0)])) for name in ("a", "b")]
    assert loaded_libraries([["compare", *runs]]) == ""
    assert loaded_libraries([["compare", *runs, "--png"]]) == "matplotlib"


def test_sections_are_built_once(small_run: Path, tmp_path: Path) -> None:
    [analysis] = analyse_run(small_run, tmp_path).analyses
    assert analysis.sections is analysis.sections
    assert [section.name for section in analysis.sections][:2] == ["latency", "percentiles"]
