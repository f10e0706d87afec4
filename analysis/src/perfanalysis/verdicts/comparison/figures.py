"""A comparison as figures: the changes with their intervals, and the distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, cumulative, in_rows, seconds_scale
from perfanalysis.drawing.layers import labels_with_overlaps
from perfanalysis.verdicts.comparison.comparison import Comparison, Group, PairComparison
from perfanalysis.verdicts.comparison.statistics import SECONDS, Difference
from perfanalysis.workloads.percentiles import STATED

COLOURS = {"better": 11, "worse": 5}
UNCERTAIN = 8
MOST_IN_PERCENT = 4.0
"""A value larger than so many times the baseline's, or smaller than its inverse, is shown as a multiple."""


def change_figure(comparison: Comparison, group: Group, place: int) -> Figure | None:
    """Return the changes from the baseline with intervals, one chart per side, one row per measure; None if there are
    none.
    """
    found = {pair.run: _found(pair) for pair in group.pairs}
    every = [difference for pair in group.pairs for _, difference in found[pair.run]]
    if not every:
        return None
    scale = _scale(every)
    baseline = comparison.headings[0]
    rows = tuple(
        (_changes(found[pair.run], f"{comparison.headings[pair.run]} against {baseline}", scale),)
        for pair in group.pairs
        if found[pair.run]
    )
    caption = (
        f"Each dot is a value as {'a multiple of' if scale.multiples else 'its change from'} the value of "
        f"{baseline}, each line its 95 % interval; an interval that crosses the line of no change shows no "
        f"change. Larger values are on the right, whether better or worse. {STATED[comparison.method]}"
    )
    return Figure(f"changes_{place}", f"Changes: {group.label}", caption, rows, comparison.lab.phrases)


@dataclass(frozen=True)
class Scale:
    """How to show changes: in percent or, if some are large, as multiples."""

    axis: Axis
    multiples: bool
    least: float
    """The smallest ratio that can be shown."""

    def of(self, part: float | None, difference: Difference) -> float:
        """Return the position of the baseline's value plus a part of the difference."""
        if part is None or not difference.first:
            return float("nan")
        ratio = max(1 + part / difference.first, self.least)
        return ratio if self.multiples else 100 * (ratio - 1)


def _scale(differences: list[Difference]) -> Scale:
    """Return an axis wide enough for every dot, and for intervals up to twice that width."""
    dots = [_ratio(each.difference, each) for each in differences]
    ends = [_ratio(end, each) for each in differences for end in (each.low, each.high)]
    reach = max(1.02, *dots, *(1 / ratio for ratio in dots if ratio > 0))
    if reach > MOST_IN_PERCENT:
        shown = [min(max(ratio, 1 / (2 * reach)), 2 * reach) for ratio in (*dots, *ends)]
        low, high = min(0.5, *shown) / 1.2, 1.2 * max(2.0, *shown)
        return Scale(Axis("times the baseline", scale="log", low=low, high=high), multiples=True, least=low)
    low = max(0.0, min(*dots, *ends, 0.98), 1 - 2 * (reach - 1))
    high = min(max(*dots, *ends, 1.02), 1 + 2 * (reach - 1) + 0.02)
    room = 0.04 * (high - low)
    axis = Axis("change from the baseline", "%", low=100 * (low - room - 1), high=100 * (high + room - 1))
    return Scale(axis, multiples=False, least=-1e9)


def _ratio(part: float | None, difference: Difference) -> float:
    return 1 + (part or 0.0) / (difference.first or 1.0)


def _found(pair: PairComparison) -> list[tuple[str, Difference]]:
    """Return everything with a ratio and an interval, by name."""
    named = [
        (f"{step.name.replace('_', ' ')} {difference.statistic}", difference)
        for step in pair.steps
        for difference in step.differences
    ]
    named += [(each.kpi.series, each.difference) for each in pair.kpis]
    return [(name, each) for name, each in named if each.first is not None and each.first > 0 and each.low is not None]


def _changes(found: list[tuple[str, Difference]], title: str, scale: Scale) -> Chart:
    layers = tuple(_ranges(found, word, scale) for word in ("better", "worse", "other"))
    middle = Layer("moments", "no change", np.array([1.0 if scale.multiples else 0.0]), np.zeros(1), UNCERTAIN)
    names = Axis("", categories=tuple(name for name, _ in found))
    drawn = (middle, *(layer for layer in layers if len(layer.x)))
    return Chart(title, scale.axis, names, drawn, height=60 + 24 * len(found))


def _ranges(found: list[tuple[str, Difference]], word: str, scale: Scale) -> Layer:
    rows = [
        (row, difference)
        for row, (_, difference) in enumerate(found)
        if (difference.word if difference.word in COLOURS else "other") == word
    ]
    middle, low, high = (
        np.array([scale.of(getattr(difference, part), difference) for _, difference in rows], dtype=float)
        for part in ("difference", "low", "high")
    )
    places = np.array([float(row) for row, _ in rows])
    label = word if word in COLOURS else "same, different or unknown"
    return Layer("ranges", label, middle, places, COLOURS.get(word, UNCERTAIN), low=low, high=high)


def distribution_figure(comparison: Comparison, group: Group, place: int) -> Figure | None:
    """Return the cumulative distribution of each measure, one line per side; None if no two sides have values."""
    names = dict.fromkeys(step.name for pair in group.pairs for step in pair.steps)
    charts = [chart for name in names if (chart := _curves(comparison, group, name)) is not None]
    if not charts:
        return None
    caption = "The share of values up to each value: lines further left have lower values."
    return Figure(
        f"distributions_{place}", f"Distributions: {group.label}", caption, in_rows(charts), comparison.lab.phrases
    )


def _curves(comparison: Comparison, group: Group, name: str) -> Chart | None:
    sampled = {place: one.samples[name] for place, one in sorted(group.recordings.items()) if name in one.samples}
    found = {place: each for place, each in sampled.items() if len(each.values)}
    if len(found) < 2:
        return None
    some = next(iter(found.values()))
    factor, unit = (
        seconds_scale(*(each.values for each in found.values())) if some.unit == SECONDS else (1.0, some.unit)
    )
    names = [f"{comparison.headings[place]} ({len(each.values)} {each.of})" for place, each in found.items()]
    labels = labels_with_overlaps(names, [each.values for each in found.values()])
    layers = tuple(
        cumulative(factor * each.values, label, place)
        for label, (place, each) in zip(labels, found.items(), strict=True)
    )
    title = name.replace("_", " ")
    least = min(float(each.values.min()) for each in found.values())
    return Chart(
        title,
        Axis(title, unit, low=min(0.0, factor * least)),
        Axis("share", "%", low=0.0, high=100.0),
        layers,
        height=260,
    )
