"""Typed tables: columns are declared with kind, unit and help; frames are conformed to their declaration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["time", "number", "integer", "text", "flag"]
PANDAS_TYPES: Mapping[Kind, str] = {
    "time": "float64",
    "number": "float64",
    "integer": "Int64",
    "text": "category",
    "flag": "boolean",
}
TablesType = TypeVar("TablesType")


@dataclass(frozen=True)
class Column:
    """One column. `time` is seconds since the epoch, UTC; missing values are null, never 0 or -1."""

    name: str
    kind: Kind
    help: str
    unit: str | None = None
    required: bool = True
    inside: str | None = None
    """The mapping of a record that holds it, when it does not stand in the record itself."""


@dataclass(frozen=True)
class TableSpec:
    """The declaration of a table."""

    name: str
    help: str
    columns: tuple[Column, ...]

    def conform(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the declared columns, in order and with their types; columns not declared are dropped.

        Raises ValueError naming the table and column when a required one is missing or has another type.
        """
        import pandas as pd

        columns: dict[str, Any] = {}
        for column in self.columns:
            if column.name in frame.columns:
                columns[column.name] = self._typed(column, frame[column.name])
            elif column.required:
                raise ValueError(f"table {self.name}: column {column.name} is missing")
            else:
                columns[column.name] = pd.Series([None] * len(frame), dtype="object", index=frame.index).astype(
                    _pandas_type(column)
                )
        # the columns are frames' own: nothing changes them in place
        return pd.DataFrame(columns, index=frame.index, copy=False)

    def _typed(self, column: Column, values: pd.Series[Any]) -> pd.Series[Any]:
        if str(values.dtype) == _pandas_type(column):
            return values
        try:
            cast: Any = values
            typed: pd.Series[Any] = cast.astype(_pandas_type(column))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"table {self.name}: column {column.name} is not of kind {column.kind}: {error}"
            ) from error
        return typed

    def empty(self) -> pd.DataFrame:
        """The table without rows."""
        import pandas as pd

        return self.conform(pd.DataFrame({column.name: [] for column in self.columns}))

    def with_recording(self) -> TableSpec:
        """The same table with a first column that names the recording, for several in one file."""
        column = Column("recording", "text", "directory of the recording below the run")
        return TableSpec(self.name, self.help, (column, *self.columns))

    def fingerprint(self) -> str:
        """A text that changes whenever the declaration changes in a way that matters to stored tables."""
        return self.name + "".join(f"|{column.inside}.{column.name}:{column.kind}" for column in self.columns)


def is_arrow(table: object) -> bool:
    """Whether a table is Arrow's and not pandas'; neither is imported for it."""
    return hasattr(table, "to_pandas")


def _pandas_type(column: Column) -> Any:
    return PANDAS_TYPES[column.kind]


def specs_of(tables: type[Any]) -> dict[str, TableSpec]:
    """Field name → declaration, of a dataclass whose fields are `field(metadata={"table": SPEC})`."""
    return {entry.name: entry.metadata["table"] for entry in fields(tables) if "table" in entry.metadata}
