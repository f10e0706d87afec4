"""The commands `import scale-test-tool` and `times-csv`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from perfanalysis.scale_test_tool.columns import Columns

LAYOUT = click.option(
    "--csv-layout",
    type=click.Choice(["corrected", "scale-test"]),
    default="corrected",
    show_default=True,
    help="Layout of times.csv; scale-test is the old one, byte for byte.",
)


@click.command("scale-test-tool", short_help="A working directory of Run:ai's scale-test-tool, as a run.")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--into",
    "--output",
    "output",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="The run directory to make; by default one below PERF_RUNS_DIR, or ./runs.",
)
@click.option(
    "--workload-kind",
    type=click.Choice(["TrainingWorkload", "DistributedWorkload", "InteractiveWorkload"]),
    default="TrainingWorkload",
    show_default=True,
    help="What was submitted: the files do not say it.",
)
@LAYOUT
def import_scale_test_tool(directory: Path, output: Path | None, workload_kind: str, csv_layout: str) -> None:
    """Make a run directory of DIRECTORY, the working directory of the scale-test-tool.

    A times.csv is written beside its recording. Exit code 5 when a file is damaged.
    """
    from perfanalysis.scale_test_tool.reading import read_working_directory
    from perfanalysis.scale_test_tool.run_directory import PLACE, run_id, write_run_directory

    found = read_working_directory(directory)
    target = output if output is not None else Path(os.environ.get("PERF_RUNS_DIR", "runs")) / run_id(found)
    run = write_run_directory(found, target, workload_kind)
    for finding in found.findings:
        click.echo(f"{finding.severity}: {finding.where}: {finding.text}", err=True)
    lost = f", {len(found.lost)} lost ({found.lost_reason})" if found.lost else ""
    click.echo(f"{len(found.submissions)} submitted, {len(found.sampled) - len(found.orphans)} of them sampled{lost}")
    _write(found.columns, run / PLACE / "artifacts" / "times.csv", csv_layout)
    click.echo(f"Run: {run}")


@click.command("times-csv")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Where to write; by default RUN/report.")
@LAYOUT
def times_csv_command(run: Path, output: Path | None, csv_layout: str) -> None:
    """Write the times.csv of the scale-test-tool for each recording of RUN."""
    from perfanalysis.pipeline import report_directory
    from perfanalysis.scale_test_tool.columns import Columns
    from perfanalysis.scale_test_tool.from_run import records_by_recording

    target = report_directory(run, output)
    found = records_by_recording(run, server_clock=csv_layout == "scale-test")
    for name, records in found.items():
        path = target / ("times.csv" if len(found) == 1 else f"{name}.times.csv")
        _write(Columns.of(records), path, csv_layout)
        click.echo(path)


def _write(workloads: Columns, path: Path, layout: str) -> None:
    from perfanalysis.documents import write_text
    from perfanalysis.scale_test_tool.times_csv import times_csv

    made = times_csv(workloads, layout)
    write_text(path, made.text)
    for cause, count in made.left_out.items():
        click.echo(f"note: {path.name}: {count} workloads left out: {cause}", err=True)
