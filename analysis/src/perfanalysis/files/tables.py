"""Typed tables: columns are declared with kind, unit and help; frames are converted to them, and stored as Parquet.

Tables of Arrow, for parsers of many small recordings: pandas takes longer for such a table than reading the files.

They are written unchanged, and become frames only for an analysis. Arrays are made from buffers, since pyarrow.array
imports pandas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from perfanalysis.files.documents import write_bytes

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

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
    """The key of the mapping that contains it, if it is not in the record itself."""
    label: str | None = None
    """Its name for readers, if it differs."""

    @property
    def heading(self) -> str:
        """Return its name in a shown table."""
        words = self.label or self.name.removesuffix("_s").replace("_", " ")
        return words[:1].upper() + words[1:]


@dataclass(frozen=True)
class TableSpec:
    """The declaration of a table."""

    name: str
    help: str
    columns: tuple[Column, ...]

    def conform(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the declared columns, in order and with their types; drop other columns.

        Raises ValueError with the table and column if a required one is missing or has another type.
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
        # the columns belong to the frames: nothing changes them in place
        return pd.DataFrame(columns, index=frame.index, copy=False)

    def _typed(self, column: Column, values: pd.Series[Any]) -> pd.Series[Any]:
        if str(values.dtype) == _pandas_type(column):
            return values
        try:
            cast: Any = values
            typed: pd.Series[Any] = cast.astype(_pandas_type(column))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"table {self.name}: column {column.name} does not have the kind {column.kind}: {error}"
            ) from error
        return typed

    def of_rows(self, rows: Iterable[Any]) -> pd.DataFrame:
        """Return the table of rows, each a tuple in the order of the columns, or a mapping."""
        import pandas as pd

        return self.conform(pd.DataFrame(list(rows), columns=[column.name for column in self.columns]))

    def empty(self) -> pd.DataFrame:
        """Return the table without rows."""
        import pandas as pd

        return self.conform(pd.DataFrame({column.name: [] for column in self.columns}))

    def with_recording(self) -> TableSpec:
        """Return the table with a first column for the name of the recording, for several in one file."""
        column = Column("recording", "text", "directory of the recording below the run")
        return TableSpec(self.name, self.help, (column, *self.columns))

    def fingerprint(self) -> str:
        """Return a text that changes whenever the declaration changes in a way that matters to stored tables."""
        return self.name + "".join(f"|{column.inside}.{column.name}:{column.kind}" for column in self.columns)


def is_arrow(table: object) -> bool:
    """Return whether a table is Arrow's and not pandas', without importing either."""
    return hasattr(table, "to_pandas")


def _pandas_type(column: Column) -> Any:
    return PANDAS_TYPES[column.kind]


def specs_of(tables: type[Any]) -> dict[str, TableSpec]:
    """Return field name → declaration, of a dataclass whose fields are `field(metadata={"table": SPEC})`."""
    return {entry.name: entry.metadata["table"] for entry in fields(tables) if "table" in entry.metadata}


def arrow_type(kind: Kind) -> pa.DataType:
    """Return the type of a column of this kind."""
    import pyarrow as pa

    types = {"integer": pa.int64(), "flag": pa.bool_(), "text": pa.dictionary(pa.int32(), pa.string())}
    return types.get(kind, pa.float64())


class TypedRows(list[dict[str, Any]]):
    """Rows whose types the parser guarantees, so that values are not checked: they become a table of Arrow."""


def arrow_table(rows: TypedRows, spec: TableSpec) -> pa.Table:
    """Return the declared columns of rows; None and absent keys are missing.

    Raises ValueError or TypeError for a value of another type.
    """
    import pyarrow as pa

    return pa.table({one.name: _array([row.get(one.name) for row in rows], one.kind) for one in spec.columns})


def _array(values: list[Any], kind: Kind) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    there = np.fromiter((value is not None for value in values), dtype=bool, count=len(values))
    if kind == "text":
        return _texts(values, there)
    if kind in ("integer", "flag"):
        known = np.array([0 if value is None else value for value in values], dtype="int64")
        stored = _bits(known != 0) if kind == "flag" else pa.py_buffer(known)
    else:
        stored = pa.py_buffer(np.array(values, dtype="float64"))
    return pa.Array.from_buffers(arrow_type(kind), len(values), [_bits(there), stored])


def _texts(values: list[str | None], there: NDArray[np.bool_]) -> pa.Array:
    """Return each text once, in the order of appearance, and for each value the index of its text."""
    import numpy as np
    import pyarrow as pa

    places = {text: place for place, text in enumerate(dict.fromkeys(value for value in values if value is not None))}
    encoded = [text.encode("utf-8", "replace") for text in places]
    ends = np.cumsum([0, *map(len, encoded)], dtype="int32")
    words = pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    )
    indices = np.array([0 if value is None else places[value] for value in values], dtype="int32")
    stored = pa.Array.from_buffers(pa.int32(), len(values), [_bits(there), pa.py_buffer(indices)])
    return pa.DictionaryArray.from_arrays(stored, words)


def _bits(flags: NDArray[np.bool_]) -> pa.Buffer:
    """Return one bit per value, as Arrow stores flags and validity."""
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def write_table(path: Path, frame: pd.DataFrame, spec: TableSpec) -> None:
    """Write one table."""
    write_bytes(path, parquet_bytes(frame, spec))


def parquet_bytes(frame: pd.DataFrame | pa.Table, spec: TableSpec) -> bytes:
    """Return the Parquet file of a table of pandas or of Arrow; equal tables have equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table: Any = frame if is_arrow(frame) else pa.Table.from_pandas(spec.conform(frame), preserve_index=False)
    metadata = dict(table.schema.metadata or {})
    metadata[b"psap.perf.help"] = spec.help.encode()
    described = [
        table.schema.field(column.name).with_metadata({"help": column.help, "unit": column.unit or ""})
        for column in spec.columns
    ]
    texts = [column.name for column in spec.columns if column.kind == "text"]
    numbers = [column.name for column in spec.columns if column.kind in ("time", "number")]
    sink = pa.BufferOutputStream()
    # not `cast`, which would import all of pyarrow.compute although the types stay the same
    columns = [table.column(column.name) for column in spec.columns]
    # numbers rarely repeat: a dictionary of them costs time and space
    parquet.write_table(
        pa.Table.from_arrays(columns, schema=pa.schema(described, metadata=metadata)),
        sink,
        compression="zstd",
        use_dictionary=texts,
        use_byte_stream_split=numbers,
        write_statistics=False,
    )
    return bytes(sink.getvalue())


def read_table(content: bytes, spec: TableSpec) -> pd.DataFrame:
    """Return the table of a Parquet file's bytes. Raises pyarrow's errors, OSError or ValueError if it is invalid."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(pa.BufferReader(content)) as stored:
        return spec.conform(stored.read().to_pandas())
