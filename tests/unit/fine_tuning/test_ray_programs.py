"""The parts of a Ray job's programs that need neither Ray nor a GPU."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from perfanalysis.workloads.fine_tuning.logs.reading import read_log

from tests import programs

FILES = programs.ROLES / "fine_tuning_ray_fine_tuning_job/files"


def load_program(name: str) -> ModuleType:
    return programs.loaded(FILES / f"{name}.py")


def base(name: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((FILES / f"base_{name}.yml").read_text())
    return found


def test_step_is_printed_in_the_format_of_the_analysis(tmp_path: Path) -> None:
    program = load_program("finetune")
    printed = [program.step_numbers(0, step, 2.5 - step, 1.5, 2e-5) for step in range(2)]
    log = tmp_path / "log"
    log.write_text("".join(f"{program.line_of(each)}\n" for each in printed))
    steps = read_log(log, "log", "ray").steps
    assert [(step.loss, step.step_time_s, step.epoch) for step in steps] == [(2.5, 1.5, 0.0), (1.5, 1.5, 0.0)]


def test_deepspeed_gets_the_batch_and_given_options() -> None:
    settings = {**base("finetune"), "batch_size_per_device": 4, "gradient_accumulation_steps": 2}
    made = load_program("finetune").deepspeed_settings(settings)
    assert made["train_micro_batch_size_per_gpu"] == 4
    assert made["gradient_accumulation_steps"] == 2
    assert made["zero_optimization"]["stage"] == 3


@pytest.mark.parametrize(("pods", "gpus", "count"), [(2, 4, 8), (3, 0, 3), (1, 1, 1)])
def test_each_gpu_has_a_training_process(pods: int, gpus: int, count: int) -> None:
    assert load_program("finetune").processes({"pods": pods, "gpus_per_pod": gpus}) == count


@pytest.mark.parametrize(("took_s", "verdict", "problems"), [(400.0, "PASSED", 0), (612.5, "FAILED", 1)])
def test_overhead_is_printed_in_the_format_of_the_analysis(
    tmp_path: Path, took_s: float, verdict: str, problems: int
) -> None:
    log = tmp_path / "log"
    log.write_text(load_program("network").report(took_s, 500))
    assert verdict in log.read_text()
    read = read_log(log, "log", "ray")
    assert [(fact.name, fact.value) for fact in read.facts] == [("benchmark_time_s", took_s)]
    assert len(read.problems) == problems


def test_iperf_uses_its_settings() -> None:
    words = load_program("network").client_words("10.0.0.7", {**base("network"), "streams": 8})
    assert words[:3] == ["iperf3", "--client", "10.0.0.7"]
    assert words[-4:] == ["--time", "10", "--parallel", "8"]


def test_client_without_a_server_retries_and_then_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load_program("network")
    codes = [1, 0]
    waits: list[float] = []
    monkeypatch.setattr(program.time, "sleep", waits.append)
    monkeypatch.setattr(
        program.subprocess,
        "run",
        lambda words, check: subprocess.CompletedProcess(words, codes.pop(0) if codes else 1),
    )
    program.run_client(["iperf3"])
    assert waits == [0]
    with pytest.raises(RuntimeError, match="did not reach"):
        program.run_client(["iperf3"])


def test_every_base_is_valid_json() -> None:
    for name in ("finetune", "network"):
        settings = base(name)
        assert json.loads(json.dumps(settings)) == settings
        assert isinstance(settings["environment"], dict)
