"""times.csv in two layouts: the scale-test-tool's, byte for byte, and one with a header that matches its rows.

The old header has 23 names over rows of 26 values, so from the tenth on they do not match; its column First PVC Bind is
always 0; implausible workloads are left out. The corrected layout names all 26 columns, keeps fractions and zone of
times, leaves missing values empty, and has a row for every workload, in the order of submission.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.imports.scale_test_tool.records import DELTAS, STAMPS, SUBMITTED, TIME_NAMES, Columns, parse_stamp

LAYOUTS = ("corrected", "scale-test")
OLD_TOLERANCE_S = -1.0
"""Down to this value, the old tool treated a negative difference as 0."""
CACHED_TIMES = 1 << 16
"""Cache of formatted times: whole seconds repeat in every column."""
OLD_HEADER = (
    "Job Name",
    "Namespace",
    "projectName",
    *(stamp.heading for stamp in STAMPS[:6]),
    "Workload Submitted",
    "Backend Job Created",
    *(delta.heading for delta in DELTAS),
)
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
    """A file's text, its number of workloads, and how many were left out, by cause."""

    text: str
    rows: int
    left_out: Mapping[str, int]


def times_csv(workloads: Columns, layout: str) -> TimesCsv:
    """Return the file in one of LAYOUTS. Workloads keep the order of sampled.json in the old layout."""
    return _old_layout(workloads) if layout == "scale-test" else _corrected_layout(workloads)


def _old_layout(workloads: Columns) -> TimesCsv:
    dropped = dropped_by_old_tool(workloads)
    kept = workloads.take(np.flatnonzero(dropped == ""))
    moments = (_texts(kept.old_time(name), _old_date) for name in TIME_NAMES)
    deltas = (_texts(kept.old_difference(delta), _old_seconds) for delta in DELTAS)
    rows = zip(kept.names, kept.namespaces, kept.projects, *moments, *deltas, strict=True)
    text = "".join(f"{line}\n" for line in (",".join(OLD_HEADER), *map(",".join, rows)))
    causes, counts = np.unique(dropped[dropped != ""], return_counts=True)
    return TimesCsv(text, len(kept), dict(zip(causes.tolist(), counts.tolist(), strict=True)))


def dropped_by_old_tool(workloads: Columns) -> NDArray[np.str_]:
    """Return why the old plotter left each workload out; empty if it did not. The first of several causes is used."""
    differences = {delta.heading: workloads.old_difference(delta) for delta in DELTAS}
    causes: list[tuple[str, NDArray[np.bool_]]] = [
        ("no record of the submission", np.isnan(workloads.time(SUBMITTED))),
        *((f"no {name.replace('_', ' ')} time", np.isnan(workloads.old_time(name))) for name in TIME_NAMES),
        ("pod group older than its first pod", differences["Pod Group Creation"] < 0),
        ("scheduled before it was submitted", differences["Total Pod Scheduling Decision"] < OLD_TOLERANCE_S),
    ]
    return np.select([where for _, where in causes], [cause for cause, _ in causes], default="").astype(np.str_)


def _old_seconds(seconds: float) -> str:
    """A slightly negative difference became a zero of another type, which is written without a fraction."""
    return "0" if OLD_TOLERANCE_S <= seconds < 0 else str(seconds)


@lru_cache(maxsize=CACHED_TIMES)
def _old_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _corrected_layout(workloads: Columns) -> TimesCsv:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    # NaN comes last
    ordered = workloads.take(np.argsort(workloads.time(SUBMITTED), kind="stable"))
    moments = (_texts(ordered.time(name), _iso) for name in TIME_NAMES)
    deltas = (_texts(ordered.delta(delta), _seconds) for delta in DELTAS)
    writer.writerows(zip(ordered.names, ordered.namespaces, ordered.projects, *moments, *deltas, strict=True))
    return TimesCsv(text.getvalue(), len(ordered), {})


def _texts(values: NDArray[np.float64], written: Callable[[float], str]) -> Iterable[str]:
    """Return each value as a text, empty if missing; equal values are formatted once."""
    different, places = np.unique(values, return_inverse=True)
    texts = ["" if value != value else written(value) for value in different.tolist()]  # NaN is not equal to itself
    return map(texts.__getitem__, places.tolist())


@lru_cache(maxsize=CACHED_TIMES)
def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _seconds(seconds: float) -> str:
    return f"{seconds:.6f}".rstrip("0").rstrip(".")


def read_times_csv(path: Path) -> Columns:
    """Return the workloads of a times.csv of either layout: their rows have the same 26 values, only the headers
    differ.

    Raises UsageError if it is not a times.csv, and DataQualityError with the line of a row that cannot be read.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            lines = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    if not lines or tuple(lines[0]) not in (OLD_HEADER, HEADER):
        raise UsageError(
            f"{path} does not have the header of a times.csv; pass one of the scale-test-tool or of perfanalysis"
        )
    width, rows = len(HEADER), lines[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != width:
            raise DataQualityError(f"{path}:{number}: the row has {len(row)} fields instead of {width}")
    texts = [[row[place] for row in rows] for place in range(3)]
    times = [
        [_moment(path, number, name, row[place]) for number, row in enumerate(rows, 2)]
        for place, name in enumerate(TIME_NAMES, 3)
    ]
    found = Columns(texts[0], texts[1], texts[2], np.array(times, dtype=float).reshape(len(TIME_NAMES), len(rows)))
    return found.without_stand_ins()


def _moment(path: Path, number: int, name: str, text: str) -> float:
    if not text:
        return np.nan
    try:
        return parse_stamp(text)
    except ValueError as error:
        raise DataQualityError(f"{path}:{number}: {name.replace('_', ' ')}: {error}") from error
