"""The plan of a submission, by which every process determines its workloads and their times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, read_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import WorkloadsByIndex
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.topology import Placement

SCHEMA = "psap.perf/submission-plan/1"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class DueTimes:
    """A shape of arrival as a list: when each workload is due, in seconds after the start."""

    of: Sequence[float]

    def due_s(self, index: int) -> float:
        """Return the time of this index."""
        return self.of[index]


@dataclass(frozen=True, slots=True)
class PlannedWorkloads:
    """Workloads that differ; *of* is the variant's number of each index."""

    variants: Sequence[Workloads]
    of: Sequence[int]

    def at(self, index: int) -> Workloads:
        """Return the workloads of this index's variant."""
        return self.variants[self.of[index]]


@dataclass(frozen=True, slots=True)
class SubmissionPlan:
    """One submission by several processes.

    Attributes:
        connections: Number of connections of each process; 0 for as many as the API server accepts.
        boot: ID of the coordinator's boot.
    """

    connections: Sequence[int]
    count: int
    submission: Submission
    resources: Mapping[tuple[str, str], ResourceKind]
    workloads: WorkloadsByIndex
    due: DueTimes
    clock: RunClock
    boot: str

    def indices(self, number: int) -> range:
        """Return the indices of one process."""
        return range(number, self.count, len(self.connections))

    def local_clock(self) -> tuple[RunClock, bool]:
        """Return this process's clock, and whether it is the coordinator's, which it is on the same machine."""
        return (self.clock, True) if self.boot and self.boot == boot_id() else (RunClock.tied(), False)


def write_plan(path: Path, own: OwnSubmission, connections: Sequence[int], clock: RunClock) -> None:
    """Write the plan of the submission *own* by one process for each number of *connections*.

    Raises:
        UsageError: If a template cannot be passed on, or contains a credential.
    """
    numbers: dict[int, int] = {}
    variants: list[Workloads] = []
    order: list[int] = []
    for index in range(own.count):
        workloads = own.workloads.at(index)
        number = numbers.setdefault(id(workloads), len(variants))
        if number == len(variants):
            variants.append(workloads)
        order.append(number)
    document = {
        "schema": SCHEMA,
        "submission": asdict(own.workloads.submission),
        "count": own.count,
        "connections": list(connections),
        "resources": [asdict(resource) for resource in own.resources.values()],
        "variants": [_portable(workloads) for workloads in variants],
        "variant_of": order,
        "due_s": [own.arrivals.due_s(index) for index in range(own.count)],
        "clock": {"utc_s": clock.utc_s, "monotonic_s": clock.monotonic_s, "boot": boot_id()},
    }
    # in one line, as it contains tens of thousands of numbers
    text = json.dumps(document) + "\n"
    if hide(text) != text:
        raise UsageError(
            "the workloads contain a credential, which must not be in the file that several submitters read: "
            "store it in a Secret of the cluster that the workloads name, or use one submitter"
        )
    write_text(path, text)


def _portable(workloads: Workloads) -> dict[str, Any]:
    plan = workloads.portable_plan()
    values = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name != "folder"}
    placement = asdict(plan.placement) if plan.placement else None
    document: dict[str, Any] = plain({**values, "placement": placement})
    return document


def read_plan(path: Path) -> SubmissionPlan:
    """Return the plan in *path*, with rendered templates.

    Raises:
        PerfError: If it cannot be read, or a template cannot be rendered.
    """
    document = read_json(path)
    submission = Submission(**document["submission"])
    resources = [ResourceKind(**resource) for resource in document["resources"]]
    variants = [Workloads(_workload_plan(variant), submission) for variant in document["variants"]]
    clock = document["clock"]
    return SubmissionPlan(
        connections=document["connections"],
        count=document["count"],
        submission=submission,
        resources={(resource.api_version, resource.kind): resource for resource in resources},
        workloads=PlannedWorkloads(variants, document["variant_of"]),
        due=DueTimes(document["due_s"]),
        clock=RunClock(clock["utc_s"], clock["monotonic_s"]),
        boot=clock["boot"],
    )


def _workload_plan(document: Mapping[str, Any]) -> WorkloadPlan:
    placement = Placement(**document["placement"]) if document["placement"] else None
    return WorkloadPlan(**{**document, "placement": placement})


def boot_id() -> str:
    """Return the ID of this machine's boot; empty if the kernel provides none."""
    return _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else ""
