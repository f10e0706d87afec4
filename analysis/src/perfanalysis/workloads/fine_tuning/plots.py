"""The figures of one fine-tuning job. To add one: a function from Measures to Figure, and its place in `shown`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer
from perfanalysis.workloads.fine_tuning.measures import BYTES_PER_GIB, Measures

FEW_POINTS = 20
MOST_GPUS = 16
RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def step_axis() -> Axis:
    """Training steps."""
    return Axis("step", low=0.0, whole=True)


def line(x: NDArray[np.float64], y: NDArray[np.float64], label: str, colour: int) -> Layer:
    """Return a line over the points that have both values; few points are marked."""
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    return Layer("line", label, x[known], y[known], colour, dots=len(known) <= FEW_POINTS)


def loss_figure(measures: Measures) -> Figure:
    """Return loss, learning rate and norm of the gradient over the steps, as far as the log has them."""
    steps = measures.column("step")
    losses = tuple(
        line(steps, measures.column(name), label, colour)
        for name, label, colour in (("loss", "training", 0), ("eval_loss", "evaluation", 1))
        if np.isfinite(measures.column(name)).any()
    )
    charts = [Chart("Loss", step_axis(), Axis("loss", "nats"), losses, share=1.4)] if losses else []
    for name, title, colour in (("learning_rate", "Learning rate", 2), ("grad_norm", "Norm of the gradient", 3)):
        values = measures.column(name)
        if np.isfinite(values).any():
            values, unit = in_powers_of_ten(values)
            axis = Axis(title.lower(), unit, low=0.0)
            charts.append(Chart(title, step_axis(), axis, (line(steps, values, title, colour),)))
    caption = "As printed by the trainer; values that are not finite are skipped."
    return Figure("loss", "Loss and learning rate", caption, (tuple(charts),) if charts else ())


def in_powers_of_ten(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
    """Return small numbers as multiples of a power of a thousandth, which is their unit."""
    largest = float(np.nanmax(np.abs(values)))
    if largest == 0 or largest >= 0.01:
        return values, ""
    power = 3 * int(np.ceil(-np.log10(largest) / 3))
    return values * 10.0**power, f"10{str(-power).translate(RAISED)}"


def throughput_figure(measures: Measures) -> Figure:
    """Return samples and tokens per second, and the time of a step, over the steps."""
    table = measures.throughput
    steps = table["step"].to_numpy(dtype=float)
    charts = []
    for name, title, unit, colour in (
        ("samples_per_second", "Samples per second", "samples/s", 0),
        ("tokens_per_second", "Tokens per second", "tokens/s", 2),
        ("step_time_s", "Time of a step", "s", 1),
    ):
        values = table[name].to_numpy(dtype=float)
        if np.isfinite(values).any():
            charts.append(
                Chart(title, step_axis(), Axis(title.lower(), unit, low=0.0), (line(steps, values, title, colour),))
            )
    caption = (
        "Of all GPUs, between two records of the log; records of a progress bar with a resolution of one second "
        "are merged into intervals of ten seconds or more."
    )
    return Figure("throughput", "Throughput over the steps", caption, (tuple(charts),) if charts else ())


def gpu_figure(measures: Measures) -> Figure:
    """Return memory and usage of the GPUs: monitored, over time; else as the trainer prints it, over the steps."""
    charts = []
    samples = measures.gpu_samples
    if len(samples):
        charts = [
            chart
            for name, title, axis, factor in (
                ("usage", "Usage of the GPUs", Axis("busy", "%", low=0.0, high=100.0), 100.0),
                ("memory_bytes", "Memory of the GPUs", Axis("in use", "GiB", low=0.0), 1 / BYTES_PER_GIB),
            )
            if (chart := _sampled(measures, name, title, axis, factor)) is not None
        ]
    printed = measures.column("gpu_memory_gib")
    if np.isfinite(printed).any():
        layer = line(measures.column("step"), printed, "allocated", 4)
        axis = Axis("allocated", "GiB", low=0.0)
        charts.append(Chart("Memory of rank 0's GPU, by the trainer", step_axis(), axis, (layer,)))
    caption = (
        f"Monitored values are those of the first {MOST_GPUS} GPUs." if samples["gpu"].nunique() > MOST_GPUS else ""
    )
    return Figure("gpus", "GPUs", caption, (tuple(charts),) if charts else ())


def _sampled(measures: Measures, name: str, title: str, axis: Axis, factor: float) -> Chart | None:
    samples = measures.gpu_samples[measures.gpu_samples[name].notna()]
    if not len(samples):
        return None
    start = float(measures.gpu_samples["at_s"].min())
    layers = []
    for place, gpu in enumerate(sorted(samples["gpu"].astype(str).unique())[:MOST_GPUS]):
        own = samples[samples["gpu"].astype(str) == gpu].sort_values("at_s")
        times = own["at_s"].to_numpy(dtype=float) - start
        layers.append(line(times, factor * own[name].to_numpy(dtype=float), gpu, place))
    return Chart(title, Axis("time since the first sample", "s", low=0.0), axis, tuple(layers))
