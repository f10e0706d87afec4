"""The documented model: from a job and a GPU to throughput, runtime, memory and GPU usage.

docs/fine-tuning.md has its formulas. It is not a forecast: settings have an effect in the right direction and of a
plausible size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from perflab.emulators.kubernetes.trainers.job import FMS, ILAB, RAY, Job
from perflab.emulators.kubernetes.trainers.subjects import Dataset, Model, dataset_of, model_of
from perflab.kubelet.gpus import GIB, Gpu, gpu_of
from perflab.kubelet.training import Training

FORMATS = {FMS: "hf_trainer", ILAB: "instructlab", RAY: "ray"}
_VOCABULARY = 50_000
# without a hint, a pod's own network; and the rate of each further one, without and with RDMA
_PRIMARY, _SECONDARY, _RDMA = 2.5e9, 6e9, 40e9
# tokens per GPU at which it reaches half of its rate
_HALF_TOKENS = 512.0
_BEST_USE, _FLASH_USE = 0.38, 0.45
_FIXED_BYTES = 1.5 * GIB
_USABLE = 0.97


@dataclass(frozen=True, slots=True)
class _Setup:
    """The relevant part of a configuration, in terms that all three trainers share."""

    # samples per GPU and pass, and passes per step
    per_gpu: float
    accumulation: int
    epochs: float
    tokens_of_sample: float
    longest: int
    tuned: str
    # bytes of a parameter: as stored, and with gradients and optimizer
    weight_bytes: float
    trained_bytes: float
    recomputes: bool
    flash: bool


def train(job: Job, product: str, speed: float) -> Training:
    """Return the training of *job* on GPUs of *product*."""
    gpu, unknown_gpu = gpu_of(product)
    model, unknown_model = model_of(job.model)
    dataset, unknown_dataset = dataset_of(job.dataset, job.replication)
    setup = _SETUPS[job.trainer](job, dataset)
    gpus = job.pods * job.gpus
    memory = _memory(job, setup, model, gpus)
    step_s, use = _step(job, setup, model, gpu)
    batch = max(1, round(setup.per_gpu * setup.accumulation * gpus))
    steps = _steps(job, setup, dataset.samples, batch)
    learning_rate = job.number("learning_rate", 1e-5)
    return Training(
        format=FORMATS[job.trainer],
        seed=job.seed,
        speed=speed,
        rank=job.rank,
        assumptions=tuple(filter(None, (unknown_gpu, unknown_model, unknown_dataset))),
        model=job.model,
        gpus=gpus,
        gpu_product=product,
        gpu_memory_total_bytes=gpu.memory_bytes,
        gpu_utilization=round(use, 4),
        gpu_memory_bytes=round(min(memory, gpu.memory_bytes)),
        out_of_memory=memory > _USABLE * gpu.memory_bytes,
        start_s=round(20.0 + model.parameters * 2 / 2e9 + dataset.samples / 5_000, 3),
        steps=steps,
        step_s=step_s,
        epochs=setup.epochs,
        samples=dataset.samples,
        batch=batch,
        tokens_per_step=batch * setup.tokens_of_sample,
        dataset_tokens=round(dataset.samples * min(dataset.mean_tokens, setup.longest)),
        longest_tokens=min(dataset.longest_tokens, setup.longest),
        trainable_parameters=round(_trainable(job, setup, model)),
        learning_rate=learning_rate,
        warmup_steps=job.number("num_warmup_steps", job.number("warmup_ratio", 0.0) * steps),
        scheduler=job.text("lr_scheduler_type", "linear" if job.trainer == FMS else "constant"),
        logging_steps=max(1, int(job.number("logging_steps", 1))),
        tells_tokens=job.flag("include_tokens_per_second"),
        tells_memory=str(job.configuration.get("skip_memory_metrics")).lower() == "false",
        first_loss=round(2.6 - 0.1 * math.log10(model.parameters / 1e8), 3),
        last_loss=round(1.3 - 0.15 * math.log10(model.parameters / 1e8), 3),
    )


def _fms(job: Job, dataset: Dataset) -> _Setup:
    longest = int(job.number("max_seq_length", 1024))
    tuned, quantized = job.text("peft_method", "none"), bool(job.configuration.get("auto_gptq"))
    wide = job.text("torch_dtype") == "float32"
    mean = longest if job.flag("packing") else min(dataset.mean_tokens, longest)
    weight = 0.55 if quantized else 4.0 if wide else 2.0
    return _Setup(
        per_gpu=job.number("per_device_train_batch_size", 8),
        accumulation=max(1, int(job.number("gradient_accumulation_steps", 1))),
        epochs=job.number("num_train_epochs", 1),
        tokens_of_sample=mean,
        longest=longest,
        tuned=tuned,
        weight_bytes=weight,
        trained_bytes=16.0 if wide else 8.0,
        recomputes=job.flag("gradient_checkpointing"),
        flash=job.flag("use_flash_attn"),
    )


def _ilab(job: Job, dataset: Dataset) -> _Setup:
    gpus = max(1, job.pods * job.gpus)
    processing = job.configuration.get("data_process")
    longest = int(processing.get("max_seq_len", 4096)) if isinstance(processing, dict) else 4096
    mean = min(dataset.mean_tokens, longest)
    wanted = max(1.0, job.number("effective_batch_size", 128) / gpus)
    at_once = min(wanted, max(1.0, job.number("max_batch_len", 60_000) / mean))
    accumulation = math.ceil(wanted / at_once)
    tuned = "lora" if job.number("lora_r", 0) else "none"
    return _Setup(
        wanted / accumulation, accumulation, job.number("num_epochs", 1), mean, longest, tuned, 2.0, 16.0, True, True
    )


def _ray(job: Job, _dataset: Dataset) -> _Setup:
    longest = int(job.number("max_length", 512))
    return _Setup(
        per_gpu=job.number("batch_size_per_device", 16),
        accumulation=max(1, int(job.number("gradient_accumulation_steps", 1))),
        epochs=job.number("num_epochs", 1),
        # its collator pads every sample
        tokens_of_sample=longest,
        longest=longest,
        tuned=job.text("peft_method", "none"),
        weight_bytes=2.0,
        trained_bytes=16.0,
        recomputes=job.flag("gradient_checkpointing"),
        flash=False,
    )


_SETUPS = {FMS: _fms, ILAB: _ilab, RAY: _ray}


def _steps(job: Job, setup: _Setup, samples: int, batch: int) -> int:
    most = job.number("max_steps", 0)
    if most > 0:
        return int(most)
    return max(1, math.ceil(setup.epochs * math.ceil(samples / batch)))


def _trainable(job: Job, setup: _Setup, model: Model) -> float:
    if setup.tuned == "lora":
        targets = job.configuration.get("target_modules")
        count = len(targets) if isinstance(targets, list) else 2
        return 2 * job.number("r", job.number("lora_r", 8)) * model.width * model.layers * count
    if setup.tuned == "pt":
        return job.number("num_virtual_tokens", 20) * model.width
    return model.parameters


def _memory(job: Job, setup: _Setup, model: Model, gpus: int) -> float:
    """Return bytes of one GPU at the worst batch: all GPUs share states, and each has its own activations."""
    if setup.tuned == "none":
        states = model.parameters * setup.trained_bytes
    else:
        states = model.parameters * setup.weight_bytes + 16 * _trainable(job, setup, model)
    tokens = setup.per_gpu * (setup.tokens_of_sample if job.trainer == ILAB else setup.longest)
    layer = 34 * model.width
    blocks = layer + 2 * model.width * model.layers if setup.recomputes else layer * model.layers
    scores = 0.0 if setup.flash else 2.5 * setup.longest * model.width / 64
    output = 4 * _VOCABULARY * (1 if setup.recomputes else 2)
    return _FIXED_BYTES + states / gpus + tokens * (blocks + scores + output)


def _step(job: Job, setup: _Setup, model: Model, gpu: Gpu) -> tuple[float, float]:
    """Return seconds of a step, and the share of them in which the GPU works."""
    tokens = setup.per_gpu * setup.tokens_of_sample
    use = (_FLASH_USE if setup.flash else _BEST_USE) * tokens / (tokens + _HALF_TOKENS)
    # forward, backward through activations, and backward to the weights if these are trained
    operations = 6 if setup.tuned == "none" else 4
    if setup.recomputes:
        operations += 2
    slower = (1 / 0.75 if setup.weight_bytes < 1 else 1.0) * (2.0 if setup.weight_bytes > 2 else 1.0)
    working = tokens * operations * model.active / (gpu.flops * use) * slower
    exchange = _exchange(job, setup, model, gpu)
    # it overlaps with the work of the GPU as far as possible
    waiting = max(0.15 * exchange, exchange - 0.7 * working)
    overhead = 0.02 + 0.01 * math.log2(max(1, job.pods * job.gpus))
    step = setup.accumulation * (working + waiting) + overhead
    return step, setup.accumulation * working / step


def _exchange(job: Job, setup: _Setup, model: Model, gpu: Gpu) -> float:
    """Return seconds in which GPUs exchange weights and gradients for one batch of each."""
    times = 3 if setup.tuned == "none" else 2
    weights = times * model.parameters * setup.weight_bytes
    within = weights * (job.gpus - 1) / job.gpus / gpu.link
    return within + weights * (job.pods - 1) / job.pods / network_of(job)


def network_of(job: Job) -> float:
    """Return bytes per second that one pod of the job can send to others."""
    each = _RDMA if job.rdma else _SECONDARY
    return job.networks * each if job.networks else _PRIMARY
