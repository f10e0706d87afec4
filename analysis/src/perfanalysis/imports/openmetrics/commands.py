"""The command `import openmetrics`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.files.findings import print_findings
from perfanalysis.imports.entries import documents, keep, origin
from perfanalysis.imports.openmetrics.history import Reading, foreign_runs
from perfanalysis.imports.openmetrics.reading import families_of
from perfanalysis.imports.options import HISTORY, kpi_override_options, kpi_overrides


@click.command("openmetrics")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@HISTORY
@click.option(
    "--run", "run_id", metavar="ID", help="The run's id; else the label that --run-label names, else the file's name."
)
@click.option("--run-label", default="run", show_default=True, metavar="LABEL", help="The label that names the run.")
@click.option("--started", metavar="TIME", help="When it was, with its zone; not needed where there are timestamps.")
@click.option("--fact", "facts", multiple=True, metavar="LABEL", help="A label that runs may differ in; repeatable.")
@click.option(
    "--statistic",
    type=click.Choice(["last", "mean", "min", "max"]),
    help="Which number stands for the several moments of a dump.",
)
@kpi_override_options
def import_openmetrics(
    files: tuple[Path, ...],
    folder: Path,
    run_id: str | None,
    run_label: str,
    started: str | None,
    facts: tuple[str, ...],
    statistic: str | None,
    lower: tuple[str, ...],
    higher: tuple[str, ...],
    units: tuple[str, ...],
) -> None:
    """Add the numbers of OpenMetrics text to a history.

    Each of FILES is of one run, or has a label that names it. Samples with the same labels are one recording, and its
    labels are the keys that it is compared by. The parser is that of Prometheus' Python client. KPIs of ours (kpis.prom
    of a report) keep name, unit and direction.
    """
    reading = Reading(kpi_overrides(lower, higher, units), run_id, run_label, started, frozenset(facts), statistic)
    for path in files:
        content = path.read_bytes()
        source = origin(path, content)
        runs, findings = foreign_runs(families_of(content, str(path)), path, source["sha256"], reading)
        added = keep(folder, documents(runs, source))
        print_findings((*findings, *added.findings))
        click.echo(added.told(path.name))
