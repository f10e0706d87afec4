"""A comparison as tables, for the terminal, the page and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from perfanalysis.drawing.blocks import DASH, Cell, Field, Table, number, quantity
from perfanalysis.drawing.wording import shortened, value_text
from perfanalysis.verdicts.comparison.comparison import Comparison, Group, KpiComparison, PairComparison, StepComparison
from perfanalysis.verdicts.comparison.pairs import differences_text
from perfanalysis.verdicts.comparison.statistics import Difference, Word
from perfanalysis.workloads.percentiles import STATED

WORDS: tuple[Word, ...] = ("better", "worse", "different", "same", "too little data")
GRAVITY = ("worse", "different", "better")
BETTER = {"higher": "higher", "lower": "lower", "neither": DASH}
MOST_TEXT = 160
"""Length of a setting's value that is shown."""
NO_INTERVAL = "only one value of each and no interval: more runs would show how certain the difference is"
Row = tuple[Cell, ...]


def _fields(comparison: Comparison, first: str, last: tuple[Field, ...]) -> tuple[Field, ...]:
    several = len(comparison.sides) > 2
    baseline = comparison.headings[0]
    other = "compared" if several else comparison.headings[1]
    return (
        Field(first),
        *((Field("With"),) if several else ()),
        Field(baseline, "number"),
        Field(other, "number"),
        Field("difference", "number", help=f"{other} minus {baseline}; below it its 95 % interval"),
        Field("change", "number", help=f"the difference as a share of {baseline}"),
        *last,
    )


def _several(comparison: Comparison, pair: PairComparison) -> Row:
    return (Cell(comparison.headings[pair.run]),) if len(comparison.sides) > 2 else ()


def latency_table(comparison: Comparison, group: Group) -> Table | None:
    """Return a row for each measure, percentile and compared side; None if no samples exist on both sides."""
    last = (
        Field("Cliff's delta", "number", help="from -1, all values below all of the baseline, to 1"),
        Field("verdict", "badge"),
    )
    steps = list(dict.fromkeys(step.name for pair in group.pairs for step in pair.steps))
    rows = tuple(
        _latency_row(comparison, pair, step, difference)
        for name in steps
        for place in range(2)
        for pair in group.pairs
        for step in pair.steps
        if step.name == name
        for difference in step.differences[place : place + 1]
    )
    fields = _fields(comparison, "measure", last)
    note = " ".join(filter(None, (STATED[comparison.method], *map(differing_note, group.pairs))))
    return Table(f"Distributions: {group.label}", fields, rows, note, sort=True) if rows else None


def differing_note(pair: PairComparison) -> str:
    """Return, with --force, which settings differ."""
    listed = ", ".join(differences_text(pair.differing))
    return f"Compared although settings differ: {listed}." if listed else ""


def _latency_row(comparison: Comparison, pair: PairComparison, step: StepComparison, difference: Difference) -> Row:
    delta = Cell("", reason="no values") if step.delta is None else Cell(f"{step.delta:+.2f}".replace("-", "\u2212"))
    counts = f"{number(step.counts[0])} and {number(step.counts[1])} values"
    return (
        Cell(f"{step.name.replace('_', ' ')} {difference.statistic}", counts),
        *_several(comparison, pair),
        *_numbers(difference, step.unit),
        delta,
        Cell(
            difference.word or "",
            (difference.reason or "") if difference.word == "too little data" else "",
            verdict=difference.word or "",
        ),
    )


def _numbers(difference: Difference, unit: str) -> Row:
    reason = difference.reason or ""
    interval = ""
    if difference.low is not None and difference.high is not None:
        interval = f"{signed(difference.low, unit)} {DASH} {signed(difference.high, unit)}"
    moved = difference.difference
    return (
        _value(difference.first, unit, reason),
        _value(difference.second, unit, reason),
        Cell("", reason=reason) if moved is None else Cell(signed(moved, unit), interval, sort=moved),
        change_cell(difference.relative, reason),
    )


def change_cell(share: float | None, reason: str = "") -> Cell:
    """Format a relative change; changes by more than a factor of two are multiples."""
    if share is None:
        return Cell("", reason=reason or "0 has no share")
    text = f"\u00d7\u202f{number(1 + share)}" if share > 1 else f"{100 * share:+.1f}\u202f%".replace("-", "\u2212")
    return Cell(text, sort=share)


def _value(value: float | None, unit: str, reason: str) -> Cell:
    return Cell("", reason=reason) if value is None else Cell(quantity(value, unit), sort=value)


def signed(value: float, unit: str) -> str:
    """Format a difference with its sign; of shares in points, since 5 % more of 50 % is 2.5 points."""
    text = quantity(value, unit)
    if unit == "ratio":
        text = f"{text.removesuffix('%')}points"
    return f"+{text}" if value > 0 else text.replace("-", "\u2212")


def kpi_table(comparison: Comparison, group: Group, *, headlines: bool = False) -> Table:
    """Return a row for each further KPI and compared side; with *headlines* only of headline KPIs."""
    names = list(dict.fromkeys(_series(group, headlines=headlines)))
    rows = tuple(
        _kpi_row(comparison, pair, compared)
        for name in names
        for pair in group.pairs
        for compared in pair.kpis
        if compared.kpi.series == name
    )
    fields = _fields(comparison, "KPI", (Field("better"), Field("verdict", "badge")))
    note = (
        "A verdict needs an interval on both sides. One value per run has none: only more runs show how "
        "certain its difference is."
    )
    return Table(f"KPIs: {group.label}", fields, rows, note, sort=True)


