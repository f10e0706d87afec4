"""The report's section about verdicts: every verdict.json below the run as a table."""

from __future__ import annotations

from pathlib import Path

from perfanalysis.drawing.blocks import DASH, Cell, Field, Table, quantity
from perfanalysis.files.documents import Document, listing, mapping, read_document
from perfanalysis.verdicts.files import VERDICT_FILE

FIELDS = (
    Field("Verdict", "badge"),
    Field("Threshold", "code"),
    Field("Measured", "number"),
    Field("Recording"),
    Field("Description"),
)
MOVED = ("worse", "different", "better", "acknowledged")
MOVED_FIELDS = (
    Field("Verdict", "badge"),
    Field("KPI", "code"),
    Field("Before, now", "number", help="medians of the level before and of the present level"),
    Field("Change", "number", help="ratio of the medians; below it the 95 % interval"),
    Field("Hedges' g", "number", help="change in standard deviations of a run"),
    Field("Since", "code"),
    Field("Acknowledged"),
)


def verdict_tables(run_directory: Path, target: Path) -> tuple[Table, ...]:
    """Return what the flow judged, all cells in one table, and what `perfanalysis judge` wrote to `target`."""
    places = {path.parent.resolve() for path in run_directory.rglob(VERDICT_FILE) if path.parent.name != "report"}
    by_flow = _verdicts(sorted(places - {target.resolve()}), run_directory.resolve())
    by_hand = _verdicts([target.resolve()], run_directory.resolve())
    found = (("Thresholds of the run", by_flow), ("Thresholds given to perfanalysis judge", by_hand))
    tables = [_table(title, verdicts) for title, verdicts in found if verdicts]
    regressions = [mapping(document.get("regression")) for _, document in by_hand if document.get("regression")]
    moved = _moved_table(target, str(regressions[0].get("document"))) if regressions else None
    known = (*(table for table in tables if table.rows), *map(_regression_table, regressions))
    return known if moved is None else (*known, moved)


def _regression_table(regression: Document) -> Table:
    fields = (Field("Verdict", "badge"), Field("KPIs", "number"))
    counts = mapping(regression.get("counts")).items()
    rows = tuple((Cell(str(word).replace("_", " ")), Cell(str(count))) for word, count in counts if count)
    reason = (
        f"Exit code {regression.get('exit_code')}: {regression.get('reason')}. " if regression.get("reason") else ""
    )
    note = f"{reason}regression.html in the same folder has the trends. Method: {regression.get('method')}."
    return Table("Judged against the history", fields, rows, note)


def _moved_table(target: Path, name: str) -> Table | None:
    """Return the KPIs that moved, the most severe first, with the reason of an acknowledged one; None without any."""
    document, _findings = read_document(target / name, "regression", name)
    found = [
        (str(mapping(recording).get("recording")), mapping(kpi))
        for recording in listing(mapping(document).get("recordings"))
        for kpi in listing(mapping(recording).get("kpis"))
    ]
    rows = tuple(
        _moved_row(where, kpi) for word in MOVED for where, kpi in found if kpi.get("verdict") == word and kpi["change"]
    )
    return Table("KPIs that moved", MOVED_FIELDS, rows) if rows else None


def _moved_row(where: str, kpi: Document) -> tuple[Cell, ...]:
    change, unit = mapping(kpi.get("change")), str(kpi.get("unit"))
    share, low, high, size = (change.get(name) for name in ("change", "low", "high", "hedges_g"))
    known = isinstance(low, int | float) and isinstance(high, int | float)
    return (
        Cell(str(kpi.get("verdict")), str(kpi.get("reason") or "")),
        Cell(str(kpi.get("name")), where),
        Cell(f"{quantity(change['before'], unit)} {DASH} {quantity(change['after'], unit)}"),
        Cell("", reason="the level before was 0")
        if share is None
        else Cell(f"{share:+.1%}", f"{low:+.1%} {DASH} {high:+.1%}" if known else ""),
        Cell("", reason="all values are equal") if size is None else Cell(f"{size:.2g}"),
        Cell(str(change.get("since"))),
        Cell(str(kpi.get("reason") or "")),
    )


def _verdicts(places: list[Path], run_directory: Path) -> list[tuple[str, Document]]:
    """Return the verdicts in these folders, each with the name of its place in the run."""
    found = []
    for place in places:
        document, _findings = read_document(place / VERDICT_FILE, "verdict", VERDICT_FILE)
        if document is not None:
            inside = place.is_relative_to(run_directory)
            found.append((str(place.relative_to(run_directory)) if inside else place.name, document))
    return found


def _table(title: str, verdicts: list[tuple[str, Document]]) -> Table:
    rows = tuple(
        _row(mapping(entry), mapping(mapping(recording).get("labels")), where)
        for where, document in verdicts
        for recording in listing(document.get("recordings"))
        for entry in listing(mapping(recording).get("thresholds"))
    )
    bad = [f"Exit code {one.get('exit_code')}: {one.get('reason')}." for _, one in verdicts if one.get("reason")]
    return Table(title, FIELDS, rows, " ".join(bad) or "Every threshold was met.")


def _row(entry: Document, labels: Document, where: str) -> tuple[Cell, ...]:
    unit = str(entry.get("unit"))
    text = str(entry.get("text")).lstrip("<>= ")
    name = f"cell {labels['cell']}" if "cell" in labels else str(labels.get("recording", ""))
    return (
        Cell(str(entry.get("outcome"))),
        Cell(f"{entry.get('measure')} {entry.get('operator')} {text}"),
        _measured(entry, unit),
        Cell(name, where),
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
