"""The labels by which a run's objects are found, and the names that make a repeated POST safe."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.naming import label_value

RUN = "psap.perf/run"
SUBMISSION = "psap.perf/submission"
# on the objects of submitters in pods, which are no workloads
SUBMITTERS = "psap.perf/submitters"
WORKLOAD = "psap.perf/workload"
INDEX = "psap.perf/index"
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "psap.perf"
# on objects without a namespace: the first namespace of their submission
NAMESPACE = "psap.perf/namespace"
# on a namespace that a submission created, so that the cleanup may delete it
MADE_FOR = "psap.perf/made-for"
SCALE_TEST = "scale-test"
LAB_DURATION = "lab.psap.perf/duration"

# labels of other controllers that name a pod's workload, if it does not have ours; a pod of a JobSet has several
_FOREIGN = (
    *("jobset.sigs.k8s.io/jobset-name", "leaderworkerset.sigs.k8s.io/name"),
    *("batch.kubernetes.io/job-name", "job-name", "training.kubeflow.org/job-name"),
    "release",
)


@dataclass(frozen=True, slots=True)
class Submission:
    """The identity of one submission of a run: it names and labels all its workloads.

    A run may submit several times (cells of a matrix, attempts): with the run's id alone, names would collide.
    """

    run: str
    identity: str

    @classmethod
    def of(cls, run: str, directory: str) -> Submission:
        """Return the submission of the command in *directory* (relative to the run) of the run with id *run*."""
        digest = hashlib.sha256(f"{run}\0{directory}".encode()).hexdigest()
        return cls(run=label_value(run), identity=f"p{digest[:9]}")

    def name(self, index: int) -> str:
        """Return the name of the workload with this index."""
        return f"{self.identity}-{index:05d}"

    def workload_in(self, name: str) -> str | None:
        """Return the workload that an object of this name (its pod, its pod group) belongs to, or None."""
        found = re.match(rf"{self.identity}-\d{{5,}}(?![0-9a-z])", name)
        return found.group() if found else None

    def labels(self, index: int | str, name: str) -> dict[str, str]:
        """Return the labels of one workload and of its pods."""
        return {**self.common_labels, WORKLOAD: name, INDEX: str(index)}

    @property
    def common_labels(self) -> dict[str, str]:
        """The labels of all objects of the submission."""
        return {RUN: self.run, SUBMISSION: self.identity, MANAGED_BY: MANAGER}

    @property
    def selector(self) -> str:
        """The label selector of all submitted objects."""
        return f"{SUBMISSION}={self.identity}"

    def owns(self, metadata: Mapping[str, Any], index: int) -> bool:
        """Return whether an object is the workload with this index, created by an earlier attempt."""
        labels = metadata.get("labels") or {}
        return labels.get(SUBMISSION) == self.identity and labels.get(INDEX) == str(index)


def without_submission(name: str) -> str:
    """Return the name of an object without the identity of a submission before it."""
    return re.sub(r"^p[0-9a-f]{9}-", "", name)


def labelled_workload(metadata: Mapping[str, Any]) -> str | None:
    """Return the workload that the labels of an object name, or None."""
    labels = metadata.get("labels") or {}
    return next((str(labels[key]) for key in (WORKLOAD, *_FOREIGN) if labels.get(key)), None)


def workload_of(metadata: Mapping[str, Any]) -> str | None:
    """Return the name of the workload that a pod belongs to, or None."""
    owners = metadata.get("ownerReferences") or ()
    controller = next((str(owner["name"]) for owner in owners if owner.get("controller")), None)
    return labelled_workload(metadata) or controller
