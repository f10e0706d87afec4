"""The result of a job from its objects, without a cluster."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.result import JobObjects, document, outcome_of
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs/schema/fine-tuning-1.json").read_text())
ASKED = {
    "job": "j",
    "namespace": "x",
    "workload": "fms",
    "mode": "sft",
    "container_image": "i:1",
    "model": "granite",
    "dataset": "alpaca.json",
    "dataset_replication": 2.5,
    "pods": 2,
    "gpus_per_pod": 8,
    "hyper_parameters": {"r": 4},
    "configuration": {"r": 4, "environment": {}},
}
STARTED, ENDED = "2026-11-21T04:00:10Z", "2026-11-21T04:01:40Z"


def job(*conditions: tuple[str, str]) -> dict[str, Any]:
    rows = [{"type": kind, "status": status, "message": f"it is {kind}"} for kind, status in conditions]
    return {"metadata": {"name": "j", "creationTimestamp": "2026-11-21T04:00:00Z"}, "status": {"conditions": rows}}


def pod(
    name: str, phase: str, exit_code: int | None = None, reason: str = "Completed", **status: Any
) -> dict[str, Any]:
    state: dict[str, Any] = {}
    if exit_code is not None:
        ended = {"exitCode": exit_code, "reason": reason, "startedAt": STARTED, "finishedAt": ENDED}
        state = {"terminated": ended}
    elif phase == "Running":
        state = {"running": {"startedAt": STARTED}}
    statuses = [{"name": "pytorch", "state": state}]
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "pytorch"}]},
        "status": {"phase": phase, "containerStatuses": statuses, **status},
    }


def observed(*pods: dict[str, Any], conditions: tuple[tuple[str, str], ...] = ()) -> JobObjects:
    main = next((item for item in pods if "master" in item["metadata"]["name"]), None)
    return JobObjects(job(*conditions), main, pods, "NVIDIA-H100", Lab("l", simulated=("nodes",)), interrupted=False)


SUCCEEDED, FAILED = (("Succeeded", "True"),), (("Running", "False"), ("Failed", "True"))


def test_completed_job_has_times_and_logs() -> None:
    seen = observed(pod("j-worker-0", "Succeeded", 0), pod("j-master-0", "Succeeded", 0), conditions=SUCCEEDED)
    result = document(ASKED, seen)
    jsonschema.validate(result, SCHEMA)
    assert result["schema"] == "psap.perf/fine-tuning/1"
    assert (result["outcome"], result["reason"], result["exit_code"]) == ("completed", None, 0)
    assert result["started_s"] - result["created_s"] == 10
    assert result["ended_s"] - result["started_s"] == 90
    assert result["logs"] == ["logs/j-master-0.log", "logs/j-worker-0.log"]
    assert (result["gpu_product"], result["lab"]["simulated"], result["model"]) == ("NVIDIA-H100", ["nodes"], "granite")


@pytest.mark.parametrize(
    ("seen", "outcome", "reason"),
    [
        (
            observed(pod("j-master-0", "Failed", 137, "OOMKilled"), conditions=FAILED),
            "failed",
            "j-master-0: OOMKilled (exit code 137)",
        ),
        (
            # The main pod has completed, so the job has too; the missing training object does not matter.
            observed(pod("j-master-0", "Succeeded", 0), pod("j-worker-0", "Failed", 3, "Error"), conditions=SUCCEEDED),
            "failed",
            "j-worker-0: Error (exit code 3)",
        ),
        (
            observed(pod("j-master-0", "Failed", reason="Evicted", message="node is gone"), conditions=FAILED),
            "failed",
            "j-master-0: the pod failed node is gone",
        ),
        (observed(conditions=FAILED), "failed", "it is Failed"),
        (observed(), "failed", "no pod was created: the job waits for a queue, or its controller is not running"),
        (observed(pod("j-master-0", "Running")), "failed", "j-master-0 was still Running when the command ended"),
        (
            observed(
                pod(
                    "j-master-0",
                    "Pending",
                    conditions=[{"type": "PodScheduled", "status": "False", "message": "0/4 nodes"}],
                )
            ),
            "failed",
            "j-master-0 was not scheduled: 0/4 nodes",
        ),
        (
            observed(
                pod(
                    "j-master-0",
                    "Pending",
                    containerStatuses=[
                        {"name": "pytorch", "state": {"waiting": {"reason": "ErrImagePull", "message": "no such"}}}
                    ],
                )
            ),
            "failed",
            "j-master-0: container pytorch: ErrImagePull no such",
        ),
    ],
)
def test_failed_job_reports_why(seen: JobObjects, outcome: str, reason: str) -> None:
    assert outcome_of(seen) == (outcome, reason)


def test_interrupted_run_is_distinguished_from_a_failure() -> None:
    running = replace(observed(pod("j-master-0", "Running")), interrupted=True)
    assert outcome_of(running) == ("interrupted", "the run was asked to stop")
    failed = replace(observed(pod("j-master-0", "Failed", 1, "Error"), conditions=FAILED), interrupted=True)
    assert outcome_of(failed)[0] == "failed"
    done = replace(observed(pod("j-master-0", "Succeeded", 0), conditions=SUCCEEDED), interrupted=True)
    assert outcome_of(done)[0] == "completed"


def test_job_without_a_main_pod_has_no_times() -> None:
    result = document(ASKED, observed())
    jsonschema.validate(result, SCHEMA)
    assert (result["started_s"], result["ended_s"], result["exit_code"], result["logs"]) == (None, None, None, [])


def ray_job(deployment: str, status: str, **more: str) -> dict[str, Any]:
    """Return a RayJob, which has no conditions."""
    found = {"jobDeploymentStatus": deployment, "jobStatus": status, **more}
    return {**job(), "kind": "RayJob", "status": found}


@pytest.mark.parametrize(
    ("deployment", "status", "message", "expected"),
    [
        ("Complete", "SUCCEEDED", "", ("completed", None)),
        ("Failed", "FAILED", "exit code 1", ("failed", "FAILED: AppFailed exit code 1")),
        ("Failed", "", "too late", ("failed", "Failed: AppFailed too late")),
    ],
)
def test_end_of_a_ray_job_is_in_its_status(
    deployment: str, status: str, message: str, expected: tuple[str, str | None]
) -> None:
    reason = {"reason": "AppFailed", "message": message} if message else {}
    assert outcome_of(replace(observed(), job=ray_job(deployment, status, **reason))) == expected


def test_ray_job_with_a_failed_submitter_reports_its_exit_code() -> None:
    failed = pod("j-master-0", "Failed", 1, "Error")
    seen = replace(observed(failed), job=ray_job("Failed", "FAILED"))
    assert outcome_of(seen) == ("failed", "j-master-0: Error (exit code 1)")


def test_lost_node_is_the_reason_of_the_failure() -> None:
    lost = {"j-worker-0": "its node n1 is gone"}
    killed = pod("j-worker-0", "Failed", 137, "Error")
    seen = replace(observed(pod("j-master-0", "Running"), killed, conditions=FAILED), lost=lost)
    assert outcome_of(seen) == ("failed", "j-worker-0: its node n1 is gone")
    unfinished = replace(observed(pod("j-master-0", "Running")), lost=lost)
    assert outcome_of(unfinished) == ("failed", "j-worker-0: its node n1 is gone")


def test_node_lost_after_the_end_has_no_effect() -> None:
    done = observed(pod("j-master-0", "Succeeded", 0), conditions=SUCCEEDED)
    assert outcome_of(replace(done, lost={"j-worker-0": "its node n1 is gone"})) == ("completed", None)
