"""Write the files of a report: KPIs, tables, requested plots, and the page that refers to them last."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from perfanalysis.drawing.blocks import Section
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.matplotlib import Format
from perfanalysis.drawing.page import Drawn, write_images
from perfanalysis.files.discovery import Place
from perfanalysis.files.documents import write_text
from perfanalysis.files.findings import Finding
from perfanalysis.reports.arrange import Passage, arranged, check_filters, figures_of, matches
from perfanalysis.reports.content import COMPARISON, TIMELINE, Content, Group, content_of
from perfanalysis.reports.layout import Page, default_layout, read_layout
from perfanalysis.reports.markdown import render_markdown
from perfanalysis.reports.page import Sheet, head_of, render_page
from perfanalysis.results.commands import write_kpis, write_tables
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.run_analysis import AnalysisOptions, RunAnalysis, analyse_run, report_directory
from perfanalysis.workloads.workload_type import Analysis


@dataclass(frozen=True)
class ReportPaths:
    """The paths of a report's files, and the findings."""

    index: Path
    kpis: Path
    openmetrics: Path
    tables: Path
    plots: tuple[Path, ...]
    findings: tuple[Finding, ...]
    pages: tuple[tuple[Path, Path], ...] = ()
    """Each report of the layout as page and Markdown; `index` is the first page."""


@dataclass(frozen=True)
class Wanted:
    """Options of a report: its layout (report.yml; None: the default), and the formats of figure files."""

    layout: Path | None = None
    formats: tuple[Format, ...] = ()


def make_report(
    run_directory: Path | str,
    output: Path | str | None = None,
    options: AnalysisOptions | None = None,
    wanted: Wanted | None = None,
) -> ReportPaths:
    """Analyse a run directory and write its report: index.html, report.md, KPIs, tables, and requested plots.

    It works for runs that failed, were killed or still run: the report and `findings` list the missing data. `output`
    is a folder, `<run>/report` by default; a selection of workloads has a separate folder in it, named after the
    selection, so that the complete report remains. Raises UsageError if it is not a run directory, if the folder cannot
    be created, or if the layout is invalid.
    """
    directory = Path(run_directory)
    options = options or AnalysisOptions()
    folder = report_directory(directory, None if output is None else Path(output), options.kinds)
    selection = options.selection
    target = folder if selection is None or output is not None else folder / selection.folder
    return write_report(analyse_run(directory, folder, options), target, wanted)


def write_report(result: RunAnalysis, target: Path, wanted: Wanted | None = None) -> ReportPaths:
    """Write everything below `target`. Raises UsageError for a layout that requests unknown items."""
    wanted = wanted or Wanted()
    planned, findings = plan(result, target, wanted)
    kpis, metrics = write_kpis(result, target)
    write_tables(result, target)
    plots = write_images({item.name: item for one in planned for item in one.drawn}.values(), target)
    base = Path(os.path.relpath(result.run.directory, target)).as_posix()
    pages = tuple(_write_page(one, target, base, result) for one in planned)
    findings = tuple(dict.fromkeys((*result.findings, *findings)))
    return ReportPaths(pages[0][0], kpis, metrics, target / "tables", plots, findings, pages)


@dataclass(frozen=True)
class Planned:
    """A report before it is written: its contents, and its figures with the names of their files."""

    page: Page
    result: RunAnalysis
    passages: tuple[Passage, ...]
    drawn: tuple[Drawn, ...]


def plan(result: RunAnalysis, target: Path, wanted: Wanted) -> tuple[tuple[Planned, ...], tuple[Finding, ...]]:
    """Return the contents of each report of the layout. Raises UsageError for a layout that requests unknown items."""
    layout = default_layout() if wanted.layout is None else read_layout(wanted.layout)
    whole = content_of(result, target)
    planned, findings = [], list[Finding]()
    for page in layout.visualize:
        findings += check_filters(page, whole.groups, wanted.layout)
        part = _selected_recordings(result, whole.groups, page)
        content = whole if part is result else content_of(part, target)
        passages, notes = arranged(page, content, wanted.layout)
        findings += notes
        names = short_names(result)
        shown = {id(figure) for figure in figures_of(passages)}
        prefix = f"{page.id}." if part is not result else ""
        drawn = (item for item in _named_figures(content, names, prefix, wanted.formats) if id(item.figure) in shown)
        planned.append(Planned(page, part, passages, tuple(drawn)))
    return tuple(planned), tuple(dict.fromkeys(findings))


def _selected_recordings(result: RunAnalysis, groups: tuple[Group, ...], page: Page) -> RunAnalysis:
    """Return the run with only the recordings that a page requests."""
    if not page.where:
        return result
    kept = {group.name for group in groups if matches(page.where, group)}
    analyses = tuple(one for one in result.analyses if one.place.name in kept)
    cells = {one.place.cell.directory for one in analyses if one.place.cell}
    run = replace(result.run, cells=tuple(cell for cell in result.run.cells if cell.directory in cells))
    return replace(
        result,
        run=run,
        analyses=analyses,
        make_figures=lambda: tuple(_figures_across(analyses, result.options.kinds)),
        make_sections=lambda: result.sections,
    )


def _figures_across(analyses: tuple[Analysis, ...], kinds: Kinds) -> Iterator[Figure]:
    """Return the plots of kinds of workloads for several recordings, limited to these."""
    markers = dict.fromkeys(one.place.marker for one in analyses)
    for marker in (marker for marker in markers if marker in kinds.markers):
        across = kinds.of(marker).across
        if across is not None:
            yield from across(tuple(one for one in analyses if one.place.marker == marker)).make_figures()


def _write_page(planned: Planned, target: Path, base: str, result: RunAnalysis) -> tuple[Path, Path]:
    """Write a page and its Markdown version."""
    page, twin = (target / name for name in planned.page.stem)
    head = head_of(result, planned.page.title)
    write_text(twin, render_markdown(Sheet(head, planned.passages, base, page.name), planned.drawn))
    write_text(page, render_page(Sheet(head, planned.passages, base, twin.name), planned.drawn))
    return page, twin


def _named_figures(
    content: Content, names: Mapping[str, str], prefix: str, formats: tuple[Format, ...]
) -> Iterator[Drawn]:
    """Return every possible figure once, with the names of its files."""
    seen: set[int] = set()
    for section, group, figure in content.figures():
        if id(figure) not in seen:
            seen.add(id(figure))
            name = _stem(section, group, figure, names, prefix)
            yield Drawn("" if group is None else group.name, figure, name, formats)


def _stem(section: Section, group: Group | None, figure: Figure, names: Mapping[str, str], prefix: str) -> str:
    if group is not None:
        return f"{names[group.name]}.{figure.name}" if len(names) > 1 else figure.name
    if section.name == COMPARISON:
        return f"{prefix}compared.{figure.name}"
    return figure.name if figure.name == TIMELINE else f"run.{figure.name}"


def short_names(result: RunAnalysis) -> dict[str, str]:
    """Return file names by recording: `cell_3` if a cell has one recording, else the recording's own name."""
    cells = Counter(analysis.place.cell.index for analysis in result.analyses if analysis.place.cell)
    return {analysis.place.name: _short_name(analysis.place, cells) for analysis in result.analyses}


def _short_name(place: Place, recordings: Counter[int]) -> str:
    alone = place.cell is not None and recordings[place.cell.index] == 1
    return f"cell_{place.cell.index}" if place.cell is not None and alone else place.name
