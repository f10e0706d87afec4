"""The kind of recordings of llama-bench: its KPIs equal llama-bench's own results."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.llama_bench.parser import parse
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.llama_benches import llama_bench
from tests.schemas import check

PLACE = "001__cell__0/001__mac_ai__remote_llama_cpp_run_bench/artifacts"


def test_rates_equal_those_of_llama_bench(tmp_path: Path) -> None:
    artifacts = tmp_path / PLACE
    artifacts.mkdir(parents=True)
    document = llama_bench()
    check(document)
    (artifacts / "llama_bench.yml").write_text(json.dumps(document))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {value.name: value.number for value in analysis.kpis}
    rates = [result["avg_ts"] for result in document["results"]]
    assert [found["pp_throughput"], found["tg_throughput"]] == pytest.approx(rates, rel=1e-9)
    assert found["repetitions_done"] == 6
    assert dict(analysis.facts)["backends"] == "CPU"


def test_tests_have_llama_bench_names_and_controller_times(tmp_path: Path) -> None:
    document = llama_bench()
    document["results"].append({**document["results"][0], "n_gen": 32, "n_depth": 1024})
    (tmp_path / "llama_bench.yml").write_text(json.dumps(document))
    tables = parse(RecordingFiles(Place(tmp_path, ".", "llama_bench.yml", None)))
    assert [(test["test"], test["phase"]) for test in tables["tests"]] == [
        ("pp512", "prompt"),
        ("tg128", "generation"),
        ("pp512+tg32 @ d1024", "both"),
    ]
    assert tables["tests"][0]["started_s"] == datetime(2026, 11, 26, 1, 10, 51, tzinfo=UTC).timestamp()
    assert tables["repetitions"][-1]["tokens_per_s"] == pytest.approx(544 / 9.008555e-3)
