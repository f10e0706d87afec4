"""Columns of a declared kind's tables by their references, filtered, and their statistics.

The KPIs of a declared kind: a statistic of a column, or a function of its parser.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.errors import UsageError
from perfanalysis.workloads.declared.checks import split
from perfanalysis.workloads.declared.model import (
    ColumnDeclared,
    KpiDeclared,
    SampleDeclared,
    Statistic,
    Where,
    WorkloadDeclared,
)
from perfanalysis.workloads.kpis import Kpi, StatisticOf
from perfanalysis.workloads.percentiles import SHARES, STATISTICS, Method, Value, estimates

if TYPE_CHECKING:
    import pandas as pd

MOST_VALUES = 40
"""Values of `by` for which KPIs and samples are computed: the first ones."""
SIMPLE: Mapping[str, Callable[[Any], Any]] = {"sum": np.sum, "mean": np.mean, "min": np.min, "max": np.max}


@dataclass(frozen=True)
class Columns:
    """The tables of one recording (a dataclass of DataFrames) with their declaration."""

    declared: WorkloadDeclared
    tables: Any
    method: Method = "linear"
    """The method of percentiles."""
    _estimates: dict[str, Mapping[str, Value]] = field(default_factory=dict, compare=False, repr=False)
    """All percentiles of a column by its reference and filter: five KPIs of one column share them."""
    _rows: dict[str, NDArray[np.bool_]] = field(default_factory=dict, compare=False, repr=False)
    """The rows that a filter keeps, by the table and the filter: KPIs, plots and facts share them."""

    def declaration(self, reference: str) -> ColumnDeclared:
        """Return the declaration of `table.column`."""
        table, name = split(reference)
        return next(column for column in self.declared.tables[table].columns if column.name == name)

    def label(self, reference: str) -> str:
        """Return the label of a column."""
        column = self.declaration(reference)
        return column.label or column.name.removesuffix("_s").replace("_", " ")

    def frame(self, reference: str, where: Where) -> pd.DataFrame:
        """Return the rows of a reference's table that match `where`."""
        table, kept = self._kept(reference, where)
        return table[kept]

    def _column(self, reference: str, where: Where) -> pd.Series[Any]:
        table, kept = self._kept(reference, where)
        column: pd.Series[Any] = table[split(reference)[1]]
        return column[kept]

    def _kept(self, reference: str, where: Where) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
        of = split(reference)[0]
        table: pd.DataFrame = getattr(self.tables, of)
        name = f"{of} {sorted(where.items())}"
        if name not in self._rows:
            self._rows[name] = _rows_where(table, where)
        return table, self._rows[name]

    def numbers(self, reference: str, where: Where) -> NDArray[np.float64]:
        """Return the values of a column of numbers, missing ones as NaN."""
        table, kept = self._kept(reference, where)
        return numbers_of(table, reference)[kept]

    def texts(self, reference: str, where: Where) -> list[str]:
        """Return the distinct values of a column as texts, in the order of their first rows."""
        known = self._column(reference, where).dropna()
        return [_text(value) for value in dict.fromkeys(known.astype("object"))]

    def values_of(self, by: str, where: Where) -> list[str]:
        """Return the values of `by` for which KPIs and samples are computed."""
        return self.texts(by, where)[:MOST_VALUES]

    def statistic(self, reference: str, where: Where, statistic: Statistic) -> Value:
        """Return a statistic of a column, or the reason why it is missing."""
        if statistic == "count":
            known = self._column(reference, where).notna()
            return Value(float(known.sum()), count=int(known.sum()))
        if statistic == "distinct":
            texts = self.texts(reference, where)
            return Value(float(len(texts)), count=len(texts))
        if statistic in SHARES:
            value = self._percentile(reference, where, statistic)
        else:
            value = statistic_of(self.numbers(reference, where), statistic, self.method)
        return value if value.number is not None or value.count else Value(None, f"no row has {reference}", count=0)

    def _percentile(self, reference: str, where: Where, statistic: Statistic) -> Value:
        name = f"{reference} {sorted(where.items())}"
        if name not in self._estimates:
            self._estimates[name] = estimates(self.numbers(reference, where), self.method)
        return self._estimates[name][statistic]


