"""Checks of a `workload.yml` beyond types: names must match. Each error has file, line and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from perfanalysis.errors import UsageError
from perfanalysis.files.tables import Kind
from perfanalysis.files.typed_yaml import suggest
from perfanalysis.workloads.declared.model import (
    OF_ANY,
    ColumnDeclared,
    KpiDeclared,
    MatrixPlotDeclared,
    PlotDeclared,
    SampleDeclared,
    TableDeclared,
    Where,
    WorkloadDeclared,
)

NAME = re.compile(r"[a-z][a-z0-9_]*")
FUNCTION = re.compile(r"parser:(?P<name>[A-Za-z][A-Za-z0-9_]*)")
NUMBERS: tuple[Kind, ...] = ("number", "integer", "time")
NEEDED = {
    "distribution": ("of",),
    "bars": ("of", "by"),
    "points": ("x", "y"),
    "line": ("x", "y"),
    "concurrency": ("begin", "end"),
    "stack": ("begin", "end", "by"),
    "waterfall": ("begin", "end", "by"),
}
"""The keys that a plot of a kind must have; `where` is allowed in all, `by` in all but a distribution."""
Named = ColumnDeclared | KpiDeclared | SampleDeclared | PlotDeclared | MatrixPlotDeclared
REFERENCES = ("x", "y", "begin", "end", "by")


def split(reference: str) -> tuple[str, str]:
    """Return `table.column` as a pair; the column is empty if there is no dot."""
    table, _, column = reference.partition(".")
    return table, column


class Checks:
    """The checks of one declaration. All raise UsageError."""

    def __init__(self, declared: WorkloadDeclared) -> None:
        self.declared = declared

    def run(self) -> None:
        """Check everything."""
        declared = self.declared
        self._names()
        self._files()
        for name, table in declared.tables.items():
            self._table(name, table)
        for fact in declared.facts.values():
            self.column(fact.of, fact.at)
            self._where(fact.where, split(fact.of)[0], fact.at)
        if declared.period is not None:
            self.column(declared.period.begin, declared.period.at, ("time",))
            self.column(declared.period.end, declared.period.at, ("time",))
        for kpi in self._every_kpi():
            self._kpi(kpi)
        for sample in declared.samples:
            self.column(sample.of, sample.at, NUMBERS)
            self._where(sample.where, split(sample.of)[0], sample.at)
            self._by(sample.by, sample.of, sample.at)
        for plot in declared.plots:
            self._plot(plot)
        for entry in declared.matrix:
            self._matrix_plot(entry)
        for name in declared.shown:
            if name not in declared.tables:
                raise UsageError(f"{declared.at}: shown has no table {name}; {suggest(name, declared.tables)}")

    def _names(self) -> None:
        declared = self.declared
        named = [(declared.name, declared.at), *((name, table.at) for name, table in declared.tables.items())]
        named += [(name, fact.at) for name, fact in declared.facts.items()]
        named += [(kpi.name, kpi.at) for kpi in declared.kpis]
        named += [(sample.name, sample.at) for sample in declared.samples]
        named += [(plot.name, plot.at) for plot in declared.plots]
        named += [(plot.name, plot.at) for plot in declared.matrix]
        named += [(column.name, column.at) for table in declared.tables.values() for column in table.columns]
        for name, at in named:
            if not NAME.fullmatch(name):
                raise UsageError(f"{at}: invalid name {name!r}: use lower case letters, digits and _")
        _once(self._every_kpi())
        _once(declared.samples)
        _once(declared.plots)
        _once(declared.matrix)
        for table in declared.tables.values():
            _once(table.columns)

    def _files(self) -> None:
        declared = self.declared
        if not declared.tables or not declared.files:
            raise UsageError(f"{declared.at}: {declared.name} needs tables or files")
        if PurePosixPath(declared.marker).name != declared.marker or set(declared.marker) & set("*?[]"):
            raise UsageError(f"{declared.at}: marker {declared.marker!r} must be the plain name of one file")
        for name in declared.files:
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts:
                raise UsageError(f"{declared.at}: files has {name!r}; use names below the recording's directory")

    def _table(self, name: str, table: TableDeclared) -> None:
        if not table.columns:
            raise UsageError(f"{table.at}: table {name} has no columns")

    def column(self, reference: str, at: str, kinds: tuple[Kind, ...] = ()) -> None:
        """Check that `table.column` is declared and has one of the kinds."""
        table, name = split(reference)
        if table not in self.declared.tables or not name:
            hint = suggest(table, self.declared.tables)
            raise UsageError(f"{at}: {reference!r} is not a declared table.column; tables: {hint}")
        columns = {column.name: column for column in self.declared.tables[table].columns}
        if name not in columns:
            raise UsageError(f"{at}: table {table} has no column {name}; {suggest(name, columns)}")
        if kinds and columns[name].kind not in kinds:
            text = f"{reference} is of kind {columns[name].kind}; here it must be {' or '.join(kinds)}"
            raise UsageError(f"{at}: {text}")

    def _where(self, where: Where, table: str, at: str) -> None:
        for name in where:
            self.column(f"{table}.{name}", at)

    def _by(self, by: str | None, of: str, at: str) -> None:
        if by is not None:
            self.column(by, at, ("text",))
            if split(by)[0] != split(of)[0]:
                raise UsageError(f"{at}: by {by} is not a column of the table of {of}")

    def _matrix_plot(self, plot: MatrixPlotDeclared) -> None:
        self.column(plot.over, plot.at, ("number", "integer"))
        names = [kpi.name for kpi in self._every_kpi()]
        if not plot.kpis:
            raise UsageError(f"{plot.at}: plot {plot.name} has no kpis")
        for name in plot.kpis:
            if name not in names:
                raise UsageError(f"{plot.at}: plot {plot.name} has no KPI {name}; {suggest(name, names)}")

    def _every_kpi(self) -> tuple[KpiDeclared, ...]:
        for kpi in self.declared.kpis:
            if kpi.statistic == ():
                raise UsageError(f"{kpi.at}: KPI {kpi.name} has no statistic")
        return tuple(one for kpi in self.declared.kpis for one in kpi.each)

    def _kpi(self, kpi: KpiDeclared) -> None:
        if (kpi.function is None) == (kpi.of is None):
            raise UsageError(f"{kpi.at}: KPI {kpi.name} needs either function or both of and statistic")
        if kpi.function is not None:
            if not FUNCTION.fullmatch(kpi.function):
                raise UsageError(f"{kpi.at}: function {kpi.function!r}: write parser:name")
            if kpi.statistic is not None or kpi.where or kpi.by is not None:
                raise UsageError(
                    f"{kpi.at}: KPI {kpi.name} has a function; remove statistic, where and by, which require of"
                )
            return
        if kpi.of is None or kpi.statistic is None:
            raise UsageError(f"{kpi.at}: KPI {kpi.name} has no statistic")
        self.column(kpi.of, kpi.at, () if kpi.statistic in OF_ANY else NUMBERS)
        self._where(kpi.where, split(kpi.of)[0], kpi.at)
        self._by(kpi.by, kpi.of, kpi.at)

    def _plot(self, plot: PlotDeclared) -> None:
        given = {key for key in ("of", *REFERENCES, "statistic") if getattr(plot, key) not in (None, ())}
        needed = set(NEEDED[plot.kind])
        allowed = needed | ({"by"} if plot.kind != "distribution" else set())
        allowed |= {"bars": {"statistic"}, "waterfall": {"of"}}.get(plot.kind, set())
        for key in sorted(needed - given):
            raise UsageError(f"{plot.at}: plot {plot.name} of kind {plot.kind} has no {key}")
        for key in sorted(given - allowed):
            raise UsageError(f"{plot.at}: plot {plot.name} of kind {plot.kind} cannot have {key}")
        if plot.kind in ("bars", "waterfall") and len(plot.columns_of) > 1:
            raise UsageError(f"{plot.at}: plot {plot.name} of kind {plot.kind} needs one column in of")
        if plot.trend and plot.kind != "points":
            raise UsageError(f"{plot.at}: plot {plot.name} of kind {plot.kind} cannot have trend")
        tables = set()
        for reference, kinds in _columns_of(plot):
            self.column(reference, plot.at, kinds)
            tables.add(split(reference)[0])
        if len(tables) > 1 and (plot.kind != "distribution" or plot.where):
            raise UsageError(f"{plot.at}: plot {plot.name} mixes columns of {' and '.join(sorted(tables))}; use one")
        self._where(plot.where, next(iter(tables)), plot.at)


def _columns_of(plot: PlotDeclared) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    of_any = plot.kind == "waterfall" or (plot.kind == "bars" and (plot.statistic or "count") in OF_ANY)
    yield from ((reference, () if of_any else NUMBERS) for reference in plot.columns_of)
    for key in REFERENCES:
        reference = getattr(plot, key)
        if reference is not None:
            yield reference, ("time",) if key in ("begin", "end") else () if key == "by" else NUMBERS


def _once(entries: Sequence[Named]) -> None:
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise UsageError(f"{entry.at}: {entry.name} is declared twice")
        seen.add(entry.name)
