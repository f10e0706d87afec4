"""The KPIs of a fine-tuning job. To add one: a function from Measures to Value, and a line in KPIS."""

from __future__ import annotations

import numpy as np
from msgspec import structs

from perfanalysis.workloads.fine_tuning import rates
from perfanalysis.workloads.fine_tuning.measures import BYTES_PER_GIB, Measures
from perfanalysis.workloads.kpis import Kpi, KpiValue, statistic_kpis
from perfanalysis.workloads.percentiles import Value, estimates

HF_MEMORY = (
    "before_init_mem_gpu",
    "init_mem_gpu_alloc_delta",
    "train_mem_gpu_alloc_delta",
    "train_mem_gpu_peaked_delta",
)
"""The Trainer's memory metrics of one GPU, in bytes; the peak is their sum."""
BENCHMARKS = ("network_bitrate", "network_overhead_time")


def _job_runtime(measures: Measures) -> Value:
    job = measures.job
    return _between(job.started_s, job.ended_s, "when the main pod started", "when the job ended")


def _start_time(measures: Measures) -> Value:
    job = measures.job
    return _between(job.created_s, job.started_s, "when the job was created", "when the main pod started")


def _between(first: float | None, second: float | None, begin: str, end: str) -> Value:
    if first is None or second is None:
        return Value(None, f"fine_tuning.json does not state {begin if first is None else end}")
    return Value(second - first) if second >= first else Value(None, f"{end} lies before {begin}")


def _dataset_tokens(measures: Measures) -> Value:
    """Return tokens of the prepared dataset, times the epochs trained, per second of training."""
    tokens = measures.facts.get("total_tokens")
    if tokens is None:
        return Value(None, measures.why_missing("no count of the dataset's tokens"))
    runtime = rates.train_runtime(measures)
    if runtime.number is None:
        return runtime
    if runtime.number <= 0:
        return Value(None, "the training took no time")
    epochs = measures.facts.get("epoch", 1.0)
    return Value(tokens * epochs / runtime.number)


def _gpu_hours(measures: Measures) -> Value:
    rate = rates.per_gpu(rates.tokens_per_second)(measures)
    if rate.number is None:
        return rate
    return Value(1e6 / rate.number / 3600) if rate.number > 0 else Value(None, "no token was trained")


def _step_time(statistic: str) -> rates.Rate:
    def function(measures: Measures) -> Value:
        times = measures.throughput["step_time_s"].to_numpy(dtype=float)
        finite = times[np.isfinite(times)]
        if not len(finite):
            return Value(None, measures.why_missing("no time of its steps"))
        return estimates(finite, measures.method)[statistic]

    return function


def _last(column: str, words: str) -> rates.Rate:
    def function(measures: Measures) -> Value:
        kind = f"{column} not finite"
        values = measures.column(column)
        found = np.flatnonzero(np.isfinite(values))
        wrong = measures.problems[measures.problems["kind"] == kind]
        if len(wrong) and len(values) and (not len(found) or found[-1] != len(values) - 1):
            return Value(None, str(wrong["text"].iloc[0]))
        return Value(float(values[found[-1]])) if len(found) else Value(None, measures.why_missing(f"no {words}"))

    return function


def _gpu_memory(measures: Measures) -> Value:
    """Return the peak memory of a GPU: as monitored, else as the trainer reports it for rank 0."""
    sampled = measures.gpu_samples["memory_bytes"].max()
    if np.isfinite(sampled):
        return Value(float(sampled) / BYTES_PER_GIB)
    if HF_MEMORY[-1] in measures.facts:
        return Value(sum(measures.facts.get(name, 0.0) for name in HF_MEMORY) / BYTES_PER_GIB)
    values = measures.column("gpu_memory_gib")
    if np.isfinite(values).any():
        return Value(float(np.nanmax(values)))
    return Value(None, measures.why_missing("no GPU memory in the log, and no process monitored the GPUs"))


def _gpu_usage(measures: Measures) -> Value:
    """Return the mean over the GPUs of their means over time."""
    samples = measures.gpu_samples[measures.gpu_samples["usage"].notna()]
    usage = samples.groupby("gpu", observed=True)["usage"].mean()
    if not len(usage):
        return Value(None, measures.why_not_monitored)
    return Value(float(usage.mean()), count=len(samples))


def _gpu_usage_max(measures: Measures) -> Value:
    """Return the maximum of any GPU at any time."""
    usage = measures.gpu_samples["usage"].max()
    return Value(float(usage)) if np.isfinite(usage) else Value(None, measures.why_not_monitored)


def _gpu_memory_mean(measures: Measures) -> Value:
    """Return the mean over the GPUs of their means over time."""
    samples = measures.gpu_samples[measures.gpu_samples["memory_bytes"].notna()]
    memory = samples.groupby("gpu", observed=True)["memory_bytes"].mean()
    if not len(memory):
        return Value(None, measures.why_not_monitored)
    return Value(float(memory.mean()) / BYTES_PER_GIB, count=len(samples))


