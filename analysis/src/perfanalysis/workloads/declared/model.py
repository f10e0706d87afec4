"""The contents of a `workload.yml` as types, for its reader and the JSON Schema psap.perf/workload/1.

`python -m perfanalysis.workloads.declared.model` prints the JSON Schema of workload.yml.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from perfanalysis.files.tables import Kind
from perfanalysis.files.typed_yaml import json_schema
from perfanalysis.workloads.kpis import Direction

Where = Mapping[str, str | int | float | bool | tuple[str | int | float | bool, ...]]
Statistic = Literal["count", "distinct", "sum", "mean", "min", "max", "p50", "p90", "p95", "p99"]
PlotKind = Literal["distribution", "points", "line", "bars", "concurrency", "stack", "waterfall"]
WORDS: Mapping[str, str] = {"count": "Number", "distinct": "Different values", "sum": "Sum", "mean": "Mean"} | {
    "min": "Smallest",
    "max": "Largest",
}
"""The names of statistics in sentences; percentiles keep their names."""
OF_ANY: tuple[Statistic, ...] = ("count", "distinct")
"""Statistics of columns of every kind; the others require numbers."""


@dataclass(frozen=True)
class ColumnDeclared:
    """A column."""

    name: Annotated[str, "lower_case name"]
    kind: Annotated[Kind, "time is seconds since the epoch, UTC"]
    help: Annotated[str, "meaning of the values"]
    unit: Annotated[str | None, "unit of a number"] = None
    label: Annotated[str | None, "label of an axis; by default the name"] = None
    optional: Annotated[bool, "whether the parser may omit it"] = False
    at: str = field(default="", compare=False)


@dataclass(frozen=True)
class TableDeclared:
    """A table."""

    help: Annotated[str, "meaning of a row"]
    columns: Annotated[tuple[ColumnDeclared, ...], "columns, in order"]
    at: str = field(default="", compare=False)


@dataclass(frozen=True)
class FactDeclared:
    """A text that distinguishes recordings."""

    of: Annotated[str, "table.column with the values"]
    where: Annotated[Where, "rows: column to value or values"] = field(default_factory=dict)
    at: str = field(default="", compare=False)


@dataclass(frozen=True)
class PeriodDeclared:
    """The start and the end of the work."""

    begin: Annotated[str, "table.column of kind time: the earliest"]
    end: Annotated[str, "table.column of kind time: the latest"]
    at: str = field(default="", compare=False)


@dataclass(frozen=True)
class KpiDeclared:
    """A result: a statistic of a column, or the value of a function of parser.py."""

    name: Annotated[str, "lower_case name"]
    help: Annotated[str, "a sentence"]
    unit: Annotated[str, "unit of the number"]
    direction: Annotated[Direction, "which direction is better"]
    of: Annotated[str | None, "table.column"] = None
    statistic: Annotated[
        Statistic | tuple[Statistic, ...] | None,
        (
            "statistics of its values; each of several becomes a KPI name_statistic; percentiles need 2, 10, 20, "
            "100 values"
        ),
    ] = None
    where: Annotated[Where, "rows: column to value or values"] = field(default_factory=dict)
    by: Annotated[str | None, "table.column of kind text: one for each of its values"] = None
    function: Annotated[str | None, "parser:name, called with all tables"] = None
    headline: Annotated[str | None, "short label at the top of the report; of several statistics, P99 has it"] = None
    at: str = field(default="", compare=False)

    @property
    def each(self) -> tuple[KpiDeclared, ...]:
        """Return a KPI for each of several statistics; itself if there is one."""
        if not isinstance(self.statistic, tuple):
            return (self,)
        top = "p99" if "p99" in self.statistic else next(iter(self.statistic), None)
        words = self.help[:1].lower() + self.help[1:]
        return tuple(
            replace(
                self,
                name=f"{self.name}_{statistic}",
                help=f"{WORDS.get(statistic, statistic.upper())} of {words}",
                statistic=statistic,
                headline=self.headline if statistic == top else None,
            )
            for statistic in self.statistic
        )


@dataclass(frozen=True)
class SampleDeclared:
    """A named set of values by which recordings are compared."""

    name: Annotated[str, "lower_case name"]
    label: Annotated[str, "name for readers"]
    unit: Annotated[str, "unit of the values"]
    of: Annotated[str, "table.column"]
    things: Annotated[str, "what each value describes, in the plural"] = "records"
    where: Annotated[Where, "rows: column to value or values"] = field(default_factory=dict)
    by: Annotated[str | None, "table.column of kind text: one for each of its values"] = None
    at: str = field(default="", compare=False)


@dataclass(frozen=True)
class PlotDeclared:
    """A figure. Its kind determines which keys it needs."""

    name: Annotated[str, "lower_case name"]
    title: Annotated[str, "heading"]
    kind: Annotated[
        PlotKind,
        (
            "distribution, bars: of; points, line: x and y; concurrency: begin and end; stack, waterfall: begin, end "
            "and by"
        ),
    ]
    caption: Annotated[str, "sentence below it"] = ""
    of: Annotated[
        str | tuple[str, ...], "table.column, or a list of them; of a waterfall, the column that colours the bars"
    ] = ()
    x: Annotated[str | None, "table.column; times count from the first"] = None
    y: Annotated[str | None, "table.column"] = None
    begin: Annotated[str | None, "table.column of kind time"] = None
    end: Annotated[str | None, "table.column of kind time; missing if not ended"] = None
    by: Annotated[str | None, "table.column whose values distinguish series"] = None
    statistic: Annotated[Statistic | None, "height of a bar"] = None
    trend: Annotated[bool, "of points: whether to draw their least-squares line"] = False
    where: Annotated[Where, "rows: column to value or values"] = field(default_factory=dict)
    at: str = field(default="", compare=False)

    @property
    def columns_of(self) -> tuple[str, ...]:
        """Return `of` as a list."""
        return (self.of,) if isinstance(self.of, str) else self.of


@dataclass(frozen=True)
class MatrixPlotDeclared:
    """A figure over the recordings of a run: KPIs against a number of each recording."""

    name: Annotated[str, "lower_case name"]
    title: Annotated[str, "heading"]
    over: Annotated[str, "table.column with one number in each recording"]
    kpis: Annotated[tuple[str, ...], "names of KPIs; those of one unit share a chart"]
    caption: Annotated[str, "sentence below it"] = ""
    at: str = field(default="", compare=False)


@dataclass(frozen=True)
class WorkloadDeclared:
    """A kind of workload: its files, its tables, and the results computed from them."""

    schema: Annotated[Literal["psap.perf/workload/1"], "psap.perf/workload/1"]
    name: Annotated[str, "lower_case name, unique among kinds"]
    title: Annotated[str, "heading in reports"]
    version: Annotated[int, "version; increase it if the parser's result changes for the same files"]
    marker: Annotated[str, "file that marks its directory as a recording of this kind"]
    files: Annotated[tuple[str, ...], "files that the parser may read: names or patterns below that directory"]
    tables: Annotated[Mapping[str, TableDeclared], "tables by name"]
    facts: Annotated[Mapping[str, FactDeclared], "texts that distinguish recordings"] = field(default_factory=dict)
    period: Annotated[PeriodDeclared | None, "start and end of the work"] = None
    kpis: Annotated[tuple[KpiDeclared, ...], "results"] = ()
    samples: Annotated[tuple[SampleDeclared, ...], "values by which recordings are compared"] = ()
    plots: Annotated[tuple[PlotDeclared, ...], "figures, in order"] = ()
    matrix: Annotated[tuple[MatrixPlotDeclared, ...], "figures over several recordings of a run, in order"] = ()
    shown: Annotated[tuple[str, ...], "tables shown in the report"] = ()
    parts: Annotated[
        tuple[str, ...],
        "markers of recordings below that directory that belong to this one and are not recordings themselves",
    ] = ()
    at: str = field(default="", compare=False)


TITLE = "psap.perf/workload/1"


def schema_text() -> str:
    """Return the schema in docs/schema/workload-1.json."""
    return json.dumps(json_schema(WorkloadDeclared, TITLE), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
