"""Format the server's tables of objects as text, with every column of ``kubectl get -o wide``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

_GAP = "   "


def table_text(table: Mapping[str, Any], *, namespaces: bool, labels: bool) -> str:
    """Return a ``meta.k8s.io/v1`` Table in aligned columns; empty without rows.

    Args:
        namespaces: Whether the first column is the namespace of each object.
        labels: Whether the last column is the labels of each object.
    """
    rows = table.get("rows") or []
    if not rows:
        return ""
    names = [str(column["name"]).upper() for column in table["columnDefinitions"]]
    header = [*(["NAMESPACE"] if namespaces else []), *names, *(["LABELS"] if labels else [])]
    return _aligned([header, *(list(_cells(row, namespaces=namespaces, labels=labels)) for row in rows)])


def _cells(row: Mapping[str, Any], *, namespaces: bool, labels: bool) -> Iterator[str]:
    metadata = (row.get("object") or {}).get("metadata") or {}
    if namespaces:
        yield str(metadata.get("namespace", ""))
    for cell in row["cells"]:
        yield "<none>" if cell is None or cell == "" else str(cell).replace("\n", " ")
    if labels:
        yield ",".join(f"{key}={value}" for key, value in sorted((metadata.get("labels") or {}).items())) or "<none>"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = (_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)
