"""Reports of the first or last workloads only."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from perfanalysis.__main__ import run
from perfanalysis.reports.writing import make_report
from perfanalysis.workloads.scale_test.tables import select
from perfanalysis.workloads.workload_type import Selection

from tests.data.synthetic_runs import Shape, write_run
from tests.unit.analysis.hand_made import life, submission, tables, transition

pytestmark = pytest.mark.slow

SUBMITTED = [submission("b", 3.0), submission("a", 1.0), submission("c", 2.0)]
SEEN = [
    row
    for name, created in (("b", 3.1), ("a", 1.1), ("c", 2.1))
    for row in life(name, created=created, pod_created=9.0)
]


def names(selection: Selection, submitted: list[dict[str, object]] = SUBMITTED) -> tuple[list[str], list[str], str]:
    """Return the submitted and the observed workloads of a part, and its name."""
    part, words = select(tables(submitted, SEEN), selection)
    seen = part.transitions["workload"].dropna().astype("str").unique()
    return sorted(part.submissions["name"].astype("str")), sorted(seen), words


def test_first_selection_takes_the_first_submitted() -> None:
    assert names(Selection(first=2)) == (["a", "c"], ["a", "c"], "only the first 2 by submission: 2 of 3 workloads")


def test_last_selection_takes_the_last_submitted() -> None:
    assert names(Selection(last=1)) == (["b"], ["b"], "only the last 1 by submission: 1 of 3 workloads")


def test_last_selection_applies_to_the_first_selection() -> None:
    words = "only the last 1 of the first 2 by submission: 1 of 3 workloads"
    assert names(Selection(first=2, last=1)) == (["c"], ["c"], words)


def test_selection_larger_than_the_run_is_everything() -> None:
    assert names(Selection(first=9, last=9))[0] == ["a", "b", "c"]


def test_watched_workloads_are_in_order_of_observation() -> None:
    assert names(Selection(first=2), [])[:2] == ([], ["a", "c"])


def test_data_of_no_workload_is_kept() -> None:
    node = transition("Node", "node-0", "deleted", 5.0, workload=None)
    pod = transition("Pod", "stranger", "created", 5.0, workload=None)
    part, _ = select(tables(SUBMITTED, [*SEEN, node, pod]), Selection(first=1))
    assert sorted(part.transitions["kind"].astype("str").unique()) == ["Job", "Node", "Pod"]
    assert "stranger" not in set(part.transitions["name"])


def test_equal_names_in_several_namespaces_are_distinct() -> None:
    submitted = [submission("a", 1.0), submission("a", 2.0, namespace="other")]
    part, _ = select(tables(submitted, []), Selection(last=1))
    assert list(part.submissions["namespace"]) == ["other"]


def test_selection_has_a_report_next_to_the_full_one(small_run: Path) -> None:
    whole = make_report(small_run)
    before = whole.kpis.read_bytes()
    assert run(["report", str(small_run), "--first", "20"]) == 0
    target = small_run / "report" / "first-20"
    assert whole.kpis.read_bytes() == before
    words = "only the first 20 by submission: 20 of 60 workloads"
    assert (target / "index.html").read_text().count(words) > 5
    kpis = json.loads((target / "kpis.json").read_text())["kpis"]
    assert {kpi["labels"]["part"] for kpi in kpis} == {words}
    assert next(kpi["value"] for kpi in kpis if kpi["name"] == "workloads_submitted") == 20
    all_of_them = pd.read_parquet(whole.tables / "workloads.parquet")
    part = pd.read_parquet(target / "tables" / "workloads.parquet")
    assert list(part["workload"].astype("str")) == list(all_of_them["workload"].astype("str")[:20])
    pd.testing.assert_series_equal(part["running_s"], all_of_them["running_s"][:20])


def test_full_accounting_is_no_error_of_a_selection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = write_run(tmp_path, [Shape(workloads=40, nodes=5, duration=1.0, lost=0.1)])
    assert run(["report", str(directory), "--last", "10", "--output", str(tmp_path / "out")]) == 0
    assert "the full report has the accounting of all workloads" in capsys.readouterr().err
    assert (tmp_path / "out" / "index.html").is_file()


def test_selection_of_zero_is_refused(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(small_run), "--first", "0"]) == 2
    assert "--first" in capsys.readouterr().err
