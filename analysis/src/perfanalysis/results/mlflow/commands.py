"""The command `history mlflow`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.drawing.wording import counted
from perfanalysis.files.local_path import LocalPath
from perfanalysis.results.history.folder import documents_of
from perfanalysis.results.mlflow.connection import Tracking, connect
from perfanalysis.results.mlflow.exporting import export
from perfanalysis.results.scrubbing import read_rules, scrub


@click.command("mlflow")
@click.argument("folder", type=LocalPath(file_okay=False))
@click.option(
    "--to",
    "url",
    required=True,
    metavar="URL",
    help="Address of the tracking server, such as https://mlflow.example.com.",
)
@click.option("--experiment", default="psap-perf", show_default=True, help="Prefix of the names of experiments.")
@click.option("--rules", type=LocalPath(), help="YAML with more names to drop and texts to replace.")
def mlflow_command(folder: Path, url: str, experiment: str, rules: Path | None) -> None:
    """Export the runs of a history to MLflow, scrubbed as by `history export`; exporting again changes nothing.

    Each flow is an experiment. Credentials are MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and
    MLFLOW_TRACKING_PASSWORD. Exit code 3: the server cannot be reached or refuses.
    """
    wanted = read_rules(rules)
    tracking = Tracking(url, experiment)
    done = export(connect(tracking), tracking, (scrub(document, wanted) for document in documents_of(folder)))
    click.echo(f"{counted(done.new, 'run')} exported, {done.there} already there")
