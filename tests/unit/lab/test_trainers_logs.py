"""Logs of simulated trainers: the analysis reads the model's numbers from them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.analysis import analyse
from perfanalysis.workloads.fine_tuning.parser import parse
from perfanalysis.workloads.workload_type import Analysis
from perflab.kubelet.container_logs import render_log
from perflab.kubelet.gpus import GIB

from tests.data.fine_tuning_runs import Training, document
from tests.data.synthetic_runs import EPOCH, write_json
from tests.unit.analysis.fine_tuning_jobs import numbers
from tests.unit.lab.trainers import STARTED, Asked

STAMPED = {"timestamps": "true"}
NOW = datetime.datetime(2026, 1, 1, 10, tzinfo=datetime.UTC)
SMALL = {"per_device_train_batch_size": 4, "include_tokens_per_second": True, "skip_memory_metrics": False}
RATES = ("train_runtime", "samples_per_second", "tokens_per_second", "steps_per_second", "training_steps")


def analyse_log(folder: Path, asked: Asked, log: str, **stated: Any) -> Analysis:
    """Return the analysis of a job whose main pod printed *log*."""
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "main.log").write_text(log)
    facts = document(Training(gpus=max(1, asked.gpus), workload=asked.trainer), EPOCH)
    statement = {
        "pods": asked.pods,
        "gpus_per_pod": asked.gpus,
        "configuration": asked.configuration,
        "hyper_parameters": {},
        **stated,
    }
    write_json(folder / "fine_tuning.json", {**facts, "logs": ["logs/main.log"], **statement})
    place = Place(folder, folder.name, "fine_tuning.json", None)
    return analyse(parse(RecordingFiles(place)), place, "linear")


@pytest.mark.parametrize("query", [{}, STAMPED], ids=["plain", "stamped"])
def test_hf_trainer_log_yields_the_models_numbers(tmp_path: Path, query: dict[str, str]) -> None:
    asked = Asked(dataset="gsm8k.json", gpus=4, configuration=SMALL)
    training = asked.training()
    analysis = analyse_log(tmp_path / "a", asked, render_log(asked.ended(), "main", query))
    samples = training.samples / training.runtime_s
    tokens = training.tokens_per_step / training.step_s
    expected = [training.runtime_s, samples, tokens, 1 / training.step_s, training.steps]
    assert numbers(analysis, *RATES) == pytest.approx(expected, rel=2e-3)
    loss = round(training.loss(training.steps), 4)
    assert numbers(analysis, "final_loss", "gpu_memory_max") == pytest.approx([loss, training.gpu_memory_bytes / GIB])
    assert numbers(analysis, "step_time_p50") == pytest.approx([training.step_s], rel=0.05)
    dataset = training.dataset_tokens / training.runtime_s
    assert numbers(analysis, "dataset_tokens_per_second") == pytest.approx([dataset], rel=1e-3)
    assert analysis.findings == ()


def test_instructlab_log_yields_the_models_numbers(tmp_path: Path) -> None:
    asked = Asked(trainer="ilab", pods=2)
    training = asked.training()
    analysis = analyse_log(tmp_path / "a", asked, render_log(asked.ended(), "main", {}))
    # The trainer's time begins with its first record.
    samples, tokens = training.batch / training.step_s, training.tokens_per_step / training.step_s
    expected = [training.runtime_s - training.step_s, samples, tokens, 1 / training.step_s, training.steps]
    assert numbers(analysis, *RATES) == pytest.approx(expected, rel=1e-3)
    assert numbers(analysis, "gpu_memory_max", "final_loss") == pytest.approx(
        [training.gpu_memory_bytes / GIB, training.loss(training.steps)]
    )
    assert analysis.findings == ()


def test_only_the_first_instructlab_pod_prints_records() -> None:
    log = render_log(Asked(trainer="ilab", pods=2, rank=1).ended(), "main", {})
    assert "rank: 1" in log
    assert "samples_seen" not in log


def test_ray_log_yields_the_models_numbers(tmp_path: Path) -> None:
    configuration = {"batch_size_per_device": 8, "num_epochs": 2, "peft_method": "lora"}
    asked = Asked(trainer="ray", dataset="gsm8k.json", gpus=2, pods=2, configuration=configuration)
    training = asked.training()
    analysis = analyse_log(tmp_path / "a", asked, render_log(asked.ended(), "main", {}))
    # Ray prints whole seconds, and losses with four digits.
    assert numbers(analysis, "train_runtime") == pytest.approx([training.runtime_s], abs=0.51)
    expected = [training.batch / training.step_s, 1 / training.step_s, training.steps]
    assert numbers(analysis, "samples_per_second", "steps_per_second", "training_steps") == pytest.approx(
        expected, rel=1e-3
    )
    assert numbers(analysis, "final_loss") == pytest.approx([training.loss(training.steps)], abs=1e-4)
    assert analysis.findings == ()


def test_ray_benchmarks_report_the_network_bandwidth(tmp_path: Path) -> None:
    configuration = {"test": "iperf", "streams": 4, "repetitions": 3}
    asked = Asked(trainer="ray", program="ray-benchmark", gpus=0, pods=2, configuration=configuration)
    log = render_log(asked.ended(), "main", {})
    analysis = analyse_log(tmp_path / "a", asked, log, mode="ray-benchmark")
    assert numbers(analysis, "network_bitrate") == pytest.approx([asked.benchmark().bits_per_second / 1e9], rel=0.03)
    slow = Asked(
        trainer="ray",
        program="ray-benchmark",
        gpus=0,
        pods=2,
        configuration={"test": "network_overhead", "limit_s": 1},
    )
    assert slow.wanted()["lab.psap.perf/exit-code"] == "1"
    analysis = analyse_log(tmp_path / "b", slow, render_log(slow.ended(), "main", {}), mode="ray-benchmark")
    assert numbers(analysis, "network_overhead_time") == pytest.approx([slow.benchmark().run_s], rel=0.03)
    assert any("the benchmark printed FAILED" in finding.text for finding in analysis.findings)


@pytest.mark.parametrize("trainer", ["fms", "ilab", "ray"])
def test_out_of_memory_is_reported_as_by_the_trainers(tmp_path: Path, trainer: str) -> None:
    asked = Asked(trainer=trainer, model="llama-405b", gpus=1, configuration={"per_device_train_batch_size": 1})
    log = render_log(asked.ended(), "main", {})
    analysis = analyse_log(tmp_path / "a", asked, log, outcome="failed", exit_code=1, reason="Error")
    assert any("GPU out of memory" in finding.text for finding in analysis.findings)
    assert numbers(analysis, "training_steps") == [None]


def test_log_grows_with_time_and_ends_with_the_container() -> None:
    asked = Asked(dataset="gsm8k.json", configuration=SMALL)
    training = asked.training()
    running = asked.after({"running": {"startedAt": STARTED}})

    def until(share: float) -> str:
        moment = NOW + datetime.timedelta(seconds=share * training.duration_s / training.speed)
        return render_log(running, "main", {}, now=moment)

    assert until(0.0).startswith("simulated by the lab: ")
    assert "'loss'" not in until(0.0)
    half, most = until(0.5), until(0.999)
    assert most.startswith(half)
    assert half.count("'loss'") < most.count("'loss'")
    assert "train_runtime" not in until(2.0), "its last words come with its end"
    assert "train_runtime" in render_log(asked.ended(), "main", {})


def test_killed_container_logs_no_more() -> None:
    annotations = {"lab.psap.perf/duration": "100s"}
    asked = Asked(dataset="gsm8k.json", configuration=SMALL, annotations=annotations)
    killed = {"startedAt": STARTED, "finishedAt": "2026-01-01T10:00:50Z", "exitCode": 137}
    log = render_log(asked.after({"terminated": killed}), "main", {})
    assert 0 < log.count("'loss'") < asked.training().steps
    assert "train_runtime" not in log


def test_log_times_are_the_trainings_and_since_is_global() -> None:
    asked = Asked(dataset="gsm8k.json", configuration=SMALL)
    training = asked.training()
    last = render_log(asked.ended(), "main", {**STAMPED, "tailLines": "1"})
    moment = datetime.datetime.fromisoformat(last.partition(" ")[0])
    assert (moment - NOW).total_seconds() == pytest.approx(training.duration_s, abs=1e-3)
    after = NOW + datetime.timedelta(seconds=training.duration_s / training.speed + 1)
    assert render_log(asked.ended(), "main", {"sinceTime": after.isoformat()}) == ""


def test_log_of_the_pods_annotation_is_shown() -> None:
    assert render_log(Asked(annotations={"lab.psap.perf/log": "mine"}).ended(), "main", {}) == "mine\n"


def test_ray_cluster_pod_leaves_numbers_to_the_submitter() -> None:
    member = Asked(trainer="ray", restart_policy="Always")
    log = render_log(member.after({"running": {"startedAt": STARTED}}), "main", {})
    assert "Ray runtime started" in log
    assert "[epoch" not in log
    assert Asked(trainer="ray", program="ray-benchmark", restart_policy="Always").wanted() == {}
