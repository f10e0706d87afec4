"""Tables as Parquet files, with units and help of their columns in the file's metadata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.files.documents import write_bytes
from perfanalysis.files.tables import TableSpec, is_arrow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def write_table(path: Path, frame: pd.DataFrame, spec: TableSpec) -> None:
    """Write one table."""
    write_bytes(path, parquet_bytes(frame, spec))


def parquet_bytes(frame: pd.DataFrame | pa.Table, spec: TableSpec) -> bytes:
    """The Parquet file of a table of pandas or, as it is, of Arrow; the same table gives the same bytes."""
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
    # not `cast`, which would import all of pyarrow.compute for types that stay as they are
    columns = [table.column(column.name) for column in spec.columns]
    # numbers hardly repeat: a dictionary of them costs time and space
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
    """The table of a Parquet file's bytes. Raises pyarrow's errors, OSError or ValueError for what is none."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(pa.BufferReader(content)) as stored:
        return spec.conform(stored.read().to_pandas())
