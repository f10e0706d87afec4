"""The tables of the replicas of a served model beside its load."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from perfanalysis.workloads.percentiles import Value

# A plot draws lines in the order of their names: ready replicas cover the desired ones where they are equal.
_LINES = {"ready": "ready replicas", "wanted": "desired replicas"}


def tables_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of all tables of the document of replicas."""
    facts = {name: document[name] for name in ("service", "model")}
    return {
        "samples": document["samples"],
        "lines": list(_lines(document)),
        "loads": document["loads"],
        "phases": document["phases"],
        "moments": [{**facts, **document["moments"]}],
    }


def _lines(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the replicas and the requests in flight, on one time axis."""
    for sample in document["samples"]:
        for name, line in _LINES.items():
            yield {"at_s": sample["at_s"], "line": line, "count": sample[name]}
    for point in document["points"]:
        yield {"at_s": point["at_s"], "line": "requests in flight", "count": point["in_flight"]}
        yield {"at_s": point["at_s"], "line": "failed requests", "count": point["failed"]}


def between(tables: Any, begin: str, end: str, reason: str) -> Value:
    """Return the seconds between two moments; null with *reason* if the second one was not reached."""
    (row,) = tables.moments.to_dict("records")
    return seconds_or(float(row[end]) - float(row[begin]), reason)


def seconds_or(seconds: float, reason: str) -> Value:
    """Return the seconds; null with *reason* if they are NaN, because a moment is missing."""
    return Value(None, reason) if math.isnan(seconds) else Value(seconds, "no interval for a single measurement")


def of_phase(tables: Any, phase: str, column: str) -> Value:
    """Return a number of a phase of the load; null if it has none."""
    found = tables.phases[tables.phases["phase"] == phase][column].dropna()
    if not len(found):
        return Value(None, f"no request ended in the phase {phase}")
    return Value(float(found.iloc[0]), "no interval for a phase")
