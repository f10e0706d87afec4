"""The report's part about verdicts: every verdict.json below the run as a table."""

from __future__ import annotations

from pathlib import Path

from perfanalysis.documents import Document, listing, mapping, read_document
from perfanalysis.judging.write import VERDICT_FILE
from perfanalysis.sections import DASH, Cell, Field, Table, quantity

FIELDS = (
    Field("Verdict", "badge"),
    Field("Threshold", "code"),
    Field("Measured", "number"),
    Field("Recording"),
    Field("What it is"),
)


def verdict_tables(run_directory: Path, target: Path) -> tuple[Table, ...]:
    """A table for each verdict on the run: those its flow made, and that of `perfanalysis judge` in `target`."""
    places = {path.parent.resolve() for path in run_directory.rglob(VERDICT_FILE) if path.parent.name != "report"}
    tables = []
    for place in [*sorted(places), target]:
        document, _findings = read_document(place / VERDICT_FILE, "verdict", VERDICT_FILE)
        if document is not None:
            where = str(place.relative_to(run_directory)) if place.is_relative_to(run_directory) else place.name
            tables.append(_table(document, where))
    return tuple(tables)


def _table(document: Document, where: str) -> Table:
    rows = tuple(
        _row(mapping(entry), mapping(mapping(recording).get("labels")))
        for recording in listing(document.get("recordings"))
        for entry in listing(mapping(recording).get("thresholds"))
    )
    reason = document.get("reason")
    note = f"Exit code {document.get('exit_code')}: {reason}." if reason else "Every threshold was met."
    return Table(f"Thresholds: {where}", FIELDS, rows, note)


def _row(entry: Document, labels: Document) -> tuple[Cell, ...]:
    unit = str(entry.get("unit"))
    text = str(entry.get("text")).lstrip("<>= ")
    name = f"cell {labels['cell']}" if "cell" in labels else str(labels.get("recording", ""))
    return (
        Cell(str(entry.get("outcome"))),
        Cell(f"{entry.get('measure')} {entry.get('operator')} {text}"),
        _measured(entry, unit),
        Cell(name),
        Cell(str(entry.get("help"))),
    )


def _measured(entry: Document, unit: str) -> Cell:
    value, low, high = entry.get("value"), entry.get("low"), entry.get("high")
    if not isinstance(value, int | float):
        return Cell("", reason=str(entry.get("reason") or "not measured"))
    interval = ""
    if isinstance(low, int | float) and isinstance(high, int | float):
        interval = f"{quantity(low, unit)} {DASH} {quantity(high, unit)}"
    return Cell(quantity(value, unit), interval)
