"""Tables of lists of Kubernetes objects; `figures` has the computations over them."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kubernetes_objects.figures import (
    creation_span,
    jobs_finished_per_s,
    makespan,
    most_jobs,
    most_pods,
    scheduling_span,
    test_length,
)
from perfanalysis.workloads.kubernetes_objects.frames import tables_of

FUNCTIONS = (creation_span, jobs_finished_per_s, makespan, most_jobs, most_pods, scheduling_span, test_length)


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return the tables `pods`, `jobs` and `tests`."""
    return tables_of(source, "*.json")
