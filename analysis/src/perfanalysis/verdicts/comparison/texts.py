"""A comparison in the terminal and as Markdown."""

from __future__ import annotations

from dataclasses import replace

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from perfanalysis.drawing.blocks import DASH, Table
from perfanalysis.drawing.wording import counted, markdown_table, plain
from perfanalysis.output import Drawn, drawing_stream
from perfanalysis.verdicts.comparison.comparison import Comparison
from perfanalysis.verdicts.comparison.tables import (
    GRAVITY,
    differences_table,
    kpi_table,
    latency_table,
    overview_table,
    sides_table,
    summary,
    unmatched,
)

COLOURS = {"better": "green", "worse": "red", "different": "yellow", "same": "", "too little data": "dim"}
WIDTH_OF_FILES = 120
NOT_IN_NARROW = "Cliff's delta"
"""Width below which a terminal omits a column."""
MOST_DIFFERENCES = 12


def console_for_output() -> Console:
    """Return a console as wide as the terminal, or wide enough for the tables without a terminal."""
    console = Console(file=drawing_stream())
    return console if console.is_terminal else Console(width=WIDTH_OF_FILES)


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the differences, each group's measures and headline KPIs, the notes, and the outcome."""
    narrow = console.width < WIDTH_OF_FILES
    for heading, side in zip(comparison.headings, comparison.sides, strict=True):
        console.print(Drawn(Text(f"{heading}: {side.name}")))
    others = differences_table(comparison)
    if others is not None:
        more = len(others.rows) - MOST_DIFFERENCES
        note = f"and {more} more on the page" if more > 0 else ""
        console.print(Drawn(_rich_table(Table(others.title, others.fields, others.rows[:MOST_DIFFERENCES], note))))
    overview = overview_table(comparison)
    if overview is not None:
        console.print(Drawn(_rich_table(_what_changed(overview))))
    for group in comparison.groups if overview is None else ():
        latencies = latency_table(comparison, group)
        if latencies is not None:
            console.print(Drawn(_rich_table(latencies, details=("difference",), narrow=narrow)))
        kpis = kpi_table(comparison, group, headlines=True)
        if kpis.rows:
            console.print(Drawn(_rich_table(kpis, details=("difference",), narrow=narrow)))
    for note in () if overview is not None else refused(comparison):
        console.print(Drawn(Text(f"note: {note}")))
    for error in comparison.data_errors:
        console.print(Drawn(Text(f"error: {error}", style="red")))
    for note in (*comparison.notes, *unmatched(comparison)):
        console.print(Drawn(Text(f"note: {note}")))
    console.print(Drawn(Text(summary(comparison))))


def refused(comparison: Comparison) -> tuple[str, ...]:
    """Return why statistics have no interval, and so no verdict: one sentence per reason."""
    found: dict[str, list[str]] = {}
    for pair in comparison.pairs:
        for step in pair.steps:
            for each in step.differences:
                if each.low is None and each.reason:
                    found.setdefault(f"{each.statistic}: {each.reason}", []).append(step.name)
    return tuple(f"{counted(len(names), 'measure')} without a verdict at {why}" for why, names in found.items())


def _without(table: Table, name: str) -> Table:
    kept = [place for place, field in enumerate(table.fields) if field.name != name]
    fields = tuple(table.fields[place] for place in kept)
    return replace(table, fields=fields, rows=tuple(tuple(row[place] for place in kept) for row in table.rows))


def _what_changed(overview: Table) -> Table:
    """Return the rows with a change; the page has all."""
    rows = tuple(row for row in overview.rows if any(cell.verdict in GRAVITY for cell in row))
    left_out = f"{len(overview.rows) - len(rows)} rows without a certain change are only on the page."
    return replace(overview, title="What changed", rows=rows, note=f"{overview.note} {left_out}")


def _rich_table(table: Table, details: tuple[str, ...] | None = None, *, narrow: bool = False) -> RichTable:
    """Return a table; the small print of *details* columns has a separate column; None: it is below every value.

    A narrow table leaves out what its verdicts summarise, and has the small print of those columns below.
    """
    beside = () if narrow else details or ()
    below = tuple(field.name for field in table.fields) if details is None else details if narrow else ()
    table = _without(table, NOT_IN_NARROW) if narrow else table
    printed = RichTable(
        title=table.title, caption=table.note or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=not narrow
    )
    for field in table.fields:
        width = len(field.name) if narrow else None
        printed.add_column(field.name, justify="right" if field.kind == "number" else "left", min_width=width)
        if field.name in beside:
            printed.add_column("95 % interval", justify="right")
    printed.columns[0].no_wrap = narrow
    for row in table.rows:
        texts: list[Text] = []
        for cell, field in zip(row, table.fields, strict=True):
            small = f"\n{cell.detail}" if field.name in below and cell.detail else ""
            texts.append(Text(f"{cell.text or DASH}{small}", style=COLOURS.get(cell.verdict, "")))
            if field.name in beside:
                texts.append(Text(cell.detail or DASH))
        printed.add_row(*texts)
    return printed


def comparison_markdown(comparison: Comparison) -> str:
    """Return comparison.md: the outcome, the compared runs, other differences, then every table."""
    tables = [sides_table(comparison), differences_table(comparison), overview_table(comparison)]
    for group in comparison.groups:
        tables += [latency_table(comparison, group), kpi_table(comparison, group)]
    names = " and ".join((comparison.sides[0].name, ", ".join(side.name for side in comparison.sides[1:])))
    notes = "\n".join(
        f"* {plain(note)}" for note in (*comparison.data_errors, *comparison.notes, *unmatched(comparison))
    )
    parts = [f"# Comparison of {plain(names)}", f"{summary(comparison)}; margin {100 * comparison.margin:g} %.", notes]
    parts += ["\n".join(markdown_table(table)) for table in tables if table is not None and table.rows]
    return "\n\n".join(part for part in parts if part) + "\n"
