"""times.csv in two layouts: as the scale-test-tool wrote it, byte for byte, and with a header that fits its rows.

The old header has 23 names over rows of 26 values, so from the tenth on they do not belong together; its column First
PVC Bind is always 0; workloads that look wrong are left out. The corrected layout names all 26 columns, keeps times
with their fractions and zone, leaves empty what was not measured, and has a row for every workload, in the order of
submission.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.scale_test_tool.records import (
    CACHED_TIMES,
    DELTAS,
    STAMPS,
    SUBMITTED,
    Record,
    parse_stamp,
    without_stand_ins,
)

LAYOUTS = ("corrected", "scale-test")
OLD_HEADER = (
    "Job Name",
    "Namespace",
    "projectName",
    *(stamp.heading for stamp in STAMPS[:6]),
    "Workload Submitted",
    "Backend Job Created",
    *(delta.heading for delta in DELTAS),
)
TIME_NAMES = (*(stamp.name for stamp in STAMPS), SUBMITTED)
HEADER = (
    "Job Name",
    "Namespace",
    "Project",
    *(stamp.heading for stamp in STAMPS),
    "Workload Submitted",
    *(f"{delta.heading} (s)" for delta in DELTAS),
)


@dataclass(frozen=True)
class TimesCsv:
    """A file's text, how many workloads it has, and how many were left out, by cause."""

    text: str
    rows: int
    left_out: Mapping[str, int]


def times_csv(records: Iterable[Record], layout: str) -> TimesCsv:
    """The file in one of LAYOUTS. Records come in the order of sampled.json, which the old layout keeps."""
    return _old_layout(records) if layout == "scale-test" else _corrected_layout(records)


def _old_layout(records: Iterable[Record]) -> TimesCsv:
    lines = [",".join(OLD_HEADER)]
    left_out: dict[str, int] = {}
    for record in records:
        cause = _dropped(record)
        if cause is not None:
            left_out[cause] = left_out.get(cause, 0) + 1
            continue
        moments = (_old_date(record.old_time(name)) for name in TIME_NAMES)
        deltas = (str(record.old_delta(delta)) for delta in DELTAS)
        lines.append(",".join((record.name, record.namespace, record.project, *moments, *deltas)))
    return TimesCsv("".join(f"{line}\n" for line in lines), len(lines) - 1, left_out)


def _dropped(record: Record) -> str | None:
    """Why the old plotter left a workload out; None when it did not."""
    if record.submitted_s is None:
        return "no record of its submission"
    missing = [name for name in TIME_NAMES if record.old_time(name) is None]
    if missing:
        return f"no {missing[0].replace('_', ' ')} time"
    deltas = {delta.heading: record.old_delta(delta) for delta in DELTAS}
    if (deltas["Pod Group Creation"] or 0.0) < 0:
        return "pod group older than its first pod"
    if (deltas["Total Pod Scheduling Decision"] or 0.0) < 0:
        return "scheduled before it was submitted"
    return None


@lru_cache(maxsize=CACHED_TIMES)
def _old_date(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _corrected_layout(records: Iterable[Record]) -> TimesCsv:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    ordered = sorted(records, key=lambda record: (record.submitted_s is None, record.submitted_s or 0.0))
    for record in ordered:
        moments = (_iso(record.time(name)) for name in TIME_NAMES)
        deltas = (_seconds(record.delta(delta)) for delta in DELTAS)
        writer.writerow((record.name, record.namespace, record.project, *moments, *deltas))
    return TimesCsv(text.getvalue(), len(ordered), {})


@lru_cache(maxsize=CACHED_TIMES)
def _iso(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.6f}".rstrip("0").rstrip(".")


def read_times_csv(path: Path) -> tuple[Record, ...]:
    """The workloads of a times.csv of either layout, told apart by the fields of its first row of data.

    Raises UsageError when it is no times.csv, and DataQualityError naming the line of a row that cannot be read.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            lines = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if not lines or tuple(lines[0]) not in (OLD_HEADER, HEADER):
        raise UsageError(f"{path} has no header of a times.csv; give one of the scale-test-tool or of perfanalysis")
    width = len(HEADER)
    for number, row in enumerate(lines[1:], 2):
        if len(row) != width:
            raise DataQualityError(f"{path}:{number}: the row has {len(row)} fields, a times.csv has {width}")
    return tuple(_read_row(path, number, row) for number, row in enumerate(lines[1:], 2))


def _read_row(path: Path, number: int, row: Sequence[str]) -> Record:
    """Both layouts have the same 26 values in the same places; only the names above them differ."""
    times: dict[str, float] = {}
    for name, text in zip(TIME_NAMES, row[3 : 3 + len(TIME_NAMES)], strict=True):
        if text:
            try:
                times[name] = parse_stamp(text)
            except ValueError as error:
                raise DataQualityError(f"{path}:{number}: {name.replace('_', ' ')}: {error}") from error
    submitted = times.pop(SUBMITTED, None)
    return Record(row[0], row[1], row[2], submitted, without_stand_ins(times))