def _rows_where(table: pd.DataFrame, where: Where) -> NDArray[np.bool_]:
    kept = np.ones(len(table), dtype=bool)
    for name, wanted in where.items():
        values = wanted if isinstance(wanted, tuple) else (wanted,)
        kept &= table[name].astype("object").isin(values).to_numpy(dtype=bool)
    return kept


def numbers_of(frame: pd.DataFrame, reference: str) -> NDArray[np.float64]:
    """Return a column of a frame as floats; missing and infinite ones are NaN."""
    values: NDArray[np.float64] = frame[split(reference)[1]].to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def statistic_of(values: NDArray[np.float64], statistic: Statistic, method: Method) -> Value:
    """Return a statistic of numbers; percentiles with intervals, refused if the sample is too small."""
    finite = values[np.isfinite(values)]
    if statistic == "count":
        return Value(float(len(finite)), count=len(finite))
    if statistic == "distinct":
        return Value(float(len(np.unique(finite))), count=len(finite))
    if not len(finite):
        return Value(None, "no values", count=0)
    if statistic in SHARES:
        return estimates(finite, method)[statistic]
    with np.errstate(over="ignore"):
        number = float(SIMPLE[statistic](finite))
    if not np.isfinite(number):
        return Value(None, "too large for a number", count=len(finite))
    return Value(number, count=len(finite))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def kpi_of(kpi: KpiDeclared, of: StatisticOf | None, module: ModuleType, path: str) -> Kpi[Columns]:
    """Return a declared KPI with its function. Raises UsageError with file and line."""
    function = _statistic(kpi) if kpi.function is None else _own_function(kpi, module, path)
    try:
        return Kpi(kpi.name, kpi.help, kpi.unit, kpi.direction, function, kpi.headline, of=of)
    except ValueError as error:
        raise UsageError(f"{kpi.at}: {error}") from error


def statistic_of_kpi(kpi: KpiDeclared, entry: KpiDeclared, samples: Sequence[SampleDeclared]) -> StatisticOf | None:
    """Return the sample of a KPI's statistic: the same rows of the same column, under any name."""
    same = next((sample for sample in samples if (sample.of, sample.where) == (entry.of, entry.where)), None)
    if entry.by is not None or same is None or kpi.statistic not in (*STATISTICS, "mean"):
        return None
    words = same.label if kpi is entry else entry.help[:1].lower() + entry.help[1:]
    return StatisticOf(same.name, str(kpi.statistic), words)


def _statistic(kpi: KpiDeclared) -> Callable[[Columns], Value]:
    assert kpi.of is not None and isinstance(kpi.statistic, str)  # noqa: S101 - by declared.checks
    reference, statistic, where = kpi.of, kpi.statistic, kpi.where
    return lambda columns: columns.statistic(reference, where, statistic)


def each_value(kpi: Kpi[Columns], entry: KpiDeclared | None, columns: Columns) -> Iterator[Kpi[Columns]]:
    """Yield the KPI; if it is declared with `by`, one for each of its values, labelled with the value."""
    values = [] if entry is None or entry.by is None else columns.values_of(entry.by, entry.where)
    if entry is None or entry.by is None or not values:
        yield kpi
        return
    samples = columns.declared.samples
    column = split(entry.by)[1]
    same = next((one for one in samples if (one.of, one.where, one.by) == (entry.of, entry.where, entry.by)), None)
    for text in values:
        of = None
        if same is not None and entry.statistic in (*STATISTICS, "mean"):
            of = StatisticOf(name_of(same, text), str(entry.statistic), f"{same.label}: {text}")
        function = _statistic(replace(entry, where={**entry.where, column: text}))
        yield replace(kpi, labels={column: text}, function=function, of=of)


def name_of(sample: SampleDeclared, value: str) -> str:
    """Return the name of the sample of one value of `by`."""
    return f"{sample.name}_{re.sub(r'[^a-z0-9]+', '_', value.lower()).strip('_') or 'other'}"


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
        return Value(None, f"{name} returned {value!r}, which is not a finite number")

    return measured
