"""`perfdrv report RUN`."""

from __future__ import annotations

from pathlib import Path

import click
from perfanalysis.files.local_path import LocalPath

from perfdrv.command_line.completion import complete_runs
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.project import shown_path
from perfdrv.runs.store import find_run


@click.command()
@click.argument("run", default="latest", shell_complete=complete_runs)
@click.option(
    "-o", "--output", type=LocalPath(file_okay=False), help="Folder for the report. [default: report/ of the run]"
)
@runs_dir_option
@click.pass_context
def report(ctx: click.Context, run: str, output: Path | None, runs_dir: Path | None) -> None:
    """Generate the report of RUN: an id, the beginning of an id, a path, or `latest`."""
    root = current_runs_root(ctx, runs_dir)
    from perfanalysis.reports.writing import make_report

    click.echo(shown_path(make_report(find_run(root, run), output).index))
