"""The command `regress`."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import get_args

import click

from perfanalysis.comparing.commands import share
from perfanalysis.regressing.methods import Method


@click.command("regress")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--history", "folder", required=True, type=click.Path(path_type=Path), help="The history's folder.")
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="change-point",
    show_default=True,
    help="Changes of level; or whether this run alone is unlike those before, by a t score or by its rank.",
)
@click.option("--margin", default="5%", show_default=True, help="Changes smaller than this share do not matter.")
@click.option(
    "--recent",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="A change is this run's when it began at most so many runs ago.",
)
@click.option("--compare", "compared", multiple=True, metavar="KEY", help="A key whose value may differ; repeatable.")
@click.option("--ignore", "ignored", multiple=True, metavar="KEY", help="The same, of what is not of interest.")
@click.option(
    "--sort-by",
    "sorted_by",
    multiple=True,
    metavar="KEY",
    help="Order runs by this key or fact, as versions, then time.",
)
@click.option("--acknowledged", type=click.Path(path_type=Path), metavar="FILE", help="YAML of accepted changes.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON document instead of the summary.")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Where to write; by default RUN/report.")
def regress_command(
    run: Path,
    folder: Path,
    method: Method,
    margin: str,
    recent: int,
    compared: tuple[str, ...],
    ignored: tuple[str, ...],
    sorted_by: tuple[str, ...],
    acknowledged: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Judge RUN by the runs of a history: is any KPI worse than before, since when, by how much, how surely?

    Compared are recordings of the same kind whose settings marked as keys are equal. regression.json, regression.md and
    regression.xml (JUnit) are written. Exit code 4: a KPI is worse. 6: no KPI has enough history.
    """
    from perfanalysis.pipeline import report_directory
    from perfanalysis.regressing.acknowledged import Acknowledged, read_acknowledged
    from perfanalysis.regressing.series import Selection
    from perfanalysis.regressing.verdict import Options
    from perfanalysis.regressing.write import regress_run

    today = datetime.datetime.now(datetime.UTC).date()
    accepted = Acknowledged() if acknowledged is None else read_acknowledged(acknowledged, today)
    selection = Selection(frozenset(compared), frozenset(ignored), sorted_by)
    options = Options(method, share(margin), recent, selection)
    written = regress_run(run, folder, options, accepted, report_directory(run, output))
    for finding in written.findings:
        click.echo(f"{finding.severity}: {finding.where}: {finding.text}", err=True)
    click.echo((written.json if as_json else written.markdown).read_text(), nl=False)
    if written.error is not None:
        raise written.error
