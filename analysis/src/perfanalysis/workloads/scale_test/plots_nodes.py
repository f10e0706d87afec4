"""Figures of the nodes: how far each was occupied, and when nodes came and went."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, Meaning, Shades, heat, moments
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.occupation import Occupation
from perfanalysis.workloads.scale_test.time_axis import SINCE

CHANGES = (
    ("node lost", ("not_ready", "deleted"), 5),
    ("node cordoned", ("cordoned",), 7),
    ("node back", ("ready", "created", "uncordoned"), 11),
)
"""How changes of nodes are marked in the figures over time: label, changes, colour."""
CLOSEST = 500
"""Parts of the test's time of which each is marked once, however many nodes changed in it."""
TITLE = "Occupation of the nodes"
ROW_PIXELS, LEAST_PIXELS, MOST_PIXELS = 22, 110, 420
FRAME_PIXELS = 60
"""Of a chart's height, for its title and its time axis."""


def occupation_figure(measures: Measures, window: Window) -> Figure:
    """A heat map: a row for each node, or for as many nodes as the caption says."""
    found = measures.occupation
    if found is None:
        return Figure("nodes", TITLE, "", ())
    height = FRAME_PIXELS + min(max(ROW_PIXELS * len(found.rows), LEAST_PIXELS), MOST_PIXELS)
    most = float(found.values.max())
    what = Meaning("GPUs occupied", "%", 0.0, 100.0) if found.of_gpus else Meaning("pods a node", "pods", 0.0, most)
    layer = heat(found.edges, Shades(found.values, what))
    axis = replace(SINCE, high=window.length)
    layers = (layer, *node_moments(measures))
    title = f"{what.label}, in intervals of {found.edges[1]:.3g} s"
    chart = Chart(title, axis, Axis("", categories=found.rows), layers, height=height)
    return Figure("nodes", TITLE, _caption(found), ((chart,),))


def _caption(found: Occupation) -> str:
    what = "GPUs of pods bound to it and not ended, of the GPUs it has" if found.of_gpus else "pods bound and not ended"
    if found.nodes_per_row == 1:
        text = f"Every row is a node. A cell is the exact mean, over its interval, of {what}."
    else:
        text = (
            f"Every row stands for {found.nodes_per_row} nodes that follow each other by name (the last row may have "
            f"fewer). A cell is the exact mean, over these nodes and its interval, of {what}."
        )
    if found.elsewhere:
        text += f" Not in it: {found.elsewhere} pods on nodes that were not there at the start, or have no GPUs."
    return text


def node_moments(measures: Measures) -> tuple[Layer, ...]:
    """When nodes went, were cordoned, or came back, as lines for figures over time."""
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
