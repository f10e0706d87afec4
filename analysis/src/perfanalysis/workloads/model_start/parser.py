"""Read the start of a served model."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.model_start.steps import rows_of, time_to_first_answer, time_to_ready

__all__ = ["parse", "time_to_first_answer", "time_to_ready"]


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each step of model_start.json, and one for the start."""
    (document,) = source.records("model_start.json")
    steps, start = rows_of(document)
    return {"steps": steps, "starts": [start]}
