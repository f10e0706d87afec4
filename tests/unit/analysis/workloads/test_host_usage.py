"""Records of a host during a test of an inference server: its start, and the usage of the host."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from perfanalysis.workloads.host_power.energy import energy
from perfanalysis.workloads.host_power.powermetrics import samples_of
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


def test_server_times_end_at_ready_and_first_tokens(tmp_path: Path) -> None:
    document = inference_server(2.5)
    document["requests"] = [
        {"number": number, "first_token_s": number / 10, "took_s": 1.0, "parts": 16} for number in (1, 2, 3)
    ]
    # Two print their rates, one does not.
    for asked in document["requests"][1:]:
        asked |= {"prompt_tokens": 200, "prompt_s": 0.5, "generated_tokens": 16, "generated_s": 0.4}
    check(document)
    (artifacts(tmp_path, "remote_llama_cpp_run_model") / "inference_server.yml").write_text(json.dumps(document))
    assert kpis(tmp_path) == {
        "load_time": 2.5,
        "first_token_p50": 0.2,
        "first_token_max": 0.3,
        "served_pp_throughput": 400,
        "served_tg_throughput": 40,
    }


def test_truncated_sample_affects_no_other(tmp_path: Path) -> None:
    samples = [
        {"at_s": 1.7e9 + second, "cpu_share": share, "used_bytes": used, "memory_bytes": 1000}
        for second, share, used in ((1, 0.25, 400), (2, 0.75, 600))
    ]
    lines = [json.dumps(sample) for sample in samples]
    written = "\n".join([*lines, lines[0][:20]])
    (artifacts(tmp_path, "remote_capture_cpu_ram_usage") / "cpu_ram_usage.jsonl").write_text(written)
    # samples of macOS have no network and no disks
    found = {name: number for name, number in kpis(tmp_path).items() if number is not None}
    assert found == {"host_cpu_mean": 0.5, "host_cpu_max": 0.75, "host_memory_mean": 500, "host_memory_max": 600}


def test_network_and_disks_of_the_host_are_numbers(tmp_path: Path) -> None:
    rates = ("received", "sent", "read", "written")
    samples = [
        {"at_s": 1.7e9 + second, "cpu_share": 0.5, "used_bytes": 400, "memory_bytes": 1000}
        | {f"{name}_bytes_per_s": second * 10.0**power for power, name in enumerate(rates)}
        for second in (1, 3)
    ]
    written = "".join(f"{json.dumps(sample)}\n" for sample in samples)
    (artifacts(tmp_path, "remote_capture_cpu_ram_usage") / "cpu_ram_usage.jsonl").write_text(written)
    found = kpis(tmp_path)
    names = ("host_received", "host_sent", "host_disk_read", "host_disk_written")
    assert [found[f"{name}_mean"] for name in names] == [2.0, 20.0, 200.0, 2000.0]
    assert [found[f"{name}_max"] for name in names] == [3.0, 30.0, 300.0, 3000.0]


@pytest.mark.parametrize("text", ["", "{}\n"])
def test_run_without_samples_has_no_numbers(tmp_path: Path, text: str) -> None:
    (artifacts(tmp_path, "remote_capture_cpu_ram_usage") / "cpu_ram_usage.jsonl").write_text(text)
    assert set(kpis(tmp_path).values()) == {None}


def power(begin_s: float, *watts: float) -> list[dict[str, float]]:
    return [{"at_s": begin_s + second, "elapsed_s": 1.0, "watts": each} for second, each in enumerate(watts, start=1)]


def test_energy_per_token_is_power_over_time_by_tokens(tmp_path: Path) -> None:
    begin = datetime(2026, 11, 26, 2, 10, 51, tzinfo=UTC).timestamp()
    # Two seconds of 10 W for 512 tokens; the samples end before the generation.
    tests = [
        {"n_prompt": prompt, "n_gen": generated, "test_time": f"2026-11-26T02:10:{second}Z", "samples_ns": [10**9] * 2}
        for prompt, generated, second in ((256, 0, 51), (0, 64, 54))
    ]
    shared = {"model_type": "x", "model_size": 1, "model_n_params": 1, "cpu_info": "x", "n_gpu_layers": 0}
    document = {
        "schema": "psap.perf/power_usage/1",
        "source": "rapl",
        "tests": [{**shared, "n_threads": 1, "build_commit": "x", **test} for test in tests],
    }
    check(document)
    folder = artifacts(tmp_path, "remote_capture_power_usage")
    (folder / "power_usage.yml").write_text(json.dumps(document))
    rows = power(begin - 1, 90.0, 8.0, 12.0, 30.0)
    (folder / "power_usage.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = kpis(tmp_path)
    assert found["pp_token_energy"] == pytest.approx(20 / 512)
    assert found["tg_token_energy"] is None
    assert (found["host_power_mean"], found["host_power_max"]) == (35.0, 90.0)


@pytest.mark.parametrize(
    ("begin_s", "end_s", "joules"),
    [
        (0.0, 3.0, 60.0),
        (0.5, 2.5, 40.0),
        # Shorter than a sample, before the samples, and longer than they
        (0.5, 1.0, None),
        (-9.0, -5.0, None),
        (0.0, 4.0, None),
    ],
)
def test_energy_requires_samples_that_cover_the_time(begin_s: float, end_s: float, joules: float | None) -> None:
    assert energy(begin_s, end_s, power(0.0, 10.0, 20.0, 30.0)) == joules


def test_powermetrics_reports_total_or_component_power() -> None:
    text = """Machine model: Mac15,3

*** Sampled system activity (Thu Nov 26 11:40:29 2026 +0100) (1003.45ms elapsed) ***

**** GPU usage ****
CPU Power: 900 mW
GPU Power: 100 mW
Combined Power (CPU + GPU + ANE): 1200 mW

*** Sampled system activity (Thu Nov 26 11:40:30 2026 +0100) (1000.00ms elapsed) ***

CPU Power: 900 mW
GPU Power: 100 mW
*** Sampled system activity (Thu Nov 26 11:40:31 2026 +0100) (10"""
    at_s = datetime(2026, 11, 26, 10, 40, 29, tzinfo=UTC).timestamp()
    assert list(samples_of(text.splitlines())) == [
        {"at_s": at_s, "elapsed_s": 1.00345, "watts": 1.2},
        {"at_s": at_s + 1, "elapsed_s": 1.0, "watts": 1.0},
    ]
