"""Write what programs read of a run: its KPIs and its derived tables. Nothing is drawn for that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from perfanalysis.files.documents import Document, text_or_none, write_json, write_text
from perfanalysis.files.parquet import write_table
from perfanalysis.files.tables import TableSpec
from perfanalysis.workloads.kpis import kpis_document, openmetrics

if TYPE_CHECKING:
    from perfanalysis.workloads.run_analysis import RunAnalysis


def write_kpis(result: RunAnalysis, target: Path) -> tuple[Path, Path]:
    """Write kpis.json and the same as OpenMetrics text."""
    run = result.run.document
    facts = {
        "run": result.run.id,
        "flow": text_or_none(run.get("flow")),
        "status": result.run.status,
        "simulated": list(result.marks.simulated),
        "emulated": list(result.marks.emulated),
    }
    labelled = result.labelled_kpis()
    document: Document = kpis_document(facts, labelled, result.options.method)
    paths = target / "kpis.json", target / "kpis.prom"
    write_json(paths[0], document)
    # a number that was simulated says so wherever it goes
    marks = {"simulated": ", ".join(result.marks.simulated), "emulated": ", ".join(result.marks.emulated)}
    common = {
        "run": result.run.id,
        "flow": str(run.get("flow") or ""),
        **{k: text for k, text in marks.items() if text},
    }
    write_text(paths[1], openmetrics(labelled, common))
    return paths


def write_tables(result: RunAnalysis, target: Path) -> Path:
    """Write each derived table once, with a column that tells the recordings apart."""
    import pandas as pd

    folder = target / "tables"
    for name, spec in _derived(result).items():
        frames = [
            analysis.frames[name].assign(recording=analysis.place.name)
            for analysis in result.analyses
            if name in analysis.frames
        ]
        write_table(folder / f"{name}.parquet", pd.concat(frames, ignore_index=True), spec)
    return folder


def _derived(result: RunAnalysis) -> dict[str, TableSpec]:
    specs = {name: spec for analysis in result.analyses for name, spec in analysis.specs.items()}
    return {name: spec.with_recording() for name, spec in specs.items()}
