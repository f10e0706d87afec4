"""Words that all outputs share: values of settings, counts, texts and tables as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from perfanalysis.drawing.blocks import DASH, Cell, Field, Table
from perfanalysis.output import one_line


def value_text(value: Any) -> str:
    """Format a value on one line: `r=4, lora.alpha=16` for mappings, `[1, 2]` for lists, text as it is, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{name}={text}" for name, text in _leaves(value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(f'({value_text(one)})' if _is_several(one) else value_text(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_several(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _leaves(values: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Return the contents of a mapping, by dotted names."""
    for name, value in values.items():
        if _is_several(value):
            yield from ((f"{name}.{inner}", text) for inner, text in _leaves(value))
        else:
            yield str(name), value_text(value)


def counted(number: int, one: str, several: str = "") -> str:
    """Return `1 run`, `2 runs`; `several` is an irregular plural."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"


def shortened(text: str, most: int) -> str:
    """Return at most so many letters of a text, with an ellipsis if it is cut."""
    return text if len(text) <= most else f"{text[:most]}\u2026"


def listed(texts: Sequence[str], most: int) -> str:
    """Return `a, b and 7 more`: the first few, and the number of others."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


# between two letters, a `_` needs no escape: names of settings and KPIs stay as they are; so does the `#` of an address
SPECIAL = re.compile(r"[\\`*\[\]<>|~&]|(?<!\w)#|#(?![a-z])|(?<!\w)_+|_+(?!\w)")


def plain(text: str) -> str:
    """Return a text that Markdown shows unchanged, on one line."""
    return SPECIAL.sub(lambda found: "".join(f"\\{letter}" for letter in found[0]), one_line(text))


def cell_text(cell: Cell, link: Callable[[str, str], str] | None = None) -> str:
    """Return a cell as Markdown: small print in brackets, a dash and the reason for a missing value. *link* makes
    links.
    """
    if not cell.text:
        return f"{DASH} ({plain(cell.reason)})" if cell.reason else plain(cell.detail)
    text = link(cell.link, cell.text) if link is not None and cell.link else plain(cell.text)
    return f"{text} ({plain(cell.detail)})" if cell.detail else text


def markdown_table(table: Table, level: str = "##", written: Callable[[Cell], str] = cell_text) -> list[str]:
    """Return a table with its title and its note, as lines."""
    lines = [f"{level} {plain(table.title)}", "", *table_lines(table.fields, table.rows, written)]
    return [*lines, "", plain(table.note)] if table.note else lines


def table_lines(
    fields: tuple[Field, ...], rows: Iterable[tuple[Cell, ...]], written: Callable[[Cell], str]
) -> Iterator[str]:
    """Return the lines of a table; *written* converts a cell to Markdown.

    Columns that only draw bars are left out: other columns have their numbers.
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
