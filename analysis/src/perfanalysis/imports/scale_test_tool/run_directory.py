"""Write what was found in an old working directory as a run directory, so that everything else works on it.

The old tool knew no time of arrival: an object's own stamp, a whole second of the server, stands for both clocks, and
recording.json says so with `seen_resolution_s`. It never saw a workload end, so none is completed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perfanalysis.files.documents import write_json, write_text
from perfanalysis.imports.run_directory import Setting, iso, new_place, run_document, settings_document
from perfanalysis.imports.scale_test_tool.reading import WorkingDirectory
from perfanalysis.imports.scale_test_tool.records import Record

PLACE = "000__imported__scale_test_tool"
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
"""Stamps of the objects beside workload, job and pods: kind and transition."""


def run_id(found: WorkingDirectory) -> str:
    """The same for the same files: the time of the first submission, and a hash of the contents."""
    digest = hashlib.sha256(json.dumps(dict(found.files), sort_keys=True).encode()).hexdigest()
    began = datetime.fromtimestamp(_span(found)[0], UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"scale_test-{began}-{digest[:6]}"


def write_run_directory(found: WorkingDirectory, output: Path, workload_kind: str) -> Path:
    """Write the run; returns its directory.

    Raises UsageError when there is something already, or the place cannot be written.
    """
    artifacts = new_place(output) / PLACE / "artifacts"
    write_json(output / "run.json", _run_document(found))
    write_json(output / "settings.yml", _settings_document(found, workload_kind))
    write_text(output / "timeline.csv", _timeline(found))
    _write_lines(artifacts / "submissions.jsonl", _submissions(found, workload_kind))
    _write_lines(artifacts / "transitions.jsonl", _transitions(found, workload_kind))
    write_text(artifacts / "events.jsonl", "")
    write_json(artifacts / "nodes.json", {"schema": "psap.perf/nodes/1", "nodes": [], "listed": False})
    write_json(artifacts / "accounting.json", _accounting(found))
    write_json(artifacts / "recording.json", _recording(found, workload_kind))
    return output


def _span(found: WorkingDirectory) -> tuple[float, float]:
    """From the first submission (else sample) to the last time in the files; the epoch when they hold none."""
    sent = [record.submitted_s for record in found.submissions if record.submitted_s is not None]
    seen = [moment for record in found.sampled for moment in record.times.values()]
    return (min(sent or seen), max([*sent, *seen])) if sent or seen else (0.0, 0.0)


def _run_document(found: WorkingDirectory) -> dict[str, Any]:
    origin = {"from": TOOL, "directory": found.directory.name, "files": dict(found.files)}
    return run_document(run_id(found), "scale_test", *_span(found), origin)


def _settings_document(found: WorkingDirectory, workload_kind: str) -> dict[str, Any]:
    namespaces = sorted({record.namespace for record in found.records})
    settings = {
        "scale_test_workload_kind": Setting(workload_kind),
        "scale_test_count": Setting(len(found.submissions)),
        "scale_test_namespace": Setting(", ".join(namespaces), key=False),
    }
    return settings_document(settings, f"the {TOOL}")


def _timeline(found: WorkingDirectory) -> str:
    began, ended = (iso(moment) for moment in _span(found))
    return f"start,end,host,lane,kind,name,directory,status\n{began},{ended},,,flow,scale_test,,ok\n"


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    write_text(path, "".join(f"{encode(row)}\n" for row in rows))


def _submissions(found: WorkingDirectory, workload_kind: str) -> Iterator[dict[str, Any]]:
    """The old tool kept only submissions that succeeded, the time before the request, and neither GPUs nor pods."""
    for index, record in enumerate(found.submissions):
        yield {
            "index": index,
            "kind": workload_kind,
            "namespace": record.namespace,
            "name": record.name,
            "queue": record.project,
            "gpus": None,
            "pods": 1,
            "sent_s": record.submitted_s,
            "answered_s": None,
            "status": None,
            "outcome": "created",
            "attempts": 1,
            "uid": None,
            "error": None,
        }


def _transitions(found: WorkingDirectory, workload_kind: str) -> Iterator[dict[str, Any]]:
    orphans = {(record.namespace, record.name) for record in found.orphans}
    for record in found.sampled:
        owner = None if (record.namespace, record.name) in orphans else record.name
        for kind, name, stamp, word in _objects(record, workload_kind):
            if stamp in record.times:
                yield _transition(record, owner, kind, name, word, record.times[stamp])


def _objects(record: Record, workload_kind: str) -> Iterator[tuple[str, str, str, str]]:
    """Kind, object, stamp and transition. The first listed pod's scheduling is all the old tool kept of scheduling."""
    name, first = record.name, f"{record.name}-{FIRST_POD}"
    yield workload_kind, name, "workload_created", "created"
    yield JOB_KIND, name, "job_created", "created"
    yield "Pod", first, "first_pod_created", "created"
    yield "Pod", f"{name}-{LAST_POD}", "last_pod_created", "created"
    yield "Pod", first, "scheduled", "scheduled"
    yield "Pod", first, "first_eviction", "evicted"
    for stamp, kind, word in OBJECT_TRANSITIONS:
        yield kind, name, stamp, word


def _transition(record: Record, owner: str | None, kind: str, name: str, word: str, moment: float) -> dict[str, Any]:
    return {
        "seen_s": moment,
        "kind": kind,
        "namespace": record.namespace,
        "name": name,
        "uid": f"{kind}/{record.namespace}/{name}",
        "workload": owner,
        "transition": word,
        "server_s": moment,
        "resolution_s": STAMP_RESOLUTION_S,
        "node": None,
        "reason": None,
    }


def _accounting(found: WorkingDirectory) -> dict[str, Any]:
    submitted = len(found.submissions) or len(found.sampled)
    lost = len(found.lost)
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
        "run": run_id(found),
        "namespace": ", ".join(sorted({record.namespace for record in found.records})),
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
        "simulated": [],
        "emulated": [],
        "reconnects": 0,
        "relists": 0,
        "disturbances": {},
    }
