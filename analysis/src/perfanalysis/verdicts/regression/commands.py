"""The command `regress`."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import get_args

import click

from perfanalysis.errors import UsageError
from perfanalysis.files.findings import print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.orion.commands import judged_options
from perfanalysis.results.history.folder import documents_of, run_named
from perfanalysis.verdicts.comparison.commands import share, target_of
from perfanalysis.verdicts.regression.methods import Method
from perfanalysis.verdicts.regression.page import history_page
from perfanalysis.verdicts.regression.series import Selection
from perfanalysis.verdicts.regression.verdict import Options
from perfanalysis.verdicts.regression.watched import (
    Acknowledged,
    judged_by,
    read_acknowledged,
    read_orion_acknowledged,
    read_watched,
)
from perfanalysis.verdicts.regression.write import regress_run
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import OUTPUT, PNG, RUN_OR_ID, SVG, WORKLOADS, image_formats


def pair(text: str) -> tuple[str, str]:
    """Return the parts of NAME=VALUE. Raises UsageError for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(f"--skip {text}: write NAME=VALUE")
    return name, value


@click.command("regress")
@RUN_OR_ID
@click.option("--history", "folder", required=True, type=LocalPath(), help="Folder of the history.")
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="change-point",
    show_default=True,
    help="Find changes of level, or test whether this run alone differs from the earlier runs.",
)
@click.option("--margin", default="5%", show_default=True, help="Share below which a change does not matter.")
@click.option(
    "--recent",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Attribute a change to this run if it began at most this many runs ago.",
)
@click.option(
    "--compare",
    "compared",
    multiple=True,
    metavar="KEY",
    help="Key whose value may differ and is reported; repeatable.",
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="KEY",
    help="Key whose value may differ and is not reported; repeatable.",
)
@click.option(
    "--same", multiple=True, metavar="FACT", help="Fact that must be equal although it is not a key; repeatable."
)
@click.option(
    "--skip", "skipped", multiple=True, metavar="NAME=VALUE", help="Leave out runs with this value; repeatable."
)
@click.option(
    "--sort-by",
    "sorted_by",
    multiple=True,
    metavar="KEY",
    help="Order runs by this key or fact as versions; repeatable, then by time.",
)
@click.option("--watch", "watch", type=LocalPath(), metavar="FILE", help="YAML file with the KPIs to judge and how.")
@click.option("--acknowledged", type=LocalPath(), metavar="FILE", help="YAML file with accepted changes.")
@judged_options
@click.option("--json", "as_json", is_flag=True, help="Print the JSON document instead of the summary.")
@PNG
@SVG
@OUTPUT
@WORKLOADS
def regress_command(
    run: str,
    folder: Path,
    method: Method,
    margin: str,
    recent: int,
    compared: tuple[str, ...],
    ignored: tuple[str, ...],
    same: tuple[str, ...],
    skipped: tuple[str, ...],
    sorted_by: tuple[str, ...],
    watch: Path | None,
    acknowledged: Path | None,
    orion_config: Path | None,
    orion_test: str | None,
    orion_vars: str | None,
    orion_ack: tuple[Path, ...],
    as_json: bool,
    png: bool,
    svg: bool,
    output: Path | None,
    kinds: Kinds,
) -> None:
    """Judge RUN against the runs of a history. List changed KPIs with start, size and confidence interval.

    RUN is a run directory, or the ID of a run in the history. The command compares recordings of the same kind whose
    settings marked as keys are equal. It writes regression.json, .md, .html (trends) and .xml (JUnit), and adds the
    outcome to verdict.json. Exit code 4: a KPI is worse. 5: the data of the run is incomplete; takes precedence over 4.
    6: no KPI has enough history.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    accepted = Acknowledged() if acknowledged is None else read_acknowledged(acknowledged, today)
    accepted = sum((read_orion_acknowledged(path) for path in orion_ack), accepted)
    orion = judged_by(orion_config, orion_test, orion_vars, folder)
    watched = (*(() if watch is None else read_watched(watch)), *orion.watched)
    selection = Selection(
        frozenset(compared), frozenset(ignored), sorted_by, frozenset(same), tuple(map(pair, skipped))
    )
    options = Options(method, share(margin), recent, selection, watched, orion.notes)
    written = regress_run(run, folder, options, accepted, target_of(run, output, kinds), kinds, image_formats(png, svg))
    print_findings(written.findings)
    click.echo((written.json if as_json else written.markdown).read_text(), nl=False)
    if not as_json:
        click.echo(f"Page: {written.page}")
    if written.error is not None:
        raise written.error


@click.command("show")
@click.argument("folder", type=LocalPath())
@click.argument("run", required=False)
@click.option("--page", type=LocalPath(), metavar="FILE", help="Write a page with the trends of all runs.")
@click.option(
    "--sort-by",
    "sorted_by",
    multiple=True,
    metavar="KEY",
    help="Order runs by this key or fact as versions; repeatable.",
)
def show_command(folder: Path, run: str | None, page: Path | None, sorted_by: tuple[str, ...]) -> None:
    """Print the document of RUN (its ID, or a unique beginning of it), or write a page with the trends of all runs."""
    if (run is None) == (page is None):
        raise UsageError("pass a RUN to print, or --page FILE to write the trends of all runs")
    if page is not None:
        written, findings = history_page(folder, page, sorted_by)
        print_findings(findings)
        click.echo(f"Page: {written}")
        return
    document = run_named(str(run), documents_of(folder), str(folder))
    click.echo(json.dumps(document, indent=1, ensure_ascii=False))
