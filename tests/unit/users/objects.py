"""Plans, pods and states of users for the tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.users.plan import UsersPlan

PLAN = UsersPlan(
    job="users",
    namespace="ci",
    count=3,
    command=("sh", "-c", "run it"),
    setup_command=(),
    user_prefix="user-",
    namespace_prefix="test-u",
    seed=7,
    batch_size=2,
    batch_delay_s=1.5,
    ready_within_s=60.0,
    timeout_s=600.0,
    abort_on_failure=False,
    need_all_success=False,
)


def plan(**changes: Any) -> UsersPlan:
    """Return the plan with changes."""
    return replace(PLAN, **changes)


def report(**fields: Any) -> dict[str, Any]:
    """Return the report of a user that was launched."""
    started = {"pod": "users-0-abc", "node": "n", "setup_at_s": 1.0, "ready_at_s": 2.0, "launch_at_s": 3.0}
    return {**started, **fields}


def pod(index: int, *statuses: dict[str, Any], **status: Any) -> dict[str, Any]:
    """Return a pod of the Job."""
    return {
        "metadata": {
            "name": f"users-{index}-abc",
            "creationTimestamp": "2026-11-28T18:00:00Z",
            "labels": {"batch.kubernetes.io/job-completion-index": str(index)},
        },
        "spec": {"nodeName": "worker-0"},
        "status": {"phase": "Running", **status, "containerStatuses": list(statuses)},
    }


def terminated(reason: str, code: int) -> dict[str, Any]:
    """Return the status of a main container that ended."""
    return {"name": "main", "state": {"terminated": {"reason": reason, "exitCode": code}}}


RUNNING = {"name": "main", "state": {"running": {"startedAt": "2026-11-28T18:00:00Z"}}}
KEEPING = {"name": "artifacts", "state": {"running": {"startedAt": "2026-11-28T18:00:00Z"}}}
