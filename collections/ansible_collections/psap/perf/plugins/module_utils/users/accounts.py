"""The state of each user, by its own reports, its pod and the Job."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import condition

INDEX_LABEL = "batch.kubernetes.io/job-completion-index"
MAIN = "main"
ARTIFACTS = "artifacts"


class Outcome(StrEnum):
    """The end of a user."""

    SUCCESS = "success"
    FAILED = "failed"
    LOST = "lost"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a user ended; *cause* is equal for equal causes, None for success."""

    outcome: Outcome
    cause: str | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class UserState:
    """What is known of a user.

    Attributes:
        report: Its last report; empty before the first.
        pod: Its pod; None if missing.
        ending: How it ended; None before.
    """

    index: int
    report: Mapping[str, Any]
    pod: Manifest | None
    ending: Ending | None

    @property
    def ready(self) -> bool:
        """Whether it has reported that it is ready."""
        return "ready_at_s" in self.report

    @property
    def holds_artifacts(self) -> bool:
        """Whether the container with its artifacts runs, and will run on."""
        return "running" in self._artifacts_state()

    @property
    def will_hold_artifacts(self) -> bool:
        """Whether that container runs, or the kubelet has not reported its start yet."""
        return self.pod is not None and "terminated" not in self._artifacts_state()

    def _artifacts_state(self) -> Mapping[str, Any]:
        pod = self.pod or {}
        if (pod.get("metadata") or {}).get("deletionTimestamp"):
            return {"terminated": {}}
        statuses = (pod.get("status") or {}).get("containerStatuses") or []
        state: Mapping[str, Any] = next((each.get("state", {}) for each in statuses if each["name"] == ARTIFACTS), {})
        return state


_POD_DELETED = Ending(Outcome.LOST, "pod deleted")


def parse_reports(data: Mapping[str, str]) -> dict[int, dict[str, Any]]:
    """Return the reports in the data of the ConfigMap, by index."""
    return {int(index): json.loads(text) for index, text in data.items()}


def user_states(
    count: int,
    reports: Mapping[int, Mapping[str, Any]],
    pods: Sequence[Manifest],
    job: Manifest | None,
    lost: Mapping[str, str],
) -> list[UserState]:
    """Return the state of each user.

    Args:
        pods: The pods of the Job.
        job: None if it was deleted.
        lost: The cause of each lost pod, such as ``node lost``, by the name of the pod.
    """
    by_index: dict[int, Manifest] = {}
    for pod in sorted(pods, key=lambda each: str(each["metadata"].get("creationTimestamp"))):
        labels = pod["metadata"].get("labels") or {}
        if labels.get(INDEX_LABEL, "").isdigit():
            by_index[int(labels[INDEX_LABEL])] = pod
    over = _ended_indices(job, count)
    return [
        UserState(index, reports.get(index, {}), pod, _ending(reports.get(index, {}), pod, index in over, lost))
        for index in range(count)
        for pod in [by_index.get(index)]
    ]


def _ending(
    report: Mapping[str, Any], pod: Manifest | None, index_ended: bool, lost: Mapping[str, str]
) -> Ending | None:
    if "end_at_s" in report and report.get("stopped") != "signal":
        return _reported(report)
    if pod is None:
        # without a report of its end, a missing pod did not end by itself
        return _POD_DELETED if index_ended or report else None
    name = pod["metadata"]["name"]
    evicted = _eviction(pod)
    if evicted:
        return Ending(Outcome.LOST, evicted)
    if name in lost:
        return Ending(Outcome.LOST, lost[name])
    if pod["metadata"].get("deletionTimestamp") or "end_at_s" in report:
        return _POD_DELETED
    ended = _terminated(pod)
    if ended is not None:
        return _killed(ended)
    return Ending(Outcome.LOST, "pod failed") if index_ended else None


def _reported(report: Mapping[str, Any]) -> Ending:
    code = int(report["exit_code"])
    if code == 0:
        return Ending(Outcome.SUCCESS, None, 0)
    if report.get("stopped"):
        return Ending(Outcome.STOPPED, "stopped", code)
    when = "" if "launch_at_s" in report else "setup: "
    return Ending(Outcome.FAILED, f"{when}exit code {code}", code)


def _terminated(pod: Manifest) -> Mapping[str, Any] | None:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    main: Mapping[str, Any] = next((each for each in statuses if each["name"] == MAIN), {})
    found: Mapping[str, Any] | None = (main.get("state") or {}).get("terminated")
    return found


def _killed(ended: Mapping[str, Any]) -> Ending:
    """Return the end of a main container that did not report one."""
    reason, code = str(ended.get("reason") or "Error"), int(ended.get("exitCode", 1))
    return Ending(Outcome.FAILED, f"exit code {code}" if reason == "Error" else reason, code)


def _eviction(pod: Manifest) -> str:
    """Return why the cluster ended the pod; empty if it did not."""
    reason = (pod.get("status") or {}).get("reason")
    if reason:
        return str(reason)
    disrupted = condition(pod, "DisruptionTarget") or {}
    return str(disrupted.get("reason") or "evicted") if disrupted.get("status") == "True" else ""


def _ended_indices(job: Manifest | None, count: int) -> set[int]:
    """Return the indices that the Job has finished; all if it was deleted or ended."""
    status = (job or {}).get("status") or {}
    kinds = {each["type"] for each in status.get("conditions") or [] if each.get("status") == "True"}
    if job is None or kinds & {"Failed", "Complete"}:
        return set(range(count))
    return _parse_indices(status.get("failedIndexes")) | _parse_indices(status.get("completedIndexes"))


def _parse_indices(text: str | None) -> set[int]:
    """Return the indices in the format of a Job's status, such as ``1,3-5``."""
    found: set[int] = set()
    for part in filter(None, (text or "").split(",")):
        first, _dash, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
