"""Results of load generators, as the real programs wrote them for a server with 100 ms and 10 ms."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.schemas import check_file

FOREIGN = Path(__file__).parents[4] / "data" / "foreign" / "load_tests"
"""Output of the real programs, without texts and unread fields."""
DOCUMENT = {
    "schema": "psap.perf/load-test/1",
    "lab": None,
    "load": {"concurrency": 2, "requests": 20, "requested_model": "opt"},
    "monotonic_offset_s": 1.0e9,
}
RESULTS = {
    "aiperf": {"aiperf-0.13.0.jsonl": "profile_export.jsonl", "aiperf-0.13.0.json": "profile_export_aiperf.json"},
    "inference_perf": {
        "inference-perf-0.7.0.records.json": "per_request_lifecycle_metrics.json",
        "inference-perf-0.7.0.json": "summary_lifecycle_metrics.json",
    },
    "vllm_bench": {"vllm-bench-0.32.0.json": "benchmark.json"},
}


def recorded(folder: Path, kind: str, **changed: Any) -> Path:
    """Write a run with the real results of a kind, and return the folder of its results."""
    artifacts = folder / "000__t" / "artifacts"
    results = artifacts / "results"
    results.mkdir(parents=True)
    for name, kept in RESULTS[kind].items():
        shutil.copy(FOREIGN / name, results / kept)
    (artifacts / f"{kind}.json").write_text(json.dumps({**DOCUMENT, **changed}))
    return results


def analyse(run: Path) -> RunAnalysis:
    return analyse_run(run, run / "report")


def numbers(result: RunAnalysis) -> dict[str, float | None]:
    return {value.series: value.number for value in result.analyses[0].kpis}


def texts(result: RunAnalysis) -> list[str]:
    return [finding.text for finding in result.findings if "results/" in finding.where]


@pytest.mark.parametrize("generator", sorted(RESULTS))
def test_real_results_have_the_latencies_of_the_server(tmp_path: Path, generator: str) -> None:
    recorded(tmp_path, generator)
    result = analyse(tmp_path)
    found = numbers(result)
    assert found["ttft_p50"] == pytest.approx(0.1, rel=0.15)
    assert found["itl_p50"] == pytest.approx(0.01, rel=0.15)
    assert found["request_latency_p50"] == pytest.approx(0.19, rel=0.15)
    # the server refused two requests of vllm bench
    assert found["requests_failed"] == (2 if generator == "vllm_bench" else 0)
    assert result.analyses[0].facts["load"] == "2 users"


@pytest.mark.parametrize("generator", ["aiperf", "vllm_bench"])
def test_summary_agrees_with_the_records(tmp_path: Path, generator: str) -> None:
    recorded(tmp_path, generator)
    assert texts(analyse(tmp_path)) == []


def test_requests_that_inference_perf_did_not_record_are_a_warning(tmp_path: Path) -> None:
    recorded(tmp_path, "inference_perf")
    assert texts(analyse(tmp_path)) == ["20 requests were set, but inference-perf recorded 16"]


@pytest.mark.parametrize("generator", ["inference_perf", "vllm_bench"])
def test_clock_of_a_pod_is_a_warning(tmp_path: Path, generator: str) -> None:
    recorded(tmp_path, generator, monotonic_offset_s=None, load={"concurrency": 2})
    assert texts(analyse(tmp_path)) == ["times are of a pod's own clock, so they do not align with other recordings"]


def test_failed_and_cancelled_requests_of_aiperf_are_counted(tmp_path: Path) -> None:
    records = recorded(tmp_path, "aiperf") / "profile_export.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    lines[0] = {"metadata": lines[0]["metadata"], "error": {"code": 503, "message": "Service Unavailable"}}
    lines[1]["metadata"]["was_cancelled"] = True
    lines[2]["metadata"]["benchmark_phase"] = "warmup"
    records.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{\n")
    result = analyse(tmp_path)
    (loads,) = result.analyses[0].frames["load_test"].to_dict("records")
    assert (loads["completed"], loads["failed"], loads["cancelled"]) == (17, 1, 1)
    assert "1 of 21 records are not of requests and were left out" in texts(result)
    (reason,) = result.analyses[0].frames["failed_requests"].to_dict("records")
    assert "503 Service Unavailable" in str(reason)


def test_refused_requests_of_vllm_bench_have_their_reason(tmp_path: Path) -> None:
    recorded(tmp_path, "vllm_bench")
    (analysis,) = analyse(tmp_path).analyses
    (loads,) = analysis.frames["load_test"].to_dict("records")
    assert (loads["completed"], loads["failed"]) == (18, 2)
    (reason,) = analysis.frames["failed_requests"].to_dict("records")
    assert "Service Unavailable" in str(reason)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"ttfts": [0.1]}, "its lists have different lengths"),
        ({"errors": None}, "the file cannot be read: Expected `array`, got `null`"),
    ],
)
def test_damaged_results_of_vllm_bench_are_an_error(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    path = recorded(tmp_path, "vllm_bench") / "benchmark.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert any(problem in text for text in texts(analyse(tmp_path)))


@pytest.mark.parametrize("generator", sorted(RESULTS))
def test_missing_records_are_an_error(tmp_path: Path, generator: str) -> None:
    results = recorded(tmp_path, generator)
    (results / next(iter(RESULTS[generator].values()))).unlink()
    assert any("the file is missing" in text for text in texts(analyse(tmp_path)))


def test_truncated_records_of_inference_perf_are_an_error(tmp_path: Path) -> None:
    records = recorded(tmp_path, "inference_perf") / "per_request_lifecycle_metrics.json"
    records.write_text(records.read_text()[:3000])
    assert any("the file cannot be read: it is truncated" in text for text in texts(analyse(tmp_path)))


def test_generators_of_one_run_are_distinguished(tmp_path: Path) -> None:
    for place, generator in enumerate(sorted(RESULTS)):
        results = recorded(tmp_path / str(place), generator, generator=generator.replace("_", "-"))
        results.parents[1].rename(tmp_path / f"00{place}__t")
    result = analyse(tmp_path)
    assert [one.facts["generator"] for one in result.analyses] == ["aiperf", "inference-perf", "vllm-bench"]
    definitions = ("first response with content", "tokens of one chunk", "times between chunks")
    for one, words in zip(result.analyses, definitions, strict=True):
        sections = {section.name: section for section in one.make_sections()}
        assert words in sections["summary"].text


@pytest.mark.parametrize(("cores", "expected"), [(0.95, True), (0.5, False)])
def test_generator_that_uses_a_core_is_a_warning(tmp_path: Path, cores: float, expected: bool) -> None:
    recorded(tmp_path, "aiperf")
    first, last = analyse(tmp_path).analyses[0].period or (0.0, 0.0)
    # before the load, the generator starts
    samples = {"times_s": [first - 1, first, last], "busiest_process_cores": [1.0, cores, cores], "cores": [1.0] * 3}
    marker = tmp_path / "000__t/artifacts/aiperf.json"
    marker.write_text(json.dumps({**DOCUMENT, "generator_cpu": samples}))
    check_file(marker)
    found = [one.text for one in analyse(tmp_path).findings if one.where.endswith("aiperf.json")]
    assert any("used 0.95 cores during the load" in text for text in found) is expected


def conversation(line: str, session: int, turn: int, cached: int) -> str:
    """Return a record of aiperf with another turn, as it records one of a server that states cached tokens."""
    record = json.loads(line)
    record["metadata"] |= {"session_num": session, "turn_index": turn}
    record["metrics"] |= {
        "input_sequence_length": {"value": 100 * (turn + 1), "unit": "tokens"},
        "usage_prompt_cache_read_tokens": {"value": cached, "unit": "tokens"},
        "usage_reasoning_tokens": {"value": 4, "unit": "tokens"},
    }
    return json.dumps(record)


def test_turns_of_conversations_have_their_cached_tokens(tmp_path: Path) -> None:
    path = recorded(tmp_path, "aiperf") / "profile_export.jsonl"
    line = path.read_text().splitlines()[0]
    turns = [(7, 0, 0), (9, 0, 0), (7, 1, 100), (9, 1, 80)]
    path.write_text("\n".join(conversation(line, *turn) for turn in turns))
    (analysis,) = analyse(tmp_path).analyses
    requests = analysis.frames["requests"]
    assert requests["session"].tolist() == [0, 1, 0, 1]
    assert requests["turn"].tolist() == [1, 1, 2, 2]
    first, second = analysis.frames["turns"].astype("object").to_dict("records")
    assert (first["requests"], first["input_tokens"], first["cached_ratio"]) == (2, 100, 0)
    assert (second["turn"], second["cached_ratio"], second["reasoning_tokens"]) == (2, 0.45, 4)
    # 180 of 600
    assert {value.name: value.number for value in analysis.kpis}["cached_tokens_ratio"] == pytest.approx(0.3)
    titles = {block.title for section in analysis.sections for block in section.blocks if hasattr(block, "title")}
    assert "Turns of conversations" in titles


def test_cached_tokens_of_the_servers_usage_are_read(tmp_path: Path) -> None:
    path = recorded(tmp_path, "inference_perf") / "per_request_lifecycle_metrics.json"
    records = json.loads(path.read_text())
    for record in records:
        usage = record["info"]["response_metrics"]["server_usage"]
        usage |= {
            "prompt_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 3},
        }
    path.write_text(json.dumps(records))
    (analysis,) = analyse(tmp_path).analyses
    (row,) = analysis.frames["turns"].astype("object").to_dict("records")
    assert (row["cached_ratio"], row["reasoning_tokens"]) == (0.5, 3)
    assert numbers(analyse(tmp_path))["cached_tokens_ratio"] == 0.5


def test_requests_without_turns_have_no_table_of_them(tmp_path: Path) -> None:
    recorded(tmp_path, "aiperf")
    (analysis,) = analyse(tmp_path).analyses
    assert len(analysis.frames["turns"]) == 0
    assert analysis.frames["requests"]["turn"].tolist() == [1] * 20
