"""The KPIs of a declared kind: a statistic of a column, or a function of its parser.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from perfanalysis.errors import UsageError
from perfanalysis.workloads.declared.model import KpiDeclared, SampleDeclared
from perfanalysis.workloads.kpis import Kpi, StatisticOf
from perfanalysis.workloads.percentiles import STATISTICS, Value

if TYPE_CHECKING:
    from perfanalysis.workloads.declared.columns import Columns


def kpi_of(kpi: KpiDeclared, of: StatisticOf | None, module: ModuleType, path: str) -> Kpi[Columns]:
    """A declared KPI with its function. Raises UsageError with file and line."""
    function = _statistic(kpi) if kpi.function is None else _own_function(kpi, module, path)
    try:
        return Kpi(kpi.name, kpi.help, kpi.unit, kpi.direction, function, kpi.headline, of=of)
    except ValueError as error:
        raise UsageError(f"{kpi.at}: {error}") from error


def statistic_of(kpi: KpiDeclared, entry: KpiDeclared, samples: Sequence[SampleDeclared]) -> StatisticOf | None:
    """The sample that a KPI of an entry is a statistic of: the same rows of the same column, whatever it is called."""
    same = next((sample for sample in samples if (sample.of, sample.where) == (entry.of, entry.where)), None)
    if same is None or kpi.statistic not in (*STATISTICS, "mean"):
        return None
    words = same.label if kpi is entry else entry.help[:1].lower() + entry.help[1:]
    return StatisticOf(same.name, str(kpi.statistic), words)


def _statistic(kpi: KpiDeclared) -> Callable[[Columns], Value]:
    assert kpi.of is not None and isinstance(kpi.statistic, str)  # noqa: S101 - by declared.checks
    reference, statistic, where = kpi.of, kpi.statistic, kpi.where
    return lambda columns: columns.statistic(reference, where, statistic)


def _own_function(kpi: KpiDeclared, module: ModuleType, path: str) -> Callable[[Columns], Value]:
    name = str(kpi.function).partition(":")[2]
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"{kpi.at}: {path} has no function {name}")

    def measured(columns: Columns) -> Value:
        try:
            value = function(columns.tables)
        except Exception as error:
            return Value(None, f"{name} failed: {type(error).__name__}: {error}")
        if isinstance(value, Value):
            return value
        if isinstance(value, int | float) and math.isfinite(value):
            return Value(float(value))
        return Value(None, f"{name} gave {value!r}, which is no finite number")

    return measured
