"""Load tests: formats, KPIs from the records, comparison with the generator's summary, damage, several recordings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from perfanalysis.__main__ import run as perfanalysis
from perfanalysis.drawing.charts import Figure
from perfanalysis.results.history.folder import load
from perfanalysis.workloads.load_test.plots import knee, repeated_figure
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.load_tests import Load, document, requests_of, write_example, write_guidellm, write_llm_load_test
from tests.data.prometheus_windows import Series, write_window
from tests.schemas import check_file

FOREIGN = Path(__file__).parents[4] / "data" / "foreign" / "load_tests"
"""Output of the real programs, without texts and unread fields."""


def analyse(run: Path) -> RunAnalysis:
    return analyse_run(run, run / "report")


def numbers(result: RunAnalysis, place: int = 0) -> dict[str, float | None]:
    return {value.series: value.number for value in result.analyses[place].kpis}


def finding_texts(result: RunAnalysis) -> list[str]:
    return [finding.text for finding in result.findings if "benchmarks" in finding.where or "output" in finding.where]


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    whole = json.loads(path.read_text())
    change(whole)
    path.write_text(json.dumps(whole))


def test_real_guidellm_output_agrees_with_our_kpis(tmp_path: Path) -> None:
    """Its means are equal to ours; its median of 16 requests is the eighth, ours is between it and the next."""
    results = tmp_path / "000__t" / "artifacts" / "benchmarks.json"
    results.parent.mkdir(parents=True)
    shutil.copy(FOREIGN / "guidellm-0.8.1.json", results)
    (results.parent / "guidellm.json").write_text(json.dumps(document()))
    result = analyse(tmp_path)
    assert finding_texts(result) == []
    found = numbers(result)
    first = json.loads(results.read_text())["benchmarks"][0]["requests"]["successful"]
    times = [one["info"]["timings"] for one in first]
    ttft = sorted(one["first_token_iteration"] - one["request_start"] for one in times)
    assert ttft[7] == pytest.approx(0.06549310684204102)
    assert found['ttft_p50{load="1 user"}'] == pytest.approx((ttft[7] + ttft[8]) / 2)
    assert found['requests_failed{load="8 users"}'] == 0
    assert result.analyses[0].facts == {"model": "lab-model"}
    summary = result.analyses[0].frames["load_test"]
    assert list(summary["completed"]) == [16, 104]
    assert list(summary["cancelled"]) == [1, 8]
    assert result.analyses[0].frames["stated_summary"]["agrees"].all()


def test_real_llm_load_test_output_agrees_with_our_kpis(tmp_path: Path) -> None:
    results = tmp_path / "000__t" / "artifacts" / "output" / "output.json"
    results.parent.mkdir(parents=True)
    shutil.copy(FOREIGN / "llm-load-test.json", results)
    (results.parents[1] / "llm_load_test.json").write_text(json.dumps(document()))
    result = analyse(tmp_path)
    found = numbers(result)
    assert finding_texts(result) == []
    assert found["output_tokens_per_second"] == pytest.approx(530.4537067841003)
    assert found["ttft_p50"] == pytest.approx(0.062313199043273926)
    assert found["tpot_p90"] == pytest.approx(0.008178748403276717)
    assert result.analyses[0].facts == {"model": "lab-model", "load": "4 users"}


@pytest.mark.parametrize("version", ["0.3", "0.4", "0.8"])
def test_all_guidellm_versions_yield_the_same_requests(tmp_path: Path, version: str) -> None:
    load = Load(requests=120, failing=40)
    write_guidellm(tmp_path / "000__t" / "artifacts", [load], version)
    result = analyse(tmp_path)
    good = [one for one in requests_of(load) if not one.failed]
    assert finding_texts(result) == []
    found = numbers(result)
    assert found["ttft_p99"] == pytest.approx(np.quantile([one.first - one.started for one in good], 0.99), abs=1e-6)
    assert found["itl_p50"] == pytest.approx(
        np.median([(one.last - one.first) / (one.tokens - 1) for one in good]), abs=1e-6
    )
    assert (found["requests_failed"], found["requests_failed_ratio"]) == (3, 3 / 120)
    assert result.analyses[0].facts == {"model": "tiny", "load": "4 users"}


def test_conversations_of_guidellm_have_sessions_and_turns(tmp_path: Path) -> None:
    write_guidellm(tmp_path / "000__t" / "artifacts", [Load(requests=4)], "0.8")
    (path,) = (tmp_path / "000__t").rglob("benchmarks.json")
    results = json.loads(path.read_text())
    for number, request in enumerate(results["benchmarks"][0]["requests"]["successful"]):
        request |= {"cached_tokens": 10 * (number // 2)}
        request["info"] |= {"conversation_id": f"id-{number % 2}", "turn_index": number // 2}
    path.write_text(json.dumps(results))
    (analysis,) = analyse(tmp_path).analyses
    requests = analysis.frames["requests"]
    assert requests["session"].tolist() == [0, 1, 0, 1]
    assert requests["turn"].tolist() == [1, 1, 2, 2]
    assert analysis.frames["turns"]["turn"].tolist() == [1, 2]
    assert requests["cached_tokens"].tolist() == [0, 0, 10, 10]


def test_goodput_and_cost_match_hand_computation(tmp_path: Path) -> None:
    load = Load(requests=50, failing=25)
    limits, prices = {"ttft_s": 0.05}, {"gpus": 2, "gpu_product": "H100", "gpu_hour_prices": {"H100": 3.0}}
    write_llm_load_test(tmp_path / "000__t" / "artifacts", load, limits=limits, **prices)
    found = numbers(analyse(tmp_path))
    requests = requests_of(load)
    length = max(one.last for one in requests) - min(one.started for one in requests)
    good = sum(one.first - one.started <= 0.05 for one in requests if not one.failed)
    tokens = sum(one.tokens for one in requests if not one.failed)
    assert 0 < good < 48
    assert found["goodput"] == pytest.approx(good / length)
    assert found["goodput_ratio"] == pytest.approx(good / 50)
    assert found["cost_per_million_output_tokens"] == pytest.approx(6.0 / 3600 * length / tokens * 1e6)


def test_price_of_the_machines_replaces_prices_of_gpus(tmp_path: Path) -> None:
    write_llm_load_test(tmp_path / "000__a" / "artifacts", Load(requests=9), hour_price=6.0, gpu_hour_prices={"L4": 1})
    write_llm_load_test(
        tmp_path / "001__b" / "artifacts", Load(requests=9), gpus=2, gpu_product="H100", gpu_hour_prices={"H100": 3.0}
    )
    machines, gpus = (
        next(value.number for value in one.kpis if value.name == "cost_per_million_output_tokens")
        for one in analyse(tmp_path).analyses
    )
    assert machines == gpus


def test_energy_is_power_by_the_tokens_of_the_load(tmp_path: Path) -> None:
    load = Load(requests=50)
    write_llm_load_test(tmp_path / "000__t" / "artifacts", load)
    requests = requests_of(load)
    begin, end = min(one.started for one in requests), max(one.last for one in requests)
    name = "energy_per_million_output_tokens"
    assert numbers(analyse(tmp_path))[name] is None
    window = tmp_path / "001__cluster__query_prometheus_db/artifacts"
    write_window(window, (begin - 100, end + 100), {"gpu_all_power_watts": [Series({}, [360.0] * 1000, begin - 100)]})
    path = window / "prometheus_queries.yml"
    queries = yaml.safe_load(path.read_text())
    queries["queries"][0] |= {"direction": "lower", "statistics": ["mean"]}
    path.write_text(json.dumps(queries))
    found = numbers(analyse(tmp_path))
    tokens = sum(one.tokens for one in requests)
    assert found["gpu_all_power_mean"] == pytest.approx(360)
    assert found[name] == pytest.approx(360 * (end - begin) / 3600 / tokens * 1e6)


def test_unstated_value_is_null_with_a_reason(tmp_path: Path) -> None:
    write_llm_load_test(
        tmp_path / "000__t" / "artifacts", Load(requests=9), gpus=1, gpu_product="L4", gpu_hour_prices={"H100": 3.0}
    )
    found = {value.name: value.reason for value in analyse(tmp_path).analyses[0].kpis if value.number is None}
    assert found["goodput"] == "no latency limit was stated (limits)"
    assert found["cost_per_million_output_tokens"] == "the price table has no L4; known: H100"
    assert found["ttft_p99"] == "needs 100 values, found 9"


def test_failure_reasons_are_rows_with_times(tmp_path: Path) -> None:
    """In llm-load-test's formats: objects in memory, an object of the server, and a code alone."""
    load = Load(requests=50, failing=10)
    path = write_llm_load_test(tmp_path / "000__t" / "artifacts", load)
    refused = "ConnectionError(<Connection object at 0x7f00aa{:06x}>: refused)"
    responses = [(None, refused.format(1)), (None, refused.format(2)), (200, {"message": "engine died"}), (200, None)]

    def state(whole: dict[str, Any]) -> None:
        failed = [one for one in whole["results"] if one["error_code"]]
        for one, (code, text) in zip(failed[1:], responses, strict=True):
            one.update(error_code=code, error_text=text)

    edit_json(path, state)
    result = analyse(tmp_path)
    assert finding_texts(result) == []
    rows = result.analyses[0].frames["failed_requests"].set_index("error")
    assert rows["requests"].to_dict() == {
        "ConnectionError(<Connection object at 0x…>: refused)": 2,
        "no": 1,
        "engine died": 1,
        "status 200 without a message": 1,
    }
    sent = [one.started for one in requests_of(load) if one.failed]
    first = min(one.started for one in requests_of(load))
    refusals = rows.loc["ConnectionError(<Connection object at 0x…>: refused)"]
    assert (refusals["first_s"], refusals["last_s"]) == pytest.approx((sent[1] - first, sent[2] - first))


