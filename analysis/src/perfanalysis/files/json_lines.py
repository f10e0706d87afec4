"""Read JSON lines into a typed table, fast; truncated and invalid lines are counted, never fatal."""

from __future__ import annotations

import itertools
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from perfanalysis.files.bounded import LONGEST_LINE, Blocks, opened
from perfanalysis.files.documents import load_json
from perfanalysis.files.findings import Finding
from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TAIL_BYTES = 1 << 20
LARGEST_INTEGER = 2**63 - 1
LARGEST_NUMBER = 10**300
Block = TypeVar("Block")
Result = TypeVar("Result")


def read_json_lines(path: Path, spec: TableSpec, where: str) -> tuple[pd.DataFrame, tuple[Finding, ...]]:
    """Read one JSON object per line into the declared table.

    An incomplete last line (the recorder was killed) is left out, with a finding. If the fast reader encounters a line
    that is not JSON or does not have the declared types, the file is read again line by line and such lines are
    counted. For a missing file, the table is empty and a finding states the reason.
    """
    import pyarrow as pa

    try:
        size, torn = _whole_lines(path)
    except OSError as error:
        reason = "the file is missing" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error}"
        return spec.empty(), (Finding("warning", where, reason),)
    findings: tuple[Finding, ...] = ()
    if torn:
        findings = (Finding("warning", where, "the last line is truncated and was left out (1 line)"),)
    if size == 0:
        return spec.empty(), findings
    blocks = Blocks(path, size)
    try:
        frame = _read_fast(blocks, spec)
    except pa.ArrowException:
        frame, bad = _read_tolerant(blocks, spec)
        text = f"{bad} lines are not JSON objects of the declared types and were left out"
        if bad:
            findings += (Finding("error", where, text),)
    if blocks.too_long:
        text = f"{blocks.too_long} lines are longer than {LONGEST_LINE >> 20} MiB and were left out"
        findings += (Finding("error", where, text),)
    return frame, findings


def _whole_lines(path: Path) -> tuple[int, bool]:
    """Return the bytes of complete lines, and whether a truncated line follows. The last line may have no line end."""
    with opened(path) as stream:
        total = stream.seek(0, 2)
        start = max(0, total - TAIL_BYTES)
        stream.seek(start)
        tail = stream.read()
    if not tail or tail.endswith(b"\n"):
        return total, False
    end = tail.rfind(b"\n") + 1
    if start and not end:
        # such a long line counts as one that is too long
        return total, False
    try:
        load_json(tail[end:])
    except ValueError:
        return start + end, True
    return total, False


def _read_fast(blocks: Blocks, spec: TableSpec) -> pd.DataFrame:
    """Read with Arrow, block by block, with texts dictionary-encoded immediately to save memory."""
    import pyarrow as pa
    import pyarrow.json as arrow_json

    parse = arrow_json.ParseOptions(explicit_schema=_arrow_schema(spec), unexpected_field_behavior="ignore")

    def batches_of(block: bytes) -> list[pa.RecordBatch]:
        read = arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
        table = arrow_json.read_json(pa.BufferReader(block), read_options=read, parse_options=parse)
        return [_encode(_finite(_flat(batch))) for batch in table.to_batches()]

    parts = list(_in_order(batches_of, blocks))
    table = pa.Table.from_batches([batch for part in parts for batch in part]).unify_dictionaries()
    del parts
    # column by column, each freed after it is copied: otherwise there would be two copies of all
    taken = table.to_pandas(types_mapper=_nullable_types().get, split_blocks=True, self_destruct=True)
    return spec.conform(taken)


def _in_order(work: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
    """Yield the results for each block, computed in one thread per processor, with few blocks in advance."""
    threads = os.cpu_count() or 1
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            waiting.append(pool.submit(work, block))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _arrow_schema(spec: TableSpec) -> pa.Schema:
    """Return the declared columns as Arrow fields, those of one mapping combined as a struct."""
    import pyarrow as pa

    own = [(column.name, _arrow_type(column)) for column in spec.columns if column.inside is None]
    inner: dict[str, list[tuple[str, pa.DataType]]] = {}
    for column in spec.columns:
        if column.inside is not None:
            inner.setdefault(column.inside, []).append((column.name, _arrow_type(column)))
    return pa.schema([*own, *((name, pa.struct(members)) for name, members in inner.items())])


def _flat(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the members of mappings as separate columns."""
    import pyarrow as pa

    columns: dict[str, pa.Array] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_struct(column.type):
            columns |= dict(zip((member.name for member in column.type), column.flatten(), strict=True))
        else:
            columns[name] = column
    return pa.record_batch(list(columns.values()), names=list(columns))


def _finite(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same; raise for numbers beyond all floats, which Arrow reads as infinite, as for a wrong type."""
    import pyarrow as pa
    import pyarrow.compute as compute

    for column in batch.columns:
        if pa.types.is_floating(column.type) and compute.any(compute.is_inf(column)).as_py():
            raise pa.ArrowInvalid("a number is infinite")
    return batch


def _encode(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [column.dictionary_encode() if pa.types.is_string(column.type) else column for column in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)


def _arrow_type(column: Column) -> pa.DataType:
    import pyarrow as pa

    types = {"time": pa.float64(), "number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_()}
    return types.get(column.kind, pa.string())


def _nullable_types() -> dict[Any, Any]:
    import pandas as pd
    import pyarrow as pa

    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}


def _read_tolerant(blocks: Blocks, spec: TableSpec) -> tuple[pd.DataFrame, int]:

    records: list[dict[str, Any]] = []
    bad = 0
    for line in itertools.chain.from_iterable(map(bytes.splitlines, blocks)):
        record = accept_line(line, spec)
        if record is not None:
            records.append(record)
        elif line.strip():
            bad += 1
    return spec.of_rows(records), bad


def accept_line(line: bytes, spec: TableSpec) -> dict[str, Any] | None:
    """Return `accept` of a line of JSON; None if it is not JSON."""
    try:
        return accept(load_json(line), spec)
    except ValueError:
        return None


def accept(record: object, spec: TableSpec) -> dict[str, Any] | None:
    """Return the declared values of a record; None if it is not a mapping or a value has another type."""
    if not isinstance(record, dict):
        return None
    accepted = {column.name: _member(record, column).get(column.name) for column in spec.columns}
    return accepted if all(_fits(column, accepted[column.name]) for column in spec.columns) else None


def _member(record: dict[str, Any], column: Column) -> dict[str, Any]:
    """Return the mapping that contains a column; empty if the record has none."""
    if column.inside is None:
        return record
    inner = record.get(column.inside)
    return inner if isinstance(inner, dict) else {}


def _fits(column: Column, value: object) -> bool:
    if value is None:
        return True
    if column.kind == "flag":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if column.kind == "text":
        return isinstance(value, str)
    if isinstance(value, float):
        return column.kind != "integer" and not math.isinf(value)
    return isinstance(value, int) and abs(value) <= (LARGEST_INTEGER if column.kind == "integer" else LARGEST_NUMBER)
