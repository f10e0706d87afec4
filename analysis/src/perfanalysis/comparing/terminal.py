"""A comparison in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from perfanalysis.comparing.comparison import Comparison
from perfanalysis.comparing.tables import latency_table, summary
from perfanalysis.comparing.write import unmatched
from perfanalysis.sections import DASH, Cell, Field, Table

COLOURS = {"better": "green", "worse": "red", "different": "yellow", "same": "", "too little data": "dim"}


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print a table for each pair, then what there is to know, then the outcome."""
    console.print(Text(f"A: {comparison.runs[0]}\nB: {comparison.runs[1]}"))
    for pair in comparison.pairs:
        console.print(_shown(latency_table(pair)))
    for note in (*comparison.notes, *unmatched(comparison)):
        console.print(Text(f"note: {note}"))
    console.print(Text(summary(comparison)))


def _shown(table: Table) -> Shown:
    shown = Shown(title=table.title, caption=table.note or None, title_justify="left")
    for field in table.fields:
        shown.add_column(field.name, justify="right" if field.kind == "number" else "left")
    for row in table.rows:
        shown.add_row(*(_text(cell, field) for cell, field in zip(row, table.fields, strict=True)))
    return shown


def _text(cell: Cell, field: Field) -> Text:
    if field.kind == "badge":
        return Text(cell.text, style=COLOURS.get(cell.text, ""))
    text = cell.text or DASH
    return Text(f"{text}\n{cell.detail}" if cell.detail and field.name == "B - A" else text)
