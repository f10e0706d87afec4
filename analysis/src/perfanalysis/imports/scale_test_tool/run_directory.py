"""Convert a directory of the scale-test-tool to a run directory, and a run directory to its records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import discover
from perfanalysis.files.documents import Document
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.imports.run_directory import Imported, Recording, Setting, run_id
from perfanalysis.imports.scale_test_tool.reading import WorkingDirectory
from perfanalysis.imports.scale_test_tool.records import STAMPS, SUBMITTED, TIME_NAMES, Columns
from perfanalysis.workloads.scale_test.tables import SUBMISSIONS, TRANSITIONS

NAME, FLOW = "scale_test_tool", "scale_test"
STAMP_RESOLUTION_S = 1.0
TOOL = "scale-test-tool"
JOB_KIND = "RunaiJob"
FIRST_POD, LAST_POD = "first", "last"
OBJECT_TRANSITIONS = (
    ("pod_group_created", "PodGroup", "created"),
    ("pvc_bind_requested", "PersistentVolumeClaim", "provisioning"),
    ("pvc_bound", "PersistentVolumeClaim", "bound"),
    ("backend_created", "BackendJob", "created"),
)
"""Timestamps of the objects related to workload, job and pods: kind and transition."""


def imported(found: WorkingDirectory, workload_kind: str) -> Imported:
    """Return the run of a working directory."""
    began, ended = _span(found)
    files: dict[str, Path | bytes] = {
        "submissions.jsonl": _lines(_submissions(found, workload_kind)),
        "transitions.jsonl": _lines(_transitions(found, workload_kind)),
        "events.jsonl": b"",
        "nodes.json": _json({"schema": "psap.perf/nodes/1", "nodes": [], "listed": False}),
        "accounting.json": _json(_accounting(found)),
        "recording.json": _json(_recording(found, workload_kind)),
    }
    settings = {
        "scale_test_workload_kind": Setting(workload_kind),
        "scale_test_count": Setting(len(found.submitted)),
        "scale_test_namespace": Setting(_namespaces(found), key=False),
    }
    recording = Recording(NAME, files, started_s=began, ended_s=ended)
    return Imported(TOOL, found.directory, FLOW, (recording,), settings, files=found.files)


def _namespaces(found: WorkingDirectory) -> str:
    return ", ".join(sorted(set(found.columns.namespaces)))


def _json(document: Document) -> bytes:
    return json.dumps(document, indent=1).encode()


def _lines(rows: Iterator[Document]) -> bytes:
    encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    return "".join(f"{encode(row)}\n" for row in rows).encode()


def _span(found: WorkingDirectory) -> tuple[float, float]:
    """Return the window from the first submission (else sample) to the last time in the files; the epoch if they have
    none.
    """
    sent, seen = found.submitted.time(SUBMITTED), found.samples.times[: len(STAMPS)].ravel()
    sent, seen = sent[np.isfinite(sent)], seen[np.isfinite(seen)]
    if not len(sent) and not len(seen):
        return 0.0, 0.0
    return float((sent if len(sent) else seen).min()), float(np.concatenate((sent, seen)).max())


def _submissions(found: WorkingDirectory, workload_kind: str) -> Iterator[dict[str, Any]]:
    """The old tool kept only successful submissions and the time before the request, but neither GPUs nor pods."""
    workloads = found.submitted
    sent = workloads.time(SUBMITTED).tolist()
    rows = zip(workloads.names, workloads.namespaces, workloads.projects, sent, strict=True)
    for index, (name, namespace, project, sent_s) in enumerate(rows):
        yield {
            "index": index,
            "kind": workload_kind,
            "namespace": namespace,
            "name": name,
            "queue": project,
            "gpus": None,
            "pods": 1,
            "sent_s": sent_s,
            "answered_s": None,
            "status": None,
            "outcome": "created",
            "attempts": 1,
            "uid": None,
            "error": None,
        }


def _transitions(found: WorkingDirectory, workload_kind: str) -> Iterator[dict[str, Any]]:
    samples = found.samples
    owners = zip(samples.keys, found.orphans.tolist(), samples.times.T.tolist(), strict=True)
    for (namespace, name), orphan, row in owners:
        times = dict(zip(TIME_NAMES, row, strict=True))
        for kind, of, stamp, word in _objects(name, workload_kind):
            if np.isfinite(times[stamp]):
                yield _transition(namespace, None if orphan else name, kind, of, word, times[stamp])


def _objects(name: str, workload_kind: str) -> Iterator[tuple[str, str, str, str]]:
    """Kind, object, timestamp and transition. The old tool kept the scheduling time of the first listed pod only."""
    first = f"{name}-{FIRST_POD}"
    yield workload_kind, name, "workload_created", "created"
    yield JOB_KIND, name, "job_created", "created"
    yield "Pod", first, "first_pod_created", "created"
    yield "Pod", f"{name}-{LAST_POD}", "last_pod_created", "created"
    yield "Pod", first, "scheduled", "scheduled"
    yield "Pod", first, "first_eviction", "evicted"
    for stamp, kind, word in OBJECT_TRANSITIONS:
        yield kind, name, stamp, word


def _transition(namespace: str, owner: str | None, kind: str, name: str, word: str, moment: float) -> dict[str, Any]:
    return {
        "seen_s": moment,
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "uid": f"{kind}/{namespace}/{name}",
        "workload": owner,
        "transition": word,
        "server_s": moment,
        "resolution_s": STAMP_RESOLUTION_S,
        "node": None,
        "reason": None,
    }


def _accounting(found: WorkingDirectory) -> dict[str, Any]:
    submitted = len(found.submitted) or len(found.samples)
    lost = len(found.lost_columns)
    return {
        "schema": "psap.perf/accounting/1",
        "asked": submitted,
        "submitted": submitted,
        "completed": 0,
        "failed": 0,
        "lost": lost,
        "running": submitted - lost,
        "failed_by_cause": {},
        "lost_by_cause": {found.lost_reason: lost} if lost else {},
        "identity_holds": True,
        "discrepancies": [],
    }


def _recording(found: WorkingDirectory, workload_kind: str) -> dict[str, Any]:
    began, ended = _span(found)
    return {
        "schema": "psap.perf/recording/1",
        "run": run_id(FLOW, began, found.files),
        "namespace": _namespaces(found),
        "workload_kind": workload_kind,
        "selector": None,
        "started_s": began,
        "synced_s": None,
        "ended_s": ended,
        "ended_by": "condition",
        "error": None,
        "clock": {"utc_s": began, "monotonic_s": 0.0},
        "seen_resolution_s": STAMP_RESOLUTION_S,
        "resources": [],
        "not_watched": [],
        "client": {
            "connections": 0,
            "rate": 0.0,
            "submitters": 1,
            "requests": {"answers": {}, "retries": {}},
        },
        "lab": None,
        "reconnects": 0,
        "relists": 0,
        "disturbances": {},
    }


MARKER = "recording.json"
OTHER_STAMPS = {(kind, word): stamp for stamp, kind, word in OBJECT_TRANSITIONS} | {
    # recordings of our own watch: a claim requests its volume from the beginning
    ("PersistentVolumeClaim", "created"): "pvc_bind_requested"
}
POD_STAMPS = {
    "created": ("first_pod_created", "last_pod_created"),
    "scheduled": ("scheduled",),
    "evicted": ("first_eviction",),
}
JOB_KINDS = frozenset(("Job", "PyTorchJob", "RunaiJob"))
Key = tuple[str, str]


def columns_by_recording(run: Path, *, server_clock: bool) -> tuple[dict[str, Columns], tuple[Finding, ...]]:
    """Return the recordings of a run by name, each with its workloads in the order seen; and findings.

    With `server_clock`, an object's times are the server's own, as in the old tool, else those of their arrival. A
    workload's timestamps are those of its first pod, except for the creation of the last. Raises UsageError if there is
    no recording.
    """
    places = discover(run, [MARKER]).places
    if not places:
        raise UsageError(f"{run} has no recording of a scale test: no times.csv to write")
    found: dict[str, Columns] = {}
    findings: tuple[Finding, ...] = ()
    for place in places:
        source = RecordingFiles(place)
        submissions = source.json_lines("submissions.jsonl", SUBMISSIONS)
        transitions = source.json_lines("transitions.jsonl", TRANSITIONS)
        found[place.name] = _columns(submissions, transitions, server_clock=server_clock)
        findings += source.findings
    return found, findings


def _columns(submissions: pd.DataFrame, transitions: pd.DataFrame, *, server_clock: bool) -> Columns:
    kinds: dict[Key, str] = {}
    sent: dict[Key, tuple[str, float]] = {}
    for namespace, name, kind, queue, moment in _rows(submissions, "namespace", "name", "kind", "queue", "sent_s"):
        kinds[namespace, name] = kind
        sent[namespace, name] = (queue if isinstance(queue, str) else namespace, moment)
    moments = transitions["server_s"].fillna(transitions["seen_s"]) if server_clock else transitions["seen_s"]
    timed = transitions.assign(moment=moments)[transitions["workload"].notna()]
    times: dict[Key, dict[str, float]] = {}
    for namespace, workload, kind, word, moment in _rows(
        timed, "namespace", "workload", "kind", "transition", "moment"
    ):
        key = (namespace, workload)
        _keep(times.setdefault(key, {}), _stamps_of(kind, word, kinds.get(key)), moment)
    keys = [*times, *(key for key in sent if key not in times)]
    found = [[times.get(key, {}).get(stamp.name, np.nan) for key in keys] for stamp in STAMPS]
    found.append([sent[key][1] if key in sent else np.nan for key in keys])
    return Columns(
        [name for _, name in keys],
        [namespace for namespace, _ in keys],
        [sent[key][0] if key in sent else key[0] for key in keys],
        np.array(found, dtype=float).reshape(len(TIME_NAMES), len(keys)),
    )


def _rows(frame: pd.DataFrame, *columns: str) -> Iterable[tuple[Any, ...]]:
    return zip(*(frame[column].astype("object") for column in columns), strict=True)


def _stamps_of(kind: str, word: str, workload_kind: str | None) -> tuple[str, ...]:
    """Return the timestamps that a transition belongs to: to both if the workload is itself a job."""
    if kind == "Pod":
        return POD_STAMPS.get(word, ())
    if (kind, word) in OTHER_STAMPS:
        return (OTHER_STAMPS[kind, word],)
    if word != "created":
        return ()
    if kind == workload_kind or workload_kind is None:
        return ("workload_created", "job_created") if kind in JOB_KINDS else ("workload_created",)
    return ("job_created",) if kind in JOB_KINDS else ()


def _keep(times: dict[str, float], stamps: tuple[str, ...], moment: float) -> None:
    """Return the first time of each timestamp, but the last time of the last pod's creation."""
    for stamp in stamps:
        choose = max if stamp == "last_pod_created" else min
        times[stamp] = choose(times.get(stamp, moment), moment)
