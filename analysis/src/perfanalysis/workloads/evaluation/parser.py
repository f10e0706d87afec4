"""Read the accuracy of a served model on a task."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.evaluation.result import accuracy

__all__ = ["accuracy", "parse"]


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for the task, and one for each of its metrics; a model below its minimum is a warning."""
    (document,) = source.records("evaluation.json")
    value, minimum, task = document["accuracy"], document.get("minimum"), document["task"]
    missed = minimum is not None and value < minimum
    if missed:
        text = f"the accuracy of {task} is {value:.4g}, below its minimum {minimum:g}: the model's answers are wrong"
        source.find("warning", "evaluation.json", text)
    verdict = "no minimum" if minimum is None else "wrong" if missed else "accurate"
    return {"tasks": [{**document, "verdict": verdict}], "metrics": document["metrics"]}
