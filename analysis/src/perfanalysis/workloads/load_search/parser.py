"""Read the document of a search for the highest load within limits."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_search.result import highest_load

__all__ = ["highest_load", "parse"]


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each load, and one for each measure of a load."""
    (document,) = source.records("load_search.json")
    loads, measures = [], []
    for load in document["loads"]:
        loads.append({**load, "result": "held" if load["held"] else "missed"})
        for one in load["measures"]:
            # a limit of 0 has no shares, and no line
            drawn = {"line": one["measure"], "share": one["value"] / one["limit"]} if one["limit"] else {}
            measures.append({**one, "users": load["users"], **drawn})
            measures.append({"measure": "limit", "line": "limit", "users": load["users"], "share": 1.0})
    return {"loads": loads, "measures": measures}
