"""Read how a served model started."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.source import Source

Step = dict[str, Any]
# with what each of the two sequences of moments begins
_BEGUN = ("service created", "applied")


def parse(source: Source) -> dict[str, Any]:
    """A row for each step of model_start.json, and one for the start."""
    (document,) = source.records("model_start.json")
    stamped, seen = document["steps"], document["seen"]
    finer = {step["step"] for step in seen} - {step["step"] for step in stamped}
    # a step that begins with another moment is another one
    finer |= {pair[0] for pair in map(_pair, seen) if pair in map(_pair, stamped)}
    rows = [{**step, "seen_by": "cluster", "finest": step["step"] not in finer} for step in stamped]
    rows += [{**step, "seen_by": "command", "finest": step["step"] in finer} for step in seen]
    start = {name: document[name] for name in ("service", "model", "runtime", "image", "pod", "restarts", "ready")}
    if seen and seen[0]["after"] == "applied":
        ends = {step["step"]: round(step["end_s"] - seen[0]["begin_s"], 3) for step in seen}
        start |= {"time_to_ready_s": ends.get("ready"), "time_to_first_answer_s": ends.get("first answer")}
    return {"steps": rows, "starts": [start]}


def _pair(step: Step) -> tuple[str, str]:
    after = step["after"]
    return step["step"], "" if after in _BEGUN else after
