"""The records of the scale-test-tool, and the columns of times derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

SUBMITTED = "submitted"
OBJECT_RESOLUTION_S = 1.0
"""Resolution of an object's timestamps: whole seconds of the server."""
SUBMISSION_RESOLUTION_S = 1e-6
FIRST_S, LAST_S = 0.0, datetime(9999, 1, 1, tzinfo=UTC).timestamp()
"""The range of plausible times of a test."""


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
"""In the order of sampled.json and of the rows of times.csv."""

STAND_INS = {
    "first_eviction": "scheduled",
    "pvc_bind_requested": "scheduled",
    "pvc_bound": "scheduled",
    "backend_created": "workload_created",
}
"""What the old sampler wrote if a workload had no such time: the value of another timestamp."""

STAND_INS_ELSEWHERE = {**STAND_INS, "job_created": "workload_created", "pod_group_created": "first_pod_created"}
"""The same for the old layout of times.csv, which has no empty fields, on clusters without Run:ai's objects."""


@dataclass(frozen=True)
class Delta:
    """A difference that the old plotter reported: `end` minus `start`; `old_start` if the old tool used another."""

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
"""In the order of times.csv."""


def parse_stamp(value: object) -> float:
    """Return the seconds since the epoch of an ISO 8601 time or of a number of such seconds.

    A time without a zone is UTC. Raises ValueError for anything else.
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


TIME_NAMES = (*(stamp.name for stamp in STAMPS), SUBMITTED)
"""In the order of the rows of times.csv."""
PLACES = {name: place for place, name in enumerate(TIME_NAMES)}
Key = tuple[str, str]


@dataclass(frozen=True)
class Columns:
    """Workloads in some order. `times` has a row for each of TIME_NAMES: seconds since the epoch, NaN if missing."""

    names: Sequence[str]
    namespaces: Sequence[str]
    projects: Sequence[str]
    times: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Return namespace and name of each."""
        return tuple(zip(self.namespaces, self.names, strict=True))

    def time(self, name: str) -> NDArray[np.float64]:
        """Return one of TIME_NAMES."""
        row: NDArray[np.float64] = self.times[PLACES[name]]
        return row

    def old_time(self, name: str) -> NDArray[np.float64]:
        """Return the times of the old tool: cut to whole seconds, missing ones replaced by other timestamps."""
        found = self.time(name)
        if name in STAND_INS_ELSEWHERE:
            found = np.where(np.isnan(found), self.time(STAND_INS_ELSEWHERE[name]), found)
        return np.floor(found)

    def delta(self, delta: Delta) -> NDArray[np.float64]:
        """Return the difference in seconds, NaN if one of its ends is missing.

        Timestamps have microseconds at most; seconds since the epoch as a float are slightly coarser.
        """
        found: NDArray[np.float64] = np.round(self.time(delta.end) - self.time(delta.start), 6)
        return found

    def old_difference(self, delta: Delta) -> NDArray[np.float64]:
        """Return the difference of whole seconds of the old tool, without its rounding of values in [-1, 0)."""
        return self.old_time(delta.end) - self.old_time(delta.old_start or delta.start)

    def take(self, places: NDArray[np.int64] | Sequence[int]) -> Columns:
        """Return the workloads at these indices, in this order."""
        at = [int(place) for place in places]
        texts = ([part[place] for place in at] for part in (self.names, self.namespaces, self.projects))
        names, namespaces, projects = texts
        return Columns(names, namespaces, projects, self.times[:, at])

    def last_of_each(self) -> Columns:
        """Return each workload once, at its first position, with its last values."""
        places = {key: place for place, key in enumerate(self.keys)}
        return self if len(places) == len(self) else self.take(list(places.values()))

    def sent_as(self, submissions: Columns) -> Columns:
        """Return the same workloads with the submission times of *others* with these names; NaN if missing."""
        sent = dict(zip(submissions.keys, submissions.time(SUBMITTED).tolist(), strict=True))
        times = self.times.copy()
        times[PLACES[SUBMITTED]] = [sent.get(key, np.nan) for key in self.keys]
        return Columns(self.names, self.namespaces, self.projects, times)

    def followed_by(self, others: Columns) -> Columns:
        """Return these workloads, then others."""
        return Columns(
            [*self.names, *others.names],
            [*self.namespaces, *others.namespaces],
            [*self.projects, *others.projects],
            np.concatenate([self.times, others.times], axis=1),
        )

    def without_stand_ins(self) -> Columns:
        """Remove timestamps that only repeat another: the old sampler wrote them if there was no such time."""
        times = self.times.copy()
        for name, stand_in in STAND_INS.items():
            times[PLACES[name]][self.time(name) == self.time(stand_in)] = np.nan
        return Columns(self.names, self.namespaces, self.projects, times)


def resolution(delta: Delta) -> float:
    """Return the accuracy of a difference, in seconds: the sum of the resolutions of its two timestamps."""
    ends = (delta.start, delta.end)
    return sum(SUBMISSION_RESOLUTION_S if end == SUBMITTED else OBJECT_RESOLUTION_S for end in ends)
