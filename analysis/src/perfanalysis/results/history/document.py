"""A run as a history keeps it: psap.perf/history/1, of its payload."""

from __future__ import annotations

from collections.abc import Iterator

from perfanalysis.files.documents import Document
from perfanalysis.results.payload.model import Payload
from perfanalysis.results.payload.of_run import payload_of
from perfanalysis.workloads.run_analysis import RunAnalysis

SCHEMA = "psap.perf/history/1"


def history_document(result: RunAnalysis) -> Document:
    """The document; the same run analysed by the same version gives the same one."""
    return of_payload(payload_of(result))


def of_payload(payload: Payload) -> Document:
    """What a history keeps of a payload: KPIs that have a value, and what decides with what they are compared."""
    run = payload.metadata
    return {
        "schema": SCHEMA,
        "run": run.run,
        "flow": run.flow,
        "status": run.status,
        "started": run.started,
        "simulated": list(run.simulated),
        "emulated": list(run.emulated),
        "analysis": run.analysis,
        "facts": dict(run.facts),
        "recordings": [
            {
                "kind": result.kind,
                "recording": result.recording,
                "labels": dict(result.labels),
                "keys": dict(result.keys),
                "kpis": list(_kpis(payload, result.recording)),
            }
            for result in payload.results
        ],
    }


def _kpis(payload: Payload, recording: str) -> Iterator[Document]:
    """Those that have a value; without `recording`, in which they stand, and without labels where they have none."""
    for kpi in payload.kpis:
        if kpi.recording == recording and kpi.value is not None:
            yield {
                name: value for name, value in vars(kpi).items() if name != "recording" and (value or name != "labels")
            }
