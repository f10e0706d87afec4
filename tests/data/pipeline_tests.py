"""Write made-up results of pipelines; no run existed."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import (
    PipelineRun,
    PipelinesResult,
    RunStep,
    StateSample,
)

from tests.schemas import check

BEGUN = 1_790_000_000.0
STEPS = (("flip-coin", 4.0), ("generate-number", 6.0), ("print", 3.0))


@dataclass(frozen=True)
class PipelineTest:
    """A test to make up; `phases` are those of runs that do not succeed, by user and number."""

    users: int = 4
    runs: int = 3
    projects: int = 2
    slower_s: float = 1.5
    seed: int = 1
    phases: Mapping[tuple[int, int], str] = field(default_factory=dict)


def pipeline_test(test: PipelineTest) -> PipelinesResult:
    """Return the made-up results: each further run of a user takes longer."""
    chance = random.Random(test.seed)
    runs = tuple(run for user in range(test.users) for run in _runs(test, user, chance))
    ends = [run.finished_s for run in runs if run.finished_s is not None]
    last = int(max(ends, default=BEGUN + 60) - BEGUN) + 5
    return PipelinesResult(runs, tuple(_state(runs, BEGUN + at) for at in range(0, last, 5)))


def _runs(test: PipelineTest, user: int, chance: random.Random) -> list[PipelineRun]:
    runs, at = [], BEGUN + user
    for number in range(1, test.runs + 1):
        one = PipelineRun(user, f"pipelines-{user % test.projects}", f"user{user}-{number}", number, "Pending")
        phase = test.phases.get((user, number), "Succeeded")
        created = at + chance.uniform(0.2, 1.0)
        if phase == "Pending":
            runs.append(replace(one, created_s=created))
            continue
        started = created + chance.lognormvariate(0.5, 0.3)
        one = replace(one, workflow=f"flip-coin-{user}{number}", created_s=created, started_s=started)
        steps, at = [], started
        for name, median in STEPS:
            end = at + median * chance.lognormvariate(0, 0.15) + test.slower_s * number / len(STEPS)
            steps.append(RunStep(name, round(at, 3), round(end, 3), "Succeeded"))
            at = end
        if phase == "Succeeded":
            runs.append(replace(one, phase="Succeeded", finished_s=at, steps=tuple(steps)))
        elif phase == "Running":
            runs.append(replace(one, phase="Running", steps=(replace(steps[0], end_s=None, phase="Running"),)))
        else:
            failed = (steps[0], replace(steps[1], phase="Failed"), RunStep("print", None, None, "Omitted"))
            message = "child 'generate-number' failed"
            runs.append(replace(one, phase="Failed", finished_s=steps[1].end_s, message=message, steps=failed))
    return runs


def _state(runs: tuple[PipelineRun, ...], at_s: float) -> StateSample:
    created = [run for run in runs if run.created_s is not None and run.created_s <= at_s]
    started = [run for run in created if run.started_s is not None and run.started_s <= at_s]
    ended = [run for run in started if run.finished_s is not None and run.finished_s <= at_s]
    failed = sum(run.phase in ("Failed", "Error") for run in ended)
    running = len(started) - len(ended)
    return StateSample(at_s, running, len(created) - len(started), len(ended) - failed, failed, min(running, 2))


def write_pipelines(directory: Path, result: PipelinesResult) -> dict[str, Any]:
    """Write pipelines.json into a new directory; return the document."""
    document = result.document()
    check(document)
    directory.mkdir(parents=True)
    (directory / "pipelines.json").write_text(json.dumps(document))
    return document
