"""The figures of a scale test. To add one: a function from Measures to Figure, and its name in `figures`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.drawing.blocks import duration, number
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, cumulative
from perfanalysis.drawing.over_time import row_of
from perfanalysis.workloads.percentiles import SHARES, STATED, Value, estimates
from perfanalysis.workloads.scale_test.activity import Window, first_times
from perfanalysis.workloads.scale_test.fairness import jain
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.outcomes import WARNING
from perfanalysis.workloads.scale_test.plots_cluster import rescheduling_by_submission
from perfanalysis.workloads.scale_test.plots_over_time import SINCE, SUBMITTED, node_moments
from perfanalysis.workloads.scale_test.steps import STEPS, LatencyStep, seen_resolution, values_of

BESIDE = "Queues, scheduler, objects between, conditions of pods"
EVICTIONS_COLOUR, BETWEEN_COLOUR = 12, 4
MOST_CAUSES = 12


def _kin(step: LatencyStep) -> str:
    """Return the group of steps that share a chart: the chain, related steps, and the totals."""
    return "total" if step.total else "chain" if step.group == "chain" else "beside"


KIN = {kin: [step.name for step in STEPS if _kin(step) == kin] for kin in ("chain", "beside", "total")}
COLOURS = {name: place for names in KIN.values() for place, name in enumerate(names)}


def steps_with_values(measures: Measures) -> tuple[LatencyStep, ...]:
    """Return steps with values other than zero: steps of zero are listed in words (`at_once`)."""
    return tuple(step for step in measures.steps if np.nan_to_num(values_of(measures.latencies, step)).any())


def at_once(measures: Measures) -> tuple[LatencyStep, ...]:
    """Return steps of which the cluster reported both ends in one update, for every workload."""
    values = {step: values_of(measures.latencies, step) for step in measures.steps}
    return tuple(step for step, of in values.items() if np.isfinite(of).any() and not np.nan_to_num(of).any())


def general_figure(measures: Measures, window: Window) -> Figure:
    """Return time to scheduled, running and completed over the time of submission, each with its distribution."""
    totals = [step for step in steps_with_values(measures) if step.total and step.name != "time_to_ready"]
    rows = [*_between_row(measures, window), *(_step_row(measures, window, step, height=230) for step in totals)]
    caption = (
        "Each point is one workload, at its time of submission; on the right, the distribution of the same "
        f"values. {STATED[measures.method]}"
    )
    return Figure("general", "Latency over time", caption, tuple(rows))


def _between_row(measures: Measures, window: Window) -> tuple[tuple[Chart, ...], ...]:
    """Return the time to the object between a workload and its pods, if controllers create one."""
    values = (measures.workloads["intermediate_created_s"] - measures.workloads["sent_s"]).to_numpy(dtype=float)
    if not np.isfinite(values).any():
        return ()
    submitted = first_times(measures.workloads) - window.start
    average = average_words(values, estimates(values, measures.method))
    title = f"Sent to intermediate object: intermediate object created \u2212 sent \u00b7 {average}"
    label = "Sent to intermediate object"
    return (row_of(label, title, SUBMITTED, submitted, values, colour=BETWEEN_COLOUR, height=230),)


def detailed_figure(measures: Measures, window: Window) -> Figure:
    """Return a row for each step from one milestone to the next."""
    rows = [_step_row(measures, window, step, height=170) for step in steps_with_values(measures) if not step.total]
    again = rescheduling_by_submission(measures, window)
    if again is not None:
        title = f"Rescheduling: replacement bound \u2212 evicted \u00b7 average {duration(float(np.nanmean(again[1])))}"
        rows.append(row_of("Rescheduling", title, SUBMITTED, *again, colour=EVICTIONS_COLOUR, height=170))
    caption = (
        "One row per step; each row shows workloads at their time of submission. A step ends when all pods "
        f"of a workload have reached its end. {STATED[measures.method]}"
    )
    zero = ", ".join(step.label for step in at_once(measures))
    if zero:
        caption += f" Not drawn, since the cluster reported both ends in the same update for every workload: {zero}."
    return Figure("detailed", "Steps over time", caption, tuple(rows))


def _step_row(measures: Measures, window: Window, step: LatencyStep, height: int) -> tuple[Chart, ...]:
    values = values_of(measures.latencies, step)
    submitted = first_times(measures.workloads) - window.start
    title = f"{step.label}: {step.formula} \u00b7 {average_words(values, measures.estimates(step.name))}"
    exact = seen_resolution(step, measures.arrival_s)
    colour = COLOURS[step.name]
    return row_of(step.label, title, SUBMITTED, submitted, values, colour=colour, height=height, resolution=exact)


def average_words(values: NDArray[np.float64], percentiles: Mapping[str, Value]) -> str:
    """Return the average, and the median and P99 if the sample is large enough."""
    median, extreme = percentiles["p50"].number, percentiles["p99"].number
    shown = {"average": float(np.nanmean(values)), "median": median, "P99": extreme}
    return ", ".join(f"{word} {duration(value)}" for word, value in shown.items() if value is not None)


def distribution_figure(measures: Measures) -> Figure:
    """Return cumulative distributions of steps and totals, and the percentiles of both with intervals."""
    steps = [step for step in steps_with_values(measures) if np.nanmax(values_of(measures.latencies, step)) > 0]
    low, high = positive_range([values_of(measures.latencies, step) for step in steps])
    axis = Axis("latency", "s", "log", low, high)
    share = Axis("workloads", "%", low=0.0, high=100.0)
    curves = {
        step: cumulative(np.maximum(values_of(measures.latencies, step), low), step.label, COLOURS[step.name])
        for step in steps
    }
    drawn = {kin: tuple(curve for step, curve in curves.items() if _kin(step) == kin) for kin in KIN}
    places = Axis("", categories=tuple(step.label for step in steps))
    ranges = tuple(_percentile_layer(measures, steps, place, name) for place, name in enumerate(SHARES))
    caption = (
        "Above: the share of workloads that took at most this long. Below: P50, P90, P95 and P99 of each "
        "step; a bar is the 95\u00a0% bootstrap interval, drawn if the sample is large enough. "
        f"{STATED[measures.method]}"
    )
    rows = (
        (
            Chart("From one milestone to the next", axis, share, drawn["chain"], height=340),
            Chart("Since the request was sent", axis, share, drawn["total"], height=340),
        ),
        *(((Chart(BESIDE, axis, share, drawn["beside"], height=300),),) if drawn["beside"] else ()),
        (Chart("Percentiles with intervals", axis, places, ranges, height=60 + 32 * len(steps)),),
    )
    return Figure("distributions", "Distributions per step", caption, rows)


def positive_range(parts: list[NDArray[np.float64]]) -> tuple[float, float]:
    """Return limits of a logarithmic axis; zero and negative values are drawn at its left end."""
    values = np.concatenate(parts) if parts else np.array([])
    positive = values[np.isfinite(values) & (values > 0)]
    if not len(positive):
        return 0.001, 1.0
    low = max(float(np.quantile(positive, 0.001)), 1e-6)
    return float(10 ** np.floor(np.log10(low))), float(positive.max() * 1.3)


def _percentile_layer(measures: Measures, steps: list[LatencyStep], colour: int, statistic: str) -> Layer:
    found = [measures.estimates(step.name)[statistic] for step in steps]
    value, low, high = (
        np.array([np.nan if number is None else number for number in numbers], dtype=float)
        for numbers in ([e.number for e in found], [e.low for e in found], [e.high for e in found])
    )
    places = np.arange(len(steps), dtype=float) + 0.17 * (colour - 1.5)
    return Layer("ranges", statistic.upper(), value, places, colour, low=low, high=high)


def concurrency_figure(measures: Measures) -> Figure:
    """Return workloads in each state over time."""
    table = measures.concurrency
    time = table["time_s"].to_numpy(dtype=float)
    labels = (("in_system", "sent, not ended", 0), ("pending", "pods pending", 1), ("running", "running", 2))
    layers = tuple(
        Layer("steps", label, time, table[name].to_numpy(dtype=float), colour) for name, label, colour in labels
    )
    layers = (*node_moments(measures), *layers)
    chart = Chart("Concurrent workloads", SINCE, Axis("workloads", low=0.0, whole=True), layers, height=300)
    caption = "The largest number within each interval, so that peaks are visible."
    return Figure("concurrency", "Concurrency", caption, ((chart,),))


def gpu_figure(measures: Measures, window: Window) -> Figure:
    """Return GPUs bound and running against capacity, and GPUs that pods wait for."""
    table = measures.concurrency
    time = table["time_s"].to_numpy(dtype=float)
    zero = np.zeros(len(time))
    layers = [
        Layer("area", "allocated", time, table["gpus_allocated"].to_numpy(dtype=float), 2, low=zero),
        Layer("steps", "of running pods", time, table["gpus_running"].to_numpy(dtype=float), 3),
        Layer("steps", "waited for", time, table["gpus_waiting"].to_numpy(dtype=float), 1),
    ]
    capacity = measures.activity.gpu_capacity
    if capacity is not None:
        ends = np.array([0.0, window.length])
        layers.append(Layer("line", "capacity", ends, np.full(2, capacity), 5, dashed=True))
    marked = (*node_moments(measures), *layers)
    chart = Chart("GPUs", SINCE, Axis("GPUs", low=0.0, whole=True), marked, height=300)
    caption = "Allocated: of pods bound to a node and not ended. The largest number within each interval."
    return Figure("gpus", "GPU occupation", caption, ((chart,),))


def failures_figure(measures: Measures) -> Figure:
    """Return failures by stage and cause, without Warning events, most of which resolve themselves."""
    table = measures.failures[measures.failures["stage"] != WARNING].head(MOST_CAUSES)
    names = tuple(f"{stage}: {cause}"[:60] for stage, cause in zip(table["stage"], table["cause"], strict=True))
    places = np.arange(len(names), dtype=float)
    layer = Layer("sidebars", "occurrences", table["count"].to_numpy(dtype=float), places, 5, width=0.6)
    height = 90 + 30 * len(names)
    chart = Chart(
        "Failures by cause",
        Axis("occurrences", low=0.0, whole=True),
        Axis("", categories=names),
        (layer,),
        height=height,
    )
    return Figure("failures", "Failures", "Where it occurred, and the stated reason.", ((chart,),))


MOST_TENANTS = 8
"""Number of distinguishable lines; the table has all."""
HARDLY_ANY = 1e-6
"""Rounding error of a sum of means that should be 0."""


def queues_figure(measures: Measures, window: Window) -> Figure:
    """Return shares over time against weights, waiting work, and the distribution of waits; empty without a queue."""
    del window  # of the same form as the other figures
    tenants = [str(name) for name in measures.fairness["tenant"].head(MOST_TENANTS)]
    several = len(measures.fairness) > 1
    if not several and not any(step.name == "queue_wait" for step in measures.steps):
        return Figure("queues", TITLE, "", ())
    shares = ((_shares(measures, tenants),),) if several else ()
    beside = tuple(chart for chart in (_waiting(measures, tenants), _waits(measures, tenants)) if chart.layers)
    return Figure("queues", TITLE, _caption(measures, several=several), (*shares, beside))


TITLE = "Queues"


def _caption(measures: Measures, *, several: bool) -> str:
    waited = "Waited for: of pods that are not bound, and of workloads that a queue holds back."
    if not several:
        return waited
    text = (
        f"Solid: the share that a queue held of all {_unit(measures)} held at that time. Dashed: its weight, "
        "its share of all requests. Jain's index is 1 when each held in proportion to its weight while it "
        "and another one had work waiting, and 1/n when one of n held all. "
    ) + waited
    left_out = len(measures.fairness) - MOST_TENANTS
    return text if left_out <= 0 else f"{text} The {left_out} with the smallest requests are only in the table."


def _unit(measures: Measures) -> str:
    return str(measures.fairness["resource"].iloc[0])


def _activity(measures: Measures, tenant: str, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = measures.tenant_activity
    rows = table[table["tenant"] == tenant]
    return rows["time_s"].to_numpy(dtype=float), rows[column].to_numpy(dtype=float)


def _shares(measures: Measures, tenants: list[str]) -> Chart:
    table = measures.tenant_activity
    total = table.groupby("time_s")["held"].sum().to_numpy(dtype=float)
    weights = dict(zip(measures.fairness["tenant"].astype("str"), measures.fairness["demand_share"], strict=True))
    layers: list[Layer] = list(node_moments(measures))
    for colour, tenant in enumerate(tenants):
        time, held = _activity(measures, tenant, "held")
        share = np.divide(100 * held, total, out=np.full(len(held), np.nan), where=total > HARDLY_ANY)
        layers.append(Layer("steps", tenant, time, share, colour))
        weight = weights[tenant]
        if weight is not None and np.isfinite(weight):
            ends = time[[0, -1]]
            layers.append(Layer("line", f"{tenant}: weight", ends, np.full(2, 100 * weight), colour, dashed=True))
    index = jain_index(measures.fairness)
    words = (
        f"Jain index {number(index)}" if index is not None else "Jain index: no two had work waiting at the same time"
    )
    title = f"Share of the {_unit(measures)} held \u00b7 {words}"
    return Chart(title, SINCE, Axis("share", "%", low=0.0, high=100.0), tuple(layers), height=300)


def jain_index(fairness: pd.DataFrame) -> float | None:
    """Return Jain's index of the tenants' weighted resources while they competed; None if fewer than two did."""
    competed = fairness.loc[fairness["contended_s"] > 0, "per_demand"].dropna().to_numpy(dtype=float)
    return jain(competed) if len(competed) > 1 else None


def _waiting(measures: Measures, tenants: list[str]) -> Chart:
    series = ((tenant, colour, _activity(measures, tenant, "waiting")) for colour, tenant in enumerate(tenants))
    layers = tuple(Layer("steps", tenant, *of, colour) for tenant, colour, of in series if of[1].any())
    return Chart("Waited for", SINCE, Axis(_unit(measures), low=0.0), layers, height=260)


def _waits(measures: Measures, tenants: list[str]) -> Chart:
    by_name = {step.name: step for step in measures.steps}
    # the wait in a queue if there is one, else the wait of pods for a node
    step = by_name.get("queue_wait") or by_name["scheduling"]
    values = values_of(measures.latencies, step)
    owner = measures.workloads["tenant"].astype("str").to_numpy()
    curves = ((tenant, colour, values[owner == tenant]) for colour, tenant in enumerate(tenants))
    low, high = positive_range([values])
    layers = tuple(
        cumulative(np.maximum(of, low), tenant, colour) for tenant, colour, of in curves if np.isfinite(of).any()
    )
    share = Axis("workloads", "%", low=0.0, high=100.0)
    wait = Axis("wait", "s", "log", low, high)
    return Chart(f"{step.label}: {step.formula}", wait, share, layers, height=260)
