"""orion's JSON, configs and acknowledgements: imported, judged, and refused with their position."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.imports.orion.config import OrionTest, chosen_test, kpi_name, read_config
from perfanalysis.imports.orion.runs import read_output
from perfanalysis.results.history.folder import load
from perfanalysis.verdicts.regression.verdict import Options, Regression, regress
from perfanalysis.verdicts.regression.watched import Acknowledged, Watch, read_judged, read_orion_acknowledged

DATA = Path(__file__).resolve().parents[3] / "data" / "foreign" / "orion"
VARIABLES = '{"version": "4.19"}'
LAST = "7f1e6c00-0000-4000-8000-000000000011"


def import_runs(folder: Path, *more: str) -> int:
    given = [str(DATA / "node-density.json"), "--history", str(folder), "--orion-test", "node-density"]
    return run(["import", "orion", *given, *more])


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("podReadyLatency_P99", "pod_ready_latency_p99"),
        ("apiserverCPU_avg", "apiserver_cpu_avg"),
        ("99thEtcdDiskDurationSeconds_max", "m_99th_etcd_disk_duration_seconds_max"),
        ("ovn-controller_CPU_percentiles", "ovn_controller_cpu_percentiles"),
        ("…", ""),
    ],
)
def test_column_yields_a_kpi_name(column: str, name: str) -> None:
    assert kpi_name(column) == name


def test_runs_enter_a_history_with_fields_of_the_config(tmp_path: Path) -> None:
    config = ["--orion-config", str(DATA / "config.yaml"), "--orion-vars", VARIABLES, "--unit", "pod_*=ms"]
    assert import_runs(tmp_path / "history", *config) == 0
    history = load(tmp_path / "history")
    assert (len(history.documents), history.findings) == (12, ())
    changed = history.entries()[9]
    ready = changed.kpis["pod_ready_latency_p99"]
    assert ready.number == pytest.approx(3.077)
    assert (ready.unit, ready.direction) == ("seconds", "lower")
    assert changed.kpis["kubelet_cpu_avg"].unit == "{unknown}"
    assert changed.kpis["m_99th_etcd_disk_duration_seconds_max"].direction == "neither"
    assert (changed.flow, changed.recording, changed.keys) == ("orion", "node-density", {"test": "node-density"})
    assert changed.facts["ocpVersion"] == "4.19.0-rc.9"
    assert changed.facts["orion.changes"] == {"podReadyLatency_P99": 29.1}
    assert changed.started == "2026-01-10T00:00:00.000Z"


def test_later_file_adds_only_new_consistent_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_runs(tmp_path / "history") == 0
    pulls = ["import", "orion", str(DATA / "pull-request.json"), "--history", str(tmp_path / "history")]
    assert run([*pulls, "--orion-test", "node-density"]) == 0
    printed = capsys.readouterr()
    assert "1 run of node-density added, 4 already there" in printed.out
    assert "was left out: no number for kubeletCPU_avg" in printed.err
    assert run([*pulls, "--orion-test", "node-density", "--unit", "pod_*=ms"]) == 0
    assert "the history has other values or units of pod_ready_latency_p99" in capsys.readouterr().err
    history = load(tmp_path / "history")
    assert (len(history.documents), history.findings) == (13, ())
    assert history.entries()[-1].keys == {"test": "node-density", "pull": "311"}


def test_same_run_of_another_test_is_kept_separately(tmp_path: Path) -> None:
    assert import_runs(tmp_path / "history") == 0
    other = ["import", "orion", str(DATA / "node-density.json"), "--history", str(tmp_path / "history")]
    assert run([*other, "--orion-test", "another"]) == 0
    entries = load(tmp_path / "history").entries()
    assert {entry.recording for entry in entries} == {"another", "node-density"}
    assert len(entries) == 24


def config(name: str = "node-density") -> OrionTest:
    path = DATA / "config.yaml"
    return chosen_test(read_config(path, {"version": "4.19"}), name, path)


def test_config_inherits_and_overrides() -> None:
    test = config()
    assert test.metadata == {"platform": "AWS", "workerNodesCount": 6, "wildcard": {"ocpVersion": "4.19*"}}
    assert [metric.column for metric in test.metrics] == ["kubeletCPU_avg", "podReadyLatency_P99", "nodeVersion_kernel"]
    ready = test.metrics[1]
    assert (ready.threshold, ready.direction, ready.correlation, ready.context) == (10.0, 1, "kubeletCPU_avg", 2)
    assert ready.fields == {"metricName.keyword": "podLatencyQuantilesMeasurement", "quantileName": "Ready"}
    assert ready.without == {"jobConfig.name": ("garbage-collection",)}
    assert (ready.metric_name, ready.labels, test.metrics[2].carried) == (
        "podLatencyQuantilesMeasurement",
        ("[Team: nodes]",),
        True,
    )


def test_config_can_exclude_inherited_metrics_and_fan_out() -> None:
    test = config("churn")
    assert test.metadata == {"platform": "BareMetal"}
    assert [metric.column for metric in test.metrics] == [
        "throughput_achievedQps",
        "etcdCPU_percentiles",
        "ovnCPU_percentiles",
    ]
    assert test.metrics[1].fields["labels.namespace.keyword"] == "openshift-etcd"
    assert (test.metrics[2].percentile, test.metrics[0].threshold) == (99.0, 2.5)


def test_config_lists_judged_and_unsupported_metrics() -> None:
    judged = read_judged(DATA / "config.yaml", "node-density", VARIABLES)
    assert judged.watched == (
        Watch("kubelet_cpu_avg", "lower", 0.1),
        Watch("pod_ready_latency_p99", "lower", 0.1, confirmed_by="kubelet_cpu_avg", within=2),
    )
    assert len(judged.notes) == 1
    assert "metadata (platform, wildcard, workerNodesCount) selects runs of orion's index" in judged.notes[0]
    churn = read_judged(DATA / "config.yaml", "churn", VARIABLES)
    assert [watch.direction for watch in churn.watched] == ["higher", "either", "either"]


def test_variables_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERSION", "4.20")
    (first, _) = read_config(DATA / "config.yaml", {})
    assert first.metadata["wildcard"] == {"ocpVersion": "4.20*"}


def judged_last(history: Path, acknowledged: Acknowledged) -> Regression:
    entries = load(history).entries()
    current = [entry for entry in entries if entry.run == LAST]
    watched = read_judged(DATA / "config.yaml", "node-density", VARIABLES).watched
    return regress(current, entries, Options(watched=watched), acknowledged)


def test_last_run_is_judged_with_config_and_acknowledgement(tmp_path: Path) -> None:
    assert import_runs(tmp_path / "history") == 0
    regression = judged_last(tmp_path / "history", Acknowledged())
    worse = [kpi.kpi.name for _, kpi in regression.of("worse")]
    assert worse == ["pod_ready_latency_p99", "kubelet_cpu_avg"]
    assert sum(regression.counts().values()) == 2
    accepted = judged_last(tmp_path / "history", read_orion_acknowledged(DATA / "acknowledged.yaml"))
    ((_, ready),) = accepted.of("acknowledged")
    assert (ready.kpi.name, ready.reason) == (
        "pod_ready_latency_p99",
        "without an end: the image registry moved",
    )


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


METRIC = "tests:\n  - name: a\n    metrics:\n      - name: m\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no list of tests"),
        ("tests:\n  - a\n  - {{ other }}", "missing variable: 'other' is undefined"),
        ("tests: [", r"config.yaml:1: invalid YAML"),
        ("tests:\n  - {% if", r"config.yaml:2: invalid Jinja2 template"),
        ("tests: {{ 1 / 0 }}", "cannot render the template: ZeroDivisionError"),
        ("tests: {{ ''.__class__.__mro__ }}", "cannot render the template: SecurityError"),
        ("tests:\n  - 3", "test 1 must be a mapping with a name"),
        ("metricsFile: none.yaml\ntests: [{name: a}]", "cannot read .*none.yaml"),
        (METRIC, r"config.yaml:4: metric m: it needs metric_of_interest or agg"),
        (
            METRIC + "        metric_of_interest: v\n        direction: 2",
            r"metric m: direction must be 1, 0 or -1, not 2",
        ),
        (
            METRIC + "        metric_of_interest: v\n        threshold: -1",
            r"metric m: threshold must be a number, 0 or",
        ),
        (METRIC + "        agg: {agg_type: median}", r"agg needs agg_type, one of avg, .*; not 'median'"),
        (METRIC + "        agg: {agg_type: percentiles, target_percentile: 0}", "target_percentile must be above 0"),
        (METRIC + "        metric_of_interest: v\n        not: [a]", "not must be a mapping"),
        (
            METRIC + "        metric_of_interest: v\n        correlation: x_y",
            "correlation x_y is not one of its columns: m_v",
        ),
        (METRIC + "        metric_of_interest: v\n        fan_out: 3", "fan_out must be a list"),
        (METRIC + "        metric_of_interest: v\n        fan_out: [{name: b}]", "fan_out cannot set name"),
        (METRIC + "        metric_of_interest: v\n        fan_out: [{a: 1}, {a: 2}]", "2 metrics have the column m_v"),
        ("tests: [{name: a, metrics: [{metric_of_interest: v}]}]", "a metric needs a name"),
        ("tests: [{name: a, metrics: 3}]", "metrics must be a list of mappings"),
        ("tests: [{name: a}]\nparentConfig: config.yaml", "test a cannot be judged"),
    ],
)
def test_invalid_config_is_one_error_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_judged(write(tmp_path, text), None, None)


def test_unsupported_features_are_reported(tmp_path: Path) -> None:
    text = (
        METRIC
        + "        metric_of_interest: v\n        group_by: labels.namespace\n      - {name: n, metric_of_interest: v}"
    )
    judged = read_judged(write(tmp_path, text), None, None)
    assert [watch.kpi for watch in judged.watched] == ["n_v"]
    assert "group_by of m: its values are only in orion's index" in judged.notes[0]


def test_test_name_is_required_among_several() -> None:
    with pytest.raises(UsageError, match="has the tests node-density, churn; choose one with --orion-test"):
        read_judged(DATA / "config.yaml", None, VARIABLES)
    with pytest.raises(UsageError, match="--orion-vars must be a JSON object"):
        read_judged(DATA / "config.yaml", None, "[]")
    with pytest.raises(UsageError, match="--orion-vars is not JSON"):
        read_judged(DATA / "config.yaml", None, "{")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "it must be a mapping with ack"),
        ("ack: [a]", "each entry of ack must be a mapping"),
        ("ack:\n  - {uuid: a}", r"config.yaml:2: missing: metric"),
        ("ack:\n  - {uuid: a, metric: b, until: 3}", r"config.yaml:2: unknown: until"),
    ],
)
def test_invalid_acknowledgement_is_one_error_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_orion_acknowledged(write(tmp_path, text))


def test_empty_acknowledgement_file_is_valid(tmp_path: Path) -> None:
    assert read_orion_acknowledged(write(tmp_path, "---\n")) == Acknowledged()


ENTRY: dict[str, Any] = {"uuid": "u", "timestamp": 1, "metrics": {"a_v": {"value": 1}}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "is not JSON"),
        ("3", "is not JSON of orion"),
        ("[]", "contains no run"),
        ("[3]", "entry 1 has no uuid"),
        (json.dumps([ENTRY, {**ENTRY, "uuid": 7}]), "entry 2 has no uuid"),
        (json.dumps([{**ENTRY, "metrics": {"a": 3}}]), r"entry 1 \(u\): metrics must be an object of objects"),
        (json.dumps([{**ENTRY, "timestamp": "noon"}]), r"entry 1 \(u\): timestamp 'noon' is not a time"),
        (json.dumps([{**ENTRY, "timestamp": -3}]), "timestamp -3 is not a time"),
        (json.dumps({"periodic": [], "pulls": 3}), "pulls must be a list"),
        (json.dumps({"periodic": [], "pulls": [{"pr": 3}]}), "pull request 3 has no list of runs"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_file_of_another_format_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "output.json"
    path.write_text(content)
    with pytest.raises(DataQualityError, match=message):
        read_output(path)


@pytest.mark.parametrize("stamp", [1767225600, 1767225600000, "1767225600", "2026-01-01T01:00:00+01:00"])
def test_any_timestamp_format_is_accepted(tmp_path: Path, stamp: object) -> None:
    path = tmp_path / "output.json"
    path.write_text(json.dumps([{**ENTRY, "timestamp": stamp}]))
    assert read_output(path).runs[0].started_s == 1767225600


def test_duplicate_columns_and_runs_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "output.json"
    arguments = ["import", "orion", str(path), "--history", str(tmp_path / "history")]
    path.write_text(json.dumps([{**ENTRY, "metrics": {"a_b": {"value": 1}, "a-b": {"value": 2}}}]))
    assert run(arguments) == 5
    path.write_text(json.dumps([ENTRY, ENTRY]))
    assert run(arguments) == 2
    errors = capsys.readouterr().err
    assert "output.json: several of the columns a_b, a-b have the same KPI name" in errors
    assert "output of the run u occurs twice" in errors
    assert not (tmp_path / "history").exists()
    path.write_text(json.dumps([ENTRY]))
    assert run([*arguments, "--unit", "a=bananas"]) == 2
    assert run([*arguments, "--unit", "=s"]) == 2
    assert "unit 'bananas'" in capsys.readouterr().err


def test_regress_uses_orion_config_and_acknowledgements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_runs(tmp_path / "history") == 0
    arguments = ["regress", LAST, "--history", str(tmp_path / "history"), "--output", str(tmp_path / "out")]
    config = ["--orion-config", str(DATA / "config.yaml"), "--orion-test", "node-density", "--orion-vars", VARIABLES]
    assert run([*arguments, *config, "--orion-ack", str(DATA / "acknowledged.yaml")]) == 4
    document = json.loads((tmp_path / "out" / "regression.json").read_text())
    (recording,) = document["recordings"]
    verdicts = {kpi["name"]: (kpi["verdict"], kpi["direction"]) for kpi in recording["kpis"]}
    assert verdicts == {
        "pod_ready_latency_p99": ("acknowledged", "lower"),
        "kubelet_cpu_avg": ("worse", "lower"),
    }
    assert any("metadata (platform, wildcard, workerNodesCount)" in note for note in document["notes"])
    assert (tmp_path / "out" / "regression.html").exists()
    capsys.readouterr()
    assert run([*arguments, "--orion-config", str(tmp_path / "none.yaml")]) == 2
    assert f"cannot read {tmp_path / 'none.yaml'}" in capsys.readouterr().err
