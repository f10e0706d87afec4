"""The rows of profiles: one for each profile, and its top functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from perfanalysis.drawing.blocks import quantity
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.profiles.pprof import Profile, read_profile

MOST = 15
"""Functions of each profile."""
GOROUTINE = "goroutine"
UNITS = {"nanoseconds": (1e-9, "seconds"), "bytes": (1.0, "bytes"), "count": (1.0, "count")}


def rows_of(source: RecordingFiles) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each profile of profiles.json, and one for each of its top functions."""
    (document,) = source.records("profiles.json")
    profiles, functions = [], []
    for known in document["profiles"]:
        row = {name: known.get(name) for name in ("component", "profile", "pod", "begin_s", "end_s", "error")}
        read = _read(source, known)
        profiles.append(row if read is None else {**row, **_summary(read)})
        functions += [] if read is None else list(_functions(known, read))
    return profiles, functions


def _read(source: RecordingFiles, known: Mapping[str, Any]) -> Profile | None:
    file = known.get("file")
    if not file:
        return None
    try:
        return read_profile(source.path(file).read_bytes())
    except OSError as error:
        source.find("error", file, f"cannot read the file: {error.strerror}")
    except ValueError as error:
        source.find("error", file, str(error))
    return None


def _summary(read: Profile) -> dict[str, Any]:
    factor, unit = UNITS.get(read.unit, (1.0, read.unit))
    value = factor * read.total
    seconds = value if read.what == "cpu" else None
    return {
        "samples": read.samples,
        "total": quantity(value, unit),
        "cpu_s": seconds,
        "cores": seconds / read.duration_s if seconds is not None and read.duration_s else None,
        "heap_bytes": value if read.what == "inuse_space" else None,
        "goroutines": read.total if read.what == GOROUTINE else None,
    }


def _functions(known: Mapping[str, Any], read: Profile) -> Iterator[dict[str, Any]]:
    factor, unit = UNITS.get(read.unit, (1.0, read.unit))
    functions = [function for function in read.functions if function.own > 0]
    if read.what == GOROUTINE:
        # nearly all of them wait in the same function of the runtime, so only their callers differ
        functions = sorted(read.functions, key=lambda function: -function.total)
    for function in functions[:MOST]:
        yield {
            **{name: known.get(name) for name in ("component", "profile", "pod")},
            "function": function.name,
            "own": quantity(factor * function.own, unit),
            "own_ratio": function.own / read.total,
            "total_ratio": function.total / read.total,
        }
