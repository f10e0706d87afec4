"""The plan of a submission, from which every process knows by itself what it is to submit and when."""

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

SCHEMA = "psap.perf/submission-plan/1"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class DueTimes:
    """When each workload is due, in seconds after the beginning: a shape of arrival, written out."""

    of: Sequence[float]

    def due_s(self, index: int) -> float:
        """The time of this index."""
        return self.of[index]


@dataclass(frozen=True, slots=True)
class PlannedWorkloads:
    """Workloads that differ: which of *variants* each index is."""

    variants: Sequence[Workloads]
    of: Sequence[int]

    def at(self, index: int) -> Workloads:
        """Those of this index's variant."""
        return self.variants[self.of[index]]


@dataclass(frozen=True, slots=True)
class SubmissionPlan:
    """One submission by several processes; *connections* has the number of each (0: as many as
    the API server takes), *boot* names the machine's run."""

    connections: Sequence[int]
    count: int
    submission: Submission
    resources: Mapping[tuple[str, str], ResourceKind]
    workloads: WorkloadsByIndex
    due: DueTimes
    clock: RunClock
    boot: str

    def indices(self, number: int) -> range:
        """Those of one process."""
        return range(number, self.count, len(self.connections))

    def local_clock(self) -> tuple[RunClock, bool]:
        """The clock of this process, and whether it is the coordinator's: the monotonic clock of a machine is one."""
        return (self.clock, True) if self.boot and self.boot == boot_id() else (RunClock.tied(), False)


def write_plan(path: Path, own: OwnSubmission, connections: Sequence[int], clock: RunClock) -> None:
    """Write what *own* would submit from this process as a plan for as many as *connections* has numbers.

    :raises UsageError: when a template cannot be handed over, or holds a credential.
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
    # in one line: tens of thousands of numbers, a line each, would be read by nobody
    text = json.dumps(document) + "\n"
    if hide(text) != text:
        raise UsageError(
            "the workloads hold a credential, and several submitters read them from a file, which holds none: "
            "keep it in a Secret of the cluster that the workloads name, or use one submitter"
        )
    write_text(path, text)


def _portable(workloads: Workloads) -> dict[str, Any]:
    plan = workloads.portable_plan()
    values = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name != "folder"}
    plained: dict[str, Any] = plain(values)
    return plained


def read_plan(path: Path) -> SubmissionPlan:
    """The plan in *path*, its templates rendered.

    :raises PerfError: when it cannot be read, or a template not be rendered.
    """
    given = read_json(path)
    submission = Submission(**given["submission"])
    resources = [ResourceKind(**resource) for resource in given["resources"]]
    variants = [Workloads(WorkloadPlan(**variant), submission) for variant in given["variants"]]
    clock = given["clock"]
    return SubmissionPlan(
        connections=given["connections"],
        count=given["count"],
        submission=submission,
        resources={(resource.api_version, resource.kind): resource for resource in resources},
        workloads=PlannedWorkloads(variants, given["variant_of"]),
        due=DueTimes(given["due_s"]),
        clock=RunClock(clock["utc_s"], clock["monotonic_s"]),
        boot=clock["boot"],
    )


def boot_id() -> str:
    """What tells this run of this machine from others; empty where the kernel does not say."""
    return _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else ""
