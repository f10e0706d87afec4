"""Figures over the time of a test: their axes, nodes, ramp and throughput."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.drawing.blocks import number
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, Meaning, Shades, heat, moments, span
from perfanalysis.files.documents import Document, listing, mapping, number_or
from perfanalysis.workloads.scale_test.activity import Window, first_times
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.nodes import Occupation

SINCE = Axis("time since the first submission", "s", low=0.0)
SUBMITTED = Axis("time of submission, since the first", "s", low=0.0)
EVICTED = Axis("time of the eviction, since the first submission", "s", low=0.0)
WHOLE = Axis("time since the first submission", "s")
"""Including observations before the first submission."""


CHANGES = (
    ("node lost", ("not_ready", "deleted"), 5),
    ("node cordoned", ("cordoned",), 7),
    ("node back", ("ready", "created", "uncordoned"), 11),
)
"""How figures over time mark changes of nodes: label, changes, colour."""
CLOSEST = 500
"""Parts of the test's time with at most one mark each, however many nodes changed."""
TITLE = "Occupation of the nodes"
ROW_PIXELS, LEAST_PIXELS, MOST_PIXELS = 22, 110, 420
FRAME_PIXELS = 60
"""Of a chart's height, for its title and its time axis."""


def occupation_figure(measures: Measures, window: Window) -> Figure:
    """Return a heat map: a row for each node, or for a group of nodes as in the caption."""
    found = measures.occupation
    if found is None:
        return Figure("nodes", TITLE, "", ())
    return Figure("nodes", TITLE, _nodes_caption(found), ((occupation_chart(found, measures, window, "node"),),))


def occupation_chart(found: Occupation, measures: Measures, window: Window, each: str) -> Chart:
    """Return the heat map; *each* names what has a row, such as "node"."""
    height = FRAME_PIXELS + min(max(ROW_PIXELS * len(found.rows), LEAST_PIXELS), MOST_PIXELS)
    most = float(found.values.max())
    what = Meaning("GPUs occupied", "%", 0.0, 100.0) if found.of_gpus else Meaning(f"pods a {each}", "pods", 0.0, most)
    layer = heat(found.edges, Shades(found.values, what))
    axis = replace(SINCE, high=window.length)
    layers = (layer, *node_moments(measures))
    title = f"{what.label}, in intervals of {found.edges[1]:.3g} s"
    return Chart(title, axis, Axis("", categories=found.rows), layers, height=height)


def _nodes_caption(found: Occupation) -> str:
    what = (
        "GPUs of pods bound to it and not ended, relative to its GPUs" if found.of_gpus else "pods bound and not ended"
    )
    if found.nodes_per_row == 1:
        text = f"Each row is a node. A cell is the exact mean of {what} over its interval."
    else:
        text = (
            f"Each row is a group of {found.nodes_per_row} nodes with consecutive names (the last group may "
            f"be smaller). A cell is the exact mean of {what} over these nodes and its interval."
        )
    if found.elsewhere:
        text += f" Not shown: {found.elsewhere} pods on nodes that did not exist at the start, or have no GPUs."
    return text


def node_moments(measures: Measures) -> tuple[Layer, ...]:
    """Return when nodes were removed, cordoned, or returned, as lines for figures over time."""
    table, window = measures.node_changes, measures.window
    if window is None or not len(table):
        return ()
    layers = []
    for label, changes, colour in CHANGES:
        times = table.loc[table["change"].isin(changes), "time_s"].to_numpy(dtype=float)
        times = times[(times >= 0) & (times <= window.length)]
        _, first = np.unique(np.floor(times / (window.length or 1.0) * CLOSEST), return_index=True)
        if len(first):
            layers.append(moments(times[first], label, colour))
    return tuple(layers)


def requested_rate(recording: Document, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return corners of the line of the rate (seconds since the first submission, workloads per second) up to an end.

    None if no rate was set: as fast as possible, in batches, or by a trace.
    """
    client = mapping(recording.get("client"))
    phases = [phase for phase in listing(client.get("phases")) if _is_phase(phase)]
    rate = number_or(client.get("rate"), 0.0)
    if end <= 0 or not (phases or rate > 0):
        return None
    if not phases:
        return np.array([0.0, end]), np.array([rate, rate])
    ends, of_ends, began = [], [], 0.0
    for length, first, last in phases:
        ends += [began, began + length]
        of_ends += [first, last]
        began += length
    # the last phase keeps its last rate
    times, rates = np.array([*ends, max(end, began)]), np.array([*of_ends, of_ends[-1]], dtype=float)
    kept = times < end
    return np.append(times[kept], end), np.append(rates[kept], np.interp(end, times, rates))


def _is_phase(phase: object) -> bool:
    numbers = listing(phase)
    return len(numbers) == 3 and all(isinstance(number, int | float) for number in numbers) and numbers[0] > 0


STATE_COLOURS = {"sent": 0, "scheduled": 1, "running": 2, "completed": 3, "failed": 5}
REQUESTED_COLOUR, STEADY_COLOUR = 8, 4
GRID_POINTS = 400


def ramp_figure(measures: Measures, window: Window) -> Figure:
    """Return rates above, with the steady part of the test; progress and running workloads below."""
    table = measures.throughput
    width = float(table["width_s"].iloc[0])
    edges = np.append(table["time_s"].to_numpy(dtype=float), table["time_s"].iloc[-1] + width)
    names = [name for name in STATE_COLOURS if table[name].sum() > 0]
    rates = [Layer("steps", name, edges, _rates(table[name], width), STATE_COLOURS[name]) for name in names]
    marks = (*steady_layers(measures, window), *node_moments(measures))
    per_second = Axis("workloads per second", low=0.0)
    totals = tuple(_progress(measures, window, name) for name in names)
    counted = Axis("workloads", low=0.0, whole=True)
    time, at_once = (measures.concurrency[name].to_numpy(dtype=float) for name in ("time_s", "running"))
    running = Layer("steps", "running", time, at_once, STATE_COLOURS["running"])
    corners = requested_rate(measures.recording, float(np.nanmax(first_times(measures.workloads) - window.start)))
    asked = (Layer("line", "asked for", *corners, REQUESTED_COLOUR, dashed=True),) if corners else ()
    layers = (*marks, *asked, *rates)
    rows = (
        (Chart(f"Rates{_steady_words(measures)}", SINCE, per_second, layers, height=320),),
        (
            Chart("Progress", SINCE, counted, totals, height=260),
            Chart("Concurrently running", SINCE, counted, (*marks, running), height=260),
        ),
    )
    return Figure("ramp", "Ramp and throughput", _ramp_caption(measures, width), rows)


def _ramp_caption(measures: Measures, width: float) -> str:
    text = f"Rates are counted in intervals of {width:g} s. Progress: workloads that had reached each state."
    if measures.ramp is not None:
        text += (
            " Steady: from the time when the number of running workloads first reaches 90\u00a0% of its "
            "plateau until it last drops below; the plateau is not exceeded in 90\u00a0% of the time in which "
            "any workload ran."
        )
    return text


def _rates(counts: pd.Series[Any], width: float) -> NDArray[np.float64]:
    """Return counts per second, the last repeated so that its interval is drawn to its end."""
    rates = counts.to_numpy(dtype=float) / width
    return np.append(rates, rates[-1])


def steady_layers(measures: Measures, window: Window) -> tuple[Layer, ...]:
    """Return the steady part of the test as a span of time, or nothing if it has none."""
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
