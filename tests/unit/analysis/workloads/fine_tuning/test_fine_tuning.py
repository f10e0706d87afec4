"""Fine-tuning jobs: KPIs computed by hand for each format, and reasons for missing ones."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from perfanalysis.drawing.blocks import quantity
from perfanalysis.drawing.charts import Figure
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.analysis import WORKLOAD, analyse
from perfanalysis.workloads.fine_tuning.job import job_of
from perfanalysis.workloads.fine_tuning.parser import parse
from perfanalysis.workloads.fine_tuning.plots import in_powers_of_ten
from perfanalysis.workloads.fine_tuning.scaling import jobs_of

from tests.data.fine_tuning_runs import Training, document
from tests.data.synthetic_runs import EPOCH
from tests.unit.analysis.fine_tuning_jobs import DOCS, analyse_log, kpis, numbers, schema

RATES = ("samples_per_second", "tokens_per_second", "tokens_per_second_per_gpu", "steps_per_second", "train_runtime")


def test_hf_trainer_kpis_match_hand_computation(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "fms_whole.log")
    # The trainer counts the tokens of one of four devices.
    assert numbers(analysis, *RATES) == pytest.approx([5.267, 4 * 345.7, 345.7, 0.329, 121.5032])
    assert numbers(analysis, "final_loss", "mean_loss", "training_steps", "training_gpus") == [0.8, 1.58, 40, 4]
    assert numbers(analysis, "dataset_tokens_per_second") == pytest.approx([163_840 / 121.5032])
    assert numbers(analysis, "gpu_hours_per_million_tokens") == pytest.approx([1e6 / 345.7 / 3600])
    # Twelve seconds between records of four steps
    assert numbers(analysis, "step_time_p50") == [3.0]
    assert analysis.frames["training_throughput"]["samples_per_second"].tolist() == pytest.approx([16 / 3] * 9)
    started, ended = EPOCH + 4.5, EPOCH + 20 + Training(gpus=4).step_time * 40
    assert numbers(analysis, "job_runtime", "job_start_time") == pytest.approx([ended - started, 4.5])
    assert kpis(analysis)["gpu_memory_max"].reason == (
        "the log has no GPU memory in the log, and no process monitored the GPUs"
    )


def test_instructlab_kpis_match_hand_computation(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "ilab_whole.log")
    # Eleven steps of four seconds, 48 samples and 30,000 tokens of rank 0 each
    assert numbers(analysis, *RATES) == pytest.approx([12.0, 30_000, 7_500, 0.25, 44.0])
    assert numbers(analysis, "gpu_memory_max", "final_loss", "step_time_p50") == pytest.approx([20.75, 0.9, 4.0])
    table = analysis.frames["training_throughput"]
    assert table["samples_per_second"].tolist()[:3] == [12.0, 10.0, 11.0], "as the trainer prints it"
    assert table["tokens_per_second"].tolist() == pytest.approx([30_000] * 11)


def test_ray_kpis_match_hand_computation(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "ray_whole.log", configuration={"batch_size_per_device": 2}, hyper_parameters={})
    # Eight steps in 14 + 7 times 8 = 70 s, a batch of 2 on each of 4 GPUs
    assert numbers(analysis, "samples_per_second", "steps_per_second", "train_runtime") == pytest.approx(
        [8 * 8 / 70, 8 / 70, 84.0]
    )
    assert kpis(analysis)["tokens_per_second"].reason == "the log has no count of tokens"
    unknown = analyse_log(tmp_path, "ray_whole.log", configuration={}, hyper_parameters={})
    assert kpis(unknown)["samples_per_second"].reason == "the configuration does not state the batch of a step"


def test_ray_benchmark_kpis_match_hand_computation(tmp_path: Path) -> None:
    iperf = analyse_log(tmp_path / "a", "ray_iperf.log", mode="ray-benchmark", gpus_per_pod=0)
    assert numbers(iperf, "network_bitrate") == pytest.approx([9.2])
    assert kpis(iperf)["network_bitrate"].count == 2
    assert [value.name for value in iperf.kpis if value.headline] == ["network_bitrate"]
    overhead = analyse_log(tmp_path / "b", "ray_overhead.log", mode="ray-benchmark")
    assert numbers(overhead, "network_overhead_time", "network_bitrate") == [612.25, None]
    assert any("the benchmark printed FAILED" in finding.text for finding in overhead.findings)


def test_truncated_log_has_no_summary(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "fms_torn.log", outcome="failed", reason="OOMKilled", exit_code=137)
    reason = "the log ends before the trainer's summary; the job failed: OOMKilled"
    for name in ("samples_per_second", "tokens_per_second", "steps_per_second", "train_runtime", "mean_loss"):
        assert (kpis(analysis)[name].number, kpis(analysis)[name].reason) == (None, reason)
    assert numbers(analysis, "final_loss", "eval_loss", "training_steps") == [2.5, 2.61, 8]
    texts = [finding.text for finding in analysis.findings]
    assert "the job failed: OOMKilled (exit code 137)" in texts
    assert "truncated records were left out (3 times)" in texts
    assert any(text.startswith("GPU out of memory: torch.OutOfMemoryError") for text in texts)
    assert {finding.severity for finding in analysis.findings} == {"warning"}


def test_loss_that_is_not_a_number_is_not_final(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "fms_not_finite.log")
    assert kpis(analysis)["final_loss"].reason == "loss is NaN or infinite, from step 3 on"
    # 1 GiB before, 3 for training, 2 more at the peak
    assert numbers(analysis, "gpu_memory_max") == [6.0]
    # Timestamps that the capture added; a step without a loss is still a step.
    assert numbers(analysis, "step_time_p50") == [2.0]


def test_constant_timestamps_yield_no_rate(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "ilab_begun_anew.log")
    assert kpis(analysis)["samples_per_second"].reason == (
        "the timestamps of the first and the last step are equal or out of order"
    )
    assert len(analysis.frames["training_throughput"]) == 0
    notes = [finding.text for finding in analysis.findings if finding.severity == "note"]
    assert notes == ["the training was restarted; only the steps after the last start are used"]


def test_job_without_a_log_has_reasons(tmp_path: Path) -> None:
    for folder, stated, reason in (
        ("a", {}, "no log of the job has output of a trainer"),
        ("b", {"outcome": "failed", "reason": "ImagePullBackOff"}, "the job failed: ImagePullBackOff"),
    ):
        analysis = analyse_log(tmp_path / folder, None, **stated)
        assert {value.reason for value in analysis.kpis if value.name in RATES} == {reason}
        assert any(finding.text == "the file is missing" for finding in analysis.findings)


@pytest.mark.parametrize("gpus", [0, None])
def test_rates_per_gpu_require_gpus(tmp_path: Path, gpus: int | None) -> None:
    value = kpis(analyse_log(tmp_path, "fms_whole.log", gpus_per_pod=gpus))["samples_per_second_per_gpu"]
    assert value.number is None
    assert "GPU" in (value.reason or "")


def test_monitored_gpus_have_usage_and_memory_kpis(tmp_path: Path) -> None:
    samples = [(EPOCH, "a", 0.5, 2**30), (EPOCH + 5, "a", 0.7, 2**31), (EPOCH, "b", 1.0, 3 * 2**30)]
    rows = [dict(zip(("at_s", "gpu", "usage", "memory_bytes"), sample, strict=True)) for sample in samples]
    for row in rows:
        jsonschema.validate(row, schema("gpu_samples-1"))
    tmp_path.joinpath("gpu_samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    analysis = analyse_log(tmp_path, "fms_whole.log")
    assert numbers(analysis, "gpu_usage_mean", "gpu_memory_max") == pytest.approx([0.8, 3.0])
    assert kpis(analysis)["gpu_usage_mean"].count == 3
    [gpus] = [section for section in analysis.sections if section.name == "gpus"]
    [figure] = gpus.blocks
    assert isinstance(figure, Figure)
    assert [chart.title for row in figure.rows for chart in row] == ["Usage of the GPUs", "Memory of the GPUs"]


@pytest.mark.parametrize("odd", [5, "text", [], {}, [None], None, -1e400, True], ids=repr)
def test_document_with_wrong_types_is_analysed(tmp_path: Path, odd: object) -> None:
    names = set(document(Training(), EPOCH)) - {"schema", "logs"}
    analysis = analyse_log(tmp_path, "fms_whole.log", **dict.fromkeys(names, odd))
    assert kpis(analysis)["train_runtime"].number == 121.5032


def test_truncated_document_keeps_its_logs(tmp_path: Path) -> None:
    analyse_log(tmp_path, "fms_whole.log")
    (tmp_path / "fine_tuning.json").write_text('{"schema": "psap.perf/fine-')
    place = Place(tmp_path, "artifacts", "fine_tuning.json", None)
    analysis = analyse(parse(RecordingFiles(place)), place, "linear")
    assert numbers(analysis, "train_runtime", "tokens_per_second") == [121.5032, None]
    assert any("cannot be read" in finding.text for finding in analysis.findings)


def test_every_kpi_has_its_formula_in_the_docs() -> None:
    text = (DOCS / "fine-tuning.md").read_text()
    assert [kpi.name for kpi in WORKLOAD.kpis if f"`{kpi.name}`" not in text] == []


def test_hyper_parameters_are_found_at_every_place() -> None:
    job = job_of(
        {
            "hyper_parameters": {"r": 4, "raw_lists": {"target_modules": ["q", "k"]}},
            "configuration": {"lora": {"r": 8}, "per_device_train_batch_size": "4", "max_batch_len": None},
        }
    )
    assert job.number("r") == 8, "the value that the trainer got precedes the given one"
    assert job.batch == ("per_device_train_batch_size", 4.0)
    assert job.hyper_parameters == {"r": 4, "raw_lists.target_modules": '["q", "k"]'}
    assert jobs_of(()) == ()


def test_quantities_are_formatted_for_readers() -> None:
    shown = [(8.0, "GPUs"), (40.0, "pods"), (9.2, "Gbit/s"), (2830.4, "tokens/s"), (14.06, "GiB"), (0.861, "ratio")]
    assert [quantity(number, unit) for number, unit in shown] == [
        "8\u202fGPUs",
        "40\u202fpods",
        "9.20\u202fGbit/s",
        "2\u202f830\u202f/s",
        "14.1\u202fGiB",
        "86.1\u202f%",
    ]


def test_small_numbers_use_a_power_of_ten() -> None:
    import numpy as np

    values, unit = in_powers_of_ten(np.array([2e-5, 1e-6]))
    assert values.tolist() == pytest.approx([20.0, 1.0])
    assert unit == "10\u207b\u2076"
    assert in_powers_of_ten(np.array([0.5]))[1] == ""
