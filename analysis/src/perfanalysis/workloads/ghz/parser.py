"""Read the results of ghz."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.ghz.results import (
    call_row,
    failure_rows,
    load_row,
    requests_failed_ratio,
    requests_per_second,
)

FUNCTIONS = (requests_per_second, requests_failed_ratio)


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each call of ghz.json, for each reason of failures, and one for the load."""
    (document,) = source.records("ghz.json")
    calls = [call_row(detail) for detail in document.get("details") or ()]
    load = load_row(document)
    if len(calls) != load["calls"]:
        text = f"ghz recorded only {len(calls)} of {load['calls']} calls; it keeps the first million"
        source.find("error" if not calls else "warning", "ghz.json", text)
    return {"calls": calls, "loads": [load], "failures": failure_rows(calls)}
