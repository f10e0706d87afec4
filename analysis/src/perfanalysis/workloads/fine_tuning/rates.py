"""Rates and times of a whole training: stated by the trainer, or computed from its steps.

There is one function for each rate and format; docs/fine-tuning.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from perfanalysis.workloads.fine_tuning.logs.reading import HF_TRAINER, INSTRUCTLAB, RAY
from perfanalysis.workloads.fine_tuning.measures import Measures, batch_of_all
from perfanalysis.workloads.percentiles import Value

Rate = Callable[[Measures], Value]
NO_GPUS = Value(None, "fine_tuning.json does not state how many GPUs the job had")
TOKENS_SEEN = ("num_tokens", "num_input_tokens_seen")


def of_format(functions: Mapping[str, Rate]) -> Rate:
    """Call the function of the log's format; without a log, return the reason."""

    def rate(measures: Measures) -> Value:
        function = functions.get(measures.format or "")
        return function(measures) if function else Value(None, measures.why_no_summary)

    return rate


def stated(name: str) -> Rate:
    """Return the values of the trainer's summary."""

    def rate(measures: Measures) -> Value:
        number = measures.facts.get(name)
        return Value(None, measures.why_no_summary) if number is None else Value(number)

    return rate


def _span(measures: Measures) -> tuple[int, int, float] | Value:
    """Return the first and the last step with a timestamp, and the seconds between them; or why they are missing."""
    times = measures.column("at_s")
    places = np.flatnonzero(np.isfinite(times))
    if len(places) < 2:
        return Value(None, measures.why_missing(f"{len(places)} steps have a timestamp; two are needed"))
    length = float(times[places[-1]] - times[places[0]])
    if length <= 0:
        return Value(None, "the timestamps of the first and the last step are equal or out of order")
    return int(places[0]), int(places[-1]), length


def _difference(column: str) -> Rate:
    """Return the increase of a growing number from the first step to the last, per second."""

    def rate(measures: Measures) -> Value:
        span = _span(measures)
        if isinstance(span, Value):
            return span
        first, last, length = span
        grown = float(measures.column(column)[last] - measures.column(column)[first])
        if not np.isfinite(grown) or grown < 0:
            return Value(None, f"the steps do not state {column} at both ends")
        return Value(grown / length, count=last - first)

    return rate


def _instructlab_runtime(measures: Measures) -> Value:
    span = _span(measures)
    return span if isinstance(span, Value) else Value(span[2])


def _instructlab_tokens(measures: Measures) -> Value:
    """Return tokens of rank 0 after the first step, times the ranks, per second."""
    span = _span(measures)
    if isinstance(span, Value):
        return span
    if not measures.job.gpus:
        return NO_GPUS
    first, last, length = span
    tokens = measures.column("tokens")[first + 1 : last + 1]
    if not len(tokens) or not np.isfinite(tokens).all():
        return Value(None, measures.why_missing("steps without a token count"))
    return Value(float(tokens.sum()) * measures.job.gpus / length, count=len(tokens))


def _hf_tokens(measures: Measures) -> Value:
    """Return tokens per second of all GPUs: the Trainer counts them for one device."""
    per_device = measures.facts.get("train_tokens_per_second")
    if per_device is not None:
        return Value(per_device * measures.job.gpus) if measures.job.gpus else NO_GPUS
    seen = measures.column("tokens_seen")
    found = [measures.facts[name] for name in TOKENS_SEEN if name in measures.facts] + seen[np.isfinite(seen)].tolist()
    runtime = measures.facts.get("train_runtime")
    if runtime is None:
        return Value(None, measures.why_no_summary)
    if not found:
        return Value(None, measures.why_missing("no token count: it is not enabled in the trainer"))
    return Value(max(found) / runtime) if runtime > 0 else Value(None, "the training took no time")


def _ray_steps_time(measures: Measures) -> tuple[float, int] | Value:
    times = measures.throughput["step_time_s"].to_numpy(dtype=float)
    times = times[np.isfinite(times)]
    if not len(times) or times.sum() <= 0:
        return Value(None, measures.why_missing("no time of a step"))
    return float(times.sum()), len(times)


def _ray_steps(measures: Measures) -> Value:
    found = _ray_steps_time(measures)
    return found if isinstance(found, Value) else Value(found[1] / found[0], count=found[1])


def _ray_samples(measures: Measures) -> Value:
    rate = _ray_steps(measures)
    if rate.number is None:
        return rate
    batch = batch_of_all(measures.job, measures.facts)
    if batch is None:
        return Value(None, "the configuration does not state the batch of a step")
    return Value(rate.number * batch, count=rate.count)


def _ray_runtime(measures: Measures) -> Value:
    for name in ("total_running_time_s", "time_total_s"):
        if name in measures.every_fact:
            return Value(max(measures.every_fact[name]))
    return Value(None, measures.why_no_summary)


def _ray_tokens(measures: Measures) -> Value:
    return Value(None, measures.why_missing("no count of tokens"))


samples_per_second = of_format(
    {
        HF_TRAINER: stated("train_samples_per_second"),
        INSTRUCTLAB: _difference("samples_seen"),
        RAY: _ray_samples,
    }
)
tokens_per_second = of_format({HF_TRAINER: _hf_tokens, INSTRUCTLAB: _instructlab_tokens, RAY: _ray_tokens})
steps_per_second = of_format(
    {HF_TRAINER: stated("train_steps_per_second"), INSTRUCTLAB: _difference("step"), RAY: _ray_steps}
)
train_runtime = of_format({HF_TRAINER: stated("train_runtime"), INSTRUCTLAB: _instructlab_runtime, RAY: _ray_runtime})


def per_gpu(rate: Rate) -> Rate:
    """Return a rate divided by the GPUs of the job."""

    def divided(measures: Measures) -> Value:
        whole = rate(measures)
        if whole.number is None:
            return whole
        if measures.job.gpus is None:
            return NO_GPUS
        if measures.job.gpus == 0:
            return Value(None, "the job requested no GPU")
        return Value(whole.number / measures.job.gpus, count=whole.count)

    return divided
