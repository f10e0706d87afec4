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
    moments = {step["after"]: step["begin_s"] for step in document["seen"]}
    moments |= {step["step"]: step["end_s"] for step in document["seen"]}
    if {"applied", "ready"} <= moments.keys():
        start["time_to_ready_s"] = round(moments["ready"] - moments["applied"], 3)
    return {"steps": rows, "starts": [start]}
