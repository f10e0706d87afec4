"""The figures of several jobs: scaling, models, hyper-parameters, memory, losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, in_rows
from perfanalysis.drawing.wording import value_text
from perfanalysis.workloads.fine_tuning.job import PHASE, REFERENCE
from perfanalysis.workloads.fine_tuning.plots import line, step_axis
from perfanalysis.workloads.fine_tuning.scaling import RATES, JobInMatrix, groups_of, varying

MOST_LINES = 12
MOST_PARAMETERS = 6
NAMED_ELSEWHERE = ("model", "dataset", PHASE)
SHORT = {"per_device_train_batch_size": "batch", "batch_size_per_device": "batch", "peft_method": "method"}
UNITS = {
    "samples_per_second": ("samples per second", "samples/s"),
    "tokens_per_second": ("tokens per second", "tokens/s"),
}


def matrix_figures(jobs: tuple[JobInMatrix, ...]) -> tuple[Figure, ...]:
    """Return every figure of several jobs."""
    if len(jobs) < 2:
        return ()
    made = (
        scaling_figure(jobs),
        phases_figure(jobs),
        models_figure(jobs),
        parameters_figure(jobs),
        memory_figure(jobs),
        losses_figure(jobs),
    )
    return tuple(figure for figure in made if figure is not None)


def common_rate(jobs: Iterable[JobInMatrix]) -> str | None:
    """Return the rate that most jobs have, tokens before samples if equal; None if no job has one."""
    counts = {name: sum(job.number(name) is not None for job in jobs) for name in reversed(RATES)}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def series_labels(jobs: Iterable[JobInMatrix]) -> dict[str, str]:
    """Return a short name for each group of jobs: the values that distinguish it."""
    given = tuple(jobs)
    different = varying(given)
    labels = {}
    for group, members in groups_of(given).items():
        first = members[0].analysis.facts.get("model", "all jobs")
        labels[group] = ", ".join(_setting_texts(members[0].setup, different)) or first
    return labels


def _setting_texts(setup: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    ordered = sorted(names, key=lambda name: name not in NAMED_ELSEWHERE)
    return [_setting_text(name, setup[name]) for name in ordered if name in setup]


def _setting_text(name: str, value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else value_text(value)
    return text if name in NAMED_ELSEWHERE else f"{SHORT.get(name, name)} {text}"


def _gpus(count: int | None) -> str:
    return f"{count} GPU{'' if count == 1 else 's'}"


def scaling_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Return throughput, speed-up and efficiency against GPUs, one line per setup; None unless a setup has several."""
    groups = {name: members for name, members in groups_of(jobs).items() if len({job.gpus for job in members}) > 1}
    rate = common_rate(jobs)
    if not groups or rate is None:
        return None
    labels = series_labels(jobs)
    shown = list(groups.items())[:MOST_LINES]

    def layers(kpi: str, factor: float = 1.0) -> tuple[Layer, ...]:
        lines = (over_gpus(members, kpi, labels[name], place, factor) for place, (name, members) in enumerate(shown))
        return tuple(layer for layer in lines if len(layer.x))

    most = float(max(job.gpus or 0 for job in jobs))
    gpus = Axis("GPUs", low=0.0, whole=True)
    title, unit = UNITS[rate]
    throughput = Chart("Throughput", gpus, Axis(title, unit, low=0.0), layers(rate), height=300)
    rows: list[tuple[Chart, ...]] = [(throughput,)]
    caption = f"{title.capitalize()} of all GPUs."
    faster = layers("speed_up")
    if faster:
        ends = np.array([0.0, most])
        ideal = Layer("line", "one for each GPU", ends, ends, 8, dashed=True)
        full = Layer("line", "100 %", ends, np.full(2, 100.0), 8, dashed=True)
        times = Chart("Speed-up", gpus, Axis("throughput of one GPU", "times", low=0.0), (*faster, ideal), height=300)
        share = Axis("throughput of one GPU, for each", "%", low=0.0)
        rows.append((times, Chart("Efficiency", gpus, share, (*layers("efficiency", 100.0), full), height=300)))
        caption += " Speed-up and efficiency against the same job on one GPU."
    else:
        caption += " Speed-up needs a job with the same settings on one GPU, which is missing."
    if len(groups) > MOST_LINES:
        caption += f" Only the first {MOST_LINES} of {len(groups)} setups are drawn; the table lists all."
    return Figure("scaling", "Throughput and speed-up against GPUs", caption, tuple(rows))


def over_gpus(members: Iterable[JobInMatrix], kpi: str, label: str, colour: int, factor: float = 1.0) -> Layer:
    """Return a KPI over the GPUs of the jobs of one setup; the median of jobs with equally many."""
    by_gpus: dict[int, list[float]] = {}
    for job in members:
        number = job.number(kpi)
        if number is not None and job.gpus:
            by_gpus.setdefault(job.gpus, []).append(factor * number)
    x = np.array(sorted(by_gpus), dtype=float)
    y = np.array([np.median(by_gpus[int(gpus)]) for gpus in x], dtype=float)
    return Layer("line", label, x, y, colour, dots=True)


