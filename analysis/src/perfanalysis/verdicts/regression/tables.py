"""A regression verdict as tables."""

from __future__ import annotations

from perfanalysis.drawing.blocks import DASH, Cell, Field, Table, number, quantity
from perfanalysis.drawing.wording import shortened, value_text
from perfanalysis.results.history.documents import Entry
from perfanalysis.verdicts.comparison.pairs import fact_differences
from perfanalysis.verdicts.comparison.sides import Side
from perfanalysis.verdicts.comparison.tables import change_cell
from perfanalysis.verdicts.regression.verdict import WORDS, KpiVerdict, RecordingVerdict

MOST_TEXT = 120
FIELDS = (
    Field("KPI"),
    Field("verdict", "badge"),
    Field("before", "number", help="median of the previous level"),
    Field("now", "number", help="median of the level of this run"),
    Field("change", "number", help="ratio of the medians; below it the 95 % interval of the ratio of the means"),
    Field("Hedges' g", "number", help="change in standard deviations of a run"),
    Field("q", "number", help="p-value, corrected over all KPIs (Benjamini and Hochberg)"),
    Field("since", "code"),
    Field("runs", "number", help="runs at this level, including this one"),
    Field("better"),
)


def kpi_table(recording: RecordingVerdict) -> Table:
    """Return a row for each KPI, the most severe first."""
    kpis = sorted(recording.kpis, key=lambda kpi: (WORDS.index(kpi.word), not kpi.places))
    rows = tuple(_row(kpi) for kpi in kpis)
    return Table("KPIs", FIELDS, rows, sort=True)


def _row(kpi: KpiVerdict) -> tuple[Cell, ...]:
    unit, better = kpi.kpi.unit, {"neither": DASH, "either": "neither way"}.get(kpi.direction, str(kpi.direction))
    head = (Cell(kpi.kpi.series, kpi.kpi.help), Cell(kpi.word, kpi.reason))
    if kpi.change is None:
        why = kpi.reason or "no change"
        nothing = tuple(Cell("", reason=why) for _ in range(3))
        older = f"last changed with {kpi.older[-1]}" if kpi.older else ""
        return (
            *head,
            Cell("", reason=why),
            Cell(quantity(kpi.kpi.known, unit), older, sort=kpi.kpi.known),
            *nothing,
            Cell("", reason=why),
            Cell("", reason=why),
            Cell(better),
        )
    effect = kpi.change.effect
    interval = ""
    if effect.low is not None and effect.high is not None:
        interval = f"{change_cell(effect.low).text} {DASH} {change_cell(effect.high).text}"
    change = change_cell(effect.change)
    return (
        *head,
        Cell(quantity(effect.before, unit), sort=effect.before),
        Cell(quantity(effect.after, unit), sort=effect.after),
        Cell(change.text, interval, change.reason, change.sort) if change.text else change,
        Cell("", reason="all values are equal") if effect.g is None else Cell(number(effect.g), sort=effect.g),
        Cell(f"{kpi.change.q:.2g}", sort=kpi.change.q),
        Cell(kpi.change.first.run),
        Cell(number(kpi.change.runs), sort=float(kpi.change.runs)),
        Cell(better),
    )


def changed_with(kpi: KpiVerdict) -> dict[str, tuple[object, object]]:
    """Return facts and free keys that differ between the first run of the new level and the one before it in the
    series.
    """
    if kpi.change is None or kpi.series is None:
        return {}
    entries = kpi.series.entries
    place = next((place for place, entry in enumerate(entries) if entry is kpi.change.first), 0)
    if place == 0:
        return {}
    differences = fact_differences((_side(entries[place - 1]), _side(entries[place])))
    return {each.name: (each.values[0], each.values[1]) for each in differences}


def _side(entry: Entry) -> Side:
    return Side(entry.run, (), {**entry.facts, **entry.keys})


def suspects_table(recording: RecordingVerdict) -> Table | None:
    """Return what else changed together with a level; None if no KPI changed, or nothing else did."""
    rows: dict[tuple[str, str], tuple[str, str, list[str]]] = {}
    for kpi in recording.kpis:
        if kpi.change is None or kpi.word in ("same", "too little history"):
            continue
        for name, (before, after) in changed_with(kpi).items():
            row = rows.setdefault((kpi.change.first.run, name), (_cut(before), _cut(after), []))
            row[2].append(kpi.kpi.series)
    if not rows:
        return None
    fields = (
        Field("with run", "code"),
        Field("setting or version", "code"),
        Field("before", "code"),
        Field("then", "code"),
        Field("KPIs"),
    )
    cells = tuple(
        (Cell(run), Cell(name), Cell(before), Cell(after), Cell(", ".join(names)))
        for (run, name), (before, after, names) in rows.items()
    )
    note = "Differences between the first run of the new level and the run before it; they may be the cause."
    return Table("Other changes at the same time", fields, cells, note)


def _cut(value: object) -> str:
    text = DASH if value is None else value_text(value) or '""'
    return shortened(text, MOST_TEXT)
