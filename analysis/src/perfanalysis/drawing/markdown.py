"""What every Markdown file of this package is made of: texts that stay as they are, and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from perfanalysis.drawing.blocks import Cell, Field

# between two letters a `_` is one: names of settings and KPIs read as they are written
SPECIAL = re.compile(r"[\\`*\[\]<>|#~&]|(?<!\w)_+|_+(?!\w)")


def plain(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return SPECIAL.sub(lambda found: "".join(f"\\{letter}" for letter in found[0]), " ".join(text.splitlines()))


def table_lines(
    fields: tuple[Field, ...], rows: Iterable[tuple[Cell, ...]], written: Callable[[Cell], str]
) -> Iterator[str]:
    """The lines of a table; *written* is a cell as Markdown.

    Columns that only draw bars are left out: their numbers stand in the others.
    """
    kept = [place for place, field in enumerate(fields) if field.kind != "span"]
    yield _line(_heading(fields[place]) for place in kept)
    yield _line("---:" if fields[place].kind == "number" else "---" for place in kept)
    for row in rows:
        yield _line(written(row[place]) for place in kept)


def _heading(field: Field) -> str:
    return plain(f"{field.name} ({field.unit})" if field.unit else field.name)


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"