def models_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Return throughput per GPU of each model, a colour per GPU count, all else equal; None for a single model."""
    rate = common_rate(jobs)
    if rate is None or len({job.setup.get("model") for job in jobs}) < 2:
        return None
    kpi = f"{rate}_per_gpu"
    known = [job for job in jobs if job.number(kpi) is not None and job.gpus]
    setups: dict[str, list[JobInMatrix]] = {}
    for job in known:
        setups.setdefault(job.without("model").group, []).append(job)
    members = max(setups.values(), key=lambda found: len({job.setup.get("model") for job in found}), default=[])
    models = tuple(dict.fromkeys(str(job.setup.get("model")) for job in members))
    if len(models) < 2:
        return None
    counts = sorted({job.gpus or 0 for job in members})
    width = 0.8 / len(counts)
    layers = []
    for place, gpus in enumerate(counts):
        own = [job for job in members if job.gpus == gpus]
        rows = [models.index(str(job.setup.get("model"))) for job in own]
        at = np.array(rows, dtype=np.float64) - 0.4 + width * (place + 0.5)
        values = np.array([job.number(kpi) for job in own], dtype=np.float64)
        layers.append(Layer("sidebars", _gpus(gpus), values, at, place, width=width))
    title, unit = UNITS[rate]
    axis = Axis(f"{title}, for each GPU", unit, low=0.0)
    height = 100 + max(34, 14 * len(counts)) * len(models)
    chart = Chart("Throughput per GPU", axis, Axis("", categories=models), tuple(layers), height=height)
    given = ", ".join(_setting_texts(members[0].setup, [name for name in varying(jobs) if name != "model"]))
    caption = f"Jobs that differ only in model and GPUs{f': {given}' if given else ''}."
    return Figure("models", "Models", caption, ((chart,),))


def parameters_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Return throughput against every hyper-parameter that varies; None if none does."""
    rate = common_rate(jobs)
    different = {name: values for name, values in varying(jobs).items() if name not in NAMED_ELSEWHERE}
    if rate is None or not different:
        return None
    charts = [_parameter_chart(jobs, name, values, rate) for name, values in list(different.items())[:MOST_PARAMETERS]]
    known = [chart for chart in charts if chart.layers]
    caption = "Jobs that differ only in this setting share a line."
    if len(different) > MOST_PARAMETERS:
        caption += f" The first {MOST_PARAMETERS} of {len(different)} settings that vary."
    return Figure("hyper_parameters", "Hyper-parameters and settings", caption, in_rows(known)) if known else None


def _parameter_chart(jobs: tuple[JobInMatrix, ...], name: str, values: list[Any], rate: str) -> Chart:
    title, unit = UNITS[rate]
    set_ones = [value for value in values if value is not None]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in set_ones)
    if numbers and len(set_ones) > 1:
        # a job without the setting has no place on an axis of numbers
        jobs, values = tuple(job for job in jobs if name in job.setup), set_ones
    else:
        numbers = False
    series = [found for found in _equal_but_for(jobs, name) if len({str(job.setup.get(name)) for job in found}) > 1]
    labels = _labels_of_series(series)
    layers = []
    for place, (label, members) in enumerate(zip(labels, series, strict=True)):
        pairs = [(job.setup.get(name), job.number(rate)) for job in members]
        known = [(value, number) for value, number in pairs if number is not None]
        x = np.array([float(str(value)) if numbers else values.index(value) for value, _ in known], dtype=np.float64)
        y = np.array([number for _, number in known], dtype=np.float64)
        layers.append(_ordered(x, y, label, place, across=not numbers))
    shown = tuple(layer for layer in layers if len(layer.x))[:MOST_LINES]
    throughput = Axis(title, unit, low=0.0)
    if numbers:
        return Chart(name, Axis(name, low=0.0), throughput, shown, height=280)
    names = Axis("", categories=tuple("none" if value is None else value_text(value) for value in values))
    return Chart(name, throughput, names, shown, height=90 + 44 * len(values))


def _ordered(x: NDArray[np.float64], y: NDArray[np.float64], label: str, colour: int, *, across: bool) -> Layer:
    order = np.argsort(x, kind="stable")
    if across:
        return Layer("ranges", label, y[order], x[order], colour)
    return Layer("line", label, x[order], y[order], colour, dots=True)


def _equal_but_for(jobs: Iterable[JobInMatrix], name: str) -> list[list[JobInMatrix]]:
    found: dict[tuple[str, int | None], list[JobInMatrix]] = {}
    for job in jobs:
        found.setdefault((job.without(name).group, job.gpus), []).append(job)
    return list(found.values())


def _labels_of_series(series: list[list[JobInMatrix]]) -> list[str]:
    firsts = [members[0] for members in series]
    different = varying(firsts)
    several_gpus = len({job.gpus for job in firsts}) > 1
    labels = []
    for job in firsts:
        parts = _setting_texts(job.setup, different) + ([_gpus(job.gpus)] if several_gpus else [])
        labels.append(", ".join(parts) or "all jobs")
    return labels


