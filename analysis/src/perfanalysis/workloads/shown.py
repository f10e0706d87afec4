"""Tables and values in reports: by declared columns and units, for every kind of workload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from perfanalysis.drawing.blocks import DASH, Cell, Field, Table, duration, number, quantity
from perfanalysis.files.tables import Column

if TYPE_CHECKING:
    import pandas as pd

    from perfanalysis.workloads.percentiles import Value

MOST_ROWS = 200
MISSING = "not stated, or too few values"
LAST_TIME_S = 9e9
"""In the year 2255; larger values are shown as numbers."""


def data_table(title: str, frame: pd.DataFrame, columns: Iterable[Column], note: str = "") -> Table:
    """Return the declared columns of a frame, at most MOST_ROWS rows of it."""
    shown = tuple(columns)
    rows = tuple(
        tuple(_cell(value, column) for value, column in zip(row, shown, strict=True))
        for row in frame[[column.name for column in shown]].head(MOST_ROWS).astype("object").itertuples(index=False)
    )
    if len(frame) > MOST_ROWS:
        note = f"{note} The first {MOST_ROWS} of {len(frame)} rows; the Parquet file has all.".strip()
    return Table(title, tuple(map(_field, shown)), rows, note, sort=True)


def _field(column: Column) -> Field:
    unit_in_cells = column.unit in ("s", "ratio", "workloads/s") or column.kind in ("time", "text", "flag")
    kind = "number" if column.kind in ("number", "integer") else "text"
    return Field(column.heading, kind, "" if unit_in_cells else column.unit or "", column.help)  # type: ignore[arg-type]


def _cell(value: Any, column: Column) -> Cell:
    import pandas as pd

    if pd.isna(value):
        return Cell("", reason=MISSING)
    if isinstance(value, str | bool):
        return Cell(str(value))
    if column.kind == "time" and 0 <= value < LAST_TIME_S:
        return Cell(f"{pd.Timestamp(value, unit='s').round('ms').isoformat(sep=' ')} UTC", sort=float(value))
    if value in (float("inf"), float("-inf")):
        return Cell(str(value))
    if column.unit == "s":
        return Cell(duration(float(value)), sort=float(value))
    if column.unit in ("ratio", "workloads/s"):
        return Cell(quantity(float(value), column.unit), sort=float(value))
    whole = column.kind == "integer" or float(value).is_integer()
    return Cell(number(int(value) if whole else float(value)), sort=float(value))


def value_cell(value: Value, unit: str) -> Cell:
    """Return a number with its interval below, or the reason why it is missing."""
    if value.number is None:
        return Cell("", reason=value.reason or "")
    detail = ""
    if value.low is not None and value.high is not None:
        detail = f"{quantity(value.low, unit)} {DASH} {quantity(value.high, unit)}"
    return Cell(quantity(value.number, unit), detail, "" if detail else value.reason or "", sort=value.number)
