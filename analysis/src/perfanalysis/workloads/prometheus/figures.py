"""Figures of Prometheus' data of a window: a chart for each query, over time.

They are shown with the recording that ran in the window, or with the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.blocks import Note, Section
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, in_rows, seconds_scale, span
from perfanalysis.files.cache import load_tables, tables_folder
from perfanalysis.files.discovery import Lab, Run
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.prometheus.declared_kpis import recording_kpis
from perfanalysis.workloads.prometheus_ranges import RANGES, Quantity, Ranges, labels_of, quantity_of, ranges_of
from perfanalysis.workloads.workload_type import Analysis

if TYPE_CHECKING:
    import pandas as pd

MOST_LINES = 8
MOST_POINTS = 600
FEW_POINTS = 20
TEST_COLOUR = 8
GAP = 2.5
"""A line has a gap if this many times the usual distance is between two of its samples."""
_GROUPS = (
    ("serving", "Model servers", ("server_", "picker_", "gateway_", "kserve_", "vllm", "llamacpp")),
    ("queues", "Queues", ("kueue_",)),
    ("gpus", "GPUs of the cluster", ("gpu_", "dcgm_")),
    ("nodes", "Nodes and pods", ("node_", "container_", "pod_", "kube_", "infiniband_")),
    ("operators", "Operators", ("operators_",)),
    (
        "control_plane",
        "Control plane",
        ("apiserver_", "control_plane_", "scheduler_", "etcd_", "process_", "workqueue_"),
    ),
)
OTHERS = ("others", "Further metrics")
TITLE = "Metrics"


def metrics_section(ranges: Sequence[Ranges], within: tuple[float, float] | None, marks: tuple[str, ...]) -> Section:
    """Return the figures of all queries over these windows; `within`, the time of a workload, is shaded."""
    figures = tuple(figure for window in ranges for figure in range_figures(window, within, marks))
    lengths = (window.end_s - window.start_s for window in ranges if not len(window.samples))
    empty = (Note(f"Prometheus was queried for {length:.0f} s but had no sample of any query.") for length in lengths)
    return Section("metrics", TITLE, "As Prometheus scraped them.", (*figures, *empty))


def range_figures(
    ranges: Ranges, within: tuple[float, float] | None = None, marks: tuple[str, ...] = ()
) -> tuple[Figure, ...]:
    """Return a figure each for GPUs, nodes, control plane and others, with a chart for each query that has samples."""
    names = [str(name) for name in ranges.samples["query"].cat.categories]
    present = set(ranges.samples["query"].astype("str").unique())
    found: dict[tuple[str, str], list[Chart]] = {}
    for name in sorted(names, key=_order):
        if name in present:
            found.setdefault(_group(name), []).append(_chart(ranges, name, within))
    caption = f"Of more than {MOST_LINES} series, the largest are drawn; lines have gaps where nothing was scraped."
    if within is not None:
        caption += " Shaded: from the start to the end of the workload."
    return tuple(
        Figure(f"metrics_{group}", title, caption, in_rows(charts), marks) for (group, title), charts in found.items()
    )


def _order(name: str) -> tuple[int, str]:
    places = [group for group, _, _ in _GROUPS]
    group, _ = _group(name)
    return (places.index(group) if group in places else len(places), name)


def _group(name: str) -> tuple[str, str]:
    return next((entry[:2] for entry in _GROUPS if name.lower().startswith(entry[2])), OTHERS)


def _chart(ranges: Ranges, name: str, within: tuple[float, float] | None) -> Chart:
    samples = ranges.samples[(ranges.samples["query"] == name) & ranges.samples["value"].notna()]
    quantity = quantity_of(name)
    if not quantity.unit and len(samples):
        quantity = quantity_of(str(samples["metric"].iloc[0]))
    series = _series(samples)
    factor, unit = quantity.factor, quantity.unit
    if unit == "s":
        factor, unit = seconds_scale(*(values for _, _, values in series))
    layers = [
        _line(label, times - ranges.start_s, factor * values, place)
        for place, (label, times, values) in enumerate(series[:MOST_LINES])
    ]
    shaded = [] if within is None else [_shaded(ranges, within)]
    time = Axis("time since the start of the window", "s", low=0.0, high=max(ranges.end_s - ranges.start_s, 1e-3))
    return Chart(_title(name, quantity, len(series)), time, _axis(quantity, unit), (*shaded, *layers), height=240)


def _title(name: str, quantity: Quantity, series: int) -> str:
    title = quantity.title if quantity.unit else name
    return f"{title}, the largest {MOST_LINES} of {series} series" if series > MOST_LINES else title


def _axis(quantity: Quantity, unit: str) -> Axis:
    return Axis(quantity.title.lower() if not unit else "", unit, low=0.0, high=100.0 if quantity.whole_share else None)


def _shaded(ranges: Ranges, within: tuple[float, float]) -> Layer:
    begin, end = (min(max(moment, ranges.start_s), ranges.end_s) - ranges.start_s for moment in within)
    return span(begin, end, "workload", TEST_COLOUR)


def _series(samples: pd.DataFrame) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Return label, times and values of each series, the largest first."""
    groups = [(str(text), own) for text, own in samples.groupby("labels", observed=True, sort=True)]
    names = _names([text for text, _ in groups])
    found = [
        (names[text], own["at_s"].to_numpy(dtype=float), own["value"].to_numpy(dtype=float)) for text, own in groups
    ]
    return sorted(found, key=lambda one: -float(one[2].max()))