def memory_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Return peak memory of a GPU against the batch, one line per model; None unless batches differ."""
    charts = []
    for setting in dict.fromkeys(_batch(job)[0] for job in jobs):
        found: dict[str, list[tuple[float, float]]] = {}
        for job in jobs:
            name, size = _batch(job)
            memory = job.number("gpu_memory_max")
            if name == setting and size is not None and memory is not None:
                found.setdefault(_memory_label(job, jobs), []).append((size, memory))
        if setting and len({size for pairs in found.values() for size, _ in pairs}) > 1:
            layers = tuple(_batch_line(pairs, label, place) for place, (label, pairs) in enumerate(found.items()))
            axis = Axis("most memory of a GPU", "GiB", low=0.0)
            charts.append(Chart("Memory", Axis(str(setting), low=0.0), axis, layers[:MOST_LINES], height=280))
    caption = "The largest value of the jobs with the same batch size."
    return Figure("memory", "Memory against batch", caption, (tuple(charts),)) if charts else None


def _batch(job: JobInMatrix) -> tuple[str | None, float | None]:
    row = job.analysis.frames["fine_tuning"].astype("object").iloc[0]
    name, size = row["batch_setting"], row["batch_size"]
    return (str(name), float(size)) if isinstance(name, str) and np.isfinite(size) else (None, None)


def _memory_label(job: JobInMatrix, jobs: tuple[JobInMatrix, ...]) -> str:
    model = job.analysis.facts.get("model", "unknown")
    several = len({other.gpus for other in jobs}) > 1
    return f"{model}, {_gpus(job.gpus)}" if several else model


def _batch_line(pairs: list[tuple[float, float]], label: str, colour: int) -> Layer:
    largest: dict[float, float] = {}
    for size, memory in pairs:
        largest[size] = max(memory, largest.get(size, 0.0))
    x = np.array(sorted(largest), dtype=float)
    return Layer("line", label, x, np.array([largest[size] for size in x], dtype=float), colour, dots=True)


def losses_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Return the loss curves of all jobs."""
    layers = []
    for place, job in enumerate(jobs[:MOST_LINES]):
        steps = job.analysis.frames["training_steps"]
        layer = line(steps["step"].to_numpy(dtype=float), steps["loss"].to_numpy(dtype=float), _name(job), place)
        if len(layer.x) > 1:
            layers.append(layer)
    if len(layers) < 2:
        return None
    caption = "Training loss over the steps."
    if len(jobs) > MOST_LINES:
        caption += f" Only the first {MOST_LINES} jobs are drawn."
    chart = Chart("Loss", step_axis(), Axis("loss", "nats"), tuple(layers), height=320)
    return Figure("losses", "Loss curves", caption, ((chart,),))


def _name(job: JobInMatrix) -> str:
    cell = job.analysis.place.cell
    facts = job.analysis.facts
    text = f"{facts.get('model', 'unknown')}, {_gpus(job.gpus)}"
    return f"cell {cell.index}: {text}" if cell is not None else text


MOST_ROWS = 24


def phases_figure(jobs: tuple[JobInMatrix, ...]) -> Figure | None:
    """Return throughput of every setup in each phase; None unless a setup was trained in several."""
    of_phases = tuple(job for job in jobs if job.phase is not None)
    setups: dict[tuple[str, int | None], list[JobInMatrix]] = {}
    for job in of_phases:
        setups.setdefault((job.without(PHASE).group, job.gpus), []).append(job)
    compared = [members for members in setups.values() if len({job.phase for job in members}) > 1]
    rate = common_rate(of_phases)
    if not compared or rate is None:
        return None
    phases = sorted({str(job.phase) for job in of_phases}, key=lambda phase: (phase != REFERENCE, phase))
    shown = compared[:MOST_ROWS]
    layers = tuple(_bars(shown, phase, place, len(phases), rate) for place, phase in enumerate(phases))
    names = tuple(_labels_of_series([[job.without(PHASE) for job in members] for members in shown]))
    throughput = Axis("throughput", UNITS[rate][1], low=0.0)
    height = 100 + max(34, 16 * len(phases)) * len(names)
    chart = Chart("Throughput of a job", throughput, Axis("", categories=names), layers, height=height)
    caption = "Jobs that differ only in their phase; the median if a phase has several of them."
    return Figure("phases", "Concurrent and alone", caption, ((chart,),))


def _bars(setups: list[list[JobInMatrix]], phase: str, place: int, phases: int, rate: str) -> Layer:
    width = 0.8 / phases
    rows, values = [], []
    for row, members in enumerate(setups):
        numbers = [number for job in members if job.phase == phase and (number := job.number(rate)) is not None]
        if numbers:
            rows.append(row - 0.4 + width * (place + 0.5))
            values.append(median(numbers))
    return Layer("sidebars", phase, np.array(values, dtype=float), np.array(rows, dtype=float), place, width=width)
