"""The result of a fine-tuning job, from its objects: the document ``fine_tuning.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.kube_api.capturing import LOGS, whole_log_names
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for, stuck_containers
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Verdict, condition

SCHEMA = "psap.perf/fine-tuning/1"
FILE = "fine_tuning.json"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobObjects:
    """The objects of a job in the cluster.

    Attributes:
        main: The pod whose log and times are the training's; None if it was never created.
        pods: All pods of the job, including the main one.
        interrupted: Whether the run was asked to stop.
        lost: The reasons of the pods that lost their nodes, by the pods' names.
    """

    job: Object
    main: Object | None
    pods: Sequence[Object]
    gpu_product: str | None
    lab: Lab | None
    interrupted: bool
    lost: Mapping[str, str] = field(default_factory=dict)


def document(asked: Mapping[str, Any], observed: JobObjects) -> dict[str, Any]:
    """Return ``fine_tuning.json``: *asked*, the command's arguments, and the result. Times are epoch seconds."""
    ended = _main_container(observed.main).get("terminated") or {}
    started = ended or _main_container(observed.main).get("running") or {}
    outcome, reason = outcome_of(observed)
    return {
        "schema": SCHEMA,
        **asked,
        "gpu_product": observed.gpu_product,
        "created_s": _epoch(observed.job["metadata"].get("creationTimestamp")),
        "started_s": _epoch(started.get("startedAt")),
        "ended_s": _epoch(ended.get("finishedAt")),
        "outcome": outcome,
        "reason": reason,
        "exit_code": ended.get("exitCode"),
        "logs": [f"{LOGS}/{name}" for _pod, _container, name in whole_log_names(_main_first(observed))],
        "lab": observed.lab.document() if observed.lab else None,
    }


def outcome_of(observed: JobObjects) -> tuple[str, str | None]:
    """Return ``completed``, ``failed`` or ``interrupted``, and the reason if it did not complete.

    If a worker fails after the main pod completed, the job fails regardless of its conditions.
    """
    lost = "; ".join(f"{name}: {text}" for name, text in observed.lost.items())
    failed = lost or next((text for pod in _main_first(observed) for text in _failure(pod)), None)
    verdict = _verdict(observed.job)
    if verdict.reached and failed in (None, lost):
        return "completed", None
    if verdict.hopeless:
        return "failed", failed or _words(observed.job) or verdict.note
    if failed is None and observed.interrupted:
        return "interrupted", "the run was asked to stop"
    return "failed", failed or _unfinished(observed)


def _failure(pod: Object) -> Iterator[str]:
    """Yield why a pod failed; nothing if it did not."""
    status = pod.get("status", {})
    if status.get("phase") != "Failed":
        return
    name = pod["metadata"]["name"]
    for entry in status.get("containerStatuses") or []:
        ended = entry.get("state", {}).get("terminated") or {}
        if ended.get("exitCode"):
            yield f"{name}: {ended.get('reason') or 'Error'} (exit code {ended['exitCode']})"
    yield f"{name}: {status.get('reason') or 'the pod failed'} {status.get('message', '')}".rstrip()


def _unfinished(observed: JobObjects) -> str:
    """Return the state of a job that has neither succeeded nor failed."""
    for pod in _main_first(observed):
        name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase", "Pending")
        stuck = next((text for text, _entry in stuck_containers(pod)), None)
        scheduled = condition(pod, "PodScheduled") or {}
        if stuck:
            return f"{name}: {stuck}"
        if scheduled.get("status") == "False":
            return f"{name} was not scheduled: {scheduled.get('message') or scheduled.get('reason')}"
        if phase != "Succeeded":
            return f"{name} was still {phase} when the command ended"
    if not observed.pods:
        return "no pod was created: the job waits for a queue, or its controller is not running"
    return "the job had not ended when the command did"


def _main_first(observed: JobObjects) -> list[Object]:
    main = observed.main
    others = [pod for pod in observed.pods if main is None or pod["metadata"]["name"] != main["metadata"]["name"]]
    return [*([main] if main is not None else []), *sorted(others, key=lambda pod: str(pod["metadata"]["name"]))]


def _main_container(pod: Object | None) -> Mapping[str, Any]:
    """Return the state of the pod's first container."""
    statuses = (pod or {}).get("status", {}).get("containerStatuses") or [{}]
    state: Mapping[str, Any] = statuses[0].get("state") or {}
    return state


def _verdict(job: Object) -> Verdict:
    """Return whether the job completed, by the predicate of the wait for it."""
    return predicate_for(str(job.get("kind", "PyTorchJob")), "completed")(job)


def _words(job: Object) -> str:
    """Return the job's message about its failure."""
    gone_wrong = condition(job, "Failed") or {}
    return str(gone_wrong.get("message") or gone_wrong.get("reason") or "")


def _epoch(stamp: str | None) -> float | None:
    return parse_utc(stamp).timestamp() if stamp else None
