"""Read a test of pipelines: the document pipelines.json; `figures` has the computations over its tables."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.pipelines.figures import (
    duration_degrade_speed,
    latency_degrade_speed,
    most_concurrent,
    runs_per_second,
)
from perfanalysis.workloads.pipelines.rows import tables_of

FUNCTIONS = (duration_degrade_speed, latency_degrade_speed, most_concurrent, runs_per_second)


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each run, step, state at a time and cause, and one for the test."""
    (test,) = source.records("pipelines.json")
    return tables_of(test)
