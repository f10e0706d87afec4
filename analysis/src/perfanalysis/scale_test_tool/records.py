"""A workload as the scale-test-tool knew it: ten stamps, the submission, and the differences it reported."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

SUBMITTED = "submitted"
CACHED_TIMES = 1 << 16
"""Times kept as read and as written: whole seconds come again and again."""


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

    def old_time(self, name: str) -> float | None:
        """As the old tool had it: cut to the whole second, another stamp standing in for what there was not."""
        found = self.time(name)
        if found is None and name in STAND_INS_ELSEWHERE:
            found = self.time(STAND_INS_ELSEWHERE[name])
        return None if found is None else float(math.floor(found))

    def delta(self, delta: Delta) -> float | None:
        """The difference in seconds, as exact as its ends; None when one of them is missing."""
        end, start = self.time(delta.end), self.time(delta.start)
        return None if end is None or start is None else end - start

    def old_delta(self, delta: Delta) -> float | None:
        """The difference as the old tool reported it: of whole seconds, and 0 where it was in [-1, 0)."""
        end, start = self.old_time(delta.end), self.old_time(delta.old_start or delta.start)
        if end is None or start is None:
            return None
        difference = end - start
        return 0.0 if -1 <= difference < 0 else difference


def parse_stamp(text: object) -> float:
    """Seconds since the epoch of an ISO 8601 time; its zone is honoured, one without a zone is UTC.

    Raises ValueError for anything else.
    """
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not an ISO 8601 time")
    return _parse_text(text)


@lru_cache(maxsize=CACHED_TIMES)
def _parse_text(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not an ISO 8601 time") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def without_stand_ins(times: Mapping[str, float]) -> dict[str, float]:
    """The stamps without those that only repeat another, as the old sampler wrote them where there was no such time."""
    return {
        name: moment for name, moment in times.items() if name not in STAND_INS or moment != times.get(STAND_INS[name])
    }