def test_summary_that_contradicts_its_records_is_a_finding(tmp_path: Path) -> None:
    path = write_guidellm(tmp_path / "000__t" / "artifacts", [Load(), Load(8)])
    edit_json(path, lambda whole: whole["benchmarks"][1]["metrics"]["request_latency"]["successful"].update(mean=9.0))
    (text,) = finding_texts(analyse(tmp_path))
    assert text.startswith("stage 1: mean of latency is 9 in its summary, but ")
    edit_json(path, lambda whole: whole["benchmarks"][1]["requests"]["successful"].pop())
    assert (
        "count of successful requests is 200 in its summary, but 199 by its records"
        in finding_texts(analyse(tmp_path))[0]
    )


def test_responses_without_streaming_have_no_first_token(tmp_path: Path) -> None:
    path = write_llm_load_test(tmp_path / "000__t" / "artifacts", Load())
    edit_json(path, lambda whole: [one.update(ttft=0, first_token_time=None) for one in whole["results"]])
    found = numbers(analyse(tmp_path))
    assert found["ttft_p50"] is None
    assert found["request_latency_p50"] is not None


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda path: path.unlink(), "the file is missing: guidellm wrote no records of requests"),
        (lambda path: path.write_bytes(path.read_bytes()[:-900]), "the file cannot be read: it is truncated"),
        (lambda path: path.write_text("{}"), "it is not a result of guidellm"),
        (lambda path: path.write_text('{"benchmarks": [{}]}'), "it has no records of requests"),
        (
            lambda path: edit_json(path, lambda one: one["benchmarks"][0]["requests"]["successful"][3].update(info=7)),
            "1 of 200 records are not of requests and were left out",
        ),
    ],
)
def test_damage_is_one_error(tmp_path: Path, damage: Callable[[Path], object], text: str) -> None:
    damage(write_guidellm(tmp_path / "000__t" / "artifacts", [Load()]))
    result = analyse(tmp_path)
    (error,) = [finding.text for finding in result.findings if finding.severity == "error"]
    assert error.startswith(text)
    assert perfanalysis(["kpi", str(tmp_path)]) == 5


