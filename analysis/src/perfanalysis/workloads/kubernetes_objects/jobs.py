"""Jobs of every kind as rows: when each was created, admitted, started and finished, and its result."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.kubernetes_objects.model import Item, Stamps, Status

DURATIONS = (
    ("admitted_after_s", "created_s", "admitted_s"),
    ("started_after_s", "created_s", "started_s"),
    ("finished_after_s", "created_s", "finished_s"),
    ("ran_s", "started_s", "finished_s"),
)
"""Name, begin and end of each."""
CREATED_BY_USERS = ("Job", "JobSet", "PyTorchJob", "MPIJob", "TFJob", "JAXJob", "TrainJob", "RayJob", "AppWrapper")
KINDS = frozenset((*CREATED_BY_USERS, "TrainingWorkload", "InteractiveWorkload", "DistributedWorkload", "Workload"))
"""Kinds that are work; a Kueue Workload represents another job."""
QUEUED = "Workload"
ADMITTED, STARTED = ("Admitted", "QuotaReserved"), ("Running",)
FAILED = ("Failed", "PodsFailed")
ENDED = ("Succeeded", "Complete", "Completed", "Finished", *FAILED)
"""Conditions by meaning, the most specific first."""


def job_row(job: Item, stamps: Stamps) -> dict[str, Any]:
    """Return a row of the table of jobs. `part_of` is its owner, until `joined` checks whether that is in the table."""
    status = job.status or Status()
    held = [each for each in status.conditions or () if each.status in ("True", None)]
    # the first training operators put the kind first: PyTorchJobSucceeded
    met = {each.type.removeprefix(job.kind or ""): stamps(each.moment) for each in held}
    reasons = {each.reason for each in held}
    started, finished = stamps(status.start_time), stamps(status.completion_time)
    return {
        "kind": job.kind,
        "namespace": job.metadata.namespace,
        "name": job.metadata.name,
        "part_of": job.metadata.owner,
        "created_s": stamps(job.metadata.creation_timestamp),
        "admitted_s": _first(met, ADMITTED),
        "started_s": _first(met, STARTED) if started is None else started,
        "finished_s": _first(met, ENDED) if finished is None else finished,
        "outcome": _outcome(status, met, reasons),
    }


def _first(met: dict[str, float | None], names: tuple[str, ...]) -> float | None:
    return next((met[name] for name in names if met.get(name) is not None), None)


def _outcome(status: Status, met: dict[str, float | None], reasons: set[str | None]) -> str:
    ended = any(name in met for name in ENDED)
    if any(name in met for name in FAILED) or (ended and "Failed" in reasons) or status.phase == "Failed":
        return "failed"
    if ended or status.phase in ("Succeeded", "Completed"):
        return "succeeded"
    return "running" if any(name in met for name in STARTED) or status.start_time is not None else "pending"


def joined(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows without Kueue's Workloads of listed jobs, whose times of admission move to the jobs.

    `part_of` remains only if the owner is in the table too; the others are `whole`.
    """
    jobs = {(row["namespace"], row["name"]): row for row in rows if row["kind"] != QUEUED}
    kept = []
    for row in rows:
        owner = jobs.get((row["namespace"], row["part_of"]))
        if row["kind"] != QUEUED or owner is None:
            kept.append(row)
        elif owner["admitted_s"] is None:
            owner["admitted_s"] = row["admitted_s"]
    for row in kept:
        row["whole"] = (row["namespace"], row["part_of"]) not in jobs
        row["part_of"] = None if row["whole"] else row["part_of"]
    return kept
