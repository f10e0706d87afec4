"""Read how a served model started."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.source import Source

_SEEN_BY = {"steps": "cluster", "seen": "command"}


def parse(source: Source) -> dict[str, Any]:
    """A row for each step of model_start.json, and one for the start."""
    (document,) = source.records("model_start.json")
    rows = [{**step, "seen_by": word} for name, word in _SEEN_BY.items() for step in document[name]]
    start = {name: document[name] for name in ("service", "model", "runtime", "image", "pod", "restarts", "ready")}
    seen = document["seen"]
    if seen and (seen[0]["after"], seen[-1]["step"]) == ("applied", "ready"):
        start["time_to_ready_s"] = round(seen[-1]["end_s"] - seen[0]["begin_s"], 3)
    return {"steps": rows, "starts": [start]}
