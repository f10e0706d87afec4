"""The commands `import scale-test-tool`, `plotter` and `times-csv`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.drawing.matplotlib import image
from perfanalysis.errors import DataQualityError
from perfanalysis.files.documents import write_bytes, write_text
from perfanalysis.files.findings import print_findings, refuse_incomplete
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.run_directory import write_run_directory
from perfanalysis.imports.scale_test_tool.plots import detailed_figure, general_figure, in_order, statistics_lines
from perfanalysis.imports.scale_test_tool.reading import accounts_of, negative_counts, read_working_directory
from perfanalysis.imports.scale_test_tool.records import Columns
from perfanalysis.imports.scale_test_tool.times_csv import LAYOUTS, times_csv
from perfanalysis.workloads.options import FIRST, LAST, OUTPUT, PERCENTILES, RUN
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import report_directory
from perfanalysis.workloads.workload_type import Selection

LAYOUT = click.option(
    "--csv-layout",
    type=click.Choice(LAYOUTS),
    default=LAYOUTS[0],
    show_default=True,
    help="Layout of times.csv; scale-test writes the old one, byte for byte.",
)


@click.command("scale-test-tool")
@click.argument("directory", type=LocalPath(exists=True, file_okay=False))
@click.option(
    "--into",
    "--output",
    "output",
    type=LocalPath(),
    metavar="RUN",
    help="Run directory to create. [default: a new one in PERF_RUNS_DIR or ./runs]",
)
@click.option(
    "--workload-kind",
    type=click.Choice(["TrainingWorkload", "DistributedWorkload", "InteractiveWorkload"]),
    default="TrainingWorkload",
    show_default=True,
    help="Kind of the submitted workloads, which the files do not contain.",
)
@LAYOUT
def import_scale_test_tool(directory: Path, output: Path | None, workload_kind: str, csv_layout: str) -> None:
    """Create a run directory from DIRECTORY, the working directory of the scale-test-tool.

    The command also writes a times.csv to the artifacts of the recording. Exit code 5: a file is damaged.
    """
    # pandas takes a third of a second to import, which --help does not need
    from perfanalysis.imports.scale_test_tool.run_directory import NAME, imported

    found = read_working_directory(directory)
    run = write_run_directory(imported(found, workload_kind), output)
    print_findings(found.findings)
    lost = f", {len(found.lost_columns)} lost ({found.lost_reason})" if len(found.lost_columns) else ""
    click.echo(f"{len(found.submitted)} submitted, {int((~found.orphans).sum())} of them sampled{lost}")
    _write(found.columns, run / f"000__imported__{NAME}" / "artifacts" / "times.csv", csv_layout)
    click.echo(f"Run: {run}")


@click.command()
@click.argument("directory", type=LocalPath(exists=True, file_okay=False))
@click.option("--output", type=LocalPath(), metavar="DIR", help="Directory to write to. [default: DIRECTORY]")
@FIRST
@LAST
@click.option(
    "--most-lost",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of the submitted workloads that may be missing without exit code 5.",
)
@PERCENTILES
@LAYOUT
def plotter(
    directory: Path,
    output: Path | None,
    first: int | None,
    last: int | None,
    most_lost: float,
    method: Method,
    csv_layout: str,
) -> None:
    """Plot DIRECTORY, the working directory of the scale-test-tool, without creating a run.

    Replaces the tool's plotter.py: writes general.png, detailed.png and times.csv, and prints the result of every
    workload. Exit code 5: a workload was never sampled, or a file is damaged.
    """
    found = read_working_directory(directory)
    selection = Selection(first, last)
    print_findings(found.findings)
    for heading, (count, cause) in negative_counts(found).items():
        text = f"{count} negative values beyond the resolution of their timestamps, kept unchanged: {cause}"
        click.echo(f"note: {heading}: {text}", err=True)
    target = directory if output is None else output
    plotted = in_order(found.samples, selection)
    marks = (f"{selection.words} workloads",) if selection.words else ()
    times = target / "times.csv"
    if target.resolve() == directory.resolve() and times.is_file() and not (directory / "sampled.json").is_file():
        click.echo("note: times.csv is the only input and is not overwritten; write a new one with --output", err=True)
    else:
        _write(found.columns, times, csv_layout)
        click.echo(times)
    for figure in (general_figure(plotted, marks, method), detailed_figure(plotted, marks, method)):
        if figure.rows:
            write_bytes(target / f"{figure.name}.png", image(figure, "png"))
            click.echo(target / f"{figure.name}.png")
    for line in statistics_lines(plotted, method):
        click.echo(line)
    accounts = accounts_of(found)
    click.echo(accounts.text)
    if not accounts.analysed:
        raise DataQualityError(f"{directory}: no workload was both submitted and sampled: nothing to plot")
    if accounts.lost_ratio > most_lost or not accounts.identity_holds:
        raise DataQualityError(f"the data is incomplete: {accounts.text}; accept missing workloads with --most-lost")


@click.command("times-csv")
@RUN
@OUTPUT
@LAYOUT
def times_csv_command(run: Path, output: Path | None, csv_layout: str) -> None:
    """Write the times.csv of the scale-test-tool for each recording of RUN.

    Exit code 5: a file of RUN is missing or damaged; the rest was written.
    """
    from perfanalysis.imports.scale_test_tool.run_directory import columns_by_recording

    target = report_directory(run, output)
    found, findings = columns_by_recording(run, server_clock=csv_layout == "scale-test")
    for name, workloads in found.items():
        path = target / ("times.csv" if len(found) == 1 else f"{name}.times.csv")
        _write(workloads, path, csv_layout)
        click.echo(path)
    print_findings(findings)
    refuse_incomplete(findings)


def _write(workloads: Columns, path: Path, layout: str) -> None:
    made = times_csv(workloads, layout)
    write_text(path, made.text)
    for cause, count in made.left_out.items():
        click.echo(f"note: {path.name}: {count} workloads left out: {cause}", err=True)
