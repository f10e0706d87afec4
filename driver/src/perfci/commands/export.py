"""`perfdrv export RUN`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from perfdrv.command_line.completion import complete_runs
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.runs.store import find_run

from perfci.commands.store_options import given_store, store_options
from perfci.exporting.mlflow import export_to_mlflow
from perfci.exporting.runs import export, settings_of


@click.command("export")
@click.argument("run", default="latest", shell_complete=complete_runs)
@click.option("--to", help="s3://BUCKET/PREFIX, in which the run gets a folder. [default: its setting export_to]")
@store_options
@click.option("--mlflow", help="Address of an MLflow that gets the KPIs. [default: its setting export_mlflow]")
@click.option("--acl", help="Canned ACL of the objects. [default: none, as private as the bucket]")
@click.option("--retention", help="Duration after which the export may be deleted, such as 90d.")
@runs_dir_option
@click.pass_context
def export_command(ctx: click.Context, /, run: str, runs_dir: Path | None, **params: Any) -> None:
    """Export RUN to an S3 store, and its KPIs to MLflow: an id, the beginning of an id, a path, or `latest`.

    Files that are in the store already are not sent again. Repeat an interrupted export to complete it.
    """
    directory = find_run(current_runs_root(ctx, runs_dir), run)
    given = {**given_store(params), **{name: params[name] for name in ("acl", "retention", "mlflow")}}
    store, tracking = settings_of(directory, given)
    if store.to:
        exported = export(directory, store, progress=_print_progress)
        files = len(exported.manifest.files)
        click.echo(f"exported {directory.name}: {files} files, of which {exported.sent} were sent")
        click.echo(f"export  {exported.place}")
    if tracking.url:
        click.echo(f"mlflow  {export_to_mlflow(directory, tracking)}")


def _print_progress(there: int, files: int, sent: int) -> None:
    """Print the progress, on one line of a terminal."""
    if sys.stderr.isatty():
        end = "\n" if there == files else ""
        click.echo(f"\r{there} of {files} files, {sent / 1e6:.1f} MB sent ", err=True, nl=False)
        click.echo(end, err=True, nl=False)
