"""kube-burner's local folder: quantiles recomputed from their samples, jobs as cells, reported damage."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from perfanalysis.__main__ import run
from perfanalysis.drawing.blocks import Table
from perfanalysis.drawing.charts import Figure
from perfanalysis.results.history.folder import load
from perfanalysis.workloads.kube_burner.documents import Quantiles, disagreements, read_quantiles
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.kube_burner_folders import (
    Percentile,
    interpolated,
    node_density,
    of_neighbours,
    pods,
    quantiles,
    summary,
    two_jobs,
    write,
)
from tests.schemas import schema_of


def import_folder(folder: Path, into: Path, code: int = 0) -> RunAnalysis:
    assert run(["import", "kube-burner", str(folder), "--into", str(into)]) == code
    return analyse_run(into, into / "report")


def numbers(result: RunAnalysis, cell: int = 0) -> dict[str, float | None]:
    return {kpi.name: kpi.number for kpi in result.analyses[cell].kpis}


def as_rows(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    columns = ("scheduled_after_s", "ready_to_start_after_s", "initialized_after_s", "containers_started_after_s")
    others = dict.fromkeys((*columns, "containers_ready_after_s"))
    return [{"job": "a", **others, "ready_after_s": pod["podReadyLatency"] / 1000} for pod in measured]


def test_hand_made_document_agrees_with_its_samples() -> None:
    """Ready after 1000, 2000, 4000 and 9000 ms: i = 0.5 · 4 = 2, the second; 3.8 and 3.96, the mean of the last two."""
    measured = [{"podReadyLatency": value} for value in (9000, 1000, 4000, 2000)]
    document = {"quantileName": "Ready", "jobName": "a", "metricName": "podLatencyQuantilesMeasurement"}
    reported = {"P50": 2000, "P95": 6500, "P99": 6500, "min": 1000, "max": 9000, "avg": 4000}
    (found,) = read_quantiles([{**document, **reported}], as_rows(measured))
    assert (found.method, found.farthest) == ("kube-burner", 0.0)
    assert list(disagreements(found)) == []
    # Interpolated: (4 - 1) · 0.5 = 1.5, halfway from the second to the third; 2.85 and 2.97 of the way
    (found,) = read_quantiles([{**document, **reported, "P50": 3000, "P95": 8250, "P99": 8850}], as_rows(measured))
    assert found.method == "linear"
    assert found.farthest == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("percentile", [of_neighbours, interpolated])
@pytest.mark.parametrize("count", [1, 2, 3, 19, 20, 99, 100, 101, 1000])
def test_documents_agree_with_samples_within_a_millisecond(percentile: Percentile, count: int) -> None:
    measured = pods("a", count, seed=count)
    rows = as_rows(measured)
    found = [one for one in read_quantiles(quantiles("a", measured, percentile), rows) if one.samples is not None]
    assert [one.condition for one in found] == ["Ready"]
    assert all(farthest is not None and farthest <= 1 for farthest in (one.farthest for one in found))


def test_percentile_method_is_recognized_by_its_values() -> None:
    chance = random.Random(3)
    measured = [{**pod, "podReadyLatency": chance.randrange(10_000)} for pod in pods("a", 33)]
    for percentile, method in ((of_neighbours, "kube-burner"), (interpolated, "linear")):
        document = quantiles("a", measured, percentile)[3]
        (found,) = read_quantiles([document], as_rows(measured))
        assert (found.method, list(disagreements(found))) == (method, [])


def test_other_measurements_have_units_and_no_samples() -> None:
    documents = [
        {"metricName": "pvcLatencyQuantilesMeasurement", "quantileName": "Bound", "P99": 1500},
        {"metricName": "svcLatencyQuantilesMeasurement", "quantileName": "Ready", "P99": 1.5e9, "P50": "?"},
    ]
    found: list[Quantiles] = list(read_quantiles(documents, []))
    assert [one.reported for one in found] == [{"P99": 1500.0}, {"P99": 1500.0}]
    assert [one.farthest for one in found] == [None, None]


def test_folder_becomes_a_run_with_kpis_figures_and_metrics(tmp_path: Path) -> None:
    result = import_folder(node_density(tmp_path / "folder"), tmp_path / "run")
    assert [finding for finding in result.findings if finding.severity != "note"] == []
    kpis = numbers(result)
    assert (kpis["pods"], kpis["quantiles_compared"], kpis["quantiles_differing"]) == (250, 36, 0)
    assert kpis["pod_ready_p99"] == kpis["reported_pod_ready_p99"]
    assert kpis["pod_ready_churn_p99"] is None
    assert kpis["iteration_rate"] == pytest.approx(250 / 120)
    assert kpis["pod_creation_rate"] == pytest.approx(249 / 12)
    (analysis,) = result.analyses
    figures = [block.name for section in analysis.sections for block in section.blocks if isinstance(block, Figure)]
    assert figures == ["pod_latencies", "ready_over_time", "starting", "pods_by_node", "metrics_others"]
    shown = [block for section in analysis.sections for block in section.blocks if isinstance(block, Table)]
    times = [cell.text for table in shown for row in table.rows for cell in row if cell.text.endswith(" UTC")]
    assert times == ["2026-01-01 00:00:00 UTC", "2026-01-01 00:02:00 UTC"]
    settings = result.run.settings["all"]
    assert {name: entry["compare"] for name, entry in settings.items()} == {
        "platform": "key",
        "workerNodesCount": "key",
        "ocpVersion": "ignore",
        "clusterName": "ignore",
    }
    assert (result.run.document["versions"], result.run.document["cluster"]["version"]) == (
        {"kube-burner": "1.17.3"},
        "4.19.3",
    )
    for name, kind in (("run.json", "run"), ("cell__000/cell.json", "cell")):
        jsonschema.validate(json.loads((tmp_path / "run" / name).read_text()), schema_of(kind))


def test_each_job_is_a_cell_with_its_documents(tmp_path: Path) -> None:
    result = import_folder(two_jobs(tmp_path / "folder"), tmp_path / "run")
    first, second = (cell.values["kube_burner_job"] for cell in result.run.cells)
    assert (first, second) == ("create", "touch")
    assert [numbers(result, cell)["pods"] for cell in (0, 1)] == [120, 40]
    assert [numbers(result, cell)["alerts"] for cell in (0, 1)] == [0, 1]
    assert [numbers(result, cell)["jobs_failed"] for cell in (0, 1)] == [0, 1]
    assert (result.run.status, [cell.status for cell in result.run.cells]) == ("failed", ["ok", "failed"])
    assert result.run.document["reason"]["why"] == "pods of namespace x-3 were not ready in 4h"
    assert run(["report", str(tmp_path / "run")]) == 0


def test_run_can_be_compared_and_stored(tmp_path: Path) -> None:
    for name, count in (("a", 250), ("b", 250)):
        import_folder(node_density(tmp_path / f"folder-{name}", count), tmp_path / name)
    assert run(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert run(["history", "add", str(tmp_path / "a"), "--into", str(tmp_path / "history")]) == 0
    (entry,) = load(tmp_path / "history").entries()
    assert (entry.kind, entry.keys["kube_burner_job"], entry.keys["platform"]) == (
        "jobSummary.json",
        "node-density",
        "AWS",
    )
    assert entry.kpis["pod_ready_p99"].direction == "lower"


def test_document_contradicting_its_samples_is_a_finding(tmp_path: Path) -> None:
    folder = node_density(tmp_path / "folder")
    path = folder / "podLatencyQuantilesMeasurement-node-density.json"
    documents = json.loads(path.read_text())
    documents[3]["P99"] += 500
    path.write_text(json.dumps(documents))
    result = import_folder(folder, tmp_path / "run")
    (finding,) = [finding for finding in result.findings if finding.severity == "warning"]
    assert finding.text == "node-density, Ready: P99 is 4500 ms in the document, but 4000 ms from its 250 pods"
    assert numbers(result)["quantiles_differing"] == 1


def test_unreadable_files_are_reported_and_the_rest_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = node_density(tmp_path / "folder")
    path = folder / "podLatencyMeasurement-node-density.json"
    path.write_text(path.read_text()[:1000])
    (folder / "namespace_cpu_cores-node-density.json").write_text('[3, {"a": 1}]')
    (folder / "other.json").write_text("{")
    result = import_folder(folder, tmp_path / "run", code=5)
    assert "could not read all of" in capsys.readouterr().err
    files = {finding.where.split("/")[-1] for finding in result.findings if finding.severity == "error"}
    assert files == {"podLatencyMeasurement-node-density.json"}
    assert numbers(result)["pods"] == 0
    assert numbers(result)["reported_pod_ready_p99"] == 4.0


@pytest.mark.parametrize(
    ("files", "code", "message"),
    [
        ({}, 2, "has no jobSummary.json; pass the unpacked folder of kube-burner's local indexer"),
        ({"jobSummary.json": "{"}, 5, "no job could be read: the file cannot be read"),
        ({"jobSummary.json": []}, 5, "no job could be read: it is empty"),
        ({"jobSummary.json": [3]}, 5, "no job could be read: 1 entries are not JSON objects"),
        ({"jobSummary.json": [summary("a", 3), {}]}, 5, "entry 2 has no jobConfig.name"),
    ],
)
def test_foreign_folder_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, Any], code: int, message: str
) -> None:
    folder = write(tmp_path / "folder", files)
    assert run(["import", "kube-burner", str(folder), "--into", str(tmp_path / "run")]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_job_with_only_a_summary_has_its_length(tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", {"jobSummary.json": summary("a", 3)})
    result = import_folder(folder, tmp_path / "run")
    kpis = {kpi.name: (kpi.number, kpi.reason) for kpi in result.analyses[0].kpis}
    assert kpis["pod_ready_p50"][0] is None
    assert kpis["pod_creation_rate"] == (None, "it needs pods at two different times")
    assert kpis["job_length"][0] == 120


def test_non_finite_numbers_are_missing(tmp_path: Path) -> None:
    strange = {**summary("a", 3), "elapsedTime": 10**400}
    strange["jobConfig"] |= {"jobIterations": "many"}
    measured = pods("a", 3)
    measured[0] |= {"podReadyLatency": 10**400, "timestamp": "0001-01-01T00:00:00Z", "jobIteration": 1.5}
    folder = write(tmp_path / "folder", {"jobSummary.json": [strange], "podLatencyMeasurement-a.json": measured})
    kpis = numbers(import_folder(folder, tmp_path / "run"))
    assert (kpis["job_length"], kpis["pods"], kpis["iteration_rate"]) == (None, 3, None)
    assert kpis["pod_ready_p50"] is not None


def test_unsplit_folder_has_all_jobs_and_counts_zeros(tmp_path: Path) -> None:
    folder = two_jobs(tmp_path / "folder")
    path = folder / "podLatencyMeasurement.json"
    measured = json.loads(path.read_text())
    path.write_text(json.dumps([{**measured[0], "podReadyLatency": 0}, *measured[1:]]))
    result = analyse_run(folder, tmp_path / "report")
    assert numbers(result)["pods"] == 160
    notes = [finding.text for finding in result.findings if finding.severity == "note"]
    assert "1 of 160 pods have the latency 0 until Ready: kube-burner writes 0 for negative ones" in notes
    (folder / "jobSummary.json").write_text("[]")
    findings = analyse_run(folder, tmp_path / "report").findings
    assert any(finding.text == "it holds no job" for finding in findings)


def test_settings_that_json_cannot_hold_are_left_out(tmp_path: Path) -> None:
    """Found by damaging such folders: `-1e999` is read as an infinity, which no run can contain."""
    folder = node_density(tmp_path / "folder", count=8)
    path = folder / "jobSummary.json"
    (document,) = json.loads(path.read_text())
    document["jobConfig"]["burst"] = document["platform"] = "BEYOND"
    path.write_text(json.dumps([document]).replace('"BEYOND"', "-1e999"))
    result = import_folder(folder, tmp_path / "run")
    assert "platform" not in result.run.settings["all"]
    assert "kube_burner_burst" not in result.run.cells[0].values
    assert "kube_burner_qps" in result.run.cells[0].values
