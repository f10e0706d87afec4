"""The command `report`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.files.findings import print_findings, refuse_incomplete
from perfanalysis.files.local_path import LocalPath
from perfanalysis.reports.content import content_of
from perfanalysis.reports.layout import listed
from perfanalysis.reports.writing import Wanted, make_report
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import FIRST, LAST, OUTPUT, PERCENTILES, PNG, RUN, SVG, WORKLOADS, image_formats
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run, report_directory
from perfanalysis.workloads.workload_type import Selection


@click.command("report")
@RUN
@OUTPUT
@WORKLOADS
@PERCENTILES
@FIRST
@LAST
@click.option(
    "--layout", type=LocalPath(), metavar="FILE", help="Layout file (report.yml): the sections and plots to show."
)
@click.option(
    "--list-plots", is_flag=True, help="List the sections and plots that a report of RUN can have; write no report."
)
@PNG
@SVG
def report_command(
    run: Path,
    output: Path | None,
    kinds: Kinds,
    method: Method,
    first: int | None,
    last: int | None,
    layout: Path | None,
    list_plots: bool,
    png: bool,
    svg: bool,
) -> None:
    """Write the complete report of RUN: index.html, report.md, KPIs and tables.

    It also works for runs that failed or still run. With --first or --last, the whole report, including each number,
    covers only those workloads; it is written to RUN/report/first-N, and every plot states the selection. Exit code 5:
    workloads were lost or are not accounted for; the report was written nevertheless.
    """
    options = AnalysisOptions(kinds, method, Selection(first, last) if first or last else None)
    if list_plots:
        _list(run, output, options)
        return
    paths = make_report(run, output, options, Wanted(layout, image_formats(png, svg)))
    print_findings(paths.findings)
    for page, _twin in paths.pages:
        click.echo(f"Report: {page}")
    refuse_incomplete(paths.findings)


def _list(run: Path, output: Path | None, options: AnalysisOptions) -> None:
    target = report_directory(run, output, options.kinds)
    rows = [
        ("SECTION", "NAME", "WHAT", "TITLE"),
        *listed(content_of(analyse_run(run, target, options), target)),
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    for row in rows:
        click.echo("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]).rstrip())
