"""Documents of a history for results without a run directory."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec import structs

from perfanalysis.drawing.wording import counted, value_text
from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import Lab
from perfanalysis.files.documents import Document, iso, listing, mapping
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.folder import add, load
from perfanalysis.workloads.kpis import KpiValue, kpi_document

NO_INTERVAL = "the file states no interval"


@dataclass(frozen=True)
class ForeignRun:
    """One recording of one run. `keys` determine comparable recordings; `facts` are additional information."""

    run: str
    tool: str
    recording: str
    started_s: float | None
    kpis: tuple[KpiValue, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    lab: Lab = field(default_factory=Lab)


@dataclass(frozen=True)
class Added:
    """How many runs were added to a history, and how many were already there or were refused."""

    new: int
    known: int
    findings: tuple[Finding, ...] = ()

    def summary(self, source: str, of: str = "") -> str:
        """Return an import's final line about a source; *of* names the runs, if a source has several kinds."""
        runs = f"{counted(self.new, 'run')} of {of}" if of else counted(self.new, "run")
        return f"{source}: {runs} added, {self.known} already there"


def origin(path: Path, content: bytes) -> Document:
    """Return what a document states about the file that it was made from."""
    return {"file": path.name, "sha256": hashlib.sha256(content).hexdigest()}


def documents(runs: Iterable[ForeignRun], imported: Document) -> tuple[Document, ...]:
    """Return a document psap.perf/history/1 for each run, with all its recordings. Raises UsageError for duplicates."""
    found: dict[str, Document] = {}
    for run in runs:
        document = found.setdefault(run.run, _document(run, imported))
        if any(each["recording"] == run.recording for each in document["recordings"]):
            raise UsageError(f"{imported['file']}: {run.recording} of the run {run.run} occurs twice; remove one")
        document["recordings"].append(_recording(run))
        document["facts"] = dict(sorted({**document["facts"], **run.facts}.items()))
    return tuple(found.values())


def keep(folder: Path, made: Iterable[Document]) -> Added:
    """Add documents to a history, each merged with the history's document of the same run.

    A file often repeats runs of an older one: a document without anything new is not added again. Nor is one that
    contradicts the history, since its files never change; a finding reports it.
    """
    known = {str(document["run"]): document for document in load(folder).documents} if folder.is_dir() else {}
    new, seen = 0, 0
    findings: list[Finding] = []
    for document in made:
        seen += 1
        there = known.get(document["run"])
        joined = document if there is None else _joined(there, document)
        changed = [] if there is None else _contradictions(there, joined)
        if changed:
            text = f"the history has other values or units of {', '.join(changed)}; it is not changed"
            findings.append(Finding("warning", str(document["run"]), text))
        elif there is None or _numbers(there) != _numbers(joined):
            new += add(folder, joined)[1]
    return Added(new, seen - new, tuple(findings))


def _numbers(document: Document) -> dict[tuple[str, str], tuple[object, object]]:
    """Return unit and value of each KPI, by recording and name."""
    return {
        (str(recording.get("recording")), str(kpi.get("name"))): (kpi.get("unit"), kpi.get("value"))
        for recording in map(mapping, listing(document.get("recordings")))
        for kpi in map(mapping, listing(recording.get("kpis")))
    }


def _contradictions(known: Document, joined: Document) -> list[str]:
    after = _numbers(joined)
    return [place[1] for place, value in _numbers(known).items() if after[place] != value]


def _joined(known: Document, document: Document) -> Document:
    """Return the newer document, with the recordings and KPIs that only the older one has."""
    recordings = {str(each.get("recording")): each for each in map(mapping, listing(known.get("recordings")))}
    for each in document["recordings"]:
        name = str(each["recording"])
        names = {kpi["name"] for kpi in each["kpis"]}
        others = [kpi for kpi in listing(recordings.get(name, {}).get("kpis")) if mapping(kpi).get("name") not in names]
        recordings[name] = {**each, "kpis": [*others, *each["kpis"]]}
    facts = {**mapping(known.get("facts")), **document["facts"]}
    return {**document, "facts": facts, "recordings": [recordings[name] for name in sorted(recordings)]}


def _document(run: ForeignRun, imported: Document) -> Document:
    return {
        "schema": "psap.perf/history/1",
        "run": run.run,
        "flow": run.tool,
        "status": "ok",
        "started": iso(run.started_s),
        "lab": run.lab.document(),
        "analysis": version("psap-perf"),
        "imported": {"from": run.tool, **imported},
        "facts": {},
        "recordings": [],
    }


def _recording(run: ForeignRun) -> Document:
    known = [structs.replace(kpi, reason=NO_INTERVAL) for kpi in run.kpis if math.isfinite(kpi.known)]
    return {
        "kind": run.tool,
        "recording": run.recording,
        "labels": {"recording": run.recording, **{name: value_text(value) for name, value in run.keys.items()}},
        "keys": dict(run.keys),
        "kpis": list(map(kpi_document, known)),
    }
