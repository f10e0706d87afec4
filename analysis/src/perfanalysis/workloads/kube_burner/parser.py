"""Tables of kube-burner's documents; see `documents` and `tables` for their meaning."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kube_burner.documents import creation_rate, iteration_rate, tables_of

FUNCTIONS = (creation_rate, iteration_rate)


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return every table of the kind."""
    return dict(tables_of(source))
