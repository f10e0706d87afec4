"""A recording with every kind of event: every table has rows, and all numbers agree."""

from __future__ import annotations

import pytest
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run
from perfanalysis.workloads.scale_test.analysis import SPECS
from perfanalysis.workloads.scale_test.steps import STEPS

from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> RunAnalysis:
    folder = tmp_path_factory.mktemp("runs")
    shape = Shape(workloads=300, nodes=8, pods=2, rate=10.0, failing=0.02, kind="TrainingWorkload", everything=True)
    return analyse_run(write_run(folder, [shape]), folder / "report")


def test_every_table_has_rows(everything: RunAnalysis) -> None:
    [analysis] = everything.analyses
    assert {name for name in SPECS if not len(analysis.frames[name])} == set()


def test_every_step_and_kpi_has_a_value(everything: RunAnalysis) -> None:
    [analysis] = everything.analyses
    assert set(analysis.frames["percentiles"]["step"]) == {step.name for step in STEPS}
    missing = {value.name: value.reason for value in analysis.kpis if value.number is None}
    assert set(missing) == {
        *("apiserver_list_p99", "rescheduling_p99"),
        *(f"apiserver_{verb}_{word}" for verb in ("put", "delete") for word in ("median", "p99")),
        *(f"scheduler_algorithm_{word}" for word in ("median", "p99")),
    }


def test_accounting_includes_churned_workloads(everything: RunAnalysis) -> None:
    assert [finding.text for finding in everything.findings if finding.severity == "error"] == []
    rounds = everything.analyses[0].frames["rounds"]
    churned = next(value for value in everything.analyses[0].kpis if value.name == "workloads_churned")
    assert churned.number == rounds["deleted"].sum() > 0


def test_lost_nodes_are_found_and_named(everything: RunAnalysis) -> None:
    texts = [finding.text for finding in everything.findings if finding.severity == "warning"]
    assert texts == ["2 nodes were lost during the test (1 of them until the end): node-0001, node-0002"]
