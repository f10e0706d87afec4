"""What the commands of `import` have in common."""

from __future__ import annotations

from pathlib import Path

import click

INTO = click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="The run directory to make; by default one below PERF_RUNS_DIR, or ./runs.",
)
HISTORY = click.option(
    "--history",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The history that takes it in; it is made where there is none.",
)
