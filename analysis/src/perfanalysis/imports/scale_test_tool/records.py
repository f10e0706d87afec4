"""What the scale-test-tool knew of a workload: ten stamps, the submission, and the differences it reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

SUBMITTED = "submitted"
OBJECT_RESOLUTION_S = 1.0
"""Of an object's stamps: whole seconds of the server."""
SUBMISSION_RESOLUTION_S = 1e-6
FIRST_S, LAST_S = 0.0, datetime(9999, 1, 1, tzinfo=UTC).timestamp()
"""What can be a time of a test."""


@dataclass(frozen=True)
class Stamp:
    """One time of a workload: our name, the key in sampled.json, the heading in a table."""

    name: str
    key: str
    heading: str


STAMPS = (
    Stamp("workload_created", "workloadCreatedTimestamp", "Workload Created"),
    Stamp("job_created", "jobCreatedTimestamp", "Job Created"),
    Stamp("first_pod_created", "firstPodCreatedTimestamp", "First Pod Created"),
    Stamp("last_pod_created", "lastPodCreatedTimestamp", "Last Pod Created"),
    Stamp("pod_group_created", "podGroupCreatedTimestamp", "Pod Group Created"),
    Stamp("scheduled", "podSchedulingDecisionTimestamp", "Pod Scheduling Decision"),
    Stamp("first_eviction", "firstEvictionTimestamp", "First Eviction"),
    Stamp("pvc_bind_requested", "firstPVCBindRequestTimestamp", "First PVC Bind Request"),
    Stamp("pvc_bound", "firstPVCBindTimestamp", "First PVC Bind"),
    Stamp("backend_created", "backendJobCreatedTimestamp", "Backend Job Created"),
)
"""In the order in which sampled.json and the rows of times.csv have them."""

STAND_INS = {
    "first_eviction": "scheduled",
    "pvc_bind_requested": "scheduled",
    "pvc_bound": "scheduled",
    "backend_created": "workload_created",
}
"""What the old sampler wrote where a workload had no such time: the value of another stamp."""

STAND_INS_ELSEWHERE = {**STAND_INS, "job_created": "workload_created", "pod_group_created": "first_pod_created"}
"""The same for the old layout of times.csv, which has no empty fields, on clusters without Run:ai's objects."""


@dataclass(frozen=True)
class Delta:
    """A difference the old plotter reported: `end` minus `start`; `old_start` where the old tool took another."""

    heading: str
    end: str
    start: str
    old_start: str | None = None


DELTAS = (
    Delta("Workload Creation", "workload_created", SUBMITTED),
    Delta("Job Creation", "job_created", "workload_created"),
    Delta("First Pod Creation", "first_pod_created", "job_created"),
    Delta("Last Pod Creation", "last_pod_created", "job_created"),
    Delta("Pod Group Creation", "pod_group_created", "first_pod_created"),
    Delta("Pod Scheduling Decision", "scheduled", "pod_group_created"),
    Delta("First Eviction", "first_eviction", "pod_group_created"),
    Delta("First PVC Bind Request", "pvc_bind_requested", "pod_group_created"),
    Delta("First PVC Bind", "pvc_bound", "pvc_bind_requested", old_start="pvc_bound"),
    Delta("Backend Job Creation", "backend_created", "pod_group_created"),
    Delta("Total Pod Scheduling Decision", "scheduled", SUBMITTED),
    Delta("Total Backend Job Creation", "backend_created", SUBMITTED),
)
"""In the order in which times.csv has them."""


@dataclass(frozen=True)
class Record:
    """One workload. Times are seconds since the epoch, UTC; a stamp that is missing has no entry."""

    name: str
    namespace: str
    project: str
    submitted_s: float | None
    times: Mapping[str, float]

    def time(self, name: str) -> float | None:
        """A stamp by name, or the time of submission."""
        return self.submitted_s if name == SUBMITTED else self.times.get(name)


def parse_stamp(value: object) -> float:
    """Seconds since the epoch of an ISO 8601 time or of a number of such seconds.

    A zone is honoured, a time without one is UTC. Raises ValueError for anything else.
    """
    moment = _seconds(value)
    if moment is None or not FIRST_S <= moment <= LAST_S:
        raise ValueError(f"{value!r} is neither an ISO 8601 time nor seconds since the epoch")
    return float(moment)


def _seconds(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
