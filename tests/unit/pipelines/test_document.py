"""The document pipelines.json."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import (
    PipelineRun,
    PipelinesResult,
    RunStep,
    StateSample,
)

from tests.schemas import check


def test_pipelines_follow_the_schema() -> None:
    ended = PipelineRun(
        0, "a", "run-1", 1, "Succeeded", "flip-x", 1.0, 2.0, 9.0, steps=(RunStep("coin", 2.0, 3.0, "Succeeded"),)
    )
    refused = PipelineRun(0, "a", "run-2", 2, "Error", message="quota exceeded")
    document = PipelinesResult((ended, refused), (StateSample(1.0, 1, 1, 0, 0),)).document()
    assert check(document) == "psap.perf/pipelines/1"
    assert document["runs"][0]["steps"][0]["name"] == "coin"
    assert document["state"][0]["reconciles"] is None
