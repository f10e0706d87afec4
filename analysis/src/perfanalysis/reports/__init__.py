"""Reports of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from perfanalysis.files.findings import Finding
from perfanalysis.workloads.selection import Selection


@dataclass(frozen=True)
class ReportPaths:
    """Where a report's files are, and what its readers must know about the data."""

    index: Path
    kpis: Path
    openmetrics: Path
    tables: Path
    plots: tuple[Path, ...]
    findings: tuple[Finding, ...]
    pages: tuple[tuple[Path, Path], ...] = ()
    """Each report of the layout as a page and as its Markdown twin; `index` is the page of the first."""


@dataclass(frozen=True)
class Wanted:
    """How a report is to be: by a layout (report.yml; None: the shipped one), and with SVG files beside PNG ones."""

    layout: Path | None = None
    svg: bool = False


def make_report(
    run_directory: Path | str,
    output: Path | str | None = None,
    selection: Selection | None = None,
    wanted: Wanted | None = None,
) -> ReportPaths:
    """Analyse a run directory and write its report: index.html, report.md, plots, KPIs and tables.

    Works for runs that failed, were killed or still go on: what is missing is said in the report and in `findings`.
    `output` is a folder, `<run>/report` by default; a selection of workloads has a folder of its own in it, named after
    the selection, so that the whole report stays. Raises UsageError when it is no run directory, when the folder cannot
    be made, or when the layout is wrong.
    """
    from perfanalysis.reports.writing import write_report
    from perfanalysis.workloads.run_analysis import analyse_run, report_directory

    directory = Path(run_directory)
    folder = report_directory(directory, None if output is None else Path(output))
    target = folder if selection is None or output is not None else folder / selection.folder
    return write_report(analyse_run(directory, folder, selection), target, wanted)
