"""Traces of arrivals: a CSV file with a row for each workload, in the order of arrival."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_COLUMNS = ("time_s", "kind", "gpus", "duration")


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One workload: when it is due, and its differences from the others; None if the trace has no value."""

    time_s: float
    kind: str | None = None
    gpus: int | None = None
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The workloads of a trace; a shape of arrival."""

    origin: str
    rows: tuple[TraceRow, ...]

    def due_s(self, index: int) -> float:
        """Return the time in the row of this index."""
        return self.rows[index].time_s

    def check(self, count: int) -> None:
        """Check that the trace has *count* workloads.

        Raises:
            UsageError: If it has fewer.
        """
        if count > len(self.rows):
            raise UsageError(f"{self.origin} has {len(self.rows)} workloads, but {count} are needed")


def read_trace(path: Path) -> Trace:
    """Return the trace in the CSV file *path*: a header with ``time_s`` and any of ``kind``, ``gpus``, ``duration``.

    Raises:
        UsageError: If it is invalid; the message has file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the trace {path} cannot be read: {error}") from error
    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        _check_header(path, reader.fieldnames or ())
        rows: list[TraceRow] = []
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            row = _row(where, cells)
            if rows and row.time_s < rows[-1].time_s:
                raise UsageError(f"{where}: time_s is {row.time_s:g}, earlier than in the row above")
            rows.append(row)
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.reader.line_num}: {error}") from error
    if not rows:
        raise UsageError(f"{path}: the trace has no rows; write one for each workload")
    return Trace(str(path), tuple(rows))


def _check_header(path: Path, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown or "time_s" not in names or len(set(names)) < len(names):
        raise UsageError(
            f"{path}:1: the header is {','.join(names)}; it must have time_s, and may have kind,gpus,duration"
        )


def _row(where: str, cells: Mapping[str | None, str | None]) -> TraceRow:
    if None in cells or None in cells.values():
        raise UsageError(f"{where}: the row has more or fewer fields than the header")
    texts = {str(name): (text or "").strip() for name, text in cells.items()}
    duration = texts.get("duration", "")
    try:
        duration_s = seconds(duration) if duration else None
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    gpus = texts.get("gpus", "")
    return TraceRow(
        time_s=_number(where, "time_s", texts["time_s"]),
        kind=texts.get("kind") or None,
        gpus=_whole(where, "gpus", gpus) if gpus else None,
        duration_s=duration_s,
    )


def _number(where: str, name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise UsageError(f"{where}: {name} is {text!r}; it must be a number of seconds, at least 0")
    return number


def _whole(where: str, name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{where}: {name} is {text!r}; it must be a whole number, at least 0")
    return int(text)
