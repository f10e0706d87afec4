"""Kubernetes objects as `kubectl get … -o json` prints them, with times counted from one moment."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BEGIN = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)


def stamp(after_s: float | None) -> str | None:
    """Return a timestamp this many seconds after BEGIN."""
    return None if after_s is None else (BEGIN + timedelta(seconds=after_s)).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(name: str, after_s: float, status: str = "True", reason: str = "") -> dict[str, Any]:
    """Return a condition."""
    return {"type": name, "status": status, "reason": reason, "lastTransitionTime": stamp(after_s)}


def job(name: str, created: float, started: float | None, finished: float | None, **more: Any) -> dict[str, Any]:
    """Return a PyTorchJob; `more` goes to its metadata."""
    conditions = [condition("Created", created)]
    conditions += [] if started is None else [condition("Running", finished or started, str(finished is None))]
    conditions += [] if finished is None else [condition("Succeeded", finished)]
    status = {"startTime": stamp(started), "completionTime": stamp(finished), "conditions": conditions}
    metadata = {"name": name, "namespace": "load", "creationTimestamp": stamp(created), **more}
    return {"kind": "PyTorchJob", "metadata": metadata, "status": status}


def pod(
    name: str, created: float, scheduled: float, running: float, finished: float | None, *, exit_code: int = 0
) -> dict[str, Any]:
    """Return a pod of one container; an ended pod is not ready any more, as with a kubelet."""
    done = finished is not None
    state: dict[str, Any] = {"running": {"startedAt": stamp(running)}}
    if done:
        state = {"terminated": {"startedAt": stamp(running), "finishedAt": stamp(finished), "exitCode": exit_code}}
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "load",
            "creationTimestamp": stamp(created),
            "labels": {"training.kubeflow.org/job-name": name.rsplit("-", 2)[0]},
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
        },
        "spec": {"nodeName": "node-1", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]},
        "status": {
            "phase": ("Failed" if exit_code else "Succeeded") if done else "Running",
            "conditions": [
                condition("PodScheduled", scheduled),
                condition("Ready", finished if finished is not None else running, str(not done), "PodCompleted"),
            ],
            "containerStatuses": [{"state": state, "restartCount": 1}],
        },
    }


def write_list(path: Path, items: Iterable[Any], indent: int | None = 4) -> Path:
    """Write a list to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}, indent=indent))
    return path
