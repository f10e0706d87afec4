"""Orion's runs as runs of a history."""

from __future__ import annotations

from collections import Counter

from perfanalysis.errors import DataQualityError
from perfanalysis.imports.entries import ForeignRun
from perfanalysis.imports.options import KpiOverrides
from perfanalysis.imports.orion.config import OrionTest
from perfanalysis.imports.orion.metrics import kpi_name
from perfanalysis.imports.orion.runs import OrionOutput, OrionRun
from perfanalysis.workloads.kpis import Direction, KpiValue

TOOL = "orion"
DIRECTIONS: dict[str, Direction] = {"lower": "lower", "higher": "higher", "either": "neither"}


def foreign_runs(
    output: OrionOutput, test: str, config: OrionTest | None, overrides: KpiOverrides
) -> tuple[ForeignRun, ...]:
    """A run for each of the file's, with the directions of a config where there is one.

    Raises DataQualityError when two columns would be one KPI, or a column has a name that can be none.
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
        told = ", ".join(column for column in columns if column in nameless or names[column] in shared)
        raise DataQualityError(
            f"{file}: the columns {told} do not give each its own name of a KPI; rename them in orion's config"
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
