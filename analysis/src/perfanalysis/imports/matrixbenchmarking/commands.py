"""The command `import matrixbenchmarking`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.files.findings import print_findings
from perfanalysis.imports.matrixbenchmarking.reading import read_result_tree
from perfanalysis.imports.matrixbenchmarking.settings import filters_of
from perfanalysis.imports.options import INTO
from perfanalysis.imports.run_directory import write_run_directory


@click.command("matrixbenchmarking")
@click.argument("tree", type=click.Path(path_type=Path))
@INTO
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="KEY=A:B",
    help=r"Only tests whose setting has one of the values; repeatable, or more after a comma. A colon is written \:.",
)
def import_matrixbenchmarking(tree: Path, into: Path | None, filters: tuple[str, ...]) -> None:
    """Make a run directory of TREE, a result tree of MatrixBenchmarking: one cell a test.

    Read are lists of Kubernetes objects (pods.json, jobs.json, pytorchjob.json …) and fine-tuning jobs in the
    directories that TOPSAIL's commands left. A test without an exit code is a cell that failed, without a recording.
    """
    read = read_result_tree(tree, filters_of(filters))
    run = write_run_directory(read.imported, into)
    print_findings(read.findings)
    recorded = sum(bool(recording.files) for recording in read.imported.recordings)
    click.echo(f"{len(read.imported.recordings)} tests, {recorded} of them with a recording")
    click.echo(f"Run: {run}")