def test_several_recordings_and_their_history(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_example(run)
    check_file(run / "000__simple" / "artifacts" / "guidellm.json")
    result = analyse(run)
    throughput, latency, spread = result.figures
    assert spread.name == "spread"
    assert [layer.label for layer in throughput.rows[0][0].layers] == ["pd-x2", "simple"]
    assert [layer.label for layer in latency.rows[0][0].layers if layer.kind == "moments"] == [
        "knee of pd-x2: 32 users",
        "knee of simple: 16 users",
    ]
    shown = {
        block.name for section in result.analyses[0].sections for block in section.blocks if isinstance(block, Figure)
    }
    assert shown == {"throughput", "latency", "spread", "distributions", "timeline", "tokens", "outcomes"}
    assert perfanalysis(["history", "add", str(run), "--into", str(tmp_path / "history")]) == 0
    assert len(load(tmp_path / "history").entries()) == 2


def test_repeated_load_has_a_course_over_time() -> None:
    rows = pd.DataFrame(
        {
            "load": ["4 users", "8 users", "4 users", "4 users"],
            "began_s": [1200.0, 1260.0, 600.0, 1800.0],
            "output_tokens_per_second": [20.0, 40.0, 10.0, 30.0],
            "ttft_p50_s": [0.2, 0.5, 0.1, 0.3],
            "ttft_p95_s": [None] * 4,
        }
    ).astype({"ttft_p95_s": float})
    figure = repeated_figure({"phi-2": rows})
    assert figure is not None
    # P95 is missing; 8 users occur once.
    throughput, first_token = figure.rows[0]
    (layer,) = throughput.layers
    assert (layer.label, list(layer.x), list(layer.y)) == ("phi-2, 4 users", [0, 10, 20], [10, 20, 30])
    assert first_token.y.unit == "ms"
    assert list(first_token.layers[0].y) == pytest.approx([100, 200, 300])
    assert repeated_figure({"phi-2": rows[:3]}) is None


def test_recording_has_the_phase_and_round_of_its_document(tmp_path: Path) -> None:
    write_llm_load_test(tmp_path / "000__load" / "artifacts", Load(), phase="together", round=3, model="phi-2")
    check_file(tmp_path / "000__load" / "artifacts" / "llm_load_test.json")
    facts = analyse(tmp_path).analyses[0].facts
    assert (facts["phase"], facts["round"], facts["model"]) == ("together", "3", "phi-2")


def test_knee_is_where_throughput_leads_latency_most() -> None:
    assert knee(np.array([1.0, 2, 3, 3.1]), np.array([1.0, 1, 1.2, 9])) == 2
    # A straight line has no knee, and three points are too few.
    assert knee(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4])) is None
    assert knee(np.array([1.0, 2, 2.1]), np.array([1.0, 1, 9])) is None
