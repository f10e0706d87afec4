"""Runs in orion's JSON, and columns of a run with orion's names."""

from __future__ import annotations

import fnmatch
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.documents import finite_number, load_json, parse_time
from perfanalysis.files.findings import Finding
from perfanalysis.imports.orion.config import Metric, OrionTest

KNOWN = frozenset(("uuid", "timestamp", "metrics", "is_changepoint", "github_context"))
MILLISECONDS = 1e11
"""A larger timestamp is in milliseconds: as seconds, it would be after the year 5000."""


@dataclass(frozen=True)
class OrionRun:
    """A run. `changes` are percent, by column, of the metrics that orion saw change with it."""

    uuid: str
    started_s: float | None
    values: Mapping[str, float]
    changes: Mapping[str, float]
    shown: Mapping[str, Any]
    """Version, URL of the build and other displayed metadata."""
    pull: str | None
    """Its pull request; None for a periodic run."""


@dataclass(frozen=True)
class OrionOutput:
    """A file of orion: its runs, and findings."""

    name: str
    content: bytes
    runs: tuple[OrionRun, ...]
    findings: tuple[Finding, ...]


def read_output(path: Path) -> OrionOutput:
    """Read a file of `orion -o json`, of a test or of a comparison with pull requests.

    Raises UsageError if it cannot be read, DataQualityError with the entry if it has another form.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    try:
        loaded = load_json(content)
    except ValueError as error:
        raise DataQualityError(f"{path} is not JSON: {error}") from error
    findings: list[Finding] = []
    runs = [_run(entry, pull, f"{path}: {words}", findings, path.name) for entry, pull, words in _entries(loaded, path)]
    if not runs:
        raise DataQualityError(f"{path} contains no run; orion writes an empty list if it found no data")
    return OrionOutput(path.name, content, tuple(runs), tuple(findings))


def _entries(loaded: object, path: Path) -> Iterable[tuple[object, str | None, str]]:
    if isinstance(loaded, list):
        return _numbered(loaded, None, "entry")
    if not isinstance(loaded, dict) or not isinstance(loaded.get("periodic"), list):
        raise DataQualityError(f"{path} is not JSON of orion: neither a list of runs nor an object with periodic")
    found = _numbered(loaded["periodic"], None, "periodic entry")
    pulls = loaded.get("pulls", [])
    if not isinstance(pulls, list) or not all(isinstance(pull, dict) for pull in pulls):
        raise DataQualityError(f"{path}: pulls must be a list of objects with pr and data")
    for pull in pulls:
        data = pull.get("data")
        if not isinstance(data, list):
            raise DataQualityError(f"{path}: pull request {pull.get('pr')} has no list of runs under data")
        found += _numbered(data, str(pull.get("pr")), f"entry of pull request {pull.get('pr')}")
    return found


def _numbered(entries: list[Any], pull: str | None, words: str) -> list[tuple[object, str | None, str]]:
    return [(entry, pull, f"{words} {number}") for number, entry in enumerate(entries, start=1)]


def _run(entry: object, pull: str | None, place: str, findings: list[Finding], name: str) -> OrionRun:
    metrics = entry.get("metrics") if isinstance(entry, dict) else None
    uuid = entry.get("uuid") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(uuid, str) or not uuid:
        raise DataQualityError(f"{place} has no uuid")
    if not isinstance(metrics, dict) or not all(isinstance(one, dict) for one in metrics.values()):
        raise DataQualityError(f"{place} ({uuid}): metrics must be an object of objects with a value")
    numbers = {column: finite_number(one.get("value")) for column, one in metrics.items()}
    missing = [column for column, number in numbers.items() if number is None]
    if missing:
        text = f"{uuid} was left out: no number for {', '.join(missing)}"
        findings.append(Finding("warning", name, text))
    changes = {column: finite_number(one.get("percentage_change")) for column, one in metrics.items()}
    return OrionRun(
        uuid=uuid,
        started_s=_moment(entry.get("timestamp"), f"{place} ({uuid})"),
        values={column: number for column, number in numbers.items() if number is not None},
        changes={column: change for column, change in changes.items() if change},
        shown={key: value for key, value in entry.items() if key not in KNOWN and isinstance(value, str | int | float)},
        pull=pull,
    )


def _moment(value: object, place: str) -> float | None:
    """Return seconds since the epoch, from seconds, milliseconds or an ISO 8601 time with a zone; None for null."""
    if value is None:
        return None
    number = finite_number(value)
    if number is None and isinstance(value, str):
        number = _of_text(value)
    if number is not None and number > MILLISECONDS:
        number /= 1000
    if number is None or not 0 <= number < MILLISECONDS:
        raise DataQualityError(f"{place}: timestamp {value!r} is not a time")
    return number


def _of_text(text: str) -> float | None:
    try:
        return finite_number(float(text))
    except ValueError:
        return parse_time(text)


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
    """Return the columns of a test's metrics, from all documents of one run."""
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
        return f"none of {len(own)} matching documents has a number in {metric.of_interest}"
    if metric.aggregate is None:
        return (
            numbers[0]
            if len(set(numbers)) == 1
            else f"{len(numbers)} documents match: the metric needs agg or more fields"
        )
    if metric.aggregate == "percentiles":
        import numpy as np

        return float(np.percentile(numbers, metric.percentile))
    return float(AGGREGATED[metric.aggregate](numbers))


def _is_of(metric: Metric, record: Record) -> bool:
    fits = all(str(value_at(record, name)) == str(value) for name, value in metric.fields.items())
    return fits and not any(str(value_at(record, name)) in map(str, values) for name, values in metric.without.items())


def value_at(record: Record, name: str) -> Any:
    """Return the value at a dotted name; a key may contain dots, and `.keyword` belongs to the index."""
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
    """Return how a run's metadata contradicts the test; missing fields contradict nothing."""
    wanted = {name: value for name, value in test.metadata.items() if name not in ("not", "wildcard")}
    unwanted, patterns = (
        value if isinstance(value, Mapping) else {} for value in (test.metadata.get(key) for key in ("not", "wildcard"))
    )
    reasons = [
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
    return tuple(reasons)


def _given(wanted: Mapping[str, Any], record: Record) -> list[tuple[str, Any, str]]:
    found = ((name, value, value_at(record, name)) for name, value in wanted.items())
    return [(name, value, str(given)) for name, value, given in found if given is not None]