def _series(group: Group, *, headlines: bool) -> Iterator[str]:
    kpis = (compared.kpi for pair in group.pairs for compared in pair.kpis)
    return (kpi.series for kpi in kpis if kpi.headline is not None or not headlines)


def _kpi_row(comparison: Comparison, pair: PairComparison, compared: KpiComparison) -> Row:
    kpi, found = compared.kpi, compared.difference
    verdict = Cell(found.word, verdict=found.word) if found.word else Cell("", reason=found.reason or NO_INTERVAL)
    return (
        Cell(kpi.series, kpi.help),
        *_several(comparison, pair),
        *_numbers(found, kpi.unit),
        Cell(BETTER[kpi.direction]),
        verdict,
    )


def overview_table(comparison: Comparison) -> Table | None:
    """Return every verdict: a row for each measure, a column for each side; None for two sides with one recording."""
    if len(comparison.sides) < 3 and len(comparison.groups) < 2:
        return None
    several = len(comparison.groups) > 1
    fields = (
        *((Field("recording"),) if several else ()),
        Field("measure"),
        *(Field(heading, "number") for heading in comparison.headings),
    )
    rows = tuple(
        (*((Cell(group.label),) if several else ()), *row)
        for group in comparison.groups
        for row in _overview(group, comparison)
    )
    rows = tuple(sorted(rows, key=_gravest))
    note = (
        f"Below each value are its change from {comparison.headings[0]} and, if there is one, the verdict; "
        f"changes are listed first. {STATED[comparison.method]}"
    )
    return Table("At a glance", fields, rows, note, sort=True)


def _gravest(row: Row) -> int:
    return min((GRAVITY.index(cell.verdict) for cell in row if cell.verdict in GRAVITY), default=len(GRAVITY))


def _overview(group: Group, comparison: Comparison) -> list[Row]:
    units: dict[str, str] = {}
    listed: dict[str, dict[int, Difference]] = {}
    for pair in group.pairs:
        for name, unit, difference in _overview_values(pair):
            units[name] = unit
            listed.setdefault(name, {})[pair.run] = difference
    return [(Cell(name), *_glances(units[name], found, len(comparison.sides))) for name, found in listed.items()]


def _overview_values(pair: PairComparison) -> list[tuple[str, str, Difference]]:
    steps = [
        (f"{step.name.replace('_', ' ')} {each.statistic}", step.unit, each)
        for step in pair.steps
        for each in step.differences
        if each.first is not None
    ]
    kpis = [each for each in pair.kpis if each.kpi.headline is not None or each.difference.word is not None]
    return [*steps, *((each.kpi.series, each.kpi.unit, each.difference) for each in kpis)]


def _glances(unit: str, found: Mapping[int, Difference], sides: int) -> list[Cell]:
    cells = [_value(next(iter(found.values())).first, unit, "not measured")]
    for place in range(1, sides):
        each = found.get(place)
        if each is None or each.second is None:
            cells.append(Cell("", reason="not measured"))
            continue
        change = change_cell(each.relative).text if each.relative is not None else ""
        below = ", ".join(filter(None, (change, each.word)))
        cells.append(Cell(quantity(each.second, unit), below, sort=each.second, verdict=each.word or ""))
    return cells


def sides_table(comparison: Comparison) -> Table:
    """Return the compared runs: one row per side."""
    fields = (Field("as"), Field("run", "code"), Field("started"), Field("status"), Field("lab"))
    rows = tuple(
        (
            Cell(heading, "baseline" if place == 0 else ""),
            Cell(side.name),
            _known((side.started or "").replace("T", " ").removesuffix("Z")[:19]),
            _known(side.status),
            Cell(side.lab.line or "none"),
        )
        for place, (heading, side) in enumerate(zip(comparison.headings, comparison.sides, strict=True))
    )
    return Table("Compared runs", fields, rows)


def _known(text: str) -> Cell:
    return Cell(text) if text else Cell("", reason="not known")


def differences_table(comparison: Comparison) -> Table | None:
    """Return settings, versions and facts that are not equal in all sides; None if all are."""
    if not comparison.differences:
        return None
    fields = (Field("setting or version", "code"), *(Field(heading, "code") for heading in comparison.headings))
    rows = tuple(
        (
            Cell(each.name),
            *(
                Cell(shortened(value_text(value), MOST_TEXT) or '""')
                if known
                else Cell("", reason="not stated by this run")
                for value, known in zip(each.values, each.known, strict=True)
            ),
        )
        for each in comparison.differences
    )
    return Table("Other differences", fields, rows)


def counts(comparison: Comparison) -> dict[Word, int]:
    """Return the number of each verdict."""
    found = {word: len(comparison.of(word)) for word in WORDS}
    return {word: count for word, count in found.items() if count}


def summary(comparison: Comparison) -> str:
    """Return the outcome in one sentence."""
    return ", ".join(f"{count} {word}" for word, count in counts(comparison).items()) or "no verdict"


def unmatched(comparison: Comparison) -> tuple[str, ...]:
    """Return sentences about recordings without a counterpart."""
    return tuple(
        f"only {side.name} has {', '.join(labels)}"
        for side, labels in zip(comparison.sides, comparison.only, strict=True)
        if labels
    )
