"""The kind of ghz: the KPIs of its calls, compared with ghz's own summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.ghz_results import detail, ghz

REAL = Path(__file__).resolve().parents[3] / "data/foreign/load_tests/ghz-0.121.0.json"


def analyse(folder: Path, document: dict[str, Any]) -> RunAnalysis:
    place = folder / "001__cell__0/003__wisdom__run_llm_load_test/artifacts/input_0"
    place.mkdir(parents=True)
    (place / "ghz.json").write_text(json.dumps(document))
    return analyse_run(folder, folder / "out")


def kpis_of(run: RunAnalysis) -> dict[str, float | None]:
    (analysis,) = run.analyses
    return {value.name: value.number for value in analysis.kpis}


def findings_of(run: RunAnalysis) -> list[tuple[str, str]]:
    """Return the findings about the results."""
    return [(one.severity, one.text) for one in run.findings if one.where.endswith("ghz.json")]


def test_kpis_match_hand_computation(tmp_path: Path) -> None:
    calls = [detail(at_s, took_s) for at_s, took_s in ((1.0, 0.5), (1.5, 0.7), (2.0, 0.6))]
    calls += [
        detail(2.1, 20.0, "DeadlineExceeded"),
        *(detail(2.2, 0.1, status) for status in ("Unavailable", "Unavailable", "ResourceExhausted", "Internal")),
    ]
    run = analyse(tmp_path, ghz(calls, length_s=4.0))
    assert kpis_of(run) == {
        "requests_per_second": 0.75,
        "request_latency_mean": pytest.approx(0.6),
        "request_latency_p50": pytest.approx(0.6),
        # too few for these
        **{f"request_latency_{share}": None for share in ("p90", "p95", "p99")},
        "requests_failed": 5,
        "requests_failed_ratio": 0.625,
        "requests_timed_out": 1,
        "requests_unavailable": 2,
        "requests_exhausted": 1,
    }
    (analysis,) = run.analyses
    assert dict(analysis.facts) == {"model": "ansible-wisdom", "load": "input 0", "concurrency": "2", "replicas": "1"}
    failures = analysis.frames["ghz_failures"]
    assert next(zip(failures["status"], failures["calls"], strict=True)) == ("Unavailable", 2)
    assert findings_of(run) == []


def test_kpis_of_a_real_result_equal_those_of_ghz(tmp_path: Path) -> None:
    """ghz computes percentiles of answered calls, by the next value above."""
    document = json.loads(REAL.read_text())
    run = analyse(tmp_path, document)
    found = kpis_of(run)
    codes = document["statusCodeDistribution"]
    failed = document["count"] - codes["OK"]
    assert failed > 0
    assert found["requests_failed"] == failed
    assert found["requests_unavailable"] == codes["Unavailable"]
    assert found["requests_exhausted"] == codes["ResourceExhausted"]
    assert found["requests_failed_ratio"] == failed / document["count"]
    assert found["requests_per_second"] == pytest.approx(codes["OK"] / (document["total"] / 1e9))
    stated = {f"p{one['percentage']}": one["latency"] / 1e9 for one in document["latencyDistribution"]}
    for share in ("p50", "p90", "p95", "p99"):
        assert found[f"request_latency_{share}"] == pytest.approx(stated[share], rel=0.05), share
    (analysis,) = run.analyses
    assert dict(analysis.frames["ghz_failures"].groupby("error")["calls"].sum()) == document["errorDistribution"]
    begin, end = analysis.period or (0.0, 0.0)
    assert end - begin == pytest.approx(document["total"] / 1e9, rel=0.05)


def test_incomplete_results_are_reported(tmp_path: Path) -> None:
    found = findings_of(analyse(tmp_path / "some", {**ghz([detail(1.0, 0.5)] * 3), "count": 5}))
    assert found == [("warning", "ghz recorded only 3 of 5 calls; it keeps the first million")]
    run = analyse(tmp_path / "none", {**ghz([]), "count": 5})
    assert [severity for severity, _text in findings_of(run)] == ["error"]
    assert set(kpis_of(run).values()) <= {None, 0.0}
