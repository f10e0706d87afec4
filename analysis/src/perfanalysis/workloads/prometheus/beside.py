"""Where what Prometheus knows is shown: with the recording that ran in the window, or with the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from perfanalysis.drawing.blocks import Section
from perfanalysis.files.cache import load_tables, tables_folder
from perfanalysis.files.discovery import Marks, Run
from perfanalysis.files.findings import Finding
from perfanalysis.files.source import Source
from perfanalysis.workloads.prometheus.figures import metrics_section
from perfanalysis.workloads.prometheus.ranges import RANGES, Ranges, ranges_of
from perfanalysis.workloads.workload_type import Analysis


def load_ranges(run: Run, output: Path) -> tuple[tuple[Ranges, ...], tuple[Finding, ...]]:
    """Every window of a run that Prometheus was asked about; the samples are kept below `output`/tables."""
    found: list[Ranges] = []
    findings: tuple[Finding, ...] = ()
    for place in run.monitoring:
        tables, more = load_tables(RANGES, Source(place), tables_folder(output, place))
        found.append(ranges_of(place, tables))
        findings += more
    return tuple(found), findings


def place_metrics(
    analyses: tuple[Analysis, ...], ranges: tuple[Ranges, ...], marks: Marks
) -> tuple[tuple[Analysis, ...], Callable[[], tuple[Section, ...]]]:
    """The recordings, with a section more for those that had a window of their own, and what gives the run's sections.

    A window in which several recordings ran, or none, is the run's.
    """
    own: dict[int, list[Ranges]] = {}
    rest: list[Ranges] = []
    for window in ranges:
        owners = [place for place, analysis in enumerate(analyses) if _ran_in(analysis, window)]
        if len(owners) == 1:
            own.setdefault(owners[0], []).append(window)
        else:
            rest.append(window)
    placed = tuple(_with(analysis, own.get(place, [])) for place, analysis in enumerate(analyses))
    return placed, lambda: (metrics_section(rest, None, marks.phrases),) if rest else ()


def _ran_in(analysis: Analysis, window: Ranges) -> bool:
    """By its time; one that tells none ran in the windows of its own cell."""
    if analysis.period is not None:
        return window.overlaps(*analysis.period)
    return analysis.place.cell is not None and analysis.place.cell == window.place.cell


def _with(analysis: Analysis, windows: list[Ranges]) -> Analysis:
    if not windows:
        return analysis

    def with_metrics() -> tuple[Section, ...]:
        return (*analysis.sections, metrics_section(windows, analysis.period, analysis.phrases))

    return replace(analysis, make_sections=with_metrics)
