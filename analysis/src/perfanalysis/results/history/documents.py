"""A run as a history keeps it, psap.perf/history/1, and what such a document says of its recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perfanalysis.files.discovery import Lab, lab_of
from perfanalysis.files.documents import Document, listing, mapping, number_or, parse_time, text_or_none
from perfanalysis.results.payload import Payload, payload_of
from perfanalysis.workloads.kpis import KpiValue, kpi_document, kpi_of_document
from perfanalysis.workloads.run_analysis import RunAnalysis

SCHEMA = "psap.perf/history/1"


def history_document(result: RunAnalysis) -> Document:
    """The document; the same run analysed by the same version gives the same one."""
    return of_payload(payload_of(result))


def of_payload(payload: Payload) -> Document:
    """What a history keeps of a payload: KPIs that have a value, and what decides with what they are compared."""
    run = payload.metadata
    known = [kpi for kpi in payload.kpis if kpi.number is not None]
    return {
        "schema": SCHEMA,
        "run": run.run,
        "flow": run.flow,
        "status": run.status,
        "started": run.started,
        "lab": run.lab.document(),
        "analysis": run.analysis,
        "facts": dict(run.facts),
        "recordings": [
            {
                "kind": result.kind,
                "recording": result.recording,
                "labels": dict(result.labels),
                "keys": dict(result.keys),
                "kpis": [kpi_document(kpi) for kpi in known if kpi.recording == result.recording],
            }
            for result in payload.results
        ],
    }


@dataclass(frozen=True, slots=True)
class Entry:
    """One recording. `keys` decide what it may be compared with, `facts` tell it from others of the same keys."""

    run: str
    flow: str | None
    status: str
    started: str | None
    started_s: float
    """Seconds since the epoch; of a run that does not say it, 0: before all others."""
    lab: Lab
    kind: str
    recording: str
    keys: Mapping[str, Any]
    facts: Mapping[str, Any]
    kpis: Mapping[str, KpiValue]
    """By what tells them apart: `waiting{tenant="a"}` of one that has labels of its own."""

    def value(self, name: str) -> Any:
        """A key or a fact by its name; None when there is neither."""
        return self.keys[name] if name in self.keys else self.facts.get(name)


def entries_of(document: Document) -> tuple[Entry, ...]:
    """The entries of a document psap.perf/history/1."""
    started = text_or_none(document.get("started"))
    facts = mapping(document.get("facts"))
    return tuple(
        Entry(
            run=str(document.get("run")),
            flow=text_or_none(document.get("flow")),
            status=str(document.get("status")),
            started=started,
            started_s=number_or(parse_time(started), 0.0),
            lab=lab_of(document),
            kind=str(recording.get("kind")),
            recording=str(recording.get("recording")),
            keys=mapping(recording.get("keys")),
            facts=facts,
            kpis={kpi.series: kpi for kpi in kpis_of_document(recording)},
        )
        for recording in map(mapping, listing(document.get("recordings")))
    )


def kpis_of_document(recording: Document) -> tuple[KpiValue, ...]:
    """The KPIs of a recording in such a document; only what has a number is in a history."""
    found = map(kpi_of_document, listing(recording.get("kpis")))
    return tuple(kpi for kpi in found if kpi is not None)