def _names(series: Iterable[str]) -> dict[str, str]:
    """Return what distinguishes each series of a query: the values of labels that differ, each of them once."""
    parsed = {text: labels_of(text) for text in series}
    columns: dict[tuple[str, ...], str] = {}
    for label in sorted({label for labels in parsed.values() for label in labels}, key=_preference):
        values = tuple(labels.get(label, "") for labels in parsed.values())
        if len(set(values)) > 1:
            columns.setdefault(values, label)
    chosen = _enough(list(columns.values()), list(parsed.values()))
    return {
        text: ", ".join(_value(label, labels[label]) for label in chosen if labels.get(label)) or "all"
        for text, labels in parsed.items()
    }


def _value(label: str, value: str) -> str:
    """A number without its label is meaningless."""
    return f"{label} {value}" if value.isdigit() and label != "code" else value


def _enough(labels: list[str], series: list[dict[str, str]]) -> list[str]:
    """Return the first so many labels that distinguish all series."""
    for count in range(len(labels) + 1):
        if len({tuple(one.get(label) for label in labels[:count]) for one in series}) == len(series):
            return labels[:count]
    return labels


def _preference(label: str) -> tuple[int, str]:
    first = ("Hostname", "node", "gpu", "exported_pod", "pod", "instance", "job")
    return (first.index(label) if label in first else len(first), label)


def _line(label: str, times: NDArray[np.float64], values: NDArray[np.float64], colour: int) -> Layer:
    """Return a line with NaN in its gaps, reduced to MOST_POINTS actual values."""
    if len(times) > MOST_POINTS:
        kept = np.unique(np.linspace(0, len(times) - 1, MOST_POINTS).astype(int))
        times, values = times[kept], values[kept]
    dots = len(times) <= FEW_POINTS
    distances = np.diff(times)
    if len(distances):
        gaps = np.flatnonzero(distances > GAP * np.median(distances))
        times = np.insert(times, gaps + 1, (times[gaps] + times[gaps + 1]) / 2)
        values = np.insert(values, gaps + 1, np.nan)
    return Layer("line", label, times, values, colour, dots=dots)


def load_ranges(run: Run, output: Path) -> tuple[tuple[Ranges, ...], tuple[Finding, ...]]:
    """Return every window of a run with queries of Prometheus; the samples are stored below `output`/tables."""
    found: list[Ranges] = []
    findings: tuple[Finding, ...] = ()
    for place in run.monitoring:
        tables, more = load_tables(RANGES, RecordingFiles(place), tables_folder(output, place))
        found.append(ranges_of(place, tables))
        findings += more
    return tuple(found), findings


def place_metrics(
    analyses: tuple[Analysis, ...], ranges: tuple[Ranges, ...], lab: Lab
) -> tuple[tuple[Analysis, ...], Callable[[], tuple[Section, ...]]]:
    """Return the recordings with their metrics, and the run's sections.

    A window in which one recording ran is a section of it. Any other window is a section of the run. In both cases the
    recordings have the declared KPIs of their time.
    """
    own: dict[int, list[Ranges]] = {}
    shared: dict[int, list[Ranges]] = {}
    rest: list[Ranges] = []
    for window in ranges:
        owners = _owners(analyses, window)
        for place in owners:
            (own if len(owners) == 1 else shared).setdefault(place, []).append(window)
        if len(owners) != 1:
            rest.append(window)
    placed = tuple(
        _with(analysis, own.get(place, []), shared.get(place, []), analysis.phrases or lab.phrases)
        for place, analysis in enumerate(analyses)
    )
    return placed, lambda: (metrics_section(rest, None, lab.phrases),) if rest else ()


def _owners(analyses: tuple[Analysis, ...], window: Ranges) -> list[int]:
    """Return the recordings of a window: those in its directory or the one above, else those that ran in it.

    Of these, recordings with a time come first.
    """
    nearest = (window.place.directory, window.place.directory.parent)
    here = [place for place, analysis in enumerate(analyses) if analysis.place.directory in nearest]
    found = here or [place for place, analysis in enumerate(analyses) if _ran_in(analysis, window)]
    return [place for place in found if analyses[place].period is not None] or found


def _ran_in(analysis: Analysis, window: Ranges) -> bool:
    """Return whether a recording ran in a window, by its time; one without a time ran in the windows of its cell."""
    if analysis.period is not None:
        return window.overlaps(*analysis.period)
    return analysis.place.cell is not None and analysis.place.cell == window.place.cell


def _marked(section: Section, marks: tuple[str, ...]) -> Section:
    blocks = (replace(block, marks=marks) if isinstance(block, Figure) else block for block in section.blocks)
    return replace(section, blocks=tuple(blocks))


def _with(analysis: Analysis, windows: list[Ranges], shared: list[Ranges], marks: tuple[str, ...]) -> Analysis:
    """Return the recording with a section about its windows, and the KPIs of these and of the shared windows."""
    kpis = recording_kpis(windows, analysis.period, analysis.method)
    if analysis.period is not None:
        # a value of a whole window is of all its recordings
        kpis += recording_kpis(shared, analysis.period, analysis.method, whole=False)
    taken = {kpi.series for kpi in analysis.kpis}
    added: dict[str, KpiValue] = {}
    for kpi in kpis:
        if kpi.series not in taken:
            added.setdefault(kpi.series, kpi)
    completed = analysis.with_metric_kpis((*analysis.kpis, *added.values()))
    with_kpis = replace(analysis, kpis=completed) if added else analysis
    make = analysis.make_metric_sections
    if not windows and (make is None or not shared):
        return with_kpis

    def with_metrics() -> tuple[Section, ...]:
        own = () if make is None else (_marked(one, marks) for one in make((*windows, *shared)))
        rest = (metrics_section(windows, analysis.period, analysis.phrases),) if windows else ()
        return (*own, *analysis.sections, *rest)

    return replace(with_kpis, make_sections=with_metrics)
