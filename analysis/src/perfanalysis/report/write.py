"""Write a report's files: KPIs, tables, plots, and last the page that speaks of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from perfanalysis.cache import write_table
from perfanalysis.charts.model import Figure
from perfanalysis.discover import Place, marked
from perfanalysis.documents import Document, text_or_none, write_bytes, write_json, write_text
from perfanalysis.judging.section import verdict_tables
from perfanalysis.kpis import kpis_document, openmetrics
from perfanalysis.pipeline import RunAnalysis
from perfanalysis.report import ReportPaths
from perfanalysis.report.page import TIMELINE_FILE, Drawn, render_page
from perfanalysis.report.run_sections import comparison_figures
from perfanalysis.report.timeline import timeline_figure
from perfanalysis.tables import TableSpec


def write_report(result: RunAnalysis, target: Path) -> ReportPaths:
    """Write everything below `target`."""
    kpis, metrics = write_kpis(result, target)
    write_tables(result, target)
    drawn = tuple(_named_figures(result))
    plots = _draw(drawn, target)
    index = target / "index.html"
    write_text(index, render_page(result, drawn, verdict_tables(result.run.directory, target)))
    return ReportPaths(index, kpis, metrics, target / "tables", plots, result.findings)


def write_kpis(result: RunAnalysis, target: Path) -> tuple[Path, Path]:
    """Write kpis.json and the same as OpenMetrics text."""
    run = result.run.document
    facts = {
        "run": result.run.id,
        "flow": text_or_none(run.get("flow")),
        "status": result.run.status,
        "simulated": marked(result.marks, "simulated"),
        "emulated": marked(result.marks, "emulated"),
    }
    labelled = result.labelled_kpis()
    document: Document = kpis_document(facts, labelled)
    paths = target / "kpis.json", target / "kpis.prom"
    write_json(paths[0], document)
    write_text(paths[1], openmetrics(labelled, {"run": result.run.id, "flow": str(run.get("flow") or "")}))
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


def _named_figures(result: RunAnalysis) -> Iterator[Drawn]:
    """Every figure of the report with the name of its file."""
    names = short_names(result)
    for figure in comparison_figures(result):
        yield Drawn("", figure, f"compared.{figure.name}.png", compares=True)
    timeline = timeline_figure(result.run)
    if timeline is not None:
        yield Drawn("", timeline, TIMELINE_FILE)
    for section in result.sections:
        yield from (Drawn("", block, f"run.{block.name}.png") for block in section.blocks if isinstance(block, Figure))
    for analysis in result.analyses:
        prefix = f"{names[analysis.place.name]}." if len(names) > 1 else ""
        for section in analysis.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield Drawn(analysis.place.name, block, f"{prefix}{block.name}.png")


def short_names(result: RunAnalysis) -> dict[str, str]:
    """Names for files, by recording: `cell_3` where a cell has one recording, else the recording's own name."""
    cells = Counter(analysis.place.cell.directory for analysis in result.analyses if analysis.place.cell)
    return {analysis.place.name: _short_name(analysis.place, cells) for analysis in result.analyses}


def _short_name(place: Place, recordings: Counter[str]) -> str:
    alone = place.cell is not None and recordings[place.cell.directory] == 1
    return f"cell_{place.cell.index}" if place.cell is not None and alone else place.name


def _draw(drawn: tuple[Drawn, ...], target: Path) -> tuple[Path, ...]:
    from perfanalysis.charts.png import draw

    paths = []
    for item in drawn:
        path = target / item.file
        write_bytes(path, draw(item.figure))
        paths.append(path)
    return tuple(paths)
