"""orion's columns, computed from a kube-burner folder by the metrics of a config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.__main__ import run
from perfanalysis.imports.orion.config import OrionTest, read_config
from perfanalysis.imports.orion.runs import columns_of, unlike
from perfanalysis.results.history.folder import load
from perfanalysis.verdicts.regression.watched import read_judged

from tests.data.kube_burner_folders import UUID, node_density

READY = {
    "name": "ready",
    "metricName.keyword": "podLatencyQuantilesMeasurement",
    "quantileName": "Ready",
    "metric_of_interest": "P99",
}
ETCD = {
    "name": "etcd",
    "metricName": "namespace_cpu_cores",
    "labels.namespace.keyword": "openshift-etcd",
    "metric_of_interest": "value",
}


def write_config(tmp_path: Path, *metrics: dict[str, Any], **test: Any) -> Path:
    path = tmp_path / "orion.yaml"
    path.write_text(json.dumps({"tests": [{"name": "night", "metrics": list(metrics), **test}]}))
    return path


def config(tmp_path: Path, *metrics: dict[str, Any], **test: Any) -> OrionTest:
    return read_config(write_config(tmp_path, *metrics, **test), {})[0]


VALUES = [{"metricName": "m", "value": value, "labels": {"a.b": str(value % 2)}} for value in (1, 2, 3, 6)]


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ({"agg_type": "avg"}, 3.0),
        ({"agg_type": "sum"}, 12.0),
        ({"agg_type": "max"}, 6.0),
        ({"agg_type": "min"}, 1.0),
        ({"agg_type": "count"}, 4.0),
        ({"agg_type": "percentiles", "target_percentile": 50}, 2.5),
        ({"agg_type": "percentiles"}, 3 + 0.85 * 3),
    ],
)
def test_aggregates_cover_all_matching_documents(tmp_path: Path, aggregate: dict[str, Any], value: float) -> None:
    metric = {"name": "m", "metricName": "m", "metric_of_interest": "value", "agg": aggregate}
    test = config(tmp_path, metric)
    others: list[dict[str, Any]] = [{"metricName": "other", "value": 99}, {"metricName": "m", "labels": {}}]
    found = columns_of(test, [*VALUES, *others] if aggregate["agg_type"] != "count" else VALUES)
    assert found.values == {f"m_{aggregate['agg_type']}": pytest.approx(value)}


def test_fields_select_documents_and_not_excludes_them(tmp_path: Path) -> None:
    metric = {"metricName": "m", "metric_of_interest": "value", "agg": {"agg_type": "sum"}}
    odd = {"name": "odd", **metric, "labels.a.b.keyword": 1}
    even = {"name": "even", **metric, "not": {"labels.a.b": ["1", "7"]}}
    assert columns_of(config(tmp_path, odd, even), VALUES).values == {"odd_sum": 4.0, "even_sum": 8.0}


def test_column_without_a_single_number_reports_why(tmp_path: Path) -> None:
    metric = {"name": "m", "metricName": "m", "metric_of_interest": "value"}
    grouped = {**metric, "name": "g", "group_by": "labels.a"}
    carried = {**metric, "name": "c", "type": "metadata"}
    found = columns_of(config(tmp_path, metric, {**metric, "name": "n", "metricName": "n"}, grouped, carried), VALUES)
    assert found.values == {}
    assert found.missing["m_value"] == "4 documents match: the metric needs agg or more fields"
    assert found.missing["n_value"] == "none of 0 matching documents has a number in value"
    assert found.missing["g_value"].startswith("group_by of g: its values are only in orion's index")
    assert "c_value" not in found.missing


def test_metadata_contradicting_the_run_is_reported(tmp_path: Path) -> None:
    metadata = {
        "platform": "AWS",
        "workerNodesCount": 6,
        "unknown": 3,
        "wildcard": {"ocpVersion": "4.1?.*"},
        "not": {"stream": ["okd"], "fips": True},
    }
    test = config(tmp_path, READY, metadata=metadata)
    given = {"platform": "AWS", "workerNodesCount": 6, "ocpVersion": "4.19.3", "stream": "ocp"}
    assert unlike(test, given) == ()
    other = {"platform": "GCP", "workerNodesCount": 6, "ocpVersion": "4.9", "stream": "okd", "fips": True}
    assert unlike(test, other) == (
        "platform is GCP, not AWS",
        "ocpVersion is 4.9, which is not 4.1?.*",
        "stream is okd",
        "fips is True",
    )


def test_folder_enters_a_history_as_orion_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = node_density(tmp_path / "folder")
    path = write_config(tmp_path, READY, {**ETCD, "agg": {"agg_type": "avg"}}, {**ETCD, "name": "all"}, metadata={})
    arguments = ["import", "kube-burner", str(folder), "--orion-config", str(path)]
    assert run([*arguments, "--history", str(tmp_path / "history")]) == 0
    assert "all_value: left out: 5 documents match" in capsys.readouterr().err
    (entry,) = load(tmp_path / "history").entries()
    assert (entry.run, entry.keys, entry.facts["ocpVersion"]) == (UUID, {"test": "night"}, "4.19.3")
    kpis = {name: kpi.number for name, kpi in entry.kpis.items()}
    assert kpis == {"ready_p99": 4000.0, "etcd_avg": pytest.approx(0.7)}
    assert run([*arguments, "--history", str(tmp_path / "history")]) == 0
    assert "0 runs of night added, 1 already there" in capsys.readouterr().out


def test_folder_of_another_test_or_without_columns_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = node_density(tmp_path / "folder")
    arguments = ["import", "kube-burner", str(folder), "--history", str(tmp_path / "history")]
    assert run(arguments) == 2
    path = write_config(tmp_path, READY, metadata={"platform": "GCP"})
    assert run([*arguments, "--orion-config", str(path)]) == 2
    path = write_config(tmp_path, {**READY, "quantileName": "None"})
    assert run([*arguments, "--orion-config", str(path)]) == 5
    errors = capsys.readouterr().err
    assert "pass --history and --orion-config together" in errors
    assert "does not match the test night: platform is AWS, not GCP" in errors
    assert "has no run of night: none of 0 matching documents" in errors
    assert not (tmp_path / "history").exists()


def test_quantile_metric_becomes_the_kpi_of_a_kube_burner_run(tmp_path: Path) -> None:
    path = write_config(tmp_path, {**READY, "correlation": "etcd_value"}, ETCD)
    known = ["reported_pod_ready_p99", "pod_ready_p99"]
    watched = {watch.kpi: watch.confirmed_by for watch in read_judged(path, None, None, known).watched}
    assert watched == {"reported_pod_ready_p99": "etcd_value", "etcd_value": None}
    both = read_judged(path, None, None, [*known, "ready_p99"]).watched
    assert [watch.kpi for watch in both] == ["ready_p99", "etcd_value"]
