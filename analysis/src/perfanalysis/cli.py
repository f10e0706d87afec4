"""The command line of perfanalysis. Nothing heavy is imported until a command runs."""

from __future__ import annotations

import copy
from pathlib import Path

import click

from perfanalysis.imports.commands import import_group
from perfanalysis.imports.scale_test_tool.commands import plotter, times_csv_command
from perfanalysis.reports.commands import report_command
from perfanalysis.results.history.commands import history_group
from perfanalysis.results.payload.commands import payload_command, schema_command
from perfanalysis.verdicts.comparison.commands import compare_command
from perfanalysis.verdicts.regression.commands import regress_command
from perfanalysis.verdicts.thresholds.commands import judge_command, measures_command
from perfanalysis.workloads.commands import parse_command
from perfanalysis.workloads.options import OUTPUT, PERCENTILES, RUN, WORKLOADS


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Analyse run directories of psap.perf: tables, KPIs, plots and a report that opens from disk."""
    del debug  # read by perfanalysis.__main__, before click


cli.add_command(report_command)
cli.add_command(parse_command)
cli.add_command(import_group)
cli.add_command(plotter)
cli.add_command(times_csv_command)
cli.add_command(judge_command)
cli.add_command(measures_command)
cli.add_command(compare_command)
cli.add_command(regress_command)
cli.add_command(history_group)
cli.add_command(payload_command)
cli.add_command(schema_command)


@cli.command("kpi")
@RUN
@OUTPUT
@WORKLOADS
@PERCENTILES
@click.option("--format", "form", type=click.Choice(["json", "openmetrics"]), default="json", show_default=True)
def kpi(run: Path, output: Path | None, form: str) -> None:
    """Write the KPIs of RUN (kpis.json and kpis.prom) and print them."""
    from perfanalysis.results.output import write_kpis
    from perfanalysis.workloads.run_analysis import analyse_run, report_directory

    target = report_directory(run, output)
    document, metrics = write_kpis(analyse_run(run, target), target)
    click.echo((document if form == "json" else metrics).read_text(), nl=False)


former = copy.copy(kpi)
former.hidden = True
cli.add_command(former, "kpis")


@cli.command()
@RUN
@OUTPUT
@WORKLOADS
def tables(run: Path, output: Path | None) -> None:
    """Write the tables of RUN as Parquet files and name them."""
    from perfanalysis.results.output import write_tables
    from perfanalysis.workloads.run_analysis import analyse_run, report_directory

    target = report_directory(run, output)
    folder = write_tables(analyse_run(run, target), target)
    for path in sorted(folder.rglob("*.parquet")):
        click.echo(path)
