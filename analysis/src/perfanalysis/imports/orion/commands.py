"""The command `import orion`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from perfanalysis.files.findings import print_findings
from perfanalysis.imports.entries import documents, keep, origin
from perfanalysis.imports.options import HISTORY, kpi_override_options, kpi_overrides
from perfanalysis.imports.orion.config import chosen_test, read_config
from perfanalysis.imports.orion.history import foreign_runs
from perfanalysis.imports.orion.runs import read_output
from perfanalysis.imports.orion.template import read_variables

VARIABLES = click.option(
    "--orion-vars", metavar="JSON", help="Variables of orion's templates; the environment's count too."
)
TEST = click.option("--orion-test", metavar="NAME", help="Which test of orion's config; not needed where it has one.")
CONFIG = click.option(
    "--orion-config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="An orion config that says of each metric which way is better.",
)


def judged_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options by which `regress` judges as orion would."""
    acknowledged = click.option(
        "--orion-ack",
        multiple=True,
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Changes that orion's users accepted; repeatable.",
    )
    config = click.option(
        "--orion-config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="An orion config: its metrics are judged, by its directions and thresholds.",
    )
    for option in (acknowledged, VARIABLES, TEST, config):
        command = option(command)
    return command


@click.command("orion")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@HISTORY
@CONFIG
@TEST
@VARIABLES
@kpi_override_options
def import_orion(
    files: tuple[Path, ...],
    folder: Path,
    orion_config: Path | None,
    orion_test: str | None,
    orion_vars: str | None,
    lower: tuple[str, ...],
    higher: tuple[str, ...],
    units: tuple[str, ...],
) -> None:
    """Add the runs of orion's JSON to a history.

    FILES are what `orion -o json` saved, each of one test. A run's id is its uuid, and the test's name (--orion-test,
    else that of the config's only test, else the file's name) is the key that it is compared by. The files tell no
    units.
    """
    known = kpi_overrides(lower, higher, units)
    test = None
    if orion_config is not None:
        test = chosen_test(read_config(orion_config, read_variables(orion_vars)), orion_test, orion_config)
    for path in files:
        output = read_output(path)
        name = orion_test or (path.stem if test is None else test.name)
        made = documents(foreign_runs(output, name, test, known), origin(path, output.content))
        added = keep(folder, made)
        print_findings((*output.findings, *added.findings))
        click.echo(added.told(path.name, of=name))
