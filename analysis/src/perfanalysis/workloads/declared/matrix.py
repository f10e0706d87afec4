"""The figures of a declared kind over the recordings of a run: KPIs against a number of each recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, in_rows
from perfanalysis.workloads.declared.checks import split
from perfanalysis.workloads.declared.model import MatrixPlotDeclared, WorkloadDeclared
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.labels import labels_of
from perfanalysis.workloads.percentiles import SHARES
from perfanalysis.workloads.workload_type import Across, Analysis

MOST_LINES = 12
ROOM = 0.05
STATISTIC_WORDS = {**{name: name.upper() for name in SHARES}, "max": "max"}
COUNTED_APART = ("recording", "cell", "@repeat")


@dataclass(frozen=True)
class _Recording:
    """A recording at its place on the x axis; `labels` are its values besides that one."""

    x: float
    labels: Mapping[str, str]
    kpis: tuple[KpiValue, ...]


def across_of(declared: WorkloadDeclared) -> Callable[[tuple[Analysis, ...]], Across]:
    """Return the function `across` of a declared kind."""
    return lambda analyses: Across(analyses, lambda: _figures(declared, analyses))


def _figures(declared: WorkloadDeclared, analyses: tuple[Analysis, ...]) -> tuple[Figure, ...]:
    made = (_figure(declared, plot, analyses) for plot in declared.matrix)
    return tuple(figure for figure in made if figure is not None)


def _figure(declared: WorkloadDeclared, plot: MatrixPlotDeclared, analyses: Sequence[Analysis]) -> Figure | None:
    """Return the figure; None unless the recordings differ in the number of the x axis."""
    table, name = split(plot.over)
    column = next(one for one in declared.tables[table].columns if one.name == name)
    found = [
        _Recording(float(numbers[0]), _other_labels(analysis), analysis.kpis)
        for analysis in analyses
        for numbers in (analysis.frames[f"{declared.name}_{table}"][name].dropna().to_numpy(dtype=float),)
        if len(numbers) and np.isfinite(numbers[0])
    ]
    if len({one.x for one in found}) < 2:
        return None
    x_axis = Axis(column.label or name.removesuffix("_s").replace("_", " "), column.unit or "", low=0.0)
    found = _distinguished(found)
    units: dict[str, list[str]] = {}
    kpis = {kpi.name: kpi for one in found for kpi in one.kpis}
    for kpi in plot.kpis:
        if kpi in kpis:
            units.setdefault(kpis[kpi].unit, []).append(kpi)
    charts = [_chart(plot, x_axis, unit, names, found) for unit, names in units.items()]
    drawn = [chart for chart in charts if chart.layers]
    return Figure(plot.name, plot.title, plot.caption, in_rows(drawn)) if drawn else None


def _other_labels(analysis: Analysis) -> dict[str, str]:
    return {name: text for name, text in labels_of(analysis).items() if name not in COUNTED_APART}


def _distinguished(found: list[_Recording]) -> list[_Recording]:
    """Return the recordings with the labels that distinguish those at one place of the x axis."""
    names = dict.fromkeys(name for one in found for name in one.labels)
    places: dict[float, list[_Recording]] = {}
    for one in found:
        places.setdefault(one.x, []).append(one)
    telling: dict[tuple[str | None, ...], str] = {}
    for name in names:
        if any(len({one.labels.get(name) for one in own}) > 1 for own in places.values()):
            # a fact may repeat a setting of the cell
            telling.setdefault(tuple(one.labels.get(name) for one in found), name)
    return [
        _Recording(one.x, {name: one.labels[name] for name in telling.values() if name in one.labels}, one.kpis)
        for one in found
    ]


def _chart(
    plot: MatrixPlotDeclared, x_axis: Axis, unit: str, names: Sequence[str], found: Sequence[_Recording]
) -> Chart:
    """Return a line for each KPI and its labels, and for each group of recordings; the median of equal places."""
    lines: dict[str, dict[float, list[float]]] = {}
    for kpi_name, one in ((kpi_name, one) for kpi_name in names for one in found):
        for kpi in (kpi for kpi in one.kpis if kpi.name == kpi_name and kpi.number is not None):
            words = [*([_words(kpi.name)] if len(names) > 1 else []), *kpi.labels.values()]
            words += [f"{name.rpartition('.')[2].replace('_', ' ')} {text}" for name, text in one.labels.items()]
            lines.setdefault(", ".join(words), {}).setdefault(one.x, []).append(kpi.known)
    layers = tuple(
        Layer("line", label or plot.title, x, np.array([np.median(line[at]) for at in x]), place, dots=True)
        for place, (label, line) in enumerate(list(lines.items())[:MOST_LINES])
        for x in (np.array(sorted(line), dtype=float),)
    )
    axis = Axis(_words(names[0]) if len(names) == 1 else "value", "s" if unit == "seconds" else unit, low=_low(layers))
    return Chart(plot.title if len(names) > 1 else _words(names[0]), x_axis, axis, layers, height=320)


def _low(layers: Sequence[Layer]) -> float:
    """Return the begin of the y axis: 0, or room below the lowest point."""
    every = np.concatenate([layer.y for layer in layers] or [np.zeros(1)])
    least = float(every.min())
    return least - ROOM * float(np.ptp(every)) if least < 0 else 0.0


def _words(name: str) -> str:
    """Return a KPI's name for readers: its statistic is in upper case."""
    stem, _, statistic = name.rpartition("_")
    text = f"{stem}, {STATISTIC_WORDS[statistic]}" if statistic in STATISTIC_WORDS else name
    return text.replace("_", " ")
