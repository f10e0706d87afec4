"""The page of trends: of one run against its history, or of a history's newest runs.

Trends are figures: each KPI over the runs, its levels with intervals, and its changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from perfanalysis.drawing.blocks import DASH, Section
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, in_rows, moments, seconds_scale
from perfanalysis.drawing.matplotlib import Format
from perfanalysis.drawing.page import Drawn, page_assets, page_environment, write_images
from perfanalysis.drawing.wording import counted, shortened, value_text
from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import labs_together
from perfanalysis.files.documents import write_text
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.documents import Entry
from perfanalysis.results.history.folder import load
from perfanalysis.verdicts.comparison.write import named_figures
from perfanalysis.verdicts.regression.methods import Level
from perfanalysis.verdicts.regression.series import Selection
from perfanalysis.verdicts.regression.tables import kpi_table, suspects_table
from perfanalysis.verdicts.regression.verdict import CHANGED, KpiVerdict, Options, RecordingVerdict, Regression, regress
from perfanalysis.verdicts.regression.watched import Acknowledged, keys_text

VERSIONS = ("cluster.version", "version.psap.perf", "git.commit")
"""Facts that name runs on the axis, the first that differs, unless runs are ordered by another."""
MOST_LETTERS = 14
BLUE, ORANGE, GREEN, RED, GREY = 0, 1, 11, 5, 8
COLOURS = {"worse": RED, "better": GREEN, "different": BLUE, "acknowledged": ORANGE}
MOST_UNCHANGED = 24
LARGE, SMALL = 260, 170
"""Heights in CSS pixels of the chart of a KPI that changed, and of one that did not."""
SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def trend_figures(regression: Regression, recording: RecordingVerdict, place: int) -> tuple[Figure, ...]:
    """Return a figure for each KPI that changed, and one of the others together, at most MOST_UNCHANGED of them."""
    changed = [kpi for word in CHANGED for kpi in recording.kpis if kpi.word == word]
    others = [kpi for kpi in recording.kpis if kpi.word not in CHANGED and kpi.series is not None]
    # earlier changes come before KPIs that never changed
    others.sort(key=lambda kpi: not kpi.places)
    figures = [_figure(regression, kpi, recording, place) for kpi in changed]
    shown = others[:MOST_UNCHANGED]
    if shown:
        charts = [trend_chart(regression, kpi, height=SMALL) for kpi in shown]
        more = len(others) - len(shown)
        caption = "Each dot is a run." + (f" {more} more without a change are only in the table." if more else "")
        figures.append(
            Figure(f"unchanged_{place}", "No change of this run", caption, in_rows(charts), phrases_of((recording,)))
        )
    return tuple(figures)


def _figure(regression: Regression, kpi: KpiVerdict, recording: RecordingVerdict, place: int) -> Figure:
    caption = (
        f"Each dot is a run, the last is {regression.run}. Lines are the means of levels with their 95 % "
        "intervals; a vertical line is the start of a level."
    )
    chart = trend_chart(regression, kpi, height=LARGE)
    return Figure(
        f"{place}_{kpi.kpi.series}", f"{kpi.kpi.series}: {kpi.word}", caption, ((chart,),), phrases_of((recording,))
    )


def trend_chart(regression: Regression, kpi: KpiVerdict, height: int) -> Chart:
    """A KPI over the runs in order; without a series, only its own value."""
    entries = () if kpi.series is None else kpi.series.entries
    numbers = np.array([kpi.kpi.known] if kpi.series is None else kpi.series.values, dtype=float)
    factor, unit = axis_scale(kpi.kpi.unit, numbers)
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


def axis_scale(unit: str, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, str]:
    """Return factor and unit for an axis: milliseconds, percent and gigabytes if usual."""
    if unit == "seconds":
        return seconds_scale(values)
    if unit == "ratio":
        return 100.0, "%"
    if unit == "bytes":
        largest = float(np.abs(values).max())
        return next(((1 / size, name) for size, name in SIZES if largest >= size), (1.0, "B"))
    return 1.0, unit


def phrases_of(recordings: Sequence[RecordingVerdict]) -> tuple[str, ...]:
    """Return the labs of all of them, as plots show them."""
    return labs_together(each.entry.lab for each in recordings).phrases


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
    """Return the range of values and intervals with a margin; from 0 if that wastes little space."""
    ends = [end for level in levels for end in (level.low, level.high) if end is not None]
    low, high = min(*values, *ends, values[0]), max(*values, *ends, values[0])
    room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    # nothing above a share of 100 % is worth showing; values near 0 are shown from 0
    return (0.0 if 0 <= low <= 0.5 * high else float(low - room)), float(high + room)


def axis_labels(
    entries: Sequence[Entry], sorted_by: Sequence[str], compared: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the label of the axis and the name of each run on it: by the order's key, a version, or the day."""
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


METHODS = {
    "change-point": (
        "Change points: the best split of a KPI's series by the t test with equal variances, if its p-value "
        "times the number of tested splits is at most 0.03; repeated in each part. A change is attributed to "
        "this run if it began at most {recent} ago."
    ),
    "z-score": (
        "z-score: this run against the mean and standard deviation of the earlier runs, as the t statistic of "
        "a prediction interval, which accounts for the uncertainty of both."
    ),
    "percentile": (
        "Percentile: the rank of this run among the earlier runs, on both sides; it assumes no distribution."
    ),
}
SHARED = (
    "Values are compared by their logarithms if all are above 0, since noise is proportional to the value; "
    "lines are means on that scale with t intervals. Over all KPIs of the run, p-values are corrected for "
    "false discoveries (Benjamini and Hochberg), q is at most 0.05; a change must be at least {margin}, "
    "unless the KPI's rule has another margin. Better and worse follow the direction that a KPI declares."
)


