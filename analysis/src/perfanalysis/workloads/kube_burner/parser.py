"""Tables of kube-burner's documents; what they mean is in `documents` and `tables`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfanalysis.workloads.kube_burner.documents import creation_rate, iteration_rate, tables_of

if TYPE_CHECKING:
    from perfanalysis.files.source import Source

FUNCTIONS = (creation_rate, iteration_rate)


def parse(source: Source) -> dict[str, Any]:
    """Every table of the kind."""
    return dict(tables_of(source))
