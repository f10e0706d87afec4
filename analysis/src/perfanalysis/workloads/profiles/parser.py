"""Read profiles of pprof endpoints."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.profiles.rows import rows_of


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each profile, and one for each of its top functions."""
    profiles, functions = rows_of(source)
    return {"profiles": profiles, "functions": functions}