def write_trends(regression: Regression, output: Path, formats: tuple[Format, ...] = ()) -> Path:
    """Write regression.html, and its plots in *formats*, below *output*; equal verdicts have equal bytes."""
    error = regression.error
    page = {
        "what": "regressions",
        "title": regression.run,
        "reason": "" if error is None else str(error),
        "facts": _facts(regression),
    }
    shown = [_page_recording(regression, each, place) for place, each in enumerate(regression.recordings)]
    return _write(output / "regression.html", "regression", page, regression, shown, formats)


def history_page(folder: Path, page: Path, sorted_by: Sequence[str]) -> tuple[Path, tuple[Finding, ...]]:
    """Write the page of a history's folder; return its path and findings.

    Raises UsageError if it is not a history, or has no successful run.
    """
    history = load(folder)
    entries = history.entries()
    if not newest(entries):
        raise UsageError(f"{folder} has no successful run: no trends to show")
    options = Options(selection=Selection(sorted_by=tuple(sorted_by)))
    notes = tuple(f"{finding.where}: {finding.text}" for finding in history.findings)
    return write_history_page(entries, folder.resolve().name, page, options, notes), history.findings


def write_history_page(
    entries: Sequence[Entry], title: str, page: Path, options: Options, notes: tuple[str, ...] = ()
) -> Path:
    """Write a page with the trends of a history: each newest recording against comparable ones."""
    shown, verdicts = [], []
    for place, entry in enumerate(newest(entries)):
        regression = regress((entry,), entries, options, Acknowledged())
        (verdict,) = regression.recordings
        verdicts.append(verdict)
        shown.append(_page_recording(regression, verdict, place, several_runs=True))
    together = Regression(title, options, tuple(verdicts), notes)
    facts = (*_runs(entries, together), *_facts(together)[1:])
    head = {"what": "history", "title": title, "reason": "", "facts": facts}
    return _write(page, page.stem, head, together, shown, ())


def _runs(entries: Sequence[Entry], together: Regression) -> tuple[tuple[str, str], ...]:
    """Return how many runs the trends cover, and how many they do not, by status."""
    shown = {entry.run for each in together.recordings for entry in (each.entry, *each.earlier)}
    absent = {entry.run: entry.status for entry in entries if entry.run not in shown}
    reasons = Counter("without a KPI" if status == "ok" else status for status in absent.values())
    others = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    return (("Runs in trends", str(len(shown))), *((("Not in a trend", others),) if others else ()))


def newest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the newest successful entry of each set of comparable entries, in the order of their names."""
    found: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.started_s, entry.run)):
        if entry.status == "ok" and entry.kpis:
            found[repr((entry.flow, entry.kind, entry.lab, sorted(entry.keys.items(), key=str)))] = entry
    return tuple(sorted(found.values(), key=lambda entry: (str(entry.flow), entry.recording, entry.run)))


def _page_recording(
    regression: Regression, recording: RecordingVerdict, place: int, *, several_runs: bool = False
) -> Section:
    figures = trend_figures(regression, recording, place)
    changed = tuple(figure for figure in figures if not figure.name.startswith("unchanged"))
    rest = tuple(figure for figure in figures if figure.name.startswith("unchanged"))
    suspects = suspects_table(recording)
    entry = recording.entry
    keys = keys_text(dict(list(entry.keys.items())[:8])).strip(" ()")
    earlier = counted(len(recording.earlier), "earlier run")
    name = f"{entry.run}: {entry.recording}" if several_runs else entry.recording
    return Section(
        name=f"recording_{place}",
        title=shortened(name, 79),
        text=f"Against {earlier} with the same keys{f': {keys}' if keys else ''}.",
        blocks=(*changed, *((suspects,) if suspects is not None else ()), kpi_table(recording), *rest),
    )


def _facts(regression: Regression) -> tuple[tuple[str, str], ...]:
    options, selection = regression.options, regression.options.selection
    named = (
        ("Earlier runs", ", ".join(sorted({str(len(each.earlier)) for each in regression.recordings})) or "none"),
        ("Method", options.method),
        ("Margin", f"{100 * options.margin:g} %"),
        ("Compared across", ", ".join(sorted(selection.compared))),
        ("Ignored", ", ".join(sorted(selection.ignored))),
        ("Equal facts besides keys", ", ".join(sorted(selection.same))),
        ("Left out", ", ".join(f"{name}={value}" for name, value in selection.skipped)),
        ("Ordered by", ", ".join((*selection.sorted_by, "time"))),
    )
    return tuple((name, text) for name, text in named if text)


def _write(
    page: Path,
    prefix: str,
    head: dict[str, Any],
    regression: Regression,
    shown: Sequence[Section],
    formats: tuple[Format, ...],
) -> Path:
    figures = [block for each in shown for block in each.blocks if isinstance(block, Figure)]
    drawn = named_figures(figures, prefix, formats)
    write_images(drawn, page.parent)
    write_text(page, _rendered(head, regression, shown, drawn))
    return page


def _rendered(head: dict[str, Any], regression: Regression, shown: Sequence[Section], drawn: Iterable[Drawn]) -> str:
    options = regression.options
    method = f"{METHODS[options.method]} {SHARED}".format(
        recent=counted(options.recent, "run"), margin=f"{100 * options.margin:g} %"
    )
    return (
        page_environment(drawn)
        .get_template("regression.html.j2")
        .render(
            **head,
            counts={word: count for word, count in regression.counts().items() if count},
            marks=phrases_of(regression.recordings),
            notes=regression.notes,
            groups=shown,
            method=method,
            assets=page_assets(),
        )
    )
