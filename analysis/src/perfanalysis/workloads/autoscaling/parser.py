"""Read how the replicas of a served model followed its load."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.autoscaling.results import failed, first_replica, scale_down_time, scale_up_time
from perfanalysis.workloads.replicas import tables_of

__all__ = ["failed", "first_replica", "parse", "scale_down_time", "scale_up_time"]


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return the replicas, the loads and the moments."""
    (document,) = source.records("autoscale.json")
    return tables_of(document)
