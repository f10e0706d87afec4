"""Tables as Markdown."""

from __future__ import annotations

from perfanalysis.drawing.blocks import DASH, Cell, Table
from perfanalysis.drawing.markdown import plain, table_lines
from perfanalysis.verdicts.comparison.comparison import Comparison
from perfanalysis.verdicts.comparison.tables import (
    differences_table,
    kpi_table,
    latency_table,
    overview_table,
    sides_table,
    summary,
    unmatched,
)


def comparison_markdown(comparison: Comparison) -> str:
    """comparison.md: the outcome, what is compared, what else differs, then every table."""
    tables = [sides_table(comparison), differences_table(comparison), overview_table(comparison)]
    for group in comparison.groups:
        tables += [latency_table(comparison, group), kpi_table(comparison, group)]
    names = " and ".join((comparison.sides[0].name, ", ".join(side.name for side in comparison.sides[1:])))
    notes = "\n".join(
        f"* {plain(note)}" for note in (*comparison.data_errors, *comparison.notes, *unmatched(comparison))
    )
    parts = [f"# Comparison of {plain(names)}", f"{summary(comparison)}; margin {100 * comparison.margin:g} %.", notes]
    parts += [markdown_table(table) for table in tables if table is not None and table.rows]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_table(table: Table) -> str:
    """A table with its title; small print stands in brackets, a missing value is a dash."""
    lines = [f"## {plain(table.title)}", "", *table_lines(table.fields, table.rows, _text)]
    return "\n".join([*lines, "", plain(table.note)] if table.note else lines)


def _text(cell: Cell) -> str:
    return plain(f"{cell.text or DASH} ({cell.detail})" if cell.detail else cell.text or DASH)
