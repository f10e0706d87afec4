"""Write the document of an evaluation of a model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.schemas import check


def write_evaluation(
    place: Path, accuracy: float = 0.75, minimum: float | None = 0.6, standard_error: float | None = 0.05
) -> None:
    metric = {"metric": "exact_match,none", "value": accuracy, "standard_error": standard_error}
    document = {
        "schema": "psap.perf/evaluation/1",
        "task": "words",
        "metric": metric["metric"],
        "accuracy": accuracy,
        "standard_error": standard_error,
        "minimum": minimum,
        "samples": 4,
        "metrics": [metric],
        "model": "tiny",
        "runtime_image": None,
        "evaluator": "lm-eval 0.4.13",
        "lab": None,
    }
    check(document)
    place.mkdir(parents=True)
    (place / "evaluation.json").write_text(json.dumps(document))
