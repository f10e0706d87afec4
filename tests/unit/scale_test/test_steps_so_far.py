"""Percentiles during the test equal those of the analysis, in any order of answers and watch events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.steps_so_far import StepsSoFar
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Transition

from .sessions import Scene, complete_all

ENDS = {"completed": "completed", "failed": "failed"}


def transition(word: str, seen_s: float, name: str = "w", uid: str = "u", kind: str = "Pod") -> Transition:
    return Transition(seen_s, kind, "test", name, uid, "w", word, None, None, None)


def counts(steps: StepsSoFar) -> list[float | int | None]:
    return [step["count"] for step in steps.document().values()]


def test_workload_is_scheduled_with_all_its_pods_despite_replacements() -> None:
    steps = StepsSoFar(ENDS, own=True)
    steps.submitted({"name": "w", "sent_s": 10.0, "pods": 2})
    steps.pod_reached(transition("scheduled", 11.0, uid="a"))
    assert counts(steps) == [0, 0, 0]
    steps.pod_reached(transition("scheduled", 13.0, uid="b"))
    steps.pod_reached(transition("scheduled", 99.0, uid="c"))
    steps.pod_reached(transition("running", 14.0, uid="b"))
    assert counts(steps) == [1, 0, 0]


def test_late_response_loses_nothing() -> None:
    steps = StepsSoFar(ENDS, own=True)
    for number in range(2):
        steps.workload_reached(transition("created", 1.0, name=f"w{number}", kind="Job"))
        steps.pod_reached(
            Transition(1.5 + number, "Pod", "test", "p", "u", f"w{number}", "scheduled", None, None, None)
        )
        steps.workload_reached(transition("completed", 3.0 + number, name=f"w{number}", kind="Job"))
        steps.submitted({"name": f"w{number}", "sent_s": 0.5, "pods": 1})
    found = steps.document()
    assert found["time_to_scheduled"] == {"count": 2, "p50_s": 1.5, "p90_s": None, "p99_s": None}
    assert found["time_to_completed"]["count"] == 2


@pytest.mark.parametrize("count", [2, 9, 10, 99, 100, 137])
def test_percentiles_equal_numpys_and_need_the_smallest_sample(count: int) -> None:
    rng = np.random.default_rng(count)
    times = rng.exponential(2.0, count)
    steps = StepsSoFar(ENDS, own=True)
    for number, time in enumerate(times):
        steps.submitted({"name": f"w{number}", "sent_s": 0.0, "pods": 1})
        steps.workload_reached(transition("completed", float(time), name=f"w{number}", kind="Job"))
    found = steps.document()["time_to_completed"]
    for name, share, least in (("p50_s", 0.5, 2), ("p90_s", 0.9, 10), ("p99_s", 0.99, 100)):
        expected = pytest.approx(float(np.quantile(times, share)), abs=1e-6) if count >= least else None
        assert found[name] == expected


def test_foreign_workload_begins_when_it_is_seen() -> None:
    steps = StepsSoFar(ENDS, own=False)
    for number in range(2):
        steps.workload_reached(transition("created", 1.0, name=f"w{number}", kind="Job"))
        steps.workload_reached(transition("completed", 3.0, name=f"w{number}", kind="Job"))
    assert steps.document() == {"time_to_completed": {"count": 2, "p50_s": 2.0, "p90_s": None, "p99_s": None}}


def test_session_progress_has_the_steps(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=7)
    scene.play(complete_all)
    steps = scene.document("progress")["durations"]
    assert (steps["time_to_completed"]["count"], steps["time_to_scheduled"]["count"]) == (7, 0)
    assert 0.02 <= steps["time_to_completed"]["p50_s"] < 5.0
