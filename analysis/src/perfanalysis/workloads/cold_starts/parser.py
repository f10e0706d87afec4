"""Read the repeated cold starts of a served model."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.cold_starts.rows import start_row


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each start, and one for each of its steps; missing starts are a warning."""
    (document,) = source.records("cold_starts.json")
    starts = document["starts"]
    if len(starts) < document["requested"]:
        source.find("warning", "cold_starts.json", f"{len(starts)} of {document['requested']} starts were measured")
    steps = [{**step, "number": start["number"]} for start in starts for step in start["steps"]]
    facts = {name: document[name] for name in ("service", "model", "runtime", "image")}
    return {"starts": [start_row(start) for start in starts], "steps": steps, "services": [facts]}
