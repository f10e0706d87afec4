"""What is recorded beside a test of an inference server: how it started, and how much of the host was in use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.llama_benches import inference_server
from tests.schemas import check


def kpis(folder: Path) -> dict[str, float | None]:
    analyses = analyse_run(folder, folder / "out").analyses
    return {value.name: value.number for analysis in analyses for value in analysis.kpis}


def artifacts(tmp_path: Path, command: str) -> Path:
    folder = tmp_path / f"001__cell__0/001__mac_ai__{command}/artifacts"
    folder.mkdir(parents=True)
    return folder


def test_the_time_to_load_is_that_until_the_server_was_ready(tmp_path: Path) -> None:
    document = inference_server(2.5)
    check(document)
    (artifacts(tmp_path, "remote_llama_cpp_run_model") / "inference_server.yml").write_text(json.dumps(document))
    assert kpis(tmp_path) == {"load_time": 2.5}


def test_a_sample_that_is_cut_off_costs_no_other(tmp_path: Path) -> None:
    samples = [
        {"at_s": 1.7e9 + second, "cpu_share": share, "used_bytes": used, "memory_bytes": 1000}
        for second, share, used in ((1, 0.25, 400), (2, 0.75, 600))
    ]
    lines = [json.dumps(sample) for sample in samples]
    written = "\n".join([*lines, lines[0][:20]])
    (artifacts(tmp_path, "remote_capture_cpu_ram_usage") / "cpu_ram_usage.jsonl").write_text(written)
    found = kpis(tmp_path)
    assert found == {"host_cpu_mean": 0.5, "host_cpu_max": 0.75, "host_memory_mean": 500, "host_memory_max": 600}


@pytest.mark.parametrize("text", ["", "{}\n"])
def test_without_a_sample_there_are_no_numbers(tmp_path: Path, text: str) -> None:
    (artifacts(tmp_path, "remote_capture_cpu_ram_usage") / "cpu_ram_usage.jsonl").write_text(text)
    assert set(kpis(tmp_path).values()) == {None}
