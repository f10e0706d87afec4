"""Reports of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from perfanalysis.findings import Finding


@dataclass(frozen=True)
class ReportPaths:
    """Where a report's files are, and what its readers must know about the data."""

    index: Path
    kpis: Path
    openmetrics: Path
    tables: Path
    plots: tuple[Path, ...]
    findings: tuple[Finding, ...]


def make_report(run_directory: Path | str, output: Path | str | None = None) -> ReportPaths:
    """Analyse a run directory and write its report: index.html, plots, KPIs and tables.

    Works for runs that failed, were killed or still go on: what is missing is said in the report and in `findings`.
    `output` is a folder, `<run>/report` by default. Raises UsageError when it is no run directory, or when the
    folder cannot be made.
    """
    from perfanalysis.pipeline import analyse_run, report_directory
    from perfanalysis.report.write import write_report

    directory = Path(run_directory)
    target = report_directory(directory, None if output is None else Path(output))
    return write_report(analyse_run(directory, target), target)
