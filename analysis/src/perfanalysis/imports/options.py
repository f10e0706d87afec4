"""What the commands of `import` have in common."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from perfanalysis.files.findings import Finding

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


def tell(findings: Iterable[Finding]) -> None:
    """Print findings to the standard error."""
    for finding in findings:
        click.echo(f"{finding.severity}: {finding.where}: {finding.text}", err=True)
