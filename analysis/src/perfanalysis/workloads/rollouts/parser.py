"""Read how a new version of a served model replaced the former under load."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.replicas import tables_of
from perfanalysis.workloads.rollouts.results import before, during, failed, ratio, rollout_time

__all__ = ["before", "during", "failed", "parse", "ratio", "rollout_time"]


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return the replicas, the load and the moments; a load that ended before the rollout is a warning."""
    (document,) = source.records("rollout.json")
    done, end = document["moments"].get("done_s"), max(load["end_s"] for load in document["loads"])
    if done is None or done > end:
        source.find("warning", "rollout.json", "the load ended before the new version answered all requests")
    return tables_of(document)
