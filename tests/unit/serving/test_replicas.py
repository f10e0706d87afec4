"""The replicas of a model over time: samples, the moments of scaling and rollout, and the phases of the load."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.serving.replicas import (
    AUTOSCALE,
    ROLLOUT,
    Sample,
    ScaleMoments,
    is_settled,
    phases,
    revisions,
    rolled_out_at,
    sample_of,
    scale_moments,
)


def pod(revision: str, *, ready: bool = True, ending: bool = False) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "a", "labels": {"pod-template-hash": revision}}
    if ending:
        metadata["deletionTimestamp"] = "2026-11-30T09:00:00Z"
    return {
        "metadata": metadata,
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


SCALING = (
    Sample(0, 1, 1, 1, 0),
    Sample(12, 1, 1, 1, 0),
    Sample(20, 3, 3, 1, 0),
    Sample(30, 3, 3, 2, 0),
    Sample(40, 3, 3, 3, 0),
    Sample(90, 1, 1, 1, 0),
)
ROLLING = (Sample(0, 2, 2, 2, 0), Sample(10, 2, 3, 3, 1), Sample(15, 2, 2, 2, 1), Sample(20, 2, 2, 2, 2))


def test_ending_pods_and_pods_that_are_not_ready_do_not_serve() -> None:
    pods = [pod("1"), pod("1", ending=True), pod("2"), pod("2", ready=False)]
    found = sample_of(5.0, {"spec": {"replicas": 2}}, pods, revisions([pod("1")]))
    assert found == Sample(5.0, wanted=2, pods=3, ready=2, ready_new=1)
    assert found.ready_old == 1


def test_replicas_are_timed_from_the_step() -> None:
    assert scale_moments(SCALING, 10, 60) == ScaleMoments(1, 3, 30, 40, 90)
    assert scale_moments(SCALING[:4], 10, 60) == ScaleMoments(1, 3, 30, None, None)
    assert scale_moments(SCALING[:2], 10, 60) == ScaleMoments(1, 1, None, None, None)


def test_rollout_ends_when_only_the_new_version_serves() -> None:
    assert rolled_out_at(ROLLING, 5) == 20
    assert rolled_out_at(ROLLING[:3], 5) is None


@pytest.mark.parametrize(
    ("samples", "mode", "change", "settled"),
    [
        (SCALING, AUTOSCALE, None, True),
        (SCALING[:5], AUTOSCALE, None, False),
        (ROLLING, ROLLOUT, 5, True),
        (ROLLING[:3], ROLLOUT, 5, False),
        (ROLLING, ROLLOUT, None, False),
    ],
)
def test_replicas_settle_at_the_end_of_the_rollout_or_of_the_scaling(
    samples: tuple[Sample, ...], mode: str, change: float | None, *, settled: bool
) -> None:
    assert is_settled(samples, mode, change) is settled


def test_phases_are_within_the_load() -> None:
    assert phases(SCALING, AUTOSCALE, None)(10, 60) == {"scaling": (10, 40), "scaled": (40, 60.001)}
    assert phases(SCALING[:4], AUTOSCALE, None)(10, 60)["scaling"] == (10, 60)
    assert phases(ROLLING, ROLLOUT, 5)(1, 60) == {"before": (1, 5), "during": (5, 20), "after": (20, 60.001)}
    # the load ended during the rollout
    assert phases(ROLLING, ROLLOUT, 5)(1, 12) == {"before": (1, 5), "during": (5, 12), "after": (12, 12.001)}
