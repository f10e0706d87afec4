"""orion's columns computed from documents on disk: what orion asks its index for, without an index."""

from __future__ import annotations

import fnmatch
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfanalysis.imports.orion.config import OrionTest
from perfanalysis.imports.orion.metrics import Metric

Record = Mapping[str, Any]
AGGREGATED: Mapping[str, Callable[[Sequence[float]], float]] = {
    "avg": statistics.fmean,
    "sum": math.fsum,
    "max": max,
    "min": min,
    "count": len,
}


@dataclass(frozen=True)
class Columns:
    """The number of each column, and why a column has none."""

    values: Mapping[str, float]
    missing: Mapping[str, str]


def columns_of(test: OrionTest, records: Sequence[Record]) -> Columns:
    """The columns of a test's metrics, from all documents of one run."""
    values: dict[str, float] = {}
    missing: dict[str, str] = {}
    for metric in test.metrics:
        if metric.carried:
            continue
        found = _column(metric, records)
        if isinstance(found, str):
            missing[metric.column] = found
        else:
            values[metric.column] = found
    return Columns(values, missing)


def _column(metric: Metric, records: Sequence[Record]) -> float | str:
    if metric.not_done:
        return metric.not_done[0]
    own = [record for record in records if _is_of(metric, record)]
    numbers = [number for record in own for number in _numbers(value_at(record, metric.of_interest))]
    if metric.aggregate == "count":
        return float(len(own))
    if not numbers:
        return f"none of {len(own)} documents that fit has a number in {metric.of_interest}"
    if metric.aggregate is None:
        return numbers[0] if len(set(numbers)) == 1 else f"{len(numbers)} documents fit: it needs agg, or more fields"
    if metric.aggregate == "percentiles":
        import numpy as np

        return float(np.percentile(numbers, metric.percentile))
    return float(AGGREGATED[metric.aggregate](numbers))


def _is_of(metric: Metric, record: Record) -> bool:
    fits = all(str(value_at(record, name)) == str(value) for name, value in metric.fields.items())
    return fits and not any(str(value_at(record, name)) in map(str, values) for name, values in metric.without.items())


def value_at(record: Record, name: str) -> Any:
    """The value at a dotted name; a key may have dots itself, and `.keyword` is the index's, not the document's."""
    name = name.removesuffix(".keyword")
    if name in record:
        return record[name]
    first, _, rest = name.partition(".")
    inner = record.get(first)
    return value_at(inner, rest) if rest and isinstance(inner, Mapping) else None


def _numbers(value: object) -> Iterable[float]:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield float(value)


def unlike(test: OrionTest, record: Record) -> tuple[str, ...]:
    """How a run's metadata contradicts what the test is about; fields that the run does not tell contradict nothing."""
    wanted = {name: value for name, value in test.metadata.items() if name not in ("not", "wildcard")}
    unwanted, patterns = (
        value if isinstance(value, Mapping) else {} for value in (test.metadata.get(key) for key in ("not", "wildcard"))
    )
    told = [
        *(f"{name} is {given}, not {value}" for name, value, given in _given(wanted, record) if str(value) != given),
        *(
            f"{name} is {given}, which is not {value}"
            for name, value, given in _given(patterns, record)
            if not fnmatch.fnmatchcase(given, str(value))
        ),
        *(
            f"{name} is {given}"
            for name, value, given in _given(unwanted, record)
            if given in map(str, value if isinstance(value, list) else [value])
        ),
    ]
    return tuple(told)


def _given(wanted: Mapping[str, Any], record: Record) -> list[tuple[str, Any, str]]:
    found = ((name, value, value_at(record, name)) for name, value in wanted.items())
    return [(name, value, str(given)) for name, value, given in found if given is not None]
