"""Figures of queues: what each tenant held against its weight, what waited, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.drawing.blocks import number
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, cumulative
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.fairness import jain
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.plots import positive_range
from perfanalysis.workloads.scale_test.plots_nodes import node_moments
from perfanalysis.workloads.scale_test.steps import Step, values_of
from perfanalysis.workloads.scale_test.time_axis import SINCE

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

MOST_TENANTS = 8
"""Lines that can be told apart; the table has all."""
HARDLY_ANY = 1e-6
"""What a sum of means of something that has ended may differ from 0."""


def queues_figure(measures: Measures, window: Window) -> Figure:
    """Shares over time against weights, what waited, and the distribution of waits; nothing without a queue."""
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
        f"Solid: what a queue held of all {_unit(measures)} that were held at that time. Dashed: its weight, its share "
        "of all that was asked for. Jain's index is 1 when each held in proportion to its weight while it and another "
        "one had work waiting, and 1/n when one of n held all. " + waited
    )
    left_out = len(measures.fairness) - MOST_TENANTS
    return text if left_out <= 0 else f"{text} The {left_out} that asked for least are only in the table."


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
    words = f"Jain index {number(index)}" if index is not None else "Jain index: no two had work waiting at a time"
    title = f"Share of the {_unit(measures)} held \u00b7 {words}"
    return Chart(title, SINCE, Axis("share", "%", low=0.0, high=100.0), tuple(layers), height=300)


def jain_index(fairness: pd.DataFrame) -> float | None:
    """Jain's index of what tenants held by weight while they competed; None when fewer than two did."""
    competed = fairness.loc[fairness["contended_s"] > 0, "per_demand"].dropna().to_numpy(dtype=float)
    return jain(competed) if len(competed) > 1 else None


def _waiting(measures: Measures, tenants: list[str]) -> Chart:
    series = ((tenant, colour, _activity(measures, tenant, "waiting")) for colour, tenant in enumerate(tenants))
    layers = tuple(Layer("steps", tenant, *of, colour) for tenant, colour, of in series if of[1].any())
    return Chart("Waited for", SINCE, Axis(_unit(measures), low=0.0), layers, height=260)


def _waits(measures: Measures, tenants: list[str]) -> Chart:
    step = wait_step(measures)
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


def wait_step(measures: Measures) -> Step:
    """The wait in a queue where there is one, else that of pods for a node."""
    by_name = {step.name: step for step in measures.steps}
    return by_name.get("queue_wait") or by_name["scheduling"]
