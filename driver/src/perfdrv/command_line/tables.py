"""Tables: drawn on a terminal, plain columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from perfanalysis.files.credentials import hide
from perfanalysis.output import Drawn, drawing_stream, one_line
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

STATUS_STYLES = {
    "ok": "green",
    "failed": "red",
    "refused": "red",
    "damaged": "red",
    "interrupted": "yellow",
    "running": "cyan",
    "worse": "red",
    "incomplete": "yellow",
}

_WIDEST = 48
_GAP = 2
# a cell of at most this many letters stays on one line of a terminal, and so does a word
_SHORT = 20
_LONGEST_WORD = 40


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], empty: str = "Nothing to show.") -> None:
    """Print rows of text below headings, as plain columns if stdout is not a terminal.

    Args:
        empty: Printed if there are no rows.
    """
    # first, because the layout may cut a credential into parts that are not recognized
    rows = [tuple(one_line(hide(cell)) for cell in row) for row in rows]
    if not rows:
        click.echo(empty)
    elif sys.stdout.isatty():
        _print_rich(headings, rows)
    else:
        _print_plain(headings, rows)


def _print_rich(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print the columns that fit the terminal, and the other cells of a row below it."""
    console = Console(file=drawing_stream())
    widths = column_widths([headings, *rows], console.width)
    console.print(Drawn(_beside([Text(heading, "bold") for heading in headings[: len(widths)]], widths)))
    for row in rows:
        console.print(Drawn(_beside([Text(cell, STATUS_STYLES.get(cell, "")) for cell in row[: len(widths)]], widths)))
        for heading, cell in list(zip(headings, row, strict=True))[len(widths) :]:
            if cell:
                console.print(
                    Drawn(Padding(Text.assemble((f"{heading}  ", "dim"), cell, overflow="fold"), (0, 0, 0, 4)))
                )


def _beside(cells: Sequence[Text], widths: Sequence[int]) -> Table:
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    for width in widths:
        grid.add_column(width=width, overflow="fold")
    grid.add_row(*cells)
    return grid


def column_widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of the leading columns that fit without breaking a short text or a word; at least one."""
    columns = list(zip(*lines, strict=True))
    natural = [max(map(cell_len, column)) for column in columns]
    least = [max(map(_unbroken, column)) for column in columns]
    # names are copied, so they are not broken
    least[0] = min(natural[0], width)
    spare, fitting = width - least[0], 1
    while fitting < len(columns) and spare >= least[fitting] + _GAP:
        spare -= least[fitting] + _GAP
        fitting += 1
    widths = []
    for wanted, needed in list(zip(natural, least, strict=True))[:fitting]:
        widths.append(needed + min(wanted - needed, spare))
        spare -= widths[-1] - needed
    return widths


def _unbroken(cell: str) -> int:
    """Return the least width of a cell: a short cell, such as a date, is not broken, nor is a word of a longer one."""
    length = cell_len(cell)
    return length if length <= _SHORT else min(_LONGEST_WORD, max(map(cell_len, cell.split()), default=0))


def _print_plain(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [headings, *rows]
    # a long cell shifts its own line only
    widths = [
        max((len(line[column]) for line in lines if len(line[column]) <= _WIDEST), default=0)
        for column in range(len(headings))
    ]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def value_text(value: Any) -> str:
    """Return a value as YAML on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value != "" else "''"
