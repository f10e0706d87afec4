"""Tables of Arrow, for parsers of many small recordings: pandas takes longer for such a table than the files do.

They are written as they are, and become frames only when somebody analyses them. Arrays are made of buffers, since
pyarrow.array imports pandas for whatever it gets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perfanalysis.files.tables import Kind, TableSpec

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Rows = Sequence[Mapping[str, Any]]


def arrow_type(kind: Kind) -> pa.DataType:
    """The type of a column of this kind."""
    import pyarrow as pa

    types = {"integer": pa.int64(), "flag": pa.bool_(), "text": pa.dictionary(pa.int32(), pa.string())}
    return types.get(kind, pa.float64())


def arrow_table(rows: Rows, kinds: Mapping[str, Kind]) -> pa.Table:
    """The named columns of rows, each of its kind; None, and a key that a row lacks, is missing.

    Raises ValueError or TypeError for a value of another type.
    """
    import pyarrow as pa

    return pa.table({name: _array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})


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
    """Each text once, in the order they come, and for each value the place of its text."""
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
    """A bit for each value, as Arrow stores flags and which values there are."""
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def arrow_conformed(table: pa.Table, spec: TableSpec) -> pa.Table:
    """The declared columns in their order. Raises ValueError naming a column that is missing or of another type."""
    for column in spec.columns:
        if column.name not in table.column_names:
            raise ValueError(f"table {spec.name}: column {column.name} is missing")
        found = table.schema.field(column.name).type
        if found != arrow_type(column.kind):
            raise ValueError(f"table {spec.name}: column {column.name} is {found}, not of kind {column.kind}")
    return table.select([column.name for column in spec.columns])
