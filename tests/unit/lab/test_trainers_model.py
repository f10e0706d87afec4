"""The model of simulated trainers: relevant parameters change its numbers in the right direction."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from perflab.emulators.kubernetes.trainers.admission import annotations_of
from perflab.emulators.kubernetes.trainers.subjects import dataset_of, model_of
from perflab.kubelet.gpus import GIB, gpu_of

from tests.unit.lab.trainers import Asked

LORA = {"peft_method": "lora", "r": 4, "per_device_train_batch_size": 1}
FULL = {"per_device_train_batch_size": 1}


def tokens_per_gpu(asked: Asked) -> float:
    training = asked.training()
    return training.tokens_per_step / training.step_s / training.gpus


def test_same_job_has_the_same_numbers_and_another_differs() -> None:
    asked = Asked(configuration=LORA)
    assert asked.training() == asked.training()
    assert asked.training().seed != replace(asked, replication=2.0).training().seed


@pytest.mark.parametrize(
    ("name", "parameters", "active"),
    [
        ("granite-3.0-8b-instruct", 8e9, 8e9),
        ("bloom-560m", 0.56e9, 0.56e9),
        ("Mixtral-8x7B-v0.1", 0.83 * 56e9, 12.6e9),
        ("Meta-Llama-3.1-70B", 70e9, 70e9),
        ("my-model", 7e9, 7e9),
    ],
)
def test_model_size_is_in_its_name_or_assumed(name: str, parameters: float, active: float) -> None:
    model, assumed = model_of(name)
    assert (model.parameters, model.active) == pytest.approx((parameters, active))
    assert bool(assumed) == (name == "my-model")
    # The parameters of a transformer are 12 layers width².
    assert 12 * model.layers * model.width**2 == pytest.approx(active, rel=0.1)


def test_data_set_size_is_known_named_or_assumed() -> None:
    assert dataset_of("alpaca_data.json", 2.5)[0].samples == 130_005
    assert dataset_of("twitter_complaints_small.json", 1)[0].samples == 50
    assert dataset_of("skills_10000samples.jsonl", 1)[0].samples == 10_000
    assert dataset_of("skills_20k_samples.jsonl", 1)[0].samples == 20_000
    assert dataset_of("alpaca_data.json", 1)[1] == ""
    assert "10000 samples of 256 tokens are assumed" in dataset_of("mine.json", 1)[1]


def test_gpus_are_known_by_their_product() -> None:
    assert gpu_of("NVIDIA-A100-SXM4-40GB")[0].memory_bytes == 40 * GIB
    assert gpu_of("NVIDIA-A100-SXM4-40GB-SHARED")[0].flops == 312e12
    assert gpu_of("Tesla-T4")[0].memory_bytes == 16 * GIB
    assert "unknown" in gpu_of("Whatever-9000")[1]


def test_more_gpus_are_faster_with_falling_efficiency() -> None:
    one, eight = (Asked(gpus=count, configuration=LORA) for count in (1, 8))
    assert eight.training().runtime_s < one.training().runtime_s / 4
    assert 0.5 < tokens_per_gpu(eight) / tokens_per_gpu(one) < 1.0


def test_larger_batch_uses_a_gpu_better_and_needs_more_memory() -> None:
    small, large = (
        Asked(gpus=1, configuration={**LORA, "per_device_train_batch_size": batch}).training() for batch in (1, 8)
    )
    assert large.runtime_s < small.runtime_s
    assert large.gpu_utilization > small.gpu_utilization
    assert large.gpu_memory_bytes > small.gpu_memory_bytes


def test_lora_and_qlora_need_less_memory_than_full_fine_tuning() -> None:
    full, lora, qlora = (
        Asked(configuration=each).training() for each in (FULL, LORA, {**LORA, "auto_gptq": ["triton_v2"]})
    )
    assert full.gpu_memory_bytes > lora.gpu_memory_bytes > qlora.gpu_memory_bytes
    assert lora.trainable_parameters < full.trainable_parameters / 1000
    assert lora.step_s < full.step_s < qlora.step_s * 3


def test_gpu_model_size_and_sample_length_affect_the_speed() -> None:
    base = Asked(gpus=1, configuration=LORA)
    assert replace(base, product="NVIDIA-A10G").training().runtime_s > 5 * base.training().runtime_s
    assert replace(base, model="llama-3b").training().runtime_s < base.training().runtime_s
    long = replace(base, configuration={**LORA, "packing": True, "max_seq_length": 4096})
    assert long.training().step_s > base.training().step_s


def test_out_of_memory_ends_the_training_with_1() -> None:
    asked = Asked(model="llama-70b", gpus=1, configuration=FULL)
    assert asked.training().out_of_memory
    assert asked.training().gpu_memory_bytes == 80 * GIB, "a GPU holds no more than it has"
    assert asked.wanted()["lab.psap.perf/exit-code"] == "1"
    assert not replace(asked, gpus=8, configuration=LORA).training().out_of_memory


def test_pod_distance_follows_from_their_networks() -> None:
    primary = Asked(trainer="ilab", pods=2)
    secondary = replace(primary, networks="port-1,port-2")
    times = [each.training().step_s for each in (primary, secondary, replace(secondary, rdma=True))]
    assert times == sorted(times, reverse=True)
    assert times[0] > times[2]


def test_largest_instructlab_batch_determines_its_memory() -> None:
    small, large = (
        Asked(trainer="ilab", dataset="ultrachat_200k.jsonl", configuration={"max_batch_len": length})
        for length in (10_000, 60_000)
    )
    assert small.training().gpu_memory_bytes < large.training().gpu_memory_bytes
    assert small.training().batch == large.training().batch == 128


def test_steps_follow_from_the_data_unless_given() -> None:
    asked = Asked(gpus=4, configuration={**LORA, "per_device_train_batch_size": 16, "num_train_epochs": 2})
    assert asked.training().steps == 2 * 813
    assert replace(asked, configuration={**LORA, "max_steps": 30}).training().steps == 30


def test_steps_vary_and_add_up_to_the_runtime() -> None:
    training = Asked(configuration=LORA).training()
    ends = [training.at_s(step) for step in range(training.steps + 1)]
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == pytest.approx((training.start_s, training.duration_s))
    assert len({round(after - before, 9) for before, after in itertools.pairwise(ends)}) > 100


def test_loss_falls_and_the_rate_warms_up() -> None:
    training = Asked(configuration={**LORA, "lr_scheduler_type": "cosine", "warmup_ratio": 0.1}).training()
    assert training.loss(1) > training.loss(training.steps // 2) > training.loss(training.steps) > 0
    warm = round(training.warmup_steps)
    assert training.rate(1) < training.rate(warm) <= training.learning_rate
    assert training.rate(training.steps) == pytest.approx(0)


def test_pod_ends_with_its_training_and_a_cluster_pod_continues() -> None:
    training = Asked().training()
    assert Asked().wanted()["lab.psap.perf/duration"] == f"{1000 * training.duration_s / 600:.0f}ms"
    assert set(Asked(restart_policy="Always").wanted()) == {"lab.psap.perf/training"}


def test_values_of_the_pod_are_kept() -> None:
    asked = Asked(annotations={"lab.psap.perf/duration": "10s", "lab.psap.perf/exit-code": "3"})
    assert set(asked.wanted()) == {"lab.psap.perf/training"}
    training = asked.training()
    assert training.duration_s / training.speed == pytest.approx(10.0)


def test_pod_without_training_gets_no_log() -> None:
    assert Asked(gpus=0).wanted() == {}
    assert Asked(cache_only=True).wanted() == {}


def test_foreign_config_map_is_reported() -> None:
    asked = Asked()
    with pytest.raises(ValueError, match="describes no training"):
        annotations_of(asked.pod(), {"data": {"other": "{}"}}, "", 1.0)
