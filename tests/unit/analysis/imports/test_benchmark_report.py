"""Benchmark Reports of llm-d-benchmark: exported ones match its published schema; its example is imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from perfanalysis.__main__ import run as perfanalysis
from perfanalysis.results.history.folder import load

from tests.data.boot_timings import boot_timing
from tests.data.load_tests import Load, write_guidellm, write_llm_load_test
from tests.schemas import check

FOREIGN = Path(__file__).parents[3] / "data/foreign/benchmark_report"
SCHEMA = json.loads((FOREIGN / "br_v0_2_json_schema.json").read_text())


def exported(run: Path) -> list[dict[str, Any]]:
    """Export a run and return its reports, which match the published schema."""
    assert perfanalysis(["export", "benchmark-report", str(run)]) == 0
    paths = sorted((run / "report/benchmark_report").iterdir())
    found: list[dict[str, Any]] = [yaml.safe_load(path.read_text()) for path in paths]
    for report in found:
        jsonschema.validate(report, SCHEMA)
    return found


def kpis_of(history: Path) -> dict[str, tuple[float, str]]:
    (document,) = load(history).documents
    check(document)
    (recording,) = document["recordings"]
    return {kpi["name"]: (kpi["value"], kpi["unit"]) for kpi in recording["kpis"]}


def test_exported_load_matches_the_schema_and_our_kpis(tmp_path: Path) -> None:
    write_llm_load_test(tmp_path / "001__cell__0/001__llm_load_test__run/artifacts", Load(4, 200, failing=50))
    (report,) = exported(tmp_path)
    assert perfanalysis(["kpi", str(tmp_path)]) == 0
    kpis = {one["name"]: one["value"] for one in json.loads((tmp_path / "report/kpis.json").read_text())["kpis"]}
    aggregate = report["results"]["request_performance"]["aggregate"]
    assert (aggregate["requests"]["total"], aggregate["requests"]["failures"]) == (200, 4)
    assert aggregate["latency"]["time_to_first_token"]["p95"] == pytest.approx(kpis["ttft_p95"])
    assert aggregate["latency"]["time_per_output_token"]["p50"] == pytest.approx(kpis["itl_p50"])
    assert aggregate["latency"]["normalized_time_per_output_token"]["mean"] == pytest.approx(kpis["tpot_mean"])
    assert aggregate["throughput"]["request_rate"]["mean"] == pytest.approx(kpis["requests_per_second"])
    load = report["scenario"]["load"]["standardized"]
    assert (load["tool"], load["concurrency"]) == ("llm_load_test", 4)
    assert report["run"]["keywords"] == ["simulated: synthetic data"]


def test_each_stage_is_a_report(tmp_path: Path) -> None:
    write_guidellm(tmp_path / "001__cell__0/001__load/artifacts", [Load(1, 40), Load(8, 80)], "0.8")
    reports = exported(tmp_path)
    assert [one["scenario"]["load"]["standardized"]["stage"] for one in reports] == [0, 1]
    assert len({one["run"]["uid"] for one in reports}) == 2


def test_exported_report_is_imported_with_the_same_kpis(tmp_path: Path) -> None:
    write_llm_load_test(tmp_path / "run/001__load/artifacts", Load(4, 200, failing=50))
    exported(tmp_path / "run")
    (path,) = (tmp_path / "run/report/benchmark_report").iterdir()
    history = tmp_path / "history"
    for _again in range(2):
        assert perfanalysis(["import", "benchmark-report", str(path), "--history", str(history)]) == 0
    assert perfanalysis(["kpi", str(tmp_path / "run")]) == 0
    ours = {
        one["name"]: (one["value"], one["unit"])
        for one in json.loads((tmp_path / "run/report/kpis.json").read_text())["kpis"]
    }
    imported = kpis_of(history)
    assert {"ttft_p99", "itl_p50", "tpot_mean", "request_latency_max", "requests_failed_ratio"} <= imported.keys()
    for name, (value, unit) in imported.items():
        assert value == pytest.approx(ours[name][0])
        assert unit == ours[name][1]
    (document,) = load(history).documents
    assert document["lab"]["simulated"] == ["synthetic data"]


def test_published_example_is_imported(tmp_path: Path) -> None:
    path, history = FOREIGN / "br_v0_2_example.yaml", tmp_path / "history"
    assert perfanalysis(["import", "benchmark-report", str(path), "--history", str(history)]) == 0
    found = kpis_of(history)
    assert found["ttft_p99"] == (0.05029489721637218, "seconds")
    assert found["requests_failed"] == (0, "requests")
    (document,) = load(history).documents
    assert document["run"] == "38b1f169ca178b756f7483523b17de61"
    keys = document["recordings"][0]["keys"]
    assert (keys["model"], keys["load"], keys["gpus"]) == ("Qwen/Qwen3-0.6B", "10 requests/s", 8)


def test_milliseconds_become_seconds_and_itl_of_tokens_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = yaml.safe_load((FOREIGN / "br_v0_2_example.yaml").read_text())
    latency = report["results"]["request_performance"]["aggregate"]["latency"]
    del latency["time_per_output_token"]
    latency["inter_token_latency"] = {"units": "ms/token", "mean": 20.0}
    path = tmp_path / "report.yaml"
    path.write_text(yaml.safe_dump(report))
    assert perfanalysis(["import", "benchmark-report", str(path), "--history", str(tmp_path / "history")]) == 0
    value, unit = kpis_of(tmp_path / "history")["itl_mean"]
    assert value == pytest.approx(0.02)
    assert unit == "seconds"
    assert "a distribution over tokens" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("version: '0.1'\nrun: {uid: a}\nresults: {}\n", 2, "version 0.1 is not supported"),
        ("a: 1\n", 5, "it is not a Benchmark Report"),
        ("version: '0.2'\nrun: {uid: a}\nresults: {}\n", 5, "the results of requests are missing"),
        ("[", 2, "cannot read"),
    ],
)
def test_other_file_is_refused(
    tmp_path: Path, text: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(text)
    assert perfanalysis(["import", "benchmark-report", str(path), "--history", str(tmp_path / "history")]) == code
    assert message in capsys.readouterr().err


def test_run_without_load_tests_has_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artifacts = tmp_path / "001__crc__capture_boot_timing/artifacts"
    artifacts.mkdir(parents=True)
    (artifacts / "boot_timing.yml").write_text(json.dumps(boot_timing()))
    assert perfanalysis(["export", "benchmark-report", str(tmp_path)]) == 2
    assert "has no load test" in capsys.readouterr().err
