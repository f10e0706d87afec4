"""When a MachineSet is ready."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for

from .sets import aws

ready = predicate_for("MachineSet", "ready")


def machine_set(replicas: int, status: dict[str, Any]) -> dict[str, Any]:
    found = aws("gpus", replicas=replicas)
    found["metadata"]["generation"] = 2
    return {**found, "status": status}


@pytest.mark.parametrize(
    ("replicas", "status"),
    [
        (2, {"observedGeneration": 2, "replicas": 2, "readyReplicas": 2, "availableReplicas": 2}),
        # OpenShift omits a count of zero.
        (0, {"observedGeneration": 2, "replicas": 0}),
    ],
)
def test_every_requested_machine_is_available(replicas: int, status: dict[str, Any]) -> None:
    assert ready(machine_set(replicas, status)).reached


@pytest.mark.parametrize(
    ("replicas", "status", "note"),
    [
        (2, {"observedGeneration": 1, "replicas": 2, "availableReplicas": 2}, "not seen the newest generation"),
        (2, {}, "not seen the newest generation"),
        (2, {"observedGeneration": 2, "replicas": 2, "availableReplicas": 1}, "1 of 2 machines available"),
        (1, {"observedGeneration": 2, "replicas": 2, "availableReplicas": 1}, "1 of 1 machines available, 2 there"),
        (0, {"observedGeneration": 2, "replicas": 1}, "0 of 0 machines available, 1 there"),
    ],
)
def test_missing_machines_are_reported(replicas: int, status: dict[str, Any], note: str) -> None:
    verdict = ready(machine_set(replicas, status))
    assert not verdict.reached
    assert not verdict.hopeless
    assert note in verdict.note
