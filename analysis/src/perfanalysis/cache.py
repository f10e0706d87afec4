"""Parsed tables as Parquet files that know the contents they were made from; never a pickle.

The tables a report writes for its readers are the cache: each carries a hash of every input file, of the parser's
version and of the table's declaration. Touching a file changes nothing; one byte changed parses that recording anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from perfanalysis.findings import Finding
from perfanalysis.source import Source
from perfanalysis.tables import TableSpec, specs_of
from perfanalysis.workload_type import TableSource

if TYPE_CHECKING:
    import pandas as pd

KEY = b"psap.perf.inputs"
TablesType = TypeVar("TablesType")


def load_tables(
    workload: TableSource[TablesType], source: Source, folder: Path
) -> tuple[TablesType, tuple[Finding, ...]]:
    """The recording's tables: from `folder` when made from the same contents, else parsed and written there."""
    digest = inputs_digest(workload, source.place.directory)
    frames, findings = _read(workload, folder, digest)
    if frames is not None:
        return workload.tables(**frames), findings
    source.files = workload.files
    tables = workload.parse(source)
    _release_memory()
    findings += source.findings
    # A recording with damaged files is parsed each time, so that its findings are said each time.
    key = digest if not source.findings else b"not kept"
    for name, spec in specs_of(workload.tables).items():
        write_table(folder / f"{name}.parquet", getattr(tables, name), spec, key)
    return tables, findings


def _release_memory() -> None:
    """Give back what reading needed: Arrow keeps it, and it would add to whatever the analysis needs."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def inputs_digest(workload: TableSource[Any], directory: Path) -> bytes:
    """Hash of the contents of every declared input file, the parser's version and the tables' declarations."""
    digest = hashlib.blake2b(digest_size=20)
    digest.update(f"{workload.name} {workload.version} {workload.code}".encode())
    for spec in specs_of(workload.tables).values():
        digest.update(spec.fingerprint().encode())
    for name in _named(workload.files, directory):
        digest.update(b"\0" + name.encode())
        if (directory / name).is_file():
            with (directory / name).open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "blake2b").digest())
    return digest.hexdigest().encode()


def _named(files: tuple[str, ...], directory: Path) -> Iterator[str]:
    """The declared files; a pattern stands for every file that matches it."""
    for name in files:
        if "*" in name:
            yield from sorted(str(path.relative_to(directory)) for path in directory.glob(name))
        else:
            yield name


def _read(
    workload: TableSource[Any], folder: Path, digest: bytes
) -> tuple[dict[str, pd.DataFrame] | None, tuple[Finding, ...]]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    frames: dict[str, pd.DataFrame] = {}
    for name, spec in specs_of(workload.tables).items():
        path = folder / f"{name}.parquet"
        if not path.is_file():
            return None, ()
        try:
            with parquet.ParquetFile(path) as stored:
                if (stored.schema_arrow.metadata or {}).get(KEY) != digest:
                    return None, ()
                frames[name] = spec.conform(stored.read().to_pandas())
        except (pa.ArrowException, OSError, ValueError):
            return None, (Finding("note", f"tables/{folder.name}/{path.name}", "damaged; it was made anew"),)
    return frames, ()


def write_table(path: Path, frame: pd.DataFrame, spec: TableSpec, key: bytes = b"") -> None:
    """Write one table as Parquet with units and help of its columns in the file's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = pa.Table.from_pandas(spec.conform(frame), preserve_index=False)
    metadata = dict(table.schema.metadata or {})
    metadata[b"psap.perf.help"] = spec.help.encode()
    metadata[KEY] = key
    described = [
        table.schema.field(column.name).with_metadata({"help": column.help, "unit": column.unit or ""})
        for column in spec.columns
    ]
    schema = pa.schema(described, metadata=metadata)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    texts = [column.name for column in spec.columns if column.kind == "text"]
    numbers = [column.name for column in spec.columns if column.kind in ("time", "number")]
    # numbers hardly repeat: a dictionary of them costs time and space
    parquet.write_table(
        table.cast(schema),
        partial,
        compression="zstd",
        use_dictionary=texts,
        use_byte_stream_split=numbers,
        write_statistics=False,
    )
    partial.replace(path)