def _gpus(measures: Measures) -> Value:
    return rates.NO_GPUS if measures.job.gpus is None else Value(float(measures.job.gpus))


def _bitrate(measures: Measures) -> Value:
    """Return the received bitrate, else the sent one. The median of several measurements."""
    for role in ("receiver", "sender"):
        values = measures.every_fact.get(f"iperf_{role}_bits_per_second")
        if values:
            return Value(float(np.median(values)) / 1e9, count=len(values))
    return Value(None, measures.why_missing("no summary of iperf"))


def _overhead(measures: Measures) -> Value:
    values = measures.every_fact.get("benchmark_time_s")
    if not values:
        return Value(None, measures.why_missing("no benchmark time"))
    return Value(float(np.median(values)), count=len(values))


def _steps(measures: Measures) -> Value:
    numbers = measures.column("step")
    total = numbers[np.isfinite(numbers)]
    return Value(float(total.max())) if len(total) else Value(None, measures.why_missing("no training step"))


KPIS: tuple[Kpi[Measures], ...] = (
    Kpi(
        "samples_per_second",
        "Samples trained per second on all GPUs",
        "samples/s",
        "higher",
        rates.samples_per_second,
        "Samples",
    ),
    Kpi(
        "tokens_per_second",
        "Tokens trained per second on all GPUs",
        "tokens/s",
        "higher",
        rates.tokens_per_second,
        "Tokens",
    ),
    Kpi(
        "tokens_per_second_per_gpu",
        "Tokens trained per second, divided by the GPUs",
        "tokens/s",
        "higher",
        rates.per_gpu(rates.tokens_per_second),
        "Tokens per GPU",
    ),
    Kpi(
        "samples_per_second_per_gpu",
        "Samples trained per second, divided by the GPUs",
        "samples/s",
        "higher",
        rates.per_gpu(rates.samples_per_second),
    ),
    Kpi("train_runtime", "Time of the training by the trainer", "seconds", "lower", rates.train_runtime, "Training"),
    Kpi("gpu_memory_max", "Most GPU memory of one GPU in use", "GiB", "lower", _gpu_memory, "GPU memory"),
    Kpi("gpu_usage_mean", "Share of the time the GPUs were busy", "ratio", "higher", _gpu_usage, "GPU usage"),
    Kpi("gpu_usage_max", "Highest share of the time that any GPU was busy", "ratio", "higher", _gpu_usage_max),
    Kpi("gpu_memory_mean", "Memory of a GPU in use, over time", "GiB", "lower", _gpu_memory_mean),
    Kpi("final_loss", "Training loss of the last record", "nats", "lower", _last("loss", "loss"), "Final loss"),
    Kpi("eval_loss", "Loss of the last evaluation", "nats", "lower", _last("eval_loss", "evaluation")),
    Kpi("mean_loss", "Mean training loss, by the trainer", "nats", "lower", rates.stated("train_loss")),
    Kpi("steps_per_second", "Training steps per second", "steps/s", "higher", rates.steps_per_second),
    *statistic_kpis("step_time", "the time of one training step", "lower", _step_time),
    Kpi(
        "dataset_tokens_per_second",
        "Tokens of the prepared dataset, times the epochs, per second of training",
        "tokens/s",
        "higher",
        _dataset_tokens,
    ),
    Kpi("gpu_hours_per_million_tokens", "GPU time that a million tokens take", "GPU-hours", "lower", _gpu_hours),
    Kpi("job_runtime", "From the main pod's start to the job's end", "seconds", "lower", _job_runtime),
    Kpi("job_start_time", "From the job's creation to the main pod's start", "seconds", "lower", _start_time),
    Kpi("training_steps", "Number of the last training step", "steps", "neither", _steps),
    Kpi("training_gpus", "GPUs of all pods of the job", "GPUs", "neither", _gpus),
    Kpi("network_bitrate", "Bitrate between two pods, received, by iperf", "Gbit/s", "higher", _bitrate, "Bitrate"),
    Kpi(
        "network_overhead_time",
        "Time of Ray's benchmark of network overhead",
        "seconds",
        "lower",
        _overhead,
        "Overhead test",
    ),
)


def on_top(values: tuple[KpiValue, ...], *, benchmark: bool) -> tuple[KpiValue, ...]:
    """Return the KPIs, with headlines only for those that this kind of job can have."""
    kept = []
    for value in values:
        shown = (value.name in BENCHMARKS) == benchmark
        known = value.number is not None or (value.name not in BENCHMARKS and value.name != "gpu_usage_mean")
        kept.append(value if shown and known else structs.replace(value, headline=None))
    return tuple(kept)
