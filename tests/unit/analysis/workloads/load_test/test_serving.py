"""A load and its server on one time axis, and the cause of a knee by the server's numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from perfanalysis.__main__ import run as perfanalysis
from perfanalysis.drawing.charts import Chart, Figure
from perfanalysis.workloads.load_test.serving import cause_of_knee
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.load_tests import Load, write_llm_load_test
from tests.data.prometheus_windows import Series, write_window
from tests.data.synthetic_runs import EPOCH

LOADS = (1, 4, 8, 16, 32)


def _write_load(folder: Path, streams: int, slots: int) -> None:
    """Write a load whose server answers *slots* requests concurrently, with scrapes of the server beside it."""
    write_llm_load_test(folder, Load(streams, 40 * streams, slots=slots))
    waiting = [float(max(0, streams - slots))] * 40
    answers = {
        "server_running_requests": [Series({}, [float(min(slots, streams))] * 40, EPOCH)],
        "server_waiting_requests": [Series({}, waiting, EPOCH)],
        "server_kv_cache_usage_ratio": [Series({}, [0.25] * 40, EPOCH)],
        "server_ttft_p95_seconds": [Series({}, [0.06] * 40, EPOCH)],
    }
    window = folder / "server_metrics"
    write_window(window, (EPOCH, EPOCH + 80), answers)
    path = window / "prometheus_queries.yml"
    document = yaml.safe_load(path.read_text())
    for query in document["queries"][:3]:
        query |= {"statistics": ["mean", "max"], "direction": "lower"}
    path.write_text(json.dumps(document))


def _run(tmp_path: Path) -> RunAnalysis:
    """Return a run of several loads of a server with 8 slots."""
    for place, streams in enumerate(LOADS):
        folder = tmp_path / "run" / "001__cell__0" / f"{place + 1:03}__llm_load_test__run" / "artifacts"
        _write_load(folder, streams, slots=8)
    return analyse_run(tmp_path / "run", tmp_path / "out")


def _nightly_run(tmp_path: Path, day: int, slots: int) -> Path:
    """Write a finished run of one load with 16 users; return its directory."""
    run = tmp_path / f"kserve-202601{day:02d}T000000Z-aaa{day:03d}"
    _write_load(run / "001__cell__0/001__llm_load_test__run/artifacts", 16, slots)
    moment = f"2026-01-{day:02d}T00:00:00.000Z"
    document: dict[str, Any] = {
        "schema": "psap.perf/run/1",
        "id": run.name,
        "parent": None,
        "flow": "kserve",
        "exit_code": 0,
        "reason": None,
        "status": "ok",
        "started": moment,
        "ended": moment,
        "attempts": [],
    }
    (run / "run.json").write_text(json.dumps(document))
    (run / "settings.yml").write_text(json.dumps({"schema": "psap.perf/settings/1", "all": {}, "hosts": {}}))
    return run


def _charts(figure: Figure) -> dict[str, Chart]:
    return {chart.title: chart for row in figure.rows for chart in row}


def test_load_and_server_share_a_time_axis_and_explain_the_knee(tmp_path: Path) -> None:
    run = _run(tmp_path)
    last = run.analyses[-1]
    (figure,) = (block for block in last.sections[0].blocks if isinstance(block, Figure))
    assert figure.marks == ("simulated: synthetic data",)
    charts = _charts(figure)
    assert list(charts) == ["Requests", "KV cache", "Tokens out", "Time to first token", "Inter-token latency",
                            "Request latency"]  # fmt: skip
    assert len({(chart.x.low, chart.x.high) for chart in charts.values()}) == 1
    flight, running, waiting = charts["Requests"].layers
    assert (flight.y.max(), running.y.max(), waiting.y.max()) == (32, 8, 24)
    assert charts["KV cache"].layers[0].y.tolist()[0] == 25.0
    assert [layer.label for layer in charts["Time to first token"].layers] == ["P50, load", "P95, load", "P95, server"]
    assert {kpi.name: kpi.number for kpi in last.kpis}["server_waiting_requests_mean"] == 24
    figures = {one.name: one for one in run.figures}
    assert "waiting requests, mean: 0.0 to 24.0." in figures["latency"].caption
    spread = _charts(figures["spread"])
    assert [layer.label for layer in spread["Time to first token"].layers] == [
        "all recordings, P10", "all recordings, P50", "all recordings, P90",
    ]  # fmt: skip
    assert spread["Output rate of a request"].y.unit == "tokens/s"


def test_kpi_of_the_server_is_judged_compared_and_searched_for_regressions(tmp_path: Path) -> None:
    """The queue of a server that answers 4 requests concurrently instead of 8, with 16 users."""
    name, history, out = "server_waiting_requests_mean", str(tmp_path / "history"), str(tmp_path / "out")
    runs = [_nightly_run(tmp_path, day, slots=8 if day < 10 else 4) for day in range(1, 13)]
    before, after = str(runs[0]), str(runs[-1])
    limit = ["--threshold", f"{name}=8"]
    assert perfanalysis(["judge", before, *limit]) == 0
    assert perfanalysis(["judge", after, *limit]) == 4
    (verdict,) = json.loads((runs[-1] / "report/verdict.json").read_text())["recordings"]
    (judged,) = (one for one in verdict["thresholds"] if one["measure"] == name)
    assert (judged["value"], judged["limit"]) == (12, 8)

    assert perfanalysis(["compare", before, after, "--fail-on-worse", "--output", out]) == 4
    (pair,) = json.loads((tmp_path / "out/comparison.json").read_text())["pairs"]
    (compared,) = (one for one in pair["kpis"] if one["name"] == name)
    assert compared["values"] == [8, 12]

    for run in runs:
        assert perfanalysis(["history", "add", str(run), "--into", history]) == 0
    assert perfanalysis(["regress", after, "--history", history, "--output", out]) == 4
    (recording,) = json.loads((tmp_path / "out/regression.json").read_text())["recordings"]
    assert {one["name"]: one["verdict"] for one in recording["kpis"]}[name] == "worse"


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("server_waiting_requests_mean", [0.0, 0.1, 6.0], "waiting requests, mean: 0.1 to 6.0"),
        ("server_kv_cache_usage_max", [0.2, 0.6, 0.99], "KV cache, maximum: 60 % to 99 %"),
        ("container_all_cpu_throttled_mean", [0.0, 0.02, 0.3], "CPU throttled, mean: 2 % to 30 %"),
        ("server_waiting_requests_mean", [0.0, 5.0, 6.0], ""),
        ("server_kv_cache_usage_max", [0.2, 0.6, 0.9], ""),
    ],
)
def test_cause_of_a_knee_is_what_grows_beyond_it(column: str, values: list[float], expected: str) -> None:
    rows = pd.DataFrame({"load": ["1 user", "4 users", "9 users"], column: values})
    sentence = cause_of_knee(rows, 1)
    assert sentence == (f" On the server, from the knee (4 users) to 9 users: {expected}." if expected else "")
    assert cause_of_knee(rows, 2) == ""


def test_statistics_and_slopes_of_latencies(tmp_path: Path) -> None:
    write_llm_load_test(tmp_path / "001__cell__0/001__llm_load_test__run/artifacts", Load(4, 200))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {kpi.name: kpi for kpi in analysis.kpis}
    values = analysis.frames["requests"]["ttft_s"].to_numpy(dtype=float)
    expected = {"min": values.min(), "mean": values.mean(), "p80": np.quantile(values, 0.8), "max": values.max()}
    assert {name: found[f"ttft_{name}"].number for name in expected} == pytest.approx(expected)
    starts = analysis.frames["requests"]["started_s"].to_numpy(dtype=float)
    slope = found["ttft_degrade_speed"]
    assert slope.unit == "seconds/s"
    assert slope.number == pytest.approx(np.polyfit(starts - starts[0], values, 1)[0])
    assert slope.low is not None
    assert slope.high is not None
    assert slope.low < 0 < slope.high
