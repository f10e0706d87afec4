"""Tables on the terminal, and as plain text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from perfanalysis.files.credentials import hide
from perfanalysis.output import Drawn, drawing_stream, one_line
from rich.console import Console
from rich.table import Table
from rich.text import Text

STATUS_STYLES = {
    "ok": "green",
    "failed": "red",
    "refused": "red",
    "damaged": "red",
    "interrupted": "yellow",
    "running": "cyan",
}

_WIDEST = 48


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], empty: str = "Nothing to show.") -> None:
    """Print rows of text below headings; plain columns when stdout is no terminal."""
    # a form of credentials may be cut by the layout
    rows = [tuple(one_line(hide(cell)) for cell in row) for row in rows]
    if not rows:
        click.echo(empty)
    elif sys.stdout.isatty():
        _print_rich(headings, rows)
    else:
        _print_plain(headings, rows)


def _print_rich(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("run", "name", "flow"))
    for row in rows:
        table.add_row(*(Text(cell, STATUS_STYLES.get(cell, "")) for cell in row))
    Console(file=drawing_stream()).print(Drawn(table))


def _print_plain(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [headings, *rows]
    # one long cell moves its own line, not all others
    widths = [
        max((len(line[column]) for line in lines if len(line[column]) <= _WIDEST), default=0)
        for column in range(len(headings))
    ]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def value_text(value: Any) -> str:
    """A value as YAML would have it on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value != "" else "''"
