"""The command `import orion`: runs of orion's JSON, into a history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from perfanalysis.errors import DataQualityError
from perfanalysis.files.findings import print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.entries import ForeignRun, documents, keep, origin
from perfanalysis.imports.options import HISTORY, KpiOverrides, kpi_override_options, kpi_overrides
from perfanalysis.imports.orion.config import OrionTest, chosen_test, kpi_name, read_config, read_variables
from perfanalysis.imports.orion.runs import OrionOutput, OrionRun, read_output
from perfanalysis.workloads.kpis import Direction, KpiValue

TOOL = "orion"
DIRECTIONS: dict[str, Direction] = {"lower": "lower", "higher": "higher", "either": "neither"}


def foreign_runs(
    output: OrionOutput, test: str, config: OrionTest | None, overrides: KpiOverrides
) -> tuple[ForeignRun, ...]:
    """Return a run for each in the file, with the directions of a config if there is one.

    Raises DataQualityError if two columns would become one KPI, or if a column's name cannot be a KPI's.
    """
    columns = tuple(dict.fromkeys(column for run in output.runs for column in run.values))
    names = _names(columns, output.name)
    return tuple(
        ForeignRun(
            run=run.uuid,
            tool=TOOL,
            recording=test if run.pull is None else f"{test}.pull-{run.pull}",
            started_s=run.started_s,
            kpis=tuple(_kpi(column, names[column], number, config, overrides) for column, number in run.values.items()),
            keys={"test": test} if run.pull is None else {"test": test, "pull": run.pull},
            facts=_facts(run),
        )
        for run in output.runs
    )


def _names(columns: tuple[str, ...], file: str) -> dict[str, str]:
    names = {column: kpi_name(column) for column in columns}
    nameless = [column for column, name in names.items() if not name]
    shared = [name for name, count in Counter(names.values()).items() if count > 1]
    if nameless or shared:
        listed = ", ".join(column for column in columns if column in nameless or names[column] in shared)
        raise DataQualityError(
            f"{file}: several of the columns {listed} have the same KPI name; rename them in orion's config"
        )
    return names


def _kpi(column: str, name: str, number: float, config: OrionTest | None, overrides: KpiOverrides) -> KpiValue:
    metric = None if config is None else config.by_column(column)
    scale = overrides.scale(name)
    direction: Direction = "neither" if metric is None else DIRECTIONS[metric.better]
    return KpiValue(
        name=name,
        help=f"orion's column {column}",
        unit=scale.unit,
        direction=overrides.direction(name, direction),
        number=number * scale.factor,
    )


def _facts(run: OrionRun) -> dict[str, object]:
    facts: dict[str, object] = {name: value for name, value in run.shown.items() if value != ""}
    if run.changes:
        facts["orion.changes"] = dict(run.changes)
    return facts


VARIABLES = click.option(
    "--orion-vars", metavar="JSON", help="Variables for orion's templates, added to the environment variables."
)
TEST = click.option(
    "--orion-test", metavar="NAME", help="Name of the test in orion's config; not needed if there is only one."
)
CONFIG = click.option(
    "--orion-config",
    type=LocalPath(dir_okay=False),
    metavar="FILE",
    help="Orion config with the direction of each metric.",
)


def judged_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options by which `regress` judges as orion does."""
    acknowledged = click.option(
        "--orion-ack",
        multiple=True,
        type=LocalPath(dir_okay=False),
        metavar="FILE",
        help="File of changes that users of orion accepted; repeatable.",
    )
    config = click.option(
        "--orion-config",
        type=LocalPath(dir_okay=False),
        metavar="FILE",
        help="Orion config whose metrics are judged, with its directions and thresholds.",
    )
    for option in (acknowledged, VARIABLES, TEST, config):
        command = option(command)
    return command


@click.command("orion")
@click.argument("files", nargs=-1, required=True, type=LocalPath(exists=True, dir_okay=False))
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

    FILES are outputs of `orion -o json`, each of one test. The ID of a run is its uuid; the key for comparisons is the
    name of the test: --orion-test, else the only test of the config, else the name of the file. The files contain no
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
        click.echo(added.summary(path.name, of=name))
