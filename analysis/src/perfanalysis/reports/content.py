"""All possible contents of a report, as sections with names, from which a layout selects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.drawing.blocks import Block, Note, Remarks, Section, Table, Tile, Tiles
from perfanalysis.drawing.charts import Figure
from perfanalysis.files.discovery import Run
from perfanalysis.files.documents import listing
from perfanalysis.files.findings import Finding
from perfanalysis.reports.errors import error_section
from perfanalysis.reports.run_sections import (
    command_table,
    comparison_figures,
    comparison_tables,
    file_table,
    kpi_table,
    settings_table,
    versions_table,
)
from perfanalysis.reports.timeline import timeline_figure
from perfanalysis.verdicts.thresholds.section import verdict_tables
from perfanalysis.workloads.labels import labels_of, recording_label
from perfanalysis.workloads.run_analysis import RunAnalysis
from perfanalysis.workloads.shown import value_cell

MOST_DETAILED = 8
"""Recordings whose charts are in the page; charts of further ones are PNG files, to keep the page small."""
COMPARISON, TIMELINE = "comparison", "timeline"
NO_COMMAND = "No command of this run recorded its start."
NO_SETTINGS = "settings.yml is missing or empty: the run ended before its settings were written."
NO_VERSIONS = "run.json contains no versions."


@dataclass(frozen=True)
class Group:
    """One recording: its name, its title, the labels for filters, its directory, and its sections."""

    name: str
    label: str
    labels: Mapping[str, str]
    directory: str
    sections: tuple[Section, ...]
    detailed: bool


@dataclass(frozen=True)
class Content:
    """The sections of the run, in reading order, and those of each recording."""

    sections: tuple[Section, ...]
    groups: tuple[Group, ...]

    def figures(self) -> Iterator[tuple[Section, Group | None, Figure]]:
        """Return every figure with its place, those of the run first."""
        for section in self.sections:
            yield from ((section, None, block) for block in section.blocks if isinstance(block, Figure))
        for group in self.groups:
            for section in group.sections:
                yield from ((section, group, block) for block in section.blocks if isinstance(block, Figure))


def content_of(result: RunAnalysis, target: Path) -> Content:
    """Return the contents for a run whose report is written to `target`."""
    run = result.run
    timeline = timeline_figure(run)
    drawn = () if timeline is None else (timeline,)
    kpis = (kpi_table(result),) if result.analyses else ()
    found = (
        error_section(run, timeline),
        Section("headlines", "Results", "", _headlines(result)),
        Section("data", "About the data", "", _remarks(run, result.findings)),
        Section("verdicts", "Verdicts", "", verdict_tables(run.directory, target)),
        Section(COMPARISON, "Comparison", "", _comparison(result)),
        *result.sections,
        Section("kpis", "KPIs", "", kpis),
        Section(TIMELINE, "Timeline", _attempts(run), (*drawn, _table_or(command_table(run), NO_COMMAND))),
        Section("settings", "Settings", "", (_table_or(settings_table(run), NO_SETTINGS),)),
        Section("versions", "Versions", "", (_table_or(versions_table(run), NO_VERSIONS),)),
        Section("files", "Files", "", (file_table(run),)),
    )
    return Content(tuple(section for section in found if section is not None and section.blocks), _groups(result))


def _headlines(result: RunAnalysis) -> tuple[Block, ...]:
    """Return headline KPIs of a run with one recording; several recordings are compared instead."""
    if len(result.analyses) != 1:
        return ()
    values = (value for value in result.analyses[0].kpis if value.headline)
    tiles = tuple(Tile(value.headline or value.name, value_cell(value, value.unit), value.help) for value in values)
    return (Tiles(tiles),) if tiles else ()


def _remarks(run: Run, findings: tuple[Finding, ...]) -> tuple[Block, ...]:
    links = frozenset(one.where for one in findings if _is_inside(run, one.where))
    return (Remarks(findings, links),) if findings else ()


def _is_inside(run: Run, where: str) -> bool:
    """Return whether a finding points to a file or folder of the run."""
    inside = not Path(where).is_absolute() and ".." not in Path(where).parts
    return inside and where not in ("", ".") and (run.directory / where).exists()


def _comparison(result: RunAnalysis) -> tuple[Block, ...]:
    if max(len(result.analyses), len(result.run.cells)) < 2:
        return ()
    return (*comparison_tables(result), *comparison_figures(result))


def _attempts(run: Run) -> str:
    attempts = listing(run.document.get("attempts"))
    return f"The run took {len(attempts)} attempts." if len(attempts) > 1 else ""


def _table_or(table: Table | None, otherwise: str) -> Table | Note:
    return table if table is not None and table.rows else Note(otherwise)


def _groups(result: RunAnalysis) -> tuple[Group, ...]:
    return tuple(
        Group(
            name=analysis.place.name,
            label=recording_label(analysis, result.run),
            labels=labels_of(analysis),
            directory=analysis.place.relative,
            sections=tuple(section for section in analysis.sections if section.blocks),
            detailed=place < MOST_DETAILED,
        )
        for place, analysis in enumerate(result.analyses)
    )
