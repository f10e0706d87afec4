"""A run in a history, psap.perf/history/1, and the recordings of such a document."""

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
    """Return the document; the same run and version of perfanalysis give the same one."""
    return of_payload(payload_of(result))


def of_payload(payload: Payload) -> Document:
    """Return the part of a payload that a history stores: KPIs with a value, and the keys of comparisons."""
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
    """One recording. `keys` determine comparable recordings, `facts` distinguish recordings with the same keys."""

    run: str
    flow: str | None
    status: str
    started: str | None
    started_s: float
    """Return seconds since the epoch; 0 for a run without a start, before all others."""
    lab: Lab
    kind: str
    recording: str
    keys: Mapping[str, Any]
    facts: Mapping[str, Any]
    kpis: Mapping[str, KpiValue]
    """Return KPIs by their distinguishing names: `waiting{tenant="a"}` for a KPI with distinguishing labels."""

    def value(self, name: str) -> Any:
        """Return a key or a fact by its name; None if there is neither."""
        return self.keys[name] if name in self.keys else self.facts.get(name)


def entries_of(document: Document) -> tuple[Entry, ...]:
    """Return the entries of a document psap.perf/history/1."""
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
    """Return the KPIs of a recording in such a document; a history only has KPIs with a number."""
    found = map(kpi_of_document, listing(recording.get("kpis")))
    return tuple(kpi for kpi in found if kpi is not None)
