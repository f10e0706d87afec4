"""Trends as figures: each KPI over the runs, its levels with intervals, and where they change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from perfanalysis.drawing.blocks import DASH
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, moments, seconds_scale
from perfanalysis.drawing.wording import value_text
from perfanalysis.files.discovery import marks_together
from perfanalysis.results.history.entries import Entry
from perfanalysis.verdicts.regression.levels import Level
from perfanalysis.verdicts.regression.verdict import CHANGED, KpiVerdict, RecordingVerdict, Regression

VERSIONS = ("cluster.version", "version.psap.perf", "git.commit")
"""Facts that name runs on the axis, the first that differs, where runs are not ordered by another."""
MOST_LETTERS = 14
BLUE, ORANGE, GREEN, RED, GREY = 0, 1, 11, 5, 8
COLOURS = {"worse": RED, "better": GREEN, "different": BLUE, "acknowledged": ORANGE}
IN_A_ROW = 2
MOST_UNCHANGED = 24
LARGE, SMALL = 260, 170
"""Heights in CSS pixels of the chart of a KPI that changed, and of one that did not."""
SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def trend_figures(regression: Regression, recording: RecordingVerdict, place: int) -> tuple[Figure, ...]:
    """A figure for each KPI that changed, and one of the others together, at most MOST_UNCHANGED of them."""
    changed = [kpi for word in CHANGED for kpi in recording.kpis if kpi.word == word]
    others = [kpi for kpi in recording.kpis if kpi.word not in CHANGED and kpi.series is not None]
    # what changed before is told before what never did
    others.sort(key=lambda kpi: not kpi.places)
    figures = [_figure(regression, kpi, recording, place) for kpi in changed]
    shown = others[:MOST_UNCHANGED]
    if shown:
        charts = [trend_chart(regression, kpi, height=SMALL) for kpi in shown]
        rows = tuple(tuple(charts[at : at + IN_A_ROW]) for at in range(0, len(charts), IN_A_ROW))
        more = len(others) - len(shown)
        caption = "Every dot is a run." + (f" {more} more without a change stand in the table only." if more else "")
        figures.append(Figure(f"unchanged_{place}", "No change of this run", caption, rows, phrases_of((recording,))))
    return tuple(figures)


def _figure(regression: Regression, kpi: KpiVerdict, recording: RecordingVerdict, place: int) -> Figure:
    caption = (
        f"Every dot is a run, the last is {regression.run}. Lines are the levels' means with their 95 % intervals; a "
        "vertical line is where a level begins."
    )
    chart = trend_chart(regression, kpi, height=LARGE)
    return Figure(
        f"{place}_{kpi.kpi.series}", f"{kpi.kpi.series}: {kpi.word}", caption, ((chart,),), phrases_of((recording,))
    )


def trend_chart(regression: Regression, kpi: KpiVerdict, height: int) -> Chart:
    """A KPI over the runs in their order; without a series only its own value."""
    entries = () if kpi.series is None else kpi.series.entries
    numbers = np.array([kpi.kpi.known] if kpi.series is None else kpi.series.values, dtype=float)
    factor, unit = shown_scale(kpi.kpi.unit, numbers)
    values = factor * numbers
    levels = tuple(_scaled(level, factor) for level in kpi.levels)
    x = np.arange(len(values), dtype=float)
    layers = (
        *_level_layers(levels),
        *_change_layers(kpi),
        Layer("line", "runs", x, values, GREY, dots=True),
        Layer("line", "this run", x[-1:], values[-1:], COLOURS.get(kpi.word, 3), dots=True),
    )
    selection = regression.options.selection
    name, labels = axis_labels(entries, selection.sorted_by, tuple(sorted(selection.compared)))
    low, high = _ends(values, levels)
    return Chart(
        kpi.kpi.help if height >= LARGE else kpi.kpi.series,
        Axis(name, categories=labels or (regression.run,)),
        Axis("", unit, low=low, high=high),
        layers,
        height=height,
    )


def _scaled(level: Level, factor: float) -> Level:
    low, high = (None if end is None else factor * end for end in (level.low, level.high))
    return Level(level.begin, level.end, factor * level.value, low, high)


def shown_scale(unit: str, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, str]:
    """Factor and unit for an axis: milliseconds, percent and gigabytes where readers expect them."""
    if unit == "seconds":
        return seconds_scale(values)
    if unit == "ratio":
        return 100.0, "%"
    if unit == "bytes":
        largest = float(np.abs(values).max())
        return next(((1 / size, name) for size, name in SIZES if largest >= size), (1.0, "B"))
    return 1.0, unit


def phrases_of(recordings: Sequence[RecordingVerdict]) -> tuple[str, ...]:
    """What was simulated or emulated in any of them, as plots show it."""
    return marks_together(each.entry.marks for each in recordings).phrases


def _level_layers(levels: Sequence[Level]) -> tuple[Layer, ...]:
    if not levels:
        return ()
    edges = np.array([end - 0.5 for level in levels for end in (level.begin, level.end)])
    means, lows, highs = (
        np.repeat(np.array(parts, dtype=float), 2)
        for parts in (
            [level.value for level in levels],
            [level.value if level.low is None else level.low for level in levels],
            [level.value if level.high is None else level.high for level in levels],
        )
    )
    return (
        Layer("band", "95 % interval of the level", edges, highs, BLUE, low=lows),
        Layer("line", "level", edges, means, BLUE),
    )


def _change_layers(kpi: KpiVerdict) -> tuple[Layer, ...]:
    places = kpi.began
    own = places[-1:] if kpi.word in CHANGED else ()
    older = places[: len(places) - len(own)]
    layers = []
    if older:
        layers.append(moments(np.array(older, dtype=float) - 0.5, "earlier change", GREY))
    if own:
        layers.append(moments(np.array(own, dtype=float) - 0.5, kpi.word, COLOURS[kpi.word]))
    return tuple(layers)


def _ends(values: np.ndarray[tuple[int], np.dtype[np.float64]], levels: Sequence[Level]) -> tuple[float, float]:
    """The part of the axis that holds values and intervals, with room; from 0 where that wastes little."""
    ends = [end for level in levels for end in (level.low, level.high) if end is not None]
    low, high = min(*values, *ends, values[0]), max(*values, *ends, values[0])
    room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    # a share of 100 % has nothing above it worth showing, a value near 0 is shown from 0
    return (0.0 if 0 <= low <= 0.5 * high else float(low - room)), float(high + room)


def axis_labels(
    entries: Sequence[Entry], sorted_by: Sequence[str], compared: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """What the axis is called, and the name of each run on it: by what they are ordered, a version, or the day."""
    for fact in (*sorted_by, *compared, *VERSIONS):
        values = [entry.value(fact) for entry in entries]
        texts = [DASH if value is None else value_text(value) for value in values]
        if fact in sorted_by or len(set(texts)) > 1:
            return fact, tuple(_short(text) for text in texts)
    return "started (UTC)", tuple(_day(entry) for entry in entries)


def _short(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}\u2026"


def _day(entry: Entry) -> str:
    if not entry.started_s:
        return _short(entry.run)
    return datetime.fromtimestamp(entry.started_s, UTC).strftime("%m-%d %H:%M")
