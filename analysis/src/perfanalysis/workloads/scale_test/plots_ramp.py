"""How fast workloads were sent, scheduled and completed, against the rate asked for; and how many ran at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from perfanalysis.drawing.blocks import number
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, span
from perfanalysis.workloads.scale_test.activity import Window, first_times
from perfanalysis.workloads.scale_test.asked import asked_rate
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.plots_nodes import node_moments
from perfanalysis.workloads.scale_test.time_axis import SINCE

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

STATE_COLOURS = {"sent": 0, "scheduled": 1, "running": 2, "completed": 3, "failed": 5}
ASKED_COLOUR, STEADY_COLOUR = 8, 4
GRID_POINTS = 400


def ramp_figure(measures: Measures, window: Window) -> Figure:
    """Rates above, with the steady part of the test; progress and workloads running at once below."""
    table = measures.throughput
    width = float(table["width_s"].iloc[0])
    edges = np.append(table["time_s"].to_numpy(dtype=float), table["time_s"].iloc[-1] + width)
    names = [name for name in STATE_COLOURS if table[name].sum() > 0]
    rates = [Layer("steps", name, edges, _rates(table[name], width), STATE_COLOURS[name]) for name in names]
    marks = (*steady_layers(measures, window), *node_moments(measures))
    per_second = Axis("workloads per second", low=0.0)
    totals = tuple(_progress(measures, window, name) for name in names)
    counted = Axis("workloads", low=0.0, whole=True)
    layers = (*marks, *_asked(measures, window), *rates)
    rows = (
        (Chart(f"Rates{_steady_words(measures)}", SINCE, per_second, layers, height=320),),
        (
            Chart("Progress", SINCE, counted, totals, height=260),
            Chart("Running at once", SINCE, counted, (*marks, _running(measures)), height=260),
        ),
    )
    return Figure("ramp", "Ramp and throughput", _caption(measures, width), rows)


def _caption(measures: Measures, width: float) -> str:
    text = f"Rates are counted in intervals of {width:g} s. Progress: how many had come so far."
    if measures.ramp is not None:
        text += (
            " Steady: from when the number running first reaches 90\u00a0% of its plateau until it last leaves it; the "
            "plateau is what is not exceeded in 90\u00a0% of the time in which anything ran."
        )
    return text


def _rates(counts: pd.Series[Any], width: float) -> NDArray[np.float64]:
    """Counts per second, the last repeated so that its interval is drawn to its end."""
    rates = counts.to_numpy(dtype=float) / width
    return np.append(rates, rates[-1])


def _asked(measures: Measures, window: Window) -> tuple[Layer, ...]:
    sent = first_times(measures.workloads) - window.start
    corners = asked_rate(measures.recording, float(np.nanmax(sent)))
    return (Layer("line", "asked for", *corners, ASKED_COLOUR, dashed=True),) if corners else ()


def steady_layers(measures: Measures, window: Window) -> tuple[Layer, ...]:
    """The steady part of the test as a span of time; nothing where there is none."""
    ramp = measures.ramp
    if ramp is None or ramp.steady_to <= ramp.steady_from:
        return ()
    end = min(ramp.steady_to, window.end) - window.start
    return (span(ramp.steady_from - window.start, end, "steady", STEADY_COLOUR),)


def _steady_words(measures: Measures) -> str:
    rows = measures.phases[measures.phases["phase"] == "steady"].to_dict("records")
    if not rows:
        return ""
    given = (
        (word, rows[0][f"{name}_rate"]) for word, name in (("scheduled", "scheduling"), ("completed", "completion"))
    )
    texts = [f"{number(float(rate))}\u202f/s {word}" for word, rate in given if rate is not None and np.isfinite(rate)]
    return f" \u00b7 steady: {', '.join(texts)}" if texts else ""


def _progress(measures: Measures, window: Window, name: str) -> Layer:
    times = measures.workloads[f"{name}_s"].to_numpy(dtype=float) - window.start
    ordered = np.sort(times[np.isfinite(times)])
    grid = np.linspace(0.0, window.length, GRID_POINTS)
    return Layer("line", name, grid, np.searchsorted(ordered, grid, side="right").astype(float), STATE_COLOURS[name])


def _running(measures: Measures) -> Layer:
    table = measures.concurrency
    time, running = (table[name].to_numpy(dtype=float) for name in ("time_s", "running"))
    return Layer("steps", "running", time, running, STATE_COLOURS["running"])
